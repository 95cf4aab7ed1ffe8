//! Lines of a session, as the client writes them.

use rethread_json::{Array, Object};
use rethread_model::{Moment, Usage};

/// What a file wants of its lines.
#[derive(Clone, Debug)]
pub(in crate::codex) enum Mode {
    /// Events of their own kinds.
    Legacy,
    /// Numbers, and events that are finished items.
    Paginated {
        /// The number of the next line.
        next: u64,
        /// The session's id.
        thread: String,
        /// The id of the turn.
        turn: String,
    },
}

/// Lines that are to be written.
#[derive(Debug)]
pub(in crate::codex) struct Records {
    mode: Mode,
    lines: Vec<u8>,
}

impl Records {
    pub(in crate::codex) fn new(mode: Mode) -> Self {
        Self {
            mode,
            lines: Vec::new(),
        }
    }

    /// Forgets the lines, which were written.
    pub(in crate::codex) fn clear(&mut self) {
        self.lines.clear();
    }

    /// All lines.
    pub(in crate::codex) fn into_bytes(self) -> Vec<u8> {
        self.lines
    }

    /// Adds a line.
    pub(in crate::codex) fn add(&mut self, time: Moment, kind: &str, payload: &[u8]) {
        let mut line = Object::new().str("timestamp", &time.to_string());
        if let Mode::Paginated { next, .. } = &mut self.mode {
            line = line.u64("ordinal", *next);
            *next += 1;
        }
        // What is said is long, so it is copied only once here.
        let head = line.str("type", kind).raw("payload", b"").finish();
        self.lines.extend(head.strip_suffix(b"}").unwrap_or(&head));
        self.lines.extend(payload);
        self.lines.extend(b"}\n");
    }

    /// The lines so far.
    pub(in crate::codex) fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// Adds an item of the model's stream.
    pub(super) fn add_item(&mut self, time: Moment, item: Object) {
        self.add(time, "response_item", &item.finish());
    }

    /// Adds the person's words as they are shown.
    pub(super) fn user_event(&mut self, time: Moment, id: &str, text: &str, images: &[String]) {
        if let Mode::Paginated { .. } = self.mode {
            let mut content = Array::new();
            if !text.is_empty() || images.is_empty() {
                let text = Object::new().str("type", "text").str("text", text);
                content = content.raw(&text.raw("text_elements", b"[]").finish());
            }
            for image in images {
                let image = Object::new().str("type", "image").str("image_url", image);
                content = content.raw(&image.finish());
            }
            self.finished(time, "UserMessage", &format!("ui_{id}"), &content.finish());
            return;
        }
        let images = images.iter().fold(Array::new(), |all, i| all.str(i));
        let event = Object::new()
            .str("type", "user_message")
            .str("message", text)
            .raw("images", &images.finish())
            .raw("local_images", b"[]")
            .raw("text_elements", b"[]");
        self.add(time, "event_msg", &event.finish());
    }

    /// Adds the model's words as they are shown.
    pub(super) fn agent_event(&mut self, time: Moment, id: &str, text: &str) {
        if let Mode::Paginated { .. } = self.mode {
            let text = Object::new().str("type", "Text").str("text", text);
            let content = Array::new().raw(&text.finish()).finish();
            self.finished(time, "AgentMessage", id, &content);
            return;
        }
        let event = Object::new()
            .str("type", "agent_message")
            .str("message", text);
        self.add(time, "event_msg", &event.finish());
    }

    /// Adds reasoning, for people alone: what another vendor's model thought is nothing that this
    /// one could be given as its own.
    pub(super) fn add_thought(&mut self, time: Moment, id: &str, text: &str) {
        let event = match &self.mode {
            Mode::Legacy => Object::new()
                .str("type", "agent_reasoning")
                .str("text", text),
            Mode::Paginated { thread, turn, .. } => {
                let texts = Array::new().str(text).finish();
                let item = Object::new()
                    .str("type", "Reasoning")
                    .str("id", id)
                    .raw("summary_text", &texts)
                    .raw("raw_content", b"[]");
                completed(thread, turn, &item.finish(), time)
            }
        };
        self.add(time, "event_msg", &event.finish());
    }

