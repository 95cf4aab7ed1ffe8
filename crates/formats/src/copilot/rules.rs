//! Measuring sessions against what the client needs to go on with them: it takes a log for corrupted
//! in which an event lacks its envelope.

use std::path::Path;

use rethread_json::Value;
use rethread_model::Moment;

use super::Copilot;
use crate::check::law::{law, timestamp};
use crate::check::log::{LogCheck, check_log};
use crate::fields::string_of;
use crate::{OpenError, Rules, Store, Violation, Weight};

const READ: &str = "What is read";
const DAMAGE: &str = "Damage";

/// What every event has.
const ENVELOPE: [&str; 5] = ["type", "data", "id", "timestamp", "parentId"];
/// What the first event says.
const START: [&str; 5] = [
    "sessionId",
    "version",
    "producer",
    "copilotVersion",
    "startTime",
];

impl Rules for Copilot {
    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        let sources = self.at_path(path);
        for source in &sources {
            let (mut count, mut last) = (0_u64, None);
            check_log(&source.path, DAMAGE, out, |line, event| {
                count += 1;
                check_event(line, event, count == 1, last.as_deref());
                last = string_of(event, "id");
            })?;
        }
        Ok((!sources.is_empty()).then_some(sources.len() as u64))
    }
}

/// Judges one event, by the id of the one before it.
fn check_event(line: &mut LogCheck<'_>, event: Value<'_>, is_first: bool, last: Option<&str>) {
    line.require(Some(event), &ENVELOPE, "", READ);
    let is_start = event.get("type").is_some_and(|t| t.is_str("session.start"));
    if is_start {
        line.require(event.get("data"), &START, "data.", READ);
    }
    if is_start != is_first {
        let message = "a session begins with one `session.start`";
        line.report_violation(Weight::Error, law("session-start", READ), message);
    }
    for key in ["id", "parentId"] {
        let id = event.get(key).filter(|id| !id.is_null());
        let is_id = |id: Value<'_>| {
            id.str()
                .is_some_and(|id| uuid::Uuid::try_parse(&id).is_ok())
        };
        if id.is_some_and(|id| !is_id(id)) {
            let message = format!("`{key}` is no UUID");
            line.report_violation(Weight::Error, law("uuid", READ), message);
        }
    }
    if let Some(time) = string_of(event, "timestamp")
        && time.parse::<Moment>().is_err()
    {
        let message = format!("`timestamp` is `{time}`, which is no time");
        line.report_violation(Weight::Error, timestamp(READ), message);
    }
    if string_of(event, "parentId").as_deref() != last {
        let message = "`parentId` is not the event before it";
        line.report_violation(Weight::Warning, law("chain", READ), message);
    }
}
