//! What a record is, told by its beginning: most of a transcript is passed over in lists.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::kit::{plain_members, word_behind};

/// How far into a line what tells its type is looked for.
const START: usize = 2048;

/// What a record says that need not be parsed to be counted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum QuickRecord<'a> {
    /// Progress, which does not count.
    Progress,
    /// Results of tools.
    Results,
    /// A part of a response.
    Response {
        id: &'a str,
        model: &'a str,
        /// How many calls of tools it holds.
        calls: usize,
    },
}

/// What is looked for in lines that are passed over.
struct LineFinders {
    type_: Finder<'static>,
    content: Finder<'static>,
    by_model: Finder<'static>,
    id: Finder<'static>,
    model: Finder<'static>,
    object: Finder<'static>,
}

/// They are worked out once, and not for each of thousands of files.
static MARKS: LazyLock<LineFinders> = LazyLock::new(LineFinders::new);

/// What a line says, if it looks like one whole record of a kind that need not be parsed.
pub(super) fn quick_record(line: &[u8]) -> Option<QuickRecord<'_>> {
    MARKS.glance(line)
}

impl LineFinders {
    fn new() -> Self {
        Self {
            type_: Finder::new(b"\"type\":\""),
            content: Finder::new(b"\"content\":["),
            by_model: Finder::new(b"\"role\":\"assistant\""),
            id: Finder::new(b"\"id\":\""),
            model: Finder::new(b"\"model\":\""),
            object: Finder::new(b"{\""),
        }
    }

    fn glance<'a>(&self, line: &'a [u8]) -> Option<QuickRecord<'a>> {
        let line = line.trim_ascii_end();
        let (plain, rest) = plain_members(line, START)?;
        let type_name = word_behind(&self.type_, plain);
        let mut found = if type_name == Some(b"progress") {
            QuickRecord::Progress
        } else if !plain.ends_with(b"\"message\":") {
            return None;
        } else if type_name == Some(b"user") {
            results(rest)?
        } else {
            self.response(rest)?
        };
        let in_line = self.calls_of_one(line)?;
        if let QuickRecord::Response { calls, .. } = &mut found {
            *calls = in_line;
        }
        Some(found)
    }

    fn response<'a>(&self, message: &'a [u8]) -> Option<QuickRecord<'a>> {
        let fields = &message[..self.content.find(message)?];
        self.by_model.find(fields)?;
        Some(QuickRecord::Response {
            id: str::from_utf8(word_behind(&self.id, fields)?).ok()?,
            model: str::from_utf8(word_behind(&self.model, fields)?).ok()?,
            calls: 0,
        })
    }

    /// How many calls of tools are in a line; none if more than one record is. The quotes inside of
    /// texts are escaped, so objects begin nowhere else.
    fn calls_of_one(&self, line: &[u8]) -> Option<usize> {
        if !line.ends_with(b"}") {
            return None;
        }
        let mut calls = 0;
        for at in self.object.find_iter(line) {
            let object = &line[at + self.object.needle().len()..];
            let is_glued = at > 0 && (line[at - 1] == b'}' || object.starts_with(b"parentUuid\":"));
            if is_glued {
                return None;
            }
            calls += usize::from(object.starts_with(b"type\":\"tool_use\",\"id\":\""));
        }
        Some(calls)
    }
}

fn results(message: &[u8]) -> Option<QuickRecord<'static>> {
    const RESULT: [&[u8]; 2] = [
        b"{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"",
        b"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",",
    ];
    let is_result = RESULT.iter().any(|r| message.starts_with(r));
    is_result.then_some(QuickRecord::Results)
}

#[cfg(test)]
mod tests {
    const RESPONSE: &str = r#"{"parentUuid":"p","isSidechain":false,"message":{"model":"m","id":"msg_1","role":"assistant","content":[{"type":"text","text":"a }{\" b"},{"type":"tool_use","id":"t1","name":"Bash","input":{}},{"type":"tool_use","id":"t2","name":"Bash","input":{}}]},"type":"assistant","uuid":"u"}"#;
    const RESULT: &str = r#"{"parentUuid":"u","type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"ok"}]},"uuid":"v"}"#;

    fn glance(line: &str) -> Option<String> {
        super::quick_record(line.as_bytes()).map(|found| format!("{found:?}"))
    }

    #[test]
    fn whole_records_are_told_by_their_beginning() {
        let response = "Response { id: \"msg_1\", model: \"m\", calls: 2 }";
        assert_eq!(glance(RESPONSE).as_deref(), Some(response));
        assert_eq!(glance(RESULT).as_deref(), Some("Results"));
        let progress = r#"{"parentUuid":"u","type":"progress","data":{"type":"bash_progress"}} "#;
        assert_eq!(glance(progress).as_deref(), Some("Progress"));
    }

    #[test]
    fn what_must_be_parsed() {
        let half = &RESPONSE[..RESPONSE.len() / 2];
        for line in [
            String::new(),
            "{}".to_owned(),
            half.to_owned(),
            format!("{RESPONSE}{RESULT}"),
            format!(r#"{RESULT}{{"type":"summary","summary":"s"}}"#),
            format!("{half}{RESULT}"),
            RESPONSE.replace("assistant", "helper"),
            r#"{"type":"user","message":{"role":"user","content":"hello"}}"#.to_owned(),
        ] {
            assert_eq!(glance(&line), None, "{line}");
        }
    }
}
