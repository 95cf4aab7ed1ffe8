use rethread_render::{OneLine, Plain, encode_workspace, fit, neutral, one_line};

#[test]
fn what_acts_becomes_visible() {
    for (text, shown) in [
        ("plain\n\ttext", "plain\n\ttext"),
        ("a\r\nb\rc\r\r\n", "a\nb␍c␍\n"),
        ("\0\u{1b}[2J\u{7f}", "␀␛[2J␡"),
        ("\u{85}\u{9b}31m", "<U+0085><U+009B>31m"),
        ("user\u{202e}gpj.exe", "user<U+202E>gpj.exe"),
        ("\u{feff}a\u{2028}b\u{e0041}", "<U+FEFF>a<U+2028>b<U+E0041>"),
        ("पेज़ 👩\u{200d}💻 ❤\u{fe0f}", "पेज़ 👩\u{200d}💻 ❤\u{fe0f}"),
    ] {
        assert_eq!(neutral(text), shown);
        assert_eq!(Plain(text).to_string(), shown);
    }
}

#[test]
fn one_line_keeps_spaces_and_folds_lines() {
    for (text, shown) in [
        ("two  spaces ", "two  spaces "),
        ("a \n\t b\r\nc", "a b c"),
        ("\n\nstart and end\n", "start and end"),
        ("\r", "␍"),
        ("", ""),
    ] {
        assert_eq!(one_line(text), shown);
        assert_eq!(OneLine(text).to_string(), shown);
    }
}

#[test]
fn fitting_counts_columns() {
    for (text, width, shown) in [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 6, "日本語"),
        ("日本語", 4, "日…"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ("❤\u{fe0f}❤\u{fe0f}", 3, "❤\u{fe0f}…"),
        ("a\nb\u{1b}", 4, "a b␛"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ] {
        assert_eq!(fit(text, width), shown, "{text} in {width}");
    }
}

#[test]
fn workspaces_are_encoded_as_claude_code_does() {
    assert_eq!(encode_workspace("/home/u/a_b.c"), "-home-u-a-b-c");
    assert_eq!(encode_workspace("/ü/😀"), "-----");
    assert_eq!(encode_workspace(""), "");
    let just = "a".repeat(200);
    assert_eq!(encode_workspace(&just), just);
    for (long, hash) in [
        ("/".repeat(201), "jl7975"),
        ("/home/user/".to_owned() + &"ordner-é/".repeat(24), "5aeyyr"),
    ] {
        let encoded = encode_workspace(&long);
        assert_eq!(&encoded[200..], format!("-{hash}"));
    }
}