    /// The session and the turn that items are of; none where there are no such items.
    pub(super) fn turn(&self) -> Option<(&str, &str)> {
        match &self.mode {
            Mode::Legacy => None,
            Mode::Paginated { thread, turn, .. } => Some((thread, turn)),
        }
    }

    /// An event for an item that is finished.
    pub(super) fn finished_item(&self, time: Moment, item: &[u8]) -> Object {
        let (thread, turn) = self.turn().unwrap_or_default();
        completed(thread, turn, item, time)
    }

    fn finished(&mut self, time: Moment, kind: &str, id: &str, content: &[u8]) {
        let Mode::Paginated { thread, turn, .. } = &self.mode else {
            return;
        };
        let item = Object::new().str("type", kind).str("id", id);
        let event = completed(thread, turn, &item.raw("content", content).finish(), time);
        self.add(time, "event_msg", &event.finish());
    }

    /// Adds a compaction: its summary, the items that the model sees from here on, and what is
    /// shown of it.
    pub(super) fn add_compaction(&mut self, time: Moment, summary: &str, history: &[u8]) {
        let payload = Object::new()
            .str("message", summary)
            .raw("replacement_history", history);
        self.add(time, "compacted", &payload.finish());
        let event = match &self.mode {
            Mode::Legacy => Object::new().str("type", "context_compacted"),
            Mode::Paginated { thread, turn, .. } => {
                let item = Object::new().str("type", "ContextCompaction");
                completed(thread, turn, &item.finish(), time)
            }
        };
        self.add(time, "event_msg", &event.finish());
    }

    /// Adds that a turn begins.
    pub(in crate::codex) fn start_turn(&mut self, time: Moment, turn: &str) {
        let event = Object::new()
            .str("type", "task_started")
            .str("turn_id", turn)
            .i64("started_at", time.millis().div_euclid(1000))
            .null("model_context_window");
        self.add(time, "event_msg", &event.finish());
    }

    /// Adds that a turn is over.
    pub(in crate::codex) fn complete_turn(&mut self, time: Moment, turn: &str) {
        let event = Object::new()
            .str("type", "task_complete")
            .str("turn_id", turn)
            .null("last_agent_message");
        self.add(time, "event_msg", &event.finish());
    }

    /// Adds that the person took back the last turns.
    pub(in crate::codex) fn rolled_back(&mut self, time: Moment, turns: u64) {
        let event = Object::new()
            .str("type", "thread_rolled_back")
            .u64("num_turns", turns);
        self.add(time, "event_msg", &event.finish());
    }

    /// Adds what a response cost, with the total that it makes.
    pub(super) fn add_tokens(&mut self, time: Moment, total: &Usage, last: &Usage) {
        let info = Object::new()
            .raw("total_token_usage", &counts(total))
            .raw("last_token_usage", &counts(last))
            .null("model_context_window");
        let event = Object::new()
            .str("type", "token_count")
            .raw("info", &info.finish())
            .null("rate_limits");
        self.add(time, "event_msg", &event.finish());
    }
}

fn completed(thread: &str, turn: &str, item: &[u8], time: Moment) -> Object {
    Object::new()
        .str("type", "item_completed")
        .str("thread_id", thread)
        .str("turn_id", turn)
        .raw("item", item)
        .i64("started_at_ms", time.millis())
        .i64("completed_at_ms", time.millis())
}

/// Tokens as the client counts them.
fn counts(usage: &Usage) -> Vec<u8> {
    Object::new()
        .u64("input_tokens", usage.all_input())
        .u64("cached_input_tokens", usage.cache_read)
        .u64(
            "cache_write_input_tokens",
            usage.cache_write.saturating_add(usage.cache_write_1h),
        )
        .u64("output_tokens", usage.output)
        .u64("reasoning_output_tokens", usage.reasoning)
        .u64("total_tokens", usage.total())
        .finish()
}
