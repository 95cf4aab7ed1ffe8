//! The lines of a log under judgement: what is no JSON object is named, and a format looks at the rest.

use std::path::Path;

use rethread_disk::open_sized;
use rethread_json::{SyntaxError, Value};

use super::law::{Law, json, required};
use crate::error::unreadable_file;
use crate::kit::{Flow, LogLine, LogVisitor, scan_log};
use crate::{OpenError, Violation, Weight};

/// The line that is judged, and where to tell what is wrong.
pub(crate) struct LogCheck<'a> {
    path: &'a Path,
    /// The heading for what is wrong with lines as such.
    damage: &'static str,
    line: u64,
    out: &'a mut dyn FnMut(Violation),
}

impl LogCheck<'_> {
    /// Says what is wrong with the line.
    pub(crate) fn report_violation(
        &mut self,
        weight: Weight,
        law: Law,
        message: impl Into<String>,
    ) {
        (self.out)(Violation {
            weight,
            path: self.path.to_owned(),
            line: Some(self.line),
            rule: law.rule,
            section: law.section,
            message: message.into(),
        });
    }

    /// Names the members that must be in an object of the line and are not. `prefix` leads to it.
    pub(crate) fn require(
        &mut self,
        object: Option<Value<'_>>,
        keys: &[&str],
        prefix: &str,
        section: &'static str,
    ) {
        for key in keys {
            if object.is_none_or(|object| object.get(key).is_none()) {
                let message = format!("`{prefix}{key}` is missing");
                self.report_violation(Weight::Error, required(section), message);
            }
        }
    }
}

/// Judges each object of a log, in order.
pub(crate) fn check_log(
    path: &Path,
    damage: &'static str,
    out: &mut dyn FnMut(Violation),
    judge: impl FnMut(&mut LogCheck<'_>, Value<'_>),
) -> Result<(), OpenError> {
    let (file, _) = open_sized(path)?;
    let check = LogCheck {
        path,
        damage,
        line: 0,
        out,
    };
    let mut lines = LineJudge { check, judge };
    let end = scan_log(file, &mut lines);
    end.map_err(|e| unreadable_file(path, e))?;
    Ok(())
}

struct LineJudge<'a, J> {
    check: LogCheck<'a>,
    judge: J,
}

impl<J> LineJudge<'_, J> {
    fn wrong(&mut self, line: &LogLine<'_>, weight: Weight, message: String) -> Flow {
        self.check.line = line.span.number;
        self.check
            .report_violation(weight, json(self.check.damage), message);
        Flow::Continue(())
    }
}

impl<J: FnMut(&mut LogCheck<'_>, Value<'_>)> LogVisitor<'_> for LineJudge<'_, J> {
    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        self.check.line = line.span.number;
        (self.judge)(&mut self.check, value);
        Flow::Continue(())
    }

    fn other_value(&mut self, line: &LogLine<'_>, _: Value<'_>) -> Flow {
        self.wrong(line, Weight::Error, "not a JSON object".to_owned())
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        let message = format!("a line of {} bytes; not checked", line.span.len);
        self.wrong(line, Weight::Warning, message)
    }

    fn damaged(&mut self, line: &LogLine<'_>, error: &SyntaxError) -> Flow {
        let message = format!("not JSON: {}, at column {}", error.kind, error.column);
        self.wrong(line, Weight::Error, message)
    }
}
