//! A conversation as a Markdown document.

mod escape;
mod tool;

use std::io::{self, Write};

use rethread_model::{Blob, Media, Thinking};

use self::escape::{escape_line, escape_markup, inline_code, write_fenced, write_prose};
use crate::media::{held_text, media_placeholder, percent_encoded};
use crate::notice::{Notice, model_name};
use crate::reading::{OmittedItems, Reading, ReadingPart, Speaker, Turn, TurnItem, agent_word};
use crate::sums::{format_cost, format_seconds, format_tokens};
use crate::{Options, View, byte_count};

/// Writes a conversation as a Markdown document: a title, a list of facts, and every turn under a
/// heading with the number of its entry. Calls of tools, reasoning and injected texts are folded, and
/// nothing of them is cut.
///
/// What people and models wrote is Markdown already and stays as it is, except that control
/// characters become visible, HTML becomes text, pictures become links, links that do not lead to
/// the web or to mail become text, and code blocks that were left open are closed: no message
/// reaches beyond its own section, and nothing is loaded.
pub fn write_markdown(out: &mut dyn Write, view: &View<'_>, o: &Options) -> io::Result<()> {
    let mut page = MarkdownPage {
        out,
        agent: agent_word(view),
        workspace: view.session.head.workspace.path.as_deref(),
    };
    page.write_header(view)?;
    for part in Reading::of_view(view, *o) {
        match part {
            ReadingPart::Turn(turn) => page.write_turn(&turn)?,
            ReadingPart::Item(item) => page.write_item(&item)?,
            ReadingPart::Quiet(quiet) => page.write_quiet(&quiet)?,
        }
    }
    Ok(())
}

struct MarkdownPage<'a> {
    out: &'a mut dyn Write,
    agent: &'a str,
    workspace: Option<&'a str>,
}

