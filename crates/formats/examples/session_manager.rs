//! Every method of the session manager, in the order of the format's document.
//!
//! `cargo run -p rethread-formats --example session_manager`. It works in a folder of its own, so
//! nobody's sessions are touched.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::too_many_lines,
    reason = "a program to read from top to bottom"
)]

use std::error::Error;

use rethread_formats::Env;
use rethread_formats::pi::{
    ContentBlock, Host, NewPiMessage, NewSessionOptions, SessionEntry, SessionManager,
};

/// Goes through all methods.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // A program that works with real sessions says `Env::system()?`.
    let home = tempfile::tempdir()?;
    let env = Env::from_variables(
        std::collections::BTreeMap::new(),
        Some(home.path().into()),
        home.path().into(),
    )?;
    let host = Host::atomic(env);

    // create: the file comes with the first message.
    let mut session = SessionManager::create(&host, "/shop", None)?;
    session.append_message(NewPiMessage::user("Is the shop open?"))?;
    let file = session.session_file().ok_or("no file")?.to_owned();

    // open
    let opened = SessionManager::open(&host, &file, None)?;
    assert_eq!(opened.entries(), session.entries());

    // continueRecent
    let recent = SessionManager::continue_recent(&host, "/shop", None)?;
    assert_eq!(recent.session_id(), session.session_id());

    // inMemory
    let mut draft = SessionManager::in_memory(&host, "/shop");

    // forkFrom
    let fork = SessionManager::fork_from(&host, &file, "/other", None)?;
    assert_eq!(fork.header().parent_session(), file.to_str());

    // list
    let of_shop = SessionManager::list(&host, "/shop", None, None)?;
    assert_eq!(of_shop.len(), 1);

    // listAll: the callback is told how far it is.
    let mut show = |done: usize, all: usize| println!("{done} of {all} sessions read");
    let all = SessionManager::list_all(&host, None, Some(&mut show))?;
    assert_eq!(all.len(), 2);

    // newSession
    let options = NewSessionOptions {
        id: Some("draft-1".to_owned()),
        parent_session: Some(file.clone()),
    };
    draft.new_session(options)?;
    assert_eq!(draft.session_id(), "draft-1");

    // setSessionFile: what is in memory reads the file and stays in memory.
    draft.set_session_file(&file)?;
    assert_eq!(draft.entries(), session.entries());

    // createBranchedSession: goes on in a new file, with the way to that entry.
    let question = session.leaf_id().ok_or("no leaf")?.to_owned();
    let branched = session.create_branched_session(&question)?;
    println!("goes on in {}", branched.ok_or("no file")?.display());

    // appendMessage
    let answer = session.append_message(
        NewPiMessage::assistant([ContentBlock::text("From nine to five.")]).model(
            "anthropic-messages",
            "anthropic",
            "claude-x",
        ),
    )?;

    // appendThinkingLevelChange
    session.append_thinking_level_change("high")?;

    // appendModelChange
    session.append_model_change("openai", "gpt-x")?;

    // appendCompaction: what came before the answer gives way to the summary.
    session.append_compaction("Asked when.", Some(&answer), 1200, None, None)?;

    // appendCustomEntry: state of an extension, which the model does not see.
    session.append_custom_entry("clock", Some(br#"{"zone":"UTC"}"#))?;

    // appendSessionInfo
    session.append_session_info("Opening hours")?;

    // appendCustomMessageEntry: a message of an extension, which the model sees.
    session.append_custom_message("clock", "It is noon.", true, None)?;

    // appendLabelChange
    session.append_label_change(&question, Some("start"))?;

    // getLeafId
    let leaf = session.leaf_id().ok_or("no leaf")?.to_owned();

    // getLeafEntry
    let entry = session.leaf_entry().ok_or("no leaf")?;
    assert_eq!(entry.type_name(), "label");

    // getEntry
    let entry = session.entry(&answer).ok_or("no such entry")?;
    assert_eq!(entry.role().as_deref(), Some("assistant"));

    // getBranch: from the root to the entry.
    let way: Vec<&str> = session
        .branch_path(Some(&answer))
        .into_iter()
        .map(SessionEntry::id)
        .collect();
    assert_eq!(way, [&question, &answer]);

    // getTree
    let tree = session.tree();
    println!(
        "{} entries, {} root",
        tree.nodes().len(),
        tree.roots().len()
    );

    // getChildren
    assert_eq!(session.children(&question).len(), 1);

    // getLabel
    assert_eq!(session.label(&question), Some("start"));

    // branch: what is appended next is another answer.
    session.branch(&question)?;
    session.append_message(NewPiMessage::user("On Sundays, too?"))?;
    assert_eq!(session.children(&question).len(), 2);

    // resetLeaf: what is appended next is another root.
    session.reset_leaf();
    session.append_message(NewPiMessage::user("Something else."))?;
    assert_eq!(session.tree().roots().len(), 2);

    // branchWithSummary
    session.branch_with_summary(Some(&leaf), "Nothing came of it.", None, None)?;

    // buildSessionContext: the summary, what was kept, and what came after.
    let context = session.build_session_context();
    assert_eq!(context.messages.len(), 4);
    assert_eq!(context.thinking_level, "high");
    println!("answered by {}", context.model.ok_or("no model")?.model_id);

    // getEntries
    assert_eq!(session.entries().len(), 12);

    // getHeader
    assert_eq!(session.header().version(), 3);

    // getSessionName
    assert_eq!(session.session_name().as_deref(), Some("Opening hours"));

    // getCwd
    assert!(session.cwd().ends_with("shop"));

    // getSessionDir
    assert!(session.session_dir().ends_with("--shop--"));

    // getSessionId
    assert_eq!(session.session_id(), session.header().id());

    // getSessionFile
    assert!(session.session_file().is_some_and(std::path::Path::exists));

    // isPersisted
    assert!(session.is_persisted() && !draft.is_persisted());
    Ok(())
}
