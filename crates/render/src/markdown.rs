//! A conversation as a Markdown document.

mod escape;
mod tool;

use std::io::{self, Write};

use rethread_model::{Blob, Media, Thinking};

use self::escape::{code, fenced, line, markup, prose};
use crate::media::{held_text, percent_encoded, placeholder};
use crate::notice::{Notice, model_name};
use crate::reading::{Item, Part, Quiet, Reading, Speaker, Turn, agent_word, size};
use crate::sums::{cost, seconds, tokens};
use crate::{Options, View};

/// Writes a conversation as a Markdown document: a title, a list of facts, and every turn under a
/// heading with the number of its entry. Calls of tools, reasoning and injected texts are folded, and
/// nothing of them is cut.
///
/// What people and models wrote is Markdown already and stays as it is, except that control
/// characters become visible, HTML becomes text, pictures become links, links that do not lead to
/// the web or to mail become text, and code blocks that were left open are closed: no message
/// reaches beyond its own section, and nothing is loaded.
pub fn markdown(out: &mut dyn Write, view: &View<'_>, o: &Options) -> io::Result<()> {
    let mut page = Page {
        out,
        agent: agent_word(view),
        workspace: view.session.head.workspace.path.as_deref(),
    };
    page.header(view)?;
    for part in Reading::of(view, *o) {
        match part {
            Part::Turn(turn) => page.turn(&turn)?,
            Part::Item(item) => page.item(&item)?,
            Part::Quiet(quiet) => page.quiet(&quiet)?,
        }
    }
    Ok(())
}

struct Page<'a> {
    out: &'a mut dyn Write,
    agent: &'a str,
    workspace: Option<&'a str>,
}

