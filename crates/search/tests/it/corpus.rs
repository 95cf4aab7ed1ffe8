//! Real conversations: looking at bytes first loses nothing, and the index says what the scan says.

use std::collections::BTreeSet;

use rethread_catalog::{CatalogedSource, Catalogue, list_with, sources_at};
use rethread_formats::{Env, FORMATS, Want};
use rethread_search::{
    HitOrder, Query, SearchRequest, SearchedSession, TextIndex, Tokens, build_index,
    search_sessions, walk_texts,
};

use crate::store::searched;

#[test]
fn words_of_fixtures_are_found_by_scan_and_index_alike() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let scratch = tempfile::tempdir().unwrap();
    let home = scratch.path().canonicalize().unwrap();
    let variables = std::collections::BTreeMap::from([(
        "XDG_CACHE_HOME".to_owned(),
        home.join("cache").into_os_string(),
    )]);
    let mut env = Env::from_variables(variables, Some(home.clone()), home.clone()).unwrap();
    env.within = Some(home.clone());
    lay_out(&fixtures, &home);
    let catalogue = Catalogue::open(&env);
    let listing = list_with(&env, &catalogue, Want::default(), &[], &|_, _| {});
    let sessions = searched(&listing);
    assert!(sessions.len() > 10, "{}", sessions.len());
    let formats: BTreeSet<&str> = sessions.iter().map(|s| s.summary.head.format).collect();
    assert!(formats.len() > 2, "{formats:?}");
    let report = build_index(&env, &catalogue, &sessions, &|_, _| {});
    assert_eq!(report.stopped, None);
    let index = TextIndex::open(&env, &catalogue, &mut Vec::new()).unwrap();
    assert!(sessions.iter().all(|s| index.has(s.cataloged)));
    let words = all_words(&sessions);
    assert!(words.len() > 100);
    for (at, word) in words.iter().enumerate() {
        let typed = match at % 4 {
            0 => format!("\"{word}\" -nobodywrotethis"),
            1 => format!("\"{word}\"*"),
            2 => format!("\"{word}\" the"),
            _ => format!("\"{word}\""),
        };
        let query = Query::parse(&typed).unwrap();
        let request = SearchRequest {
            query: &query,
            since: None,
            until: None,
            order: HitOrder::Relevance,
            now: 0,
        };
        let scanned = search_sessions(&request, &sessions, None, &|_, _| {});
        let indexed = search_sessions(&request, &sessions, Some(&index), &|_, _| {});
        assert_eq!(scanned.found, indexed.found, "{typed}");
        if at % 4 == 3 {
            assert!(
                !scanned.found.is_empty(),
                "{typed} is in a text, and was not found"
            );
        }
    }
}

#[test]
fn every_word_of_every_fixture_is_found_in_it() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut folders = vec![fixtures];
    let mut formats = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            for source in sources_at(&path) {
                formats.insert(source.format.slug());
                check_words(source);
            }
        }
    }
    assert!(formats.len() >= 8, "{formats:?}");
}

fn check_words(source: rethread_formats::Source) {
    let summary = rethread_formats::summarize(&source, Want::default());
    let cataloged = CatalogedSource {
        id: summary.head.id.clone(),
        source,
        row: None,
        read_upto: None,
    };
    let sessions = [SearchedSession {
        summary: &summary,
        cataloged: &cataloged,
    }];
    for word in all_words(&sessions) {
        let query = Query::parse(&format!("\"{word}\"")).unwrap();
        let request = SearchRequest {
            query: &query,
            since: None,
            until: None,
            order: HitOrder::Relevance,
            now: 0,
        };
        let scanned = search_sessions(&request, &sessions, None, &|_, _| {});
        let path = &cataloged.source.path;
        assert_eq!(scanned.found.len(), 1, "{word} in {}", path.display());
    }
}

/// The words in the texts of sessions.
fn all_words(sessions: &[SearchedSession<'_>]) -> Vec<String> {
    let mut words = BTreeSet::new();
    for session in sessions {
        let source = &session.cataloged.source;
        let Ok(conversation) = source.format.reader().read(source) else {
            continue;
        };
        walk_texts(&conversation, &mut |_| false, &mut |text| {
            let mut tokens = Tokens::of(&text.value);
            while let Some(token) = tokens.next_token() {
                words.insert(token.term.clone());
            }
        });
    }
    words.into_iter().collect()
}

/// Puts fixtures of agents that keep one file a session where these belong.
fn lay_out(fixtures: &std::path::Path, home: &std::path::Path) {
    let places = [
        ("claude-code", ".claude/projects/-work"),
        ("codex", ".codex/sessions/2026/01/01"),
        ("pi", ".pi/agent/sessions/work"),
        ("atomic", ".atomic/agent/sessions/work"),
    ];
    assert!(
        places
            .iter()
            .all(|(slug, _)| FORMATS.iter().any(|f| f.slug() == *slug))
    );
    for (slug, place) in places {
        let mut folders = vec![fixtures.join(slug)];
        let to = home.join(place);
        std::fs::create_dir_all(&to).unwrap();
        while let Some(folder) = folders.pop() {
            let mut entries: Vec<_> = std::fs::read_dir(&folder).unwrap().flatten().collect();
            entries.sort_by_key(std::fs::DirEntry::path);
            for entry in entries {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "jsonl") {
                    let name = path.file_name().unwrap();
                    let _ = std::fs::copy(&path, to.join(name)).unwrap();
                }
            }
        }
    }
}
