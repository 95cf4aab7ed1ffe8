//! A conversation as a Markdown document.

mod escape;
mod tool;

use std::io::{self, Write};

use rethread_model::{Blob, Block, Body, Entry, Media, Message, Role, Text, Thinking, Visibility};

use self::escape::{code, fenced, line, prose};
use crate::media::{held_text, percent_encoded, placeholder};
use crate::notice::{Notice, Repeats, model_name, notice};
use crate::sums::{seconds, tokens};
use crate::tool::{answer, calls, hidden_calls};
use crate::unknown::unknown;
use crate::view::{seen, span};
use crate::{Options, View};

/// Writes a conversation as a Markdown document: a title, a list of facts, and every message under a
/// numbered heading. Nothing is cut.
///
/// What people and models wrote is Markdown already and stays as it is, except that control
/// characters become visible, HTML becomes text, pictures become links, links that do not lead to
/// the web or to mail become text, and code blocks that were left open are closed: no message
/// reaches beyond its own section, and nothing is loaded.
pub fn markdown(out: &mut dyn Write, view: &View<'_>, o: &Options) -> io::Result<()> {
    let mut page = Page {
        out,
        options: *o,
        number: 0,
        model: view.session.head.model.as_ref().map(model_name),
        notices: Repeats::default(),
        hidden: 0,
    };
    page.header(view)?;
    for ix in view.shown() {
        match view.bodies.body(ix) {
            Body::Message(message) => page.message(view.session.entry(ix), &message)?,
            other => page.notice(notice(other))?,
        }
    }
    page.end_run()
}

struct Page<'a> {
    out: &'a mut dyn Write,
    options: Options,
    number: u64,
    /// The model that was named last.
    model: Option<String>,
    notices: Repeats,
    /// Calls that were hidden since the last heading.
    hidden: u64,
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
        let (start, end) = span(view.session);
        let all = view.session.message_count();
        let count = match view.shown_messages() {
            shown if shown == all => all.to_string(),
            shown => format!("{all} ({shown} shown)"),
        };
        for (name, value) in [
            ("Agent", Some(line(agent.join(" ").trim_end()))),
            ("Model", head.model.as_ref().map(|m| code(&model_name(m)))),
            ("Workspace", head.workspace.path.as_deref().map(code)),
            ("Branch", head.workspace.branch.as_deref().map(code)),
            ("Started", start.map(|t| t.to_string())),
            ("Ended", end.map(|t| t.to_string())),
            ("Messages", Some(count)),
            ("Tokens", tokens(head)),
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

    fn message(&mut self, entry: &Entry, message: &Message) -> io::Result<()> {
        self.number += 1;
        let number = self.number;
        let hidden = if self.options.tools {
            0
        } else {
            calls(message)
        };
        if !self.options.shows(entry, message) {
            self.hidden += hidden;
            return Ok(());
        }
        self.end_run()?;
        self.hidden = hidden;
        let role = match message.role {
            Role::User => "User",
            Role::Assistant => "Assistant",
            Role::System => "System",
            Role::Tool => "Tool",
        };
        writeln!(self.out, "\n<a id=\"message-{number}\"></a>\n")?;
        write!(self.out, "## {number}. {role}")?;
        if let Some(seen) = seen(entry.visibility) {
            write!(self.out, " {seen}")?;
        }
        writeln!(self.out)?;
        self.facts(entry, message)?;
        let mut blocks = message.blocks.iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::ToolCall(call) if self.options.tools => {
                    let result = answer(call, blocks.peek().copied());
                    self.call(call, result)?;
                    if result.is_some() {
                        blocks.next();
                    }
                }
                Block::ToolResult(result) if self.options.tools => self.result(result)?,
                Block::ToolCall(_) | Block::ToolResult(_) => {}
                Block::Thinking(thought) => self.thinking(thought)?,
                Block::Text(text) => {
                    writeln!(self.out)?;
                    prose(self.out, "", text.value.trim_end_matches(['\n', '\r']))?;
                }
                Block::Aside { .. } | Block::Image(_) | Block::File(_) | Block::Unknown { .. } => {
                    self.other(block)?;
                }
            }
        }
        if let Some(error) = &message.error {
            writeln!(self.out, "\n**Error**\n")?;
            prose(self.out, "> ", error.trim_end())?;
        }
        Ok(())
    }

    fn facts(&mut self, entry: &Entry, message: &Message) -> io::Result<()> {
        let mut facts = Vec::new();
        facts.extend(entry.time.map(|t| t.to_string()));
        facts.extend(message.extension.as_deref().map(code));
        if let Some(model) = message.model.as_ref().map(model_name)
            && self.model.as_ref() != Some(&model)
        {
            facts.push(code(&model));
            self.model = Some(model);
        }
        if facts.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n*{}*", facts.join(" · "))
    }

    fn thinking(&mut self, thought: &Thinking) -> io::Result<()> {
        let text = thought.text.value.trim_end();
        if !self.options.thinking {
            return Ok(());
        }
        let what = if thought.summary {
            "Thinking (summary)"
        } else {
            "Thinking"
        };
        writeln!(self.out, "\n> *{what}*\n>")?;
        match text {
            "" if thought.redacted => writeln!(self.out, "> (redacted)"),
            "" => writeln!(self.out, "> (not readable)"),
            text => prose(self.out, "> ", text),
        }
    }

    /// A block that is no plain text.
    fn other(&mut self, block: &Block) -> io::Result<()> {
        let shown = match block {
            Block::Aside { text, visibility } => return self.aside(text, *visibility),
            Block::Image(image) => return self.media("image", "!", image),
            Block::File(file) => return self.media("file", "", file),
            Block::Unknown { type_name, raw } => code(&unknown(type_name, raw)),
            Block::ToolCall(call) => code(&format!("[tool call: {}]", call.name)),
            Block::Text(_) | Block::Thinking(_) | Block::ToolResult(_) => return Ok(()),
        };
        writeln!(self.out, "\n{shown}")
    }

    /// Text that is not for everyone, below a word about who saw it.
    fn aside(&mut self, text: &Text, visibility: Visibility) -> io::Result<()> {
        if visibility == Visibility::Hidden {
            return Ok(());
        }
        let prefix = match seen(visibility) {
            None => "",
            Some(seen) => {
                writeln!(self.out, "\n*{seen}*")?;
                "> "
            }
        };
        writeln!(self.out)?;
        prose(self.out, prefix, text.value.trim_end())
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

    fn notice(&mut self, notice: Option<Notice>) -> io::Result<()> {
        let Some(Notice { line, text, .. }) = notice else {
            return Ok(());
        };
        let before = self.notices.push(line);
        self.put_notice(before)?;
        let Some(text) = text else {
            return Ok(());
        };
        let mine = self.notices.take();
        self.put_notice(mine)?;
        writeln!(self.out)?;
        prose(self.out, "> ", text.trim_end())
    }

    fn put_notice(&mut self, notice: Option<String>) -> io::Result<()> {
        match notice {
            Some(notice) => writeln!(self.out, "\n*{}*", code_or_words(&notice)),
            None => Ok(()),
        }
    }

    /// Says what was held back so far.
    fn end_run(&mut self) -> io::Result<()> {
        let notice = self.notices.take();
        self.put_notice(notice)?;
        match hidden_calls(std::mem::take(&mut self.hidden)) {
            Some(line) => writeln!(self.out, "\n*{line}*"),
            None => Ok(()),
        }
    }
}

/// Words that cannot become markup stay words; all others are set as code.
fn code_or_words(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || " .,:;()/→×$-".contains(c);
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
