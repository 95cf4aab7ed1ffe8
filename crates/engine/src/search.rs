//! `search`: conversations by what was said in them.

use std::collections::HashSet;

use jiff::tz::TimeZone;
use rethread_catalog::Listing;
use rethread_formats::{Conversation, Env};
use rethread_model::{EntryIx, Kind, Note, Severity, State, Summary};
use rethread_search::{
    AskedPath, CarriedConversation, FilterName, FoundSession, Hit, HitOrder, NearMiss, Query,
    SearchRequest, SearchText, SearchedSession, Snippet, SnippetSize, TextKind, TextMatcher,
    TextPlace, TouchedFile, search_near, search_sessions, texts_up_to,
};

use crate::Error;
use crate::filter::Filter;
use crate::query_filter::{ListFilters, TimeSpan, asked_span, text_query};
use crate::search_library::SearchLibrary;
use crate::session_names::SessionNames;

/// What is looked for, and how much of it is told.
#[derive(Clone, Debug)]
pub struct SearchOptions<'a> {
    /// What is looked for.
    pub query: &'a Query,
    /// Which sessions are looked into.
    pub filter: &'a Filter,
    /// In what order conversations are told.
    pub order: HitOrder,
    /// At most so many conversations.
    pub limit: usize,
    /// At most so many places of each.
    pub places: usize,
    /// How much of a text is told.
    pub size: SnippetSize,
    /// The user's time zone, for times that a query names.
    pub zone: &'a TimeZone,
}

/// What was found.
#[derive(Debug, Default)]
pub struct SearchAnswer {
    /// The conversations, the best first.
    pub conversations: Vec<FoundConversation>,
    /// How many there are, with those that are not told.
    pub total: usize,
    /// How many texts have what was looked for.
    pub total_places: usize,
    /// How it differs from what was asked for, where nothing fits that.
    pub miss: Option<NearMiss>,
    /// How many conversations were looked into.
    pub looked_at: usize,
    /// What to call the sessions.
    pub names: SessionNames,
    /// What was noticed.
    pub notes: Vec<Note>,
}

/// A conversation with what was found in it.
#[derive(Debug)]
pub struct FoundConversation {
    /// What a list shows of it.
    pub summary: Summary,
    /// The texts that are told, the best first.
    pub places: Vec<FoundPlace>,
    /// How many texts there are.
    pub total_places: usize,
}

/// A text that was found.
#[derive(Debug)]
pub struct FoundPlace {
    /// What is known of it without reading it.
    pub hit: Hit,
    /// The id of its entry, where it has one.
    pub entry_id: Option<String>,
    /// The tool's name, of a call or an output.
    pub tool: Option<String>,
    /// Which part of the conversation it is in.
    pub part: ConversationPart,
    /// A few words around what was found.
    pub snippet: Snippet,
    /// The files that were asked for and that the call touches.
    pub files: Vec<TouchedFile>,
}

/// A part of a conversation, as seen from where it would go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationPart {
    /// What the agent would go on with.
    Active,
    /// What a summary stands for now.
    Compacted,
    /// A branch that was left.
    LeftBranch,
    /// What a sub-agent said in the same file.
    SubAgent,
    /// The original that travels along in a converted conversation, where that says it and the
    /// conversation itself does not.
    CarriedOriginal,
}

impl ConversationPart {
    /// A word for scripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Compacted => "compacted",
            Self::LeftBranch => "left_branch",
            Self::SubAgent => "subagent",
            Self::CarriedOriginal => "carried_original",
        }
    }
}

