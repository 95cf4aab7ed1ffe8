//! Every field that a command prints with `--json`, in one table.
//!
//! `rethread help --json` prints it; `docs/json.md` and the schemas in `docs/schema` are made of it by the
//! tests, which compare all that commands print with it.

pub(crate) mod kind;

// Tables: a row a field, however long it is.
#[rustfmt::skip]
mod answers;
#[rustfmt::skip]
mod message;
#[rustfmt::skip]
mod messages;
#[rustfmt::skip]
pub(crate) mod session;

use self::kind::JsonAnswer;

/// Answers that belong together.
pub(crate) struct AnswerSection {
    pub(crate) heading: &'static str,
    pub(crate) answers: &'static [JsonAnswer],
}

/// All answers.
pub(crate) static SECTIONS: [AnswerSection; 6] = [
    AnswerSection {
        heading: "Looking",
        answers: answers::READING,
    },
    AnswerSection {
        heading: "Exporting and converting",
        answers: answers::MOVING,
    },
    AnswerSection {
        heading: "Writing",
        answers: answers::WRITING,
    },
    AnswerSection {
        heading: "Projects and the program",
        answers: answers::PROJECTS,
    },
    AnswerSection {
        heading: "Messages between agents",
        answers: messages::MESSAGES,
    },
    AnswerSection {
        heading: "Notes and errors",
        answers: answers::TALK,
    },
];
