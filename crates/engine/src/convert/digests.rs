//! What is said, in eight bytes each: to see later whether somebody changed it.

use rethread_model::{Blob, Block, Bodies, Media};
use sha2::{Digest, Sha256};

use super::{media, messages};

/// What a block means that somebody says.
pub(super) fn spoken_digest(bodies: &dyn Bodies, role: &str, one: &Block) -> u64 {
    let mark = block_digest(bodies, one);
    digest_of(&[role, &mark.to_string()])
}

/// What a block means. Ids are each client's own.
pub(super) fn block_digest(bodies: &dyn Bodies, one: &Block) -> u64 {
    match one {
        Block::Text(text) => digest_of(&["text", text.value.trim()]),
        Block::Aside { text, .. } => digest_of(&["aside", &text.value]),
        Block::Thinking(thought) => digest_of(&["thinking", thought.text.value.trim()]),
        Block::ToolCall(call) => {
            let input = messages::input_line(call);
            digest_of(&["call", &call.name, &String::from_utf8_lossy(&input)])
        }
        Block::ToolResult(result) => {
            let word = if result.is_error { "error" } else { "fine" };
            digest_of(&["result", word, &messages::output_text(result)])
        }
        Block::Image(media) => media_digest(bodies, "image", media),
        Block::File(media) => media_digest(bodies, "file", media),
        Block::Unknown { type_name, raw } => digest_of(&[type_name, &raw.to_text()]),
    }
}

fn media_digest(bodies: &dyn Bodies, word: &str, shown: &Media) -> u64 {
    if let Some((_, data)) = media::to_base64(bodies, shown) {
        return digest_of(&[word, &data]);
    }
    let name = match &shown.blob {
        Blob::Url(name) | Blob::Missing(name) => Some(name.as_str()),
        _ => shown.name.as_deref(),
    };
    digest_of(&[word, name.unwrap_or_default()])
}

/// What a few words mean.
pub(super) fn digest_of(words: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for word in words {
        hash.update((word.len() as u64).to_le_bytes());
        hash.update(word);
    }
    let digest = hash.finalize();
    let first = digest.first_chunk();
    first.map_or(0, |first| u64::from_be_bytes(*first))
}

/// What a block may mean that is written as it is here, once a format has written and read it: some
/// have no thoughts, and some cannot say that a tool failed.
pub(super) fn possible_digests(role: &str, one: &Block) -> Vec<u64> {
    let marks: Vec<u64> = match one {
        Block::Text(text) => vec![digest_of(&["text", text.value.trim()])],
        Block::Thinking(thought) => ["thinking", "text"]
            .iter()
            .map(|kind| digest_of(&[kind, thought.text.value.trim()]))
            .collect(),
        Block::ToolCall(call) => {
            let input = messages::input_line(call);
            vec![digest_of(&[
                "call",
                &call.name,
                &String::from_utf8_lossy(&input),
            ])]
        }
        Block::ToolResult(result) => {
            let output = messages::output_text(result);
            ["fine", "error"]
                .iter()
                .map(|word| digest_of(&["result", word, &output]))
                .collect()
        }
        Block::Image(shown) => vec![digest_of(&["image", written_data(shown)])],
        Block::File(shown) => vec![digest_of(&["file", written_data(shown)])],
        Block::Aside { .. } | Block::Unknown { .. } => Vec::new(),
    };
    marks
        .iter()
        .map(|mark| digest_of(&[role, &mark.to_string()]))
        .collect()
}