/// Searches all conversations.
pub fn search(
    env: &Env,
    library: &SearchLibrary,
    options: &SearchOptions<'_>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<SearchAnswer, Error> {
    let query = options.query;
    let listing = &library.listing;
    let TimeSpan { since, until } =
        asked_span(&query.filters, options.filter, env.now(), options.zone)?;
    let asks_for_texts = query.asks_for_texts();
    let filter = Filter {
        // A text has a time of its own.
        since: since.filter(|_| !asks_for_texts),
        until: until.filter(|_| !asks_for_texts),
        subagents: true,
        ..options.filter.clone()
    };
    let mut listed = ListFilters::new(env, &query.filters);
    let all = listing.sessions.iter();
    filter.check(env, &all)?;
    listed.check(env, &all)?;
    let mut notes = library.notes.clone();
    notes.extend(passed_notes(env, listing, &filter, &mut listed));
    let mut sessions = searched_sessions(listing);
    sessions.retain(|s| filter.takes(env, s.summary) && listed.takes(env, s.summary));
    let texts = text_query(query);
    let request = SearchRequest {
        query: &texts,
        since: since.map(rethread_model::Moment::millis),
        until: until.map(rethread_model::Moment::millis),
        order: options.order,
        now: env.now().millis(),
    };
    let index = library.index.as_ref();
    let mut miss = None;
    let mut marked = texts.any_term();
    let mut found = if asks_for_texts {
        let results = search_sessions(&request, &sessions, index, progress);
        notes.extend(results.notes);
        results.found
    } else {
        newest_first(&sessions)
    };
    if found.is_empty() && asks_for_texts {
        let near = search_near(&request, &sessions, index, progress);
        marked = near.query.any_term();
        found = near.results.found;
        miss = near.miss;
    }
    let marked = Query {
        filters: texts.filters.clone(),
        ..marked
    };
    let mut conversations = Vec::new();
    for one in found.iter().take(options.limit) {
        let Some((described, damage)) = describe(one, &sessions, &marked, options) else {
            continue;
        };
        conversations.push(described);
        notes.extend(
            damage
                .into_iter()
                .filter(|note| !notes.contains(note))
                .collect::<Vec<_>>(),
        );
    }
    Ok(SearchAnswer {
        conversations,
        total: found.len(),
        total_places: found.iter().map(|one| one.hits.len()).sum(),
        looked_at: sessions.len(),
        miss,
        names: SessionNames::of_library(listing),
        notes,
    })
}

/// What is wrong with the sessions that are asked for: what is damaged in them cannot be found.
fn passed_notes(
    env: &Env,
    listing: &Listing,
    filter: &Filter,
    listed: &mut ListFilters,
) -> Vec<Note> {
    let noted = listing.sessions.iter().filter(|s| !s.notes.is_empty());
    let asked = noted.filter(|s| filter.takes(env, s) && listed.takes(env, s));
    asked.flat_map(|s| s.notes.iter().cloned()).collect()
}

/// The sessions that can be searched.
pub(crate) fn searched_sessions(listing: &Listing) -> Vec<SearchedSession<'_>> {
    let all = listing.cataloged_sessions().into_iter();
    let ready = all.filter(|(summary, _)| summary.state == State::Ready);
    ready
        .map(|(summary, cataloged)| SearchedSession { summary, cataloged })
        .collect()
}