impl MarkdownPage<'_> {
    fn write_header(&mut self, view: &View<'_>) -> io::Result<()> {
        let head = &view.session.head;
        let title = match &head.title {
            Some(title) => escape_line(&title.text),
            None => "(no title)".to_owned(),
        };
        writeln!(self.out, "# {title}\n")?;
        let agent = [
            head.agent.name.as_deref().unwrap_or(head.held_by()),
            head.agent.version.as_deref().unwrap_or_default(),
        ];
        let (start, end) = view.first_and_last();
        let usage = view.total_usage();
        let count = view.message_facts(false);
        for (name, value) in [
            ("Agent", Some(escape_line(agent.join(" ").trim_end()))),
            (
                "Model",
                head.model.as_ref().map(|m| inline_code(&model_name(m))),
            ),
            ("Workspace", head.workspace.path.as_deref().map(inline_code)),
            ("Branch", head.workspace.branch.as_deref().map(inline_code)),
            ("Started", start.map(|t| t.to_string())),
            ("Ended", end.map(|t| t.to_string())),
            ("Messages", Some(count)),
            ("Tokens", usage.as_ref().map(format_tokens)),
            ("Cost", usage.as_ref().and_then(format_cost)),
            ("Duration", head.duration_ms.map(format_seconds)),
            ("Session", Some(inline_code(&head.id))),
            ("Source", Some(inline_code(view.first_path()))),
        ] {
            if let Some(value) = value.filter(|v| !v.is_empty()) {
                writeln!(self.out, "- {name}: {value}")?;
            }
        }
        Ok(())
    }

    fn write_turn(&mut self, turn: &Turn) -> io::Result<()> {
        let number = turn.entry_number();
        writeln!(self.out, "\n<a id=\"entry-{number}\"></a>\n")?;
        write!(self.out, "## #{number} ")?;
        match &turn.speaker {
            Speaker::Person => write!(self.out, "You")?,
            Speaker::Agent => write!(self.out, "{}", escape_line(self.agent))?,
            Speaker::System => write!(self.out, "System")?,
            Speaker::Extension(name) => write!(self.out, "{}", escape_line(name))?,
            Speaker::Cut => write!(self.out, "Summary")?,
        }
        if let Some(seen) = turn.seen {
            write!(self.out, " {seen}")?;
        }
        writeln!(self.out)?;
        let mut facts = Vec::new();
        facts.extend(turn.time.map(|t| t.to_string()));
        facts.extend(turn.model.as_deref().map(inline_code));
        facts.extend(turn.label.as_deref().map(inline_code));
        if facts.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n*{}*", facts.join(" · "))
    }

    fn write_item(&mut self, item: &TurnItem) -> io::Result<()> {
        match item {
            TurnItem::Prose(text) => {
                writeln!(self.out)?;
                write_prose(self.out, "", text.trim_end_matches(['\n', '\r']))
            }
            TurnItem::Typed(text) if text.contains('\n') => write_fenced(self.out, "text", text),
            TurnItem::Typed(text) => writeln!(self.out, "\n{}", inline_code(text)),
            TurnItem::Printed(text) => write_fenced(self.out, "text", text),
            TurnItem::Thinking(thought) => self.write_thinking(thought),
            TurnItem::Call(call) => self.write_call(call),
            TurnItem::Image(media) => self.write_media("image", "!", media),
            TurnItem::File(media) => self.write_media("file", "", media),
            TurnItem::Unknown(what) => writeln!(self.out, "\n{}", inline_code(what)),
            TurnItem::Injected(injected) => {
                let bytes = injected.text.len() as u64;
                let what = format!("{} {}", injected.description(), byte_count(bytes));
                self.write_folded(&what, &injected.text)
            }
            TurnItem::Error(error) => {
                writeln!(self.out, "\n**Error**\n")?;
                write_prose(self.out, "> ", error.trim_end())
            }
            TurnItem::Notice(notice) => self.write_notice(notice),
            TurnItem::Label(label) => writeln!(self.out, "\n*{}*", inline_code(label)),
            TurnItem::Empty => writeln!(self.out, "\n*(empty)*"),
        }
    }

    fn write_thinking(&mut self, thought: &Thinking) -> io::Result<()> {
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
        self.write_folded(what, text)
    }

    /// A text that is folded below a word about it.
    fn write_folded(&mut self, what: &str, text: &str) -> io::Result<()> {
        writeln!(
            self.out,
            "\n<details><summary>{}</summary>\n",
            escape_markup(what)
        )?;
        write_prose(self.out, "> ", text.trim_end())?;
        writeln!(self.out, "\n</details>")
    }

    /// A link to a picture or a file that is there, or what stands for it, with its text where it
    /// is one.
    fn write_media(&mut self, kind: &str, mark: &str, media: &Media) -> io::Result<()> {
        match asset_path(media) {
            Some(link) => writeln!(self.out, "\n{mark}[{kind}]({link})")?,
            None => writeln!(
                self.out,
                "\n{}",
                inline_code(&media_placeholder(kind, media))
            )?,
        }
        match held_text(&media.blob) {
            Some(text) => write_fenced(self.out, "text", text),
            None => Ok(()),
        }
    }

    fn write_notice(&mut self, notice: &Notice) -> io::Result<()> {
        writeln!(self.out, "\n*{}*", code_or_words(&notice.line))?;
        let Some(text) = &notice.text else {
            return Ok(());
        };
        writeln!(self.out)?;
        write_prose(self.out, "> ", text.trim_end())
    }

    fn write_quiet(&mut self, quiet: &OmittedItems) -> io::Result<()> {
        let words = quiet.descriptions().join(" · ");
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
        inline_code(text)
    }
}

/// Where a file of the session is beside the document.
fn asset_path(media: &Media) -> Option<String> {
    let Blob::File(path) = &media.blob else {
        return None;
    };
    let name = path.file_name()?.to_string_lossy();
    Some(format!("assets/{}", percent_encoded(&name)))
}
