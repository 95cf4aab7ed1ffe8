//! Looking for texts by reading conversations: what is true whatever an index says.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use rethread_formats::{Conversation, Source};
use rethread_model::{EntryIx, Link, LinkKind, Note, Summary};

use crate::carried::walk_all_texts;
use crate::hit::{Hit, SearchedSession};
use crate::matcher::{ConversationFacts, TextFilters, TextMatcher};
use crate::prefilter::BytePrefilter;
use crate::query::Query;
use crate::texts::SearchText;

/// What was found in conversations, and which of them could not be read.
#[derive(Debug, Default)]
pub(crate) struct ScannedTexts {
    pub(crate) hits: Vec<Hit>,
    pub(crate) notes: Vec<Note>,
}

/// Looks into conversations for what a query wants.
pub(crate) struct TextScan<'q> {
    matcher: TextMatcher,
    filters: TextFilters<'q>,
    prefilter: Option<BytePrefilter>,
}

impl<'q> TextScan<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        let filters = TextFilters::new(query);
        let prefilter = BytePrefilter::new(query).filter(|_| !filters.needs_all_texts());
        Self {
            matcher: TextMatcher::new(query),
            filters,
            prefilter,
        }
    }

    /// What is found in these of the sessions, in no particular order. `progress` is told how many were
    /// looked into.
    pub(crate) fn scan(
        &self,
        sessions: &[SearchedSession<'_>],
        wanted: &[u32],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> ScannedTexts {
        let done = AtomicUsize::new(0);
        let scan = |at: &u32| {
            let session = sessions.get(*at as usize);
            let scanned = session.map(|session| self.scan_source(*at, session));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, wanted.len());
            scanned.unwrap_or_default()
        };
        let scanned: Vec<ScannedTexts> = wanted.par_iter().map(scan).collect();
        let mut all = ScannedTexts::default();
        for one in scanned {
            all.hits.extend(one.hits);
            all.notes.extend(one.notes);
        }
        all
    }

    /// What is found in a title.
    pub(crate) fn scan_title(&self, session: u32, title: &str) -> Option<Hit> {
        self.hit(session, &SearchText::title(title))
    }

    fn scan_source(&self, session: u32, searched: &SearchedSession<'_>) -> ScannedTexts {
        let source = &searched.cataloged.source;
        // What was copied from another session may still be in the file of that one.
        let head = &searched.summary.head;
        let is_apart = |link: &Link| matches!(link.kind, LinkKind::ForkOf | LinkKind::Continues);
        // An original that travels along is packed.
        let is_plain = head.converted_from.is_none() && !head.links.iter().any(is_apart);
        if is_plain && !self.may_hold(source) {
            return ScannedTexts::default();
        }
        let mut scanned = ScannedTexts::default();
        match source.format.reader().read(source) {
            Ok(conversation) => {
                scanned.hits = self.scan_conversation(session, searched.summary, &conversation);
            }
            // Who removed it meanwhile knows that.
            Err(_) if !source.path.exists() => {}
            Err(e) => {
                let why = format!("could not be searched: {e}");
                scanned.notes.push(Note::damage(why).at(&source.path));
            }
        }
        scanned
    }

    fn scan_conversation(
        &self,
        session: u32,
        summary: &Summary,
        conversation: &Conversation,
    ) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut facts = ConversationFacts::default();
        let mut buffer = Vec::new();
        let mut skips = |ix: EntryIx| !self.may_say(conversation, ix, &mut buffer);
        walk_all_texts(conversation, summary, &mut skips, &mut |text| {
            self.filters.note(&text, &mut facts);
            hits.extend(self.hit(session, &text));
        });
        if !self.filters.wants_conversation(&facts) {
            hits.clear();
        }
        hits
    }

    fn hit(&self, session: u32, text: &SearchText) -> Option<Hit> {
        if !self.filters.wants_text(text) {
            return None;
        }
        let found = self.matcher.find_in(&text.value)?;
        Some(Hit {
            session,
            place: text.place,
            kind: text.kind,
            time: text.time,
            words: found.words,
            digest: text.digest(),
        })
    }

    /// Whether the files of a session may hold what is wanted.
    fn may_hold(&self, source: &Source) -> bool {
        let Some(prefilter) = &self.prefilter else {
            return true;
        };
        let Ok(files) = source.format.store().files(source) else {
            return true;
        };
        let is_plain = |path: &std::path::PathBuf| {
            path.extension()
                .is_some_and(|e| e == "jsonl" || e == "json")
        };
        if files.is_empty() || !files.iter().all(is_plain) {
            return true;
        }
        files.iter().any(|file| prefilter.passes_file(file))
    }

    /// Whether the records of an entry may hold what is wanted.
    fn may_say(&self, conversation: &Conversation, ix: EntryIx, buffer: &mut Vec<u8>) -> bool {
        let Some(prefilter) = &self.prefilter else {
            return true;
        };
        // What an event says may be in other words than its record.
        if !conversation.session.entry(ix).kind.is_message() {
            return true;
        }
        let origin = conversation.session.origin(ix);
        let mut look = prefilter.look();
        let mut records = origin.iter().map(|raw| {
            let bytes = conversation.native.view(*raw, buffer);
            bytes.map_or(true, |bytes| look.add(bytes))
        });
        // What comes from no record comes from elsewhere.
        origin.is_empty() || records.any(|may| may)
    }
}