/// All sessions, where nothing is asked of their texts.
fn newest_first(sessions: &[SearchedSession<'_>]) -> Vec<FoundSession> {
    let mut order: Vec<u32> = (0_u32..).zip(sessions).map(|(at, _)| at).collect();
    order.sort_by_cached_key(|at| {
        let summary = sessions.get(*at as usize).map(|s| s.summary);
        let updated = summary.map(|s| s.head.updated);
        (
            std::cmp::Reverse(updated),
            summary.map(|s| (s.head.id.clone(), s.path.clone())),
        )
    });
    let found = |session| FoundSession {
        session,
        score: 0.0,
        hits: Vec::new(),
    };
    order.into_iter().map(found).collect()
}

/// What is told of a conversation, and what is damaged in it: that was not searched.
fn describe(
    found: &FoundSession,
    sessions: &[SearchedSession<'_>],
    query: &Query,
    options: &SearchOptions<'_>,
) -> Option<(FoundConversation, Vec<Note>)> {
    let session = sessions.get(found.session as usize)?;
    let source = &session.cataloged.source;
    let hits = found.hits.iter().take(options.places);
    let needs_texts = hits.clone().any(|hit| hit.kind != TextKind::Title);
    let conversation = needs_texts
        .then(|| source.format.reader().read(source).ok())
        .flatten();
    let describer = PlaceDescriber {
        matcher: TextMatcher::new(query),
        files: query
            .filters_of(FilterName::File)
            .filter(|clause| !clause.is_negated)
            .flat_map(|clause| clause.any.iter().map(|path| AskedPath::new(path)))
            .collect(),
        size: options.size,
        parts: conversation.as_ref().map(ConversationParts::of),
        originals: match &conversation {
            Some(conversation) if hits.clone().any(|hit| hit.place.carried > 0) => {
                CarriedConversation::all_of(conversation)
            }
            _ => Vec::new(),
        },
        conversation: conversation.as_ref(),
        title: session.summary.head.title.as_ref().map(|t| t.text.as_str()),
    };
    let described = FoundConversation {
        summary: session.summary.clone(),
        places: hits.filter_map(|hit| describer.describe(hit)).collect(),
        total_places: found.hits.len(),
    };
    let notes = conversation
        .iter()
        .flat_map(|conversation| &conversation.notes);
    let damage = notes.filter(|note| note.severity == Severity::Damage);
    Some((described, damage.cloned().collect()))
}

/// Reads the texts of a conversation again that are told.
struct PlaceDescriber<'a> {
    matcher: TextMatcher,
    files: Vec<AskedPath>,
    size: SnippetSize,
    conversation: Option<&'a Conversation>,
    parts: Option<ConversationParts>,
    /// What the conversation carries, each in the one before it.
    originals: Vec<CarriedConversation>,
    title: Option<&'a str>,
}

impl PlaceDescriber<'_> {
    /// What is told of a text; none where its source is another one by now.
    fn describe(&self, hit: &Hit) -> Option<FoundPlace> {
        if hit.kind == TextKind::Title {
            let text = SearchText::title(self.title?);
            return Some(self.place(hit, &text, None, ConversationPart::Active));
        }
        let conversation = match usize::from(hit.place.carried).checked_sub(1) {
            None => self.conversation?,
            Some(level) => &self.originals.get(level)?.conversation,
        };
        let index = usize::try_from(hit.place.entry).ok()?.checked_sub(1)?;
        let ix =
            EntryIx::new(index).filter(|ix| ix.get() < conversation.session.entries().len())?;
        let texts = texts_up_to(conversation, ix);
        let is_there =
            |place: TextPlace| (place.entry, place.ordinal) == (hit.place.entry, hit.place.ordinal);
        let text = texts.iter().find(|text| is_there(text.place))?;
        let id = Some(conversation.session.id(ix)).filter(|id| !id.is_empty());
        let part = match &self.parts {
            _ if hit.place.carried > 0 => ConversationPart::CarriedOriginal,
            Some(parts) => parts.part_of(conversation, ix),
            None => ConversationPart::Active,
        };
        Some(self.place(hit, text, id, part))
    }

    fn place(
        &self,
        hit: &Hit,
        text: &SearchText,
        entry_id: Option<&str>,
        part: ConversationPart,
    ) -> FoundPlace {
        let found = self.matcher.find_in(&text.value).unwrap_or_default();
        let is_asked = |file: &&TouchedFile| self.files.iter().any(|asked| asked.has(&file.path));
        FoundPlace {
            hit: *hit,
            entry_id: entry_id.map(str::to_owned),
            tool: text.tool.as_deref().map(str::to_owned),
            part,
            snippet: Snippet::of(&text.value, &found.ranges, self.size),
            files: text.files.iter().filter(is_asked).cloned().collect(),
        }
    }
}

/// Which entries the agent would go on with, and which of them a summary stands for.
struct ConversationParts {
    active: HashSet<EntryIx>,
    last_summary: Option<EntryIx>,
}

impl ConversationParts {
    fn of(conversation: &Conversation) -> Self {
        let session = &conversation.session;
        let path = session.active_path();
        let is_summary = |ix: &&EntryIx| session.entry(**ix).kind == Kind::Compaction;
        Self {
            last_summary: path.iter().rev().find(is_summary).copied(),
            active: path.into_iter().collect(),
        }
    }

    fn part_of(&self, conversation: &Conversation, ix: EntryIx) -> ConversationPart {
        let entry = conversation.session.entry(ix);
        if entry.side {
            ConversationPart::SubAgent
        } else if entry.beside {
            ConversationPart::Active
        } else if !self.active.contains(&ix) {
            // What came before a summary is no longer on the way where that cut the chain.
            let is_before = self.last_summary.is_some_and(|last| ix < last);
            if is_before && entry.logical_parent.is_none() && self.is_cut(conversation) {
                ConversationPart::Compacted
            } else {
                ConversationPart::LeftBranch
            }
        } else if self.last_summary.is_some_and(|last| ix < last) {
            ConversationPart::Compacted
        } else {
            ConversationPart::Active
        }
    }

    /// Whether the way begins with a summary, so that all before it is cut off.
    fn is_cut(&self, conversation: &Conversation) -> bool {
        let last = self
            .last_summary
            .map(|last| conversation.session.entry(last));
        last.is_some_and(|entry| entry.parent.is_none())
    }
}