impl Page<'_> {
    fn header(&mut self, view: &View<'_>) -> io::Result<()> {
        let head = &view.session.head;
        let title = match &head.title {
            Some(title) => line(&title.text),
            None => "(no title)".to_owned(),
        };
        writeln!(self.out, "# {title}\n")?;
        let agent = [
            head.agent.name.as_deref().unwrap_or(head.held_by()),
            head.agent.version.as_deref().unwrap_or_default(),
        ];
        let (start, end) = view.times();
        let usage = view.usage();
        let count = view.message_facts(false);
        for (name, value) in [
            ("Agent", Some(line(agent.join(" ").trim_end()))),
            ("Model", head.model.as_ref().map(|m| code(&model_name(m)))),
            ("Workspace", head.workspace.path.as_deref().map(code)),
            ("Branch", head.workspace.branch.as_deref().map(code)),
            ("Started", start.map(|t| t.to_string())),
            ("Ended", end.map(|t| t.to_string())),
            ("Messages", Some(count)),
            ("Tokens", usage.as_ref().map(tokens)),
            ("Cost", usage.as_ref().and_then(cost)),
            ("Duration", head.duration_ms.map(seconds)),
            ("Session", Some(code(&head.id))),
            ("Source", Some(code(view.first_path()))),
        ] {
            if let Some(value) = value.filter(|v| !v.is_empty()) {
                writeln!(self.out, "- {name}: {value}")?;
            }
        }
        Ok(())
    }

    fn turn(&mut self, turn: &Turn) -> io::Result<()> {
        let number = turn.number();
        writeln!(self.out, "\n<a id=\"entry-{number}\"></a>\n")?;
        write!(self.out, "## #{number} ")?;
        match &turn.speaker {
            Speaker::Person => write!(self.out, "You")?,
            Speaker::Agent => write!(self.out, "{}", line(self.agent))?,
            Speaker::System => write!(self.out, "System")?,
            Speaker::Extension(name) => write!(self.out, "{}", line(name))?,
            Speaker::Cut => write!(self.out, "Summary")?,
        }
        if let Some(seen) = turn.seen {
            write!(self.out, " {seen}")?;
        }
        writeln!(self.out)?;
        let mut facts = Vec::new();
        facts.extend(turn.time.map(|t| t.to_string()));
        facts.extend(turn.model.as_deref().map(code));
        facts.extend(turn.label.as_deref().map(code));
        if facts.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n*{}*", facts.join(" · "))
    }

    fn item(&mut self, item: &Item) -> io::Result<()> {
        match item {
            Item::Prose(text) => {
                writeln!(self.out)?;
                prose(self.out, "", text.trim_end_matches(['\n', '\r']))
            }
            Item::Typed(text) if text.contains('\n') => fenced(self.out, "text", text),
            Item::Typed(text) => writeln!(self.out, "\n{}", code(text)),
            Item::Printed(text) => fenced(self.out, "text", text),
            Item::Thinking(thought) => self.thinking(thought),
            Item::Call(call) => self.call(call),
            Item::Image(media) => self.media("image", "!", media),
            Item::File(media) => self.media("file", "", media),
            Item::Unknown(what) => writeln!(self.out, "\n{}", code(what)),
            Item::Injected(injected) => {
                let bytes = injected.text.len() as u64;
                let what = format!("{} {}", injected.what(), size(bytes));
                self.folded(&what, &injected.text)
            }
            Item::Error(error) => {
                writeln!(self.out, "\n**Error**\n")?;
                prose(self.out, "> ", error.trim_end())
            }
            Item::Notice(notice) => self.notice(notice),
            Item::Label(label) => writeln!(self.out, "\n*{}*", code(label)),
            Item::Empty => writeln!(self.out, "\n*(empty)*"),
        }
    }

    fn thinking(&mut self, thought: &Thinking) -> io::Result<()> {
        let what = if thought.summary {
            "Thinking (summary)"
        } else {
            "Thinking"
        };
        let text = match thought.text.value.trim_end() {
            "" if thought.redacted => "(redacted)",
            "" => "(not readable)",
            text => text,
        };
        self.folded(what, text)
    }

    /// A text that is folded below a word about it.
    fn folded(&mut self, what: &str, text: &str) -> io::Result<()> {
        writeln!(self.out, "\n<details><summary>{}</summary>\n", markup(what))?;
        prose(self.out, "> ", text.trim_end())?;
        writeln!(self.out, "\n</details>")
    }

    /// A link to a picture or a file that is there, or what stands for it, with its text where it
    /// is one.
    fn media(&mut self, kind: &str, mark: &str, media: &Media) -> io::Result<()> {
        match asset(media) {
            Some(link) => writeln!(self.out, "\n{mark}[{kind}]({link})")?,
            None => writeln!(self.out, "\n{}", code(&placeholder(kind, media)))?,
        }
        match held_text(&media.blob) {
            Some(text) => fenced(self.out, "text", text),
            None => Ok(()),
        }
    }

    fn notice(&mut self, notice: &Notice) -> io::Result<()> {
        writeln!(self.out, "\n*{}*", code_or_words(&notice.line))?;
        let Some(text) = &notice.text else {
            return Ok(());
        };
        writeln!(self.out)?;
        prose(self.out, "> ", text.trim_end())
    }

    fn quiet(&mut self, quiet: &Quiet) -> io::Result<()> {
        let words = quiet.words().join(" · ");
        writeln!(self.out, "\n*{}*", code_or_words(&words))
    }
}

/// Words that cannot become markup stay words; all others are set as code.
fn code_or_words(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || " .,:;()/→×$-·".contains(c);
    if !text.is_empty() && text.chars().all(plain) && !text.starts_with(' ') && !text.ends_with(' ')
    {
        text.to_owned()
    } else {
        code(text)
    }
}

/// Where a file of the session is beside the document.
fn asset(media: &Media) -> Option<String> {
    let Blob::File(path) = &media.blob else {
        return None;
    };
    let name = path.file_name()?.to_string_lossy();
    Some(format!("assets/{}", percent_encoded(&name)))
}
