//! A conversation for people at a terminal.

mod clip;
mod paint;
mod tool;

use std::io::{self, Write};

use jiff::tz::TimeZone;
use rethread_model::{
    Block, Body, Entry, Media, Message, Moment, Role, Text, Thinking, Visibility,
};
use unicode_width::UnicodeWidthStr;

use self::clip::Clip;
use self::paint::Paint;
use crate::media::{held_text, placeholder};
use crate::notice::{Notice, Repeats, model_name, notice};
use crate::sums::{seconds, tokens};
use crate::tool::{answer, calls, hidden_calls, only_results};
use crate::unknown::unknown;
use crate::view::{seen, span};
use crate::{OneLine, Options, Plain, Style, View, fit};

/// How many lines of input, of output, of a change and of a file are shown.
const LINES: usize = 20;

/// Writes a conversation for people at a terminal: a header, then every message under a heading.
///
/// Lines are not wrapped. Long input and output of tools, and the long text of a file, is cut, and says
/// so. Colours are there only if the style asks for them, and nothing depends on them.
pub fn text(out: &mut dyn Write, view: &View<'_>, o: &Options, style: &Style) -> io::Result<()> {
    let mut screen = Screen {
        out,
        paint: Paint(style.colour),
        width: style.width.clamp(20, 200),
        zone: &style.zone,
        options: *o,
        model: view.session.head.model.as_ref().map(model_name),
        notices: Repeats::default(),
        hidden: 0,
        apart: false,
    };
    screen.header(view)?;
    for ix in view.shown() {
        match view.bodies.body(ix) {
            Body::Message(message) => screen.message(view.session.entry(ix), &message)?,
            other => screen.notice(notice(other))?,
        }
    }
    screen.end_run()
}

struct Screen<'a> {
    out: &'a mut dyn Write,
    paint: Paint,
    width: usize,
    zone: &'a TimeZone,
    options: Options,
    /// The model that was named last.
    model: Option<String>,
    notices: Repeats,
    /// Calls that were hidden since the last heading.
    hidden: u64,
    /// Whether an empty line must stand before the next notice.
    apart: bool,
}