/// The bytes of a picture or a file that is written, or else its address.
fn written_data(shown: &Media) -> &str {
    match &shown.blob {
        Blob::Url(url) => media::base64_data(shown).unwrap_or(url),
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::{
        Body, EntryIx, Json, Text, Thinking, ToolCall, ToolInput, ToolResult, Visibility,
    };

    use super::*;

    /// Every blob in a record holds the same.
    struct Inline;

    impl Bodies for Inline {
        fn body(&self, _: EntryIx) -> Body {
            Body::Unknown(None)
        }

        fn inline(&self, blob: &Blob) -> Option<Vec<u8>> {
            matches!(blob, Blob::Inline { .. }).then(|| b"aGVsbG8=".to_vec())
        }
    }

    fn text(value: &str) -> Text {
        Text {
            value: value.to_owned(),
            ..Text::default()
        }
    }

    fn call(input: Option<ToolInput>) -> Block {
        Block::ToolCall(ToolCall {
            input,
            ..ToolCall::new("toolu_1", "Bash")
        })
    }

    fn result(blocks: Vec<Block>, is_error: bool) -> Block {
        Block::ToolResult(ToolResult {
            call_id: "toolu_1".to_owned(),
            name: Some("Bash".to_owned()),
            blocks,
            is_error,
            structured: None,
            exit_code: None,
            full_output: None,
        })
    }

    fn media(name: Option<&str>, mime: Option<&str>, blob: Blob) -> Media {
        Media {
            mime: mime.map(str::to_owned),
            name: name.map(str::to_owned),
            uri: None,
            blob,
        }
    }

    /// Blocks of every kind, with all that counts in each.
    fn blocks() -> Vec<(&'static str, Block)> {
        let inline = Blob::Inline {
            record: rethread_model::RawRef { part: 0, record: 0 },
            start: 3,
            len: 8,
        };
        let url = |url: &str| Blob::Url(url.to_owned());
        let json = |json: &str| Some(ToolInput::Json(Json::new(json.as_bytes())));
        vec![
            ("text", Block::text("  Grüße, \"world\"\n\u{1F600} ")),
            (
                "aside",
                Block::Aside {
                    text: text(" aside "),
                    visibility: Visibility::Injected,
                },
            ),
            (
                "thinking",
                Block::Thinking(Thinking {
                    text: text(" so be it\n"),
                    signature: Some("sig".to_owned()),
                    ..Thinking::default()
                }),
            ),
            (
                "call of JSON",
                call(json("{ \"b\": [1, 2.0e1, \"\\u00e4\"],\n \"a\" : null }")),
            ),
            (
                "call of text",
                call(Some(ToolInput::Text(text("ls -l \"x\"\n")))),
            ),
            ("call of nothing", call(None)),
            ("call of damaged JSON", call(json("{\"a\":"))),
            (
                "result",
                result(vec![Block::text("one"), Block::text("two ")], false),
            ),
            ("failure", result(vec![Block::text("one")], true)),
            (
                "result with a picture",
                result(
                    vec![
                        Block::text("one"),
                        Block::Image(media(
                            None,
                            Some("image/png"),
                            url("data:image/png;base64,aGk="),
                        )),
                        Block::text("two"),
                    ],
                    false,
                ),
            ),
            ("empty result", result(Vec::new(), false)),
            (
                "picture in an address",
                Block::Image(media(None, None, url("data:image/png;base64,aGk="))),
            ),
            (
                "picture in a record",
                Block::Image(media(None, Some("image/png"), inline.clone())),
            ),
            (
                "picture on the web",
                Block::Image(media(Some("a.png"), None, url("https://example.com/a.png"))),
            ),
            (
                "missing picture",
                Block::Image(media(
                    Some("a.png"),
                    None,
                    Blob::Missing("b.png".to_owned()),
                )),
            ),
            (
                "picture elsewhere",
                Block::Image(media(Some("a.png"), None, Blob::Outside("/x/b.png".into()))),
            ),
            (
                "file of text",
                Block::File(media(Some("a.txt"), None, Blob::Text(text("hello")))),
            ),
            (
                "file in a record",
                Block::File(media(Some("a.pdf"), Some("application/pdf"), inline)),
            ),
            (
                "unknown",
                Block::Unknown {
                    type_name: "odd".to_owned(),
                    raw: Json::new(b"{\"type\":\"odd\", \"n\":1}"),
                },
            ),
        ]
    }

    /// What is on people's disks: these never change.
    #[test]
    fn digests_stay_the_same() {
        let roles = ["user", "assistant", "system"];
        let found: Vec<String> = blocks()
            .iter()
            .map(|(name, one)| {
                let of = roles.map(|role| format!("{:016x}", spoken_digest(&Inline, role, one)));
                format!(
                    "{name}: {:016x} {}",
                    block_digest(&Inline, one),
                    of.join(" ")
                )
            })
            .collect();
        let pinned: Vec<&str> = PINNED.lines().map(str::trim).collect();
        assert_eq!(found, pinned, "{}", found.join("\n"));
    }

    const PINNED: &str = "\
        text: 39e5ac99d9966c0e a30a317840bba750 b558beb345486b14 9f47f1c4f4004192
        aside: c01b5c167dbe1999 6038054dcbe5e5a6 790a68ae5cbdc2a9 9a317d9298f9f462
        thinking: 1db6ed806383efc7 a1a95db66ec135ad 686aeeee2bfbcf19 ee4253f13cf1e3aa
        call of JSON: e1159ed40a7ea14a af46f3e3dbbe0d87 f65451e6ef35e572 e08508edbfcb0a0c
        call of text: 2f37f9943eefdd72 45d4b8a8cd9fba43 911f23b167a10a49 1133959867cbbdcf
        call of nothing: 671f18eaa09a5706 9ad9163451c47312 834bb55442c2a31f 5cb69a331f09fa7d
        call of damaged JSON: 25ce4c05c31bbeee 5ea2a868ee280a24 2027bc8c780d2f3a bdc7cf84e7d2e04d
        result: e04bd9e9460fc457 44c8ea8cf6e24875 745d66d8f7be0e92 1e57f1afd5f7ab1b
        failure: 6d16745a8324bd92 841537bfdc83b9a0 a6f10c5b43eb41e6 cdad82e9bdb81e17
        result with a picture: 8c30104a4d054ccd 005387a88b508749 e3e95ecc64e8df1c d6f801f44b75e391
        empty result: 75c973938e8b37fc 20ade8209d290ab7 4eba9e9888b38210 701a815930a797a6
        picture in an address: 132d3b60b766a883 1d6a9f4c434b439d de49987b8fe76c0f 68aac4ca9d7b2b9c
        picture in a record: 6b0e22513411847e 1f65d0234c0c0227 ce61687a09eea1b6 0abd7a6266cddcde
        picture on the web: 343a2836d6dd16dc 9f76f2f7b912900a 8ac38dab8aa7a09b 8adce0d8b878fcd7
        missing picture: 753e32e18d4fb310 03437f201e5fbbae dae10c4ade0b046c b12317c5b70836f2
        picture elsewhere: ddaba46ca502021f 169055bd09de2322 fcf53d01cd8a5223 9f1c51d884b3c32a
        file of text: e04d3160681d92a8 adea5469e1cc9e8f ff06a08d5785ca2e 6a17f91d5e0a2db3
        file in a record: e04d3160681d92a8 adea5469e1cc9e8f ff06a08d5785ca2e 6a17f91d5e0a2db3
        unknown: 0a940f2bd050b52a 93efdde8b862977f 630b023bf4f3a468 c8420ef9c8f97508";
}
