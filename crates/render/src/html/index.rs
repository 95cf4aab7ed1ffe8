//! The list of the pages in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use rethread_model::{LinkKind, Moment};

use super::head::{page_title, write_head, write_tail};
use super::out::HtmlWriter;
use super::times::{clock_time, long_day};
use crate::View;
use crate::media::percent_encoded;

/// A page in a list of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexRow {
    file: String,
    id: String,
    parent: Option<String>,
    title: String,
    agent: String,
    workspace: Option<String>,
    started: Option<Moment>,
    messages: u64,
}

impl IndexRow {
    /// What a list says of the page of a conversation, which is the file with this name beside it.
    pub fn new(view: &View<'_>, file: String) -> Self {
        let head = &view.session.head;
        let links = head.links.iter();
        let mut parents = links.filter(|l| l.kind == LinkKind::Parent);
        Self {
            file,
            id: head.id.clone(),
            parent: parents.next().map(|l| l.session.clone()),
            title: page_title(view).to_owned(),
            agent: view.agent_name().to_owned(),
            workspace: head.workspace.path.as_deref().map(last_name),
            started: view.first_and_last().0,
            messages: view.message_count(),
        }
    }
}

/// The last name of a path, of this system or another.
pub(super) fn last_name(path: &str) -> String {
    let path = path.trim_end_matches(['/', '\\']);
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.to_owned()
}

/// Writes a page that leads to other pages: by day, the newest first, sub-agents with the sessions that
/// started them.
pub fn html_index(out: &mut dyn Write, rows: &[IndexRow]) -> io::Result<()> {
    let mut out = HtmlWriter::new(out);
    let count = match rows.len() {
        1 => "1 conversation".to_owned(),
        n => format!("{n} conversations"),
    };
    write_head(&mut out, &count)?;
    out.write_markup("<main class=index>\n<header class=page>\n<h1>")?;
    out.write_line(&count)?;
    out.write_markup("</h1>\n<p class=facts>")?;
    let agents: BTreeSet<&str> = rows.iter().map(|row| row.agent.as_str()).collect();
    let agents: Vec<&str> = agents.into_iter().collect();
    out.write_line(&agents.join(" · "))?;
    out.write_markup("</p>\n</header>\n")?;
    let families = group_families(rows);
    let mut order: Vec<usize> = families.keys().copied().collect();
    order.sort_by_key(|at| std::cmp::Reverse(rows.get(*at).map(|row| (row.started, *at))));
    let mut last_day: Option<Option<String>> = None;
    for row in order
        .iter()
        .filter_map(|at| rows.get(*at).map(|row| (at, row)))
    {
        let (at, row) = row;
        let today = row.started.map(long_day);
        if last_day.as_ref() != Some(&today) {
            out.write_markup(if last_day.is_some() {
                "</ul>\n<h2>"
            } else {
                "<h2>"
            })?;
            out.write_line(today.as_deref().unwrap_or("Without a date"))?;
            out.write_markup("</h2>\n<ul>\n")?;
            last_day = Some(today);
        }
        out.write_markup("<li>")?;
        write_row(&mut out, row)?;
        let children = families.get(at).map_or(&[][..], Vec::as_slice);
        write_children(&mut out, rows, children)?;
        out.write_markup("</li>\n")?;
    }
    out.write_markup(if last_day.is_some() {
        "</ul>\n</main>\n"
    } else {
        "</main>\n"
    })?;
    write_tail(&mut out)
}

fn write_children(
    out: &mut HtmlWriter<'_>,
    rows: &[IndexRow],
    children: &[usize],
) -> io::Result<()> {
    if children.is_empty() {
        return Ok(());
    }
    out.write_markup("\n<details class=fold><summary>")?;
    out.write_number(children.len() as u64)?;
    out.write_markup(if children.len() == 1 {
        " sub-agent</summary>\n<ul>\n"
    } else {
        " sub-agents</summary>\n<ul>\n"
    })?;
    for row in children.iter().filter_map(|at| rows.get(*at)) {
        out.write_markup("<li>")?;
        write_row(out, row)?;
        out.write_markup("</li>\n")?;
    }
    out.write_markup("</ul>\n</details>\n")
}

fn write_row(out: &mut HtmlWriter<'_>, row: &IndexRow) -> io::Result<()> {
    out.write_markup("<a href=\"./")?;
    out.write_text(&percent_encoded(&row.file))?;
    out.write_markup("\">")?;
    out.write_line(&row.title)?;
    out.write_markup("</a> <p>")?;
    if let Some(time) = row.started {
        out.write_markup("<time datetime=\"")?;
        out.write_text(&time.to_string())?;
        out.write_markup("\">")?;
        out.write_text(&clock_time(time))?;
        out.write_markup("</time> <span>")?;
    } else {
        out.write_markup("<span>")?;
    }
    out.write_line(&row.agent)?;
    out.write_markup("</span> <span>")?;
    if let Some(workspace) = &row.workspace {
        out.write_line(workspace)?;
        out.write_markup("</span> <span>")?;
    }
    out.write_number(row.messages)?;
    out.write_markup(if row.messages == 1 {
        " message</span></p>"
    } else {
        " messages</span></p>"
    })
}

/// The sessions that nobody in the list started, each with all that they started, directly or not.
fn group_families(rows: &[IndexRow]) -> BTreeMap<usize, Vec<usize>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        places.entry(&row.id).or_insert(at);
    }
    let parent = |at: usize| {
        let id = rows.get(at)?.parent.as_deref()?;
        places.get(id).copied().filter(|parent| *parent != at)
    };
    let mut families: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..rows.len() {
        let mut root = at;
        // Whoever is part of a circle stands for itself.
        for _ in 0..=DEEPEST {
            match parent(root) {
                Some(next) if next == at => break,
                Some(next) => root = next,
                None => break,
            }
        }
        if root == at || parent(root).is_some() {
            families.entry(at).or_default();
        } else {
            families.entry(root).or_default().push(at);
        }
    }
    families
}

/// How many sessions may have started each other.
const DEEPEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, parent: Option<&str>) -> IndexRow {
        IndexRow {
            file: format!("{id}.html"),
            id: id.to_owned(),
            parent: parent.map(str::to_owned),
            title: id.to_owned(),
            agent: "a".to_owned(),
            workspace: None,
            started: None,
            messages: 1,
        }
    }

    #[test]
    fn sub_agents_stand_with_the_first_of_their_family() {
        let rows = [
            row("a", None),
            row("b", Some("a")),
            row("c", Some("b")),
            row("d", Some("gone")),
            row("e", Some("e")),
            row("f", Some("g")),
            row("g", Some("f")),
        ];
        let families = group_families(&rows);
        assert_eq!(families.get(&0), Some(&vec![1, 2]));
        assert_eq!(
            families.keys().copied().collect::<Vec<_>>(),
            [0, 3, 4, 5, 6]
        );
    }

    #[test]
    fn names_of_folders_are_those_of_any_system() {
        for (path, name) in [
            ("/a/b", "b"),
            ("/a/b/", "b"),
            ("D:\\x\\y", "y"),
            ("/", ""),
            ("", ""),
        ] {
            assert_eq!(last_name(path), name);
        }
    }
}