impl Screen<'_> {
    fn header(&mut self, view: &View<'_>) -> io::Result<()> {
        let head = &view.session.head;
        let title = match &head.title {
            Some(title) => fit(&title.text, self.width),
            None => "(no title)".to_owned(),
        };
        writeln!(self.out, "{}", self.paint.bold(&title))?;
        let agent = [
            head.agent.name.as_deref().unwrap_or(head.held_by()),
            head.agent.version.as_deref().unwrap_or_default(),
        ];
        let model = head.model.as_ref().map(model_name);
        let all = view.session.message_count();
        let count = match view.shown_messages() {
            shown if shown == all => all.to_string(),
            shown => format!("{all} ({shown} shown)"),
        };
        let path = view.path.to_string_lossy();
        let (start, end) = span(view.session);
        for (name, value) in [
            ("agent", Some(agent.join(" ").trim_end().to_owned())),
            ("model", model),
            ("workspace", head.workspace.path.clone()),
            ("branch", head.workspace.branch.clone()),
            ("started", self.day(start)),
            ("ended", self.day(end)),
            ("messages", Some(count)),
            ("tokens", tokens(head)),
            ("duration", head.duration_ms.map(seconds)),
            ("session", Some(head.id.clone())),
            ("file", Some(path.into_owned())),
        ] {
            if let Some(value) = value.filter(|v| !v.is_empty()) {
                let name = self.paint.dim(&format!("{name:<9}"));
                writeln!(self.out, "{name}  {}", OneLine(&value))?;
            }
        }
        self.apart = true;
        Ok(())
    }

    fn message(&mut self, entry: &Entry, message: &Message) -> io::Result<()> {
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
        self.heading(entry, message)?;
        let mut first = true;
        let mut blocks = message.blocks.iter().peekable();
        while let Some(block) = blocks.next() {
            if !self.options.shows_block(block) {
                continue;
            }
            if !std::mem::take(&mut first) {
                writeln!(self.out)?;
            }
            if let Block::ToolCall(call) = block {
                let result = answer(call, blocks.peek().copied());
                self.call(call, result)?;
                if result.is_some() {
                    blocks.next();
                }
            } else {
                self.block(block)?;
            }
        }
        if let Some(error) = &message.error {
            if !first {
                writeln!(self.out)?;
            }
            let word = self.paint.red("error:");
            writeln!(self.out, "{word} {}", Plain(error.trim_end()))?;
        } else if message.blocks.is_empty() {
            writeln!(self.out, "{}", self.paint.dim("(empty)"))?;
        }
        self.apart = true;
        Ok(())
    }

    fn heading(&mut self, entry: &Entry, message: &Message) -> io::Result<()> {
        let role = match message.role {
            Role::User if only_results(message) => Role::Tool,
            role => role,
        };
        let mut words = vec![role_word(role).to_owned()];
        if let Some(seen) = seen(entry.visibility) {
            words[0] = format!("{} {seen}", words[0]);
        }
        words.extend(message.extension.clone());
        if let Some(model) = message.model.as_ref().map(model_name)
            && self.model.as_ref() != Some(&model)
        {
            words.push(model.clone());
            self.model = Some(model);
        }
        words.extend(entry.time.map(|t| self.minute(t)));
        let label = fit(&words.join(" · "), self.width.saturating_sub(6));
        let rest = self.width.saturating_sub(label.width() + 4).max(2);
        let line = format!("── {label} {}", "─".repeat(rest));
        writeln!(self.out, "\n{}", self.paint.role(role, &line))
    }

    fn block(&mut self, block: &Block) -> io::Result<()> {
        match block {
            Block::Text(text) => {
                writeln!(self.out, "{}", Plain(text.value.trim_end_matches('\n')))
            }
            Block::Aside { text, visibility } => self.aside(text, *visibility),
            Block::Thinking(thought) => self.thinking(thought),
            Block::ToolCall(call) => self.call(call, None),
            Block::ToolResult(result) => self.result(result),
            Block::Image(image) => self.media("image", image),
            Block::File(file) => self.media("file", file),
            Block::Unknown { type_name, raw } => {
                writeln!(self.out, "{}", OneLine(&unknown(type_name, raw)))
            }
        }
    }

    /// Text that is not for everyone, behind a word about who saw it.
    fn aside(&mut self, text: &Text, visibility: Visibility) -> io::Result<()> {
        let text = text.value.trim_end();
        let Some(seen) = seen(visibility) else {
            return writeln!(self.out, "{}", Plain(text));
        };
        let text = format!("{seen} {}", Plain(text));
        for line in text.trim_end().lines() {
            writeln!(self.out, "{}", self.paint.dim(line))?;
        }
        Ok(())
    }

    /// What stands for a picture or a file, with its text where it is one.
    fn media(&mut self, kind: &str, media: &Media) -> io::Result<()> {
        writeln!(self.out, "{}", OneLine(&placeholder(kind, media)))?;
        let Some(text) = held_text(&media.blob) else {
            return Ok(());
        };
        let mut clip = Clip::new(self.out, "  ", LINES);
        clip.text("", text)?;
        clip.finish()
    }

    fn thinking(&mut self, thought: &Thinking) -> io::Result<()> {
        let text = thought.text.value.trim_end();
        let text = match text {
            "" if thought.redacted => "(redacted)",
            "" => "(not readable)",
            text => text,
        };
        for line in text.lines() {
            let line = self.paint.dim(&format!("│ {}", Plain(line)));
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    fn notice(&mut self, notice: Option<Notice>) -> io::Result<()> {
        let Some(notice) = notice else {
            return Ok(());
        };
        let line = match &notice.text {
            Some(text) => format!("{}: {text}", notice.line),
            None => notice.line,
        };
        let line = fit(&line, self.width - 2);
        let line = if notice.is_error {
            self.paint.red(&line)
        } else {
            self.paint.dim(&line)
        };
        let before = self.notices.push(line);
        self.put_notice(before)
    }

    fn put_notice(&mut self, line: Option<String>) -> io::Result<()> {
        let Some(line) = line else {
            return Ok(());
        };
        if std::mem::take(&mut self.apart) {
            writeln!(self.out)?;
        }
        writeln!(self.out, "· {line}")
    }

    /// Says what was held back so far.
    fn end_run(&mut self) -> io::Result<()> {
        let line = self.notices.take();
        self.put_notice(line)?;
        match hidden_calls(std::mem::take(&mut self.hidden)) {
            Some(line) => writeln!(self.out, "\n{}", self.paint.dim(&line)),
            None => Ok(()),
        }
    }

    fn minute(&self, time: Moment) -> String {
        let local = time.timestamp().to_zoned(self.zone.clone());
        local.strftime("%-d %b %H:%M").to_string()
    }

    fn day(&self, time: Option<Moment>) -> Option<String> {
        let local = time?.timestamp().to_zoned(self.zone.clone());
        Some(local.strftime("%-d %b %Y %H:%M").to_string())
    }
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Tool => "tool",
    }
}
