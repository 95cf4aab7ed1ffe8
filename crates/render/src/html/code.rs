//! Code with its words in colour.
//!
//! The words are told apart by one pass over the text that never looks back, whatever the text is:
//! good enough to read by, and no text makes it slow. What a language's own parser would know, it
//! does not.

mod languages;
mod lexer;
mod markup;

use std::io;

use self::languages::Language;
use super::links::write_linked;
use super::out::HtmlWriter;

/// Longer code is shown without colours: the page would be several times its size.
const LONGEST: usize = 64 * 1024;

/// What a word of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordClass {
    Plain,
    Keyword,
    Text,
    Comment,
    Number,
    Type,
    Function,
    /// An attribute, a key, a directive.
    Name,
    Variable,
}

impl WordClass {
    const fn class_name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Keyword => "<i class=k>",
            Self::Text => "<i class=s>",
            Self::Comment => "<i class=c>",
            Self::Number => "<i class=n>",
            Self::Type => "<i class=t>",
            Self::Function => "<i class=f>",
            Self::Name => "<i class=a>",
            Self::Variable => "<i class=v>",
        }
    }
}

/// Takes the words of code, in order.
type WordSink<'a> = dyn FnMut(WordClass, &str) -> io::Result<()> + 'a;

/// Writes code, in colours where its language is known by this name.
pub(super) fn write_code(out: &mut HtmlWriter<'_>, language: &str, text: &str) -> io::Result<()> {
    let language = languages::language_named(language).filter(|_| text.len() <= LONGEST);
    let Some(language) = language else {
        return write_linked(out, text);
    };
    let mut put = |class: WordClass, word: &str| {
        if class == WordClass::Plain {
            return out.write_text(word);
        }
        out.write_markup(class.class_name())?;
        // Words of other kinds hold no address whole.
        match class {
            WordClass::Text | WordClass::Comment => write_linked(out, word)?,
            _ => out.write_text(word)?,
        }
        out.write_markup("</i>")
    };
    match language {
        Language::Markup => markup::lex_markup(text, &mut put),
        Language::Words(rules) => lexer::lex_words(rules, text, &mut put),
    }
}

/// The name of the language that files with this path are written in.
pub(super) fn language_of(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, suffix)) => suffix,
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each word that is not plain, with its class.
    pub(super) fn marked(language: &str, text: &str) -> String {
        let mut page = Vec::new();
        write_code(&mut HtmlWriter::new(&mut page), language, text).unwrap();
        let page = String::from_utf8(page).unwrap();
        page.replace("<i class=", "⟨").replace("</i>", "⟩")
    }

    #[test]
    fn words_are_told_apart() {
        for (language, text, shown) in [
            (
                "rust",
                "fn f(x: &'a str) -> Vec<u8> { g('\\'', 1.5e3) } // no",
                "⟨k>fn⟩ ⟨f>f⟩(x: &amp;⟨t>&#39;a⟩ ⟨t>str⟩) -&gt; ⟨t>Vec⟩&lt;⟨t>u8⟩&gt; { ⟨f>g⟩(⟨s>&#39;\\&#39;&#39;⟩, ⟨n>1.5e3⟩) } ⟨c>// no⟩",
            ),
            (
                "rs",
                "#[test]\nr#\"a\"b\"# /* x",
                "⟨a>#[test]⟩\n⟨s>r#&quot;a&quot;b&quot;#⟩ ⟨c>/* x⟩",
            ),
            (
                "py",
                "@x\ndef f():\n  '''a\n'b'''  # c",
                "⟨a>@x⟩\n⟨k>def⟩ ⟨f>f⟩():\n  ⟨s>&#39;&#39;&#39;a\n&#39;b&#39;&#39;&#39;⟩  ⟨c># c⟩",
            ),
            (
                "ts",
                "const a = `x\n${b}` as Foo",
                "⟨k>const⟩ a = ⟨s>`x\n${b}`⟩ ⟨k>as⟩ ⟨t>Foo⟩",
            ),
            (
                "json",
                "{\"a\": [\"b\", -1, true]}",
                "{⟨a>&quot;a&quot;⟩: [⟨s>&quot;b&quot;⟩, -⟨n>1⟩, ⟨k>true⟩]}",
            ),
            (
                "sh",
                "echo \"$A\" $# ${B} # c",
                "⟨f>echo⟩ ⟨s>&quot;$A&quot;⟩ ⟨v>$#⟩ ⟨v>${B}⟩ ⟨c># c⟩",
            ),
            (
                "yaml",
                "a-b: 'c' # d\n- e: 1",
                "⟨a>a-b⟩: ⟨s>&#39;c&#39;⟩ ⟨c># d⟩\n- ⟨a>e⟩: ⟨n>1⟩",
            ),
            (
                "toml",
                "[a.b]\nc = \"d\"",
                "⟨k>[a.b]⟩\n⟨a>c⟩ = ⟨s>&quot;d&quot;⟩",
            ),
            (
                "sql",
                "SELECT 'it''s' -- x",
                "⟨k>SELECT⟩ ⟨s>&#39;it&#39;⟩⟨s>&#39;s&#39;⟩ ⟨c>-- x⟩",
            ),
            (
                "html",
                "<a href=\"x\" b>t</a><!-- c",
                "&lt;⟨k>a⟩ ⟨a>href⟩=⟨s>&quot;x&quot;⟩ ⟨a>b⟩&gt;t&lt;/⟨k>a⟩&gt;⟨c>&lt;!-- c⟩",
            ),
            (
                "css",
                "a { color: #fff; } /* c */",
                "a { ⟨a>color⟩: ⟨n>#fff⟩; } ⟨c>/* c */⟩",
            ),
            (
                "c",
                "#include <a>\nint x = 0x1F;",
                "⟨a>#include⟩ &lt;a&gt;\n⟨t>int⟩ x = ⟨n>0x1F⟩;",
            ),
            ("nobody", "fn <x>", "fn &lt;x&gt;"),
        ] {
            assert_eq!(marked(language, text), shown, "{language}");
        }
    }

    #[test]
    fn words_can_be_looked_up() {
        assert!(languages::are_sorted());
    }

    #[test]
    fn long_code_is_plain() {
        let text = "fn ".repeat(LONGEST);
        assert_eq!(marked("rust", &text), text);
    }

    #[test]
    fn files_are_known_by_their_suffix() {
        assert_eq!(language_of("/a/b.c/main.rs"), "rs");
        assert_eq!(language_of("C:\\x\\Dockerfile"), "Dockerfile");
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_lost(
            text in "([a-z'\"`#/*<>$@\\[\\]{}()=:!.0-9 \n-]|\\PC){0,60}",
            language in proptest::sample::select(languages::all_names()),
        ) {
            let mut words = String::new();
            let mut put = |_: WordClass, word: &str| { words.push_str(word); Ok(()) };
            match languages::language_named(language) {
                Some(Language::Markup) => markup::lex_markup(&text, &mut put).unwrap(),
                Some(Language::Words(rules)) => lexer::lex_words(rules, &text, &mut put).unwrap(),
                None => unreachable!(),
            }
            proptest::prop_assert_eq!(words, text);
        }
    }
}
