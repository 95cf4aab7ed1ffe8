//! A text under judgement: a whole file, or one line of a log. Collects what is wrong with it.

use std::path::Path;

use memchr::memchr_iter;
use rethread_disk::DiskError;
use rethread_json::Tree;

use super::law::{self, Law};
use crate::{Violation, Weight};

/// So many errors and so many warnings of one text are told; then only that there are more.
const MOST: usize = 10_000;

/// How far apart the places are at which the number of the line is remembered.
const STRIDE: usize = 64 * 1024;

const MARK: &[u8] = "\u{feff}".as_bytes();

/// The headings of a document that a text is measured by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headings {
    /// For what is wrong with the text as a whole.
    pub(crate) section: &'static str,
    /// For what holds of every text.
    pub(crate) general: &'static str,
}

/// A text under judgement.
pub(crate) struct Sheet<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    first_line: u64,
    headings: Headings,
    /// Line breaks before each stride, once somebody asked.
    breaks: Vec<u64>,
    found: Vec<Violation>,
    errors: usize,
    warnings: usize,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(
        path: &'a Path,
        bytes: &'a [u8],
        first_line: u64,
        headings: Headings,
    ) -> Self {
        Self {
            path,
            bytes,
            first_line,
            headings,
            breaks: Vec::new(),
            found: Vec::new(),
            errors: 0,
            warnings: 0,
        }
    }

    pub(crate) fn section(&self) -> &'static str {
        self.headings.section
    }

    pub(crate) fn general(&self) -> &'static str {
        self.headings.general
    }

    /// Something is against the document; `at` is its byte, where it has one.
    pub(crate) fn error(
        &mut self,
        law: Law,
        at: impl Into<Option<usize>>,
        message: impl Into<String>,
    ) {
        self.errors += 1;
        self.add(Weight::Error, self.errors, law, at.into(), message.into());
    }

    /// Something is unusual.
    pub(crate) fn warning(
        &mut self,
        law: Law,
        at: impl Into<Option<usize>>,
        message: impl Into<String>,
    ) {
        self.warnings += 1;
        self.add(
            Weight::Warning,
            self.warnings,
            law,
            at.into(),
            message.into(),
        );
    }

    fn add(&mut self, weight: Weight, nth: usize, law: Law, at: Option<usize>, message: String) {
        if nth > MOST + 1 {
            return;
        }
        let (law, message) = if nth > MOST {
            let message = format!("more than {MOST} {weight}s; the rest is not told");
            (law::more(self.headings.section), message)
        } else {
            (law, message)
        };
        let line = at.map(|at| self.line(at));
        self.found.push(Violation {
            weight,
            path: self.path.to_owned(),
            line,
            rule: law.rule,
            section: law.section,
            message,
        });
    }

    /// The line of a byte.
    fn line(&mut self, at: usize) -> u64 {
        let count = |bytes: &[u8]| memchr_iter(b'\n', bytes).count() as u64;
        if self.breaks.is_empty() {
            let mut sum = 0;
            for stride in self.bytes.chunks(STRIDE) {
                self.breaks.push(sum);
                sum += count(stride);
            }
        }
        let at = at.min(self.bytes.len());
        let stride = (at / STRIDE).min(self.breaks.len().saturating_sub(1));
        let before = self.breaks.get(stride).copied().unwrap_or(0);
        let rest = self.bytes.get(stride * STRIDE..at).unwrap_or_default();
        self.first_line + before + count(rest)
    }

    /// Judges the encoding: UTF-8, and no byte order mark.
    pub(crate) fn encoding(&mut self) {
        if let Err(e) = std::str::from_utf8(self.bytes) {
            self.error(
                law::utf8(self.headings.general),
                e.valid_up_to(),
                "not UTF-8",
            );
        }
        if self.bytes.starts_with(MARK) {
            self.warning(
                law::bom(self.headings.general),
                0,
                "begins with a byte order mark",
            );
        }
    }

    /// The one object that the text must be.
    pub(crate) fn object(&mut self) -> Option<Tree> {
        self.encoding();
        match Tree::parse(self.bytes) {
            Ok(tree) if tree.root(self.bytes).is_object() => Some(tree),
            Ok(tree) => {
                let at = tree.root(self.bytes).span().start;
                self.error(law::json(self.headings.section), at, "not a JSON object");
                None
            }
            Err(e) => {
                let message = format!("not JSON: {}, at column {}", e.kind, e.column);
                self.error(law::json(self.headings.section), e.offset, message);
                None
            }
        }
    }

    /// Hands over what was found, in the order of lines.
    pub(crate) fn report_all(mut self, out: &mut dyn FnMut(Violation)) {
        self.found.sort_by_key(|v| v.line);
        self.found.into_iter().for_each(out);
    }
}

/// What is wrong with a file that cannot be read.
pub(crate) fn unreadable(path: &Path, e: &DiskError, section: &'static str) -> Violation {
    let message = match e {
        DiskError::NotAFile { found, .. } => format!("{found}, not a regular file"),
        DiskError::Read { cause, .. } => format!("cannot be read: {cause}"),
        DiskError::TooLarge { limit, .. } => format!("larger than {limit} bytes; not checked"),
        other => other.to_string(),
    };
    whole(path, Weight::Error, law::unreadable(section), message)
}

/// Something about a file as a whole.
pub(crate) fn whole(
    path: &Path,
    weight: Weight,
    law: Law,
    message: impl Into<String>,
) -> Violation {
    Violation {
        weight,
        path: path.to_owned(),
        line: None,
        rule: law.rule,
        section: law.section,
        message: message.into(),
    }
}
