//! The same calls, one after the other, made to both.

use std::collections::HashSet;
use std::path::PathBuf;

use rethread_formats::pi::SessionManager;
use rethread_json::{Array, Object, quote};
use rethread_judges::PiVersion;

use super::calls::Call;
use super::{
    Answer, NOW, World, agree, ask, numbers, places, read, same, same_text, strings, view, world,
};

/// Our session after some calls, and all that the judge needs to make them too.
pub(super) struct Script {
    pub(super) w: World,
    pub(super) session: SessionManager,
    told: Array,
    gave: Array,
    ids: Vec<String>,
    known: HashSet<String>,
}

/// Makes the calls to a new session of ours.
pub(super) fn ours(calls: &[Call]) -> Script {
    let w = world();
    let session = SessionManager::create(&w.host, "/p", Some(&w.path("ours"))).unwrap();
    let file = session.session_file().unwrap().to_str().unwrap().to_owned();
    let theirs = w.path("theirs");
    let create = Array::new()
        .str("create")
        .str("/p")
        .str(theirs.to_str().unwrap());
    let mut script = Script {
        told: Array::new().raw(&create.finish()),
        gave: Array::new().str(&file),
        ids: Vec::new(),
        known: HashSet::new(),
        w,
        session,
    };
    for call in calls {
        script.told = script.told.raw(&call.told(&script.session));
        script.gave = script.gave.raw(&call.make(&mut script.session));
        script.note_ids();
    }
    script
}

impl Script {
    /// Ids come from us, so that the judge gives the same.
    fn note_ids(&mut self) {
        for entry in self.session.entries() {
            if self.known.insert(entry.id().to_owned()) {
                self.ids.push(entry.id().to_owned());
            }
        }
    }

    pub(super) fn file(&self) -> PathBuf {
        self.session.session_file().unwrap().to_owned()
    }

    /// Lets the judge make the calls as well.
    pub(super) fn theirs(&self, pi: PiVersion) -> Option<Answer> {
        self.theirs_at(pi, &[])
    }

    fn theirs_at(&self, pi: PiVersion, at: &[usize]) -> Option<Answer> {
        let ours = Object::new()
            .raw("gave", &self.gave.clone().finish())
            .raw("told", &view(&self.session, at));
        let question = Object::new()
            .str("home", self.w.path("agent").to_str().unwrap())
            .raw("calls", &self.told.clone().finish())
            .raw("look", &numbers(at))
            .raw("ids", &strings(self.ids.iter().map(String::as_str)))
            .raw("ours", &ours.finish());
        ask(pi, question)
    }

    /// Both did the same, to the last byte of the file.
    #[track_caller]
    pub(super) fn compare(&self) {
        let Some(answer) = self.theirs_at(PiVersion::V0_87, &places(&self.session)) else {
            return;
        };
        let ours = answer.get("ours");
        let plain =
            |value: rethread_json::Value<'_>| self.plain(&String::from_utf8_lossy(value.raw()));
        same_text(
            "what the calls gave",
            &plain(answer.get("gave")),
            &plain(ours.get("gave").unwrap()),
        );
        let (told, we_say) = (plain(answer.get("told")), plain(ours.get("told").unwrap()));
        let theirs = rethread_json::Document::parse(told.into_bytes()).unwrap();
        let ours = rethread_json::Document::parse(we_say.into_bytes()).unwrap();
        same("after the calls", theirs.root(), ours.root());
        match answer.text("text") {
            Some(text) => same_text(
                "the file",
                &self.plain(&text),
                &self.plain(&read(&self.file())),
            ),
            // They wait for the first answer before they make a file.
            None => assert!(!self.has_answer(), "they wrote no file"),
        }
        if self.file().exists() {
            agree(PiVersion::V0_87, &self.w, &self.file());
        }
    }

    pub(super) fn has_answer(&self) -> bool {
        let mut entries = self.session.entries().iter();
        entries.any(|entry| entry.role().as_deref() == Some("assistant"))
    }

    /// Without what must differ: the folder, and the ids of sessions.
    fn plain(&self, text: &str) -> String {
        let inside = |path: PathBuf| {
            let quoted = quote(path.to_str().unwrap());
            String::from_utf8_lossy(&quoted)
                .trim_matches('"')
                .to_owned()
        };
        let text = text.replace(&inside(self.w.path("theirs")), "FOLDER");
        without_uuids(&text.replace(&inside(self.w.path("ours")), "FOLDER"))
    }
}

/// Puts the same word in the place of every UUID of version 7.
fn without_uuids(text: &str) -> String {
    let is_uuid = |bytes: &[u8]| {
        bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            14 => *byte == b'7',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.as_bytes().windows(36).position(is_uuid) {
        plain += &rest[..at];
        plain += "UUID";
        rest = &rest[at + 36..];
    }
    plain + rest
}

#[test]
fn uuids_are_taken_out() {
    let text = format!("a{}b-01a1e054-fcda-7000-8000-000000000000-é", &NOW[..1]);
    assert_eq!(without_uuids(&text), "a2b-UUID-é");
}
