//! Text that stands in the place of the person or the system, and was written by the client: what it
//! is, or what the person typed that the client wrapped in tags.

use rethread_model::Role;

/// Longer names are no names.
const NAME: usize = 60;

/// A text that neither the person nor the agent wrote.
pub(crate) struct InjectedText {
    /// What it is: `permissions`, `skill`, `AGENTS.md`.
    pub(crate) kind: String,
    /// Which one, where there are several.
    pub(crate) name: Option<String>,
    pub(crate) text: String,
}

impl InjectedText {
    /// `skill "profiling"`, `permissions`.
    pub(crate) fn description(&self) -> String {
        match &self.name {
            Some(name) => format!("{} \"{name}\"", self.kind),
            None => self.kind.clone(),
        }
    }
}

/// What a text of a client really is.
pub(crate) enum ClientText {
    /// The person's own words.
    Words(String),
    /// A command that the person typed.
    Typed(String),
    /// What such a command printed.
    Printed(String),
    /// The person stopped the agent.
    Interrupted,
    /// Something for the model.
    Injected(InjectedText),
}

/// What a text is that a client put into a conversation. `extension` is the client's own word for it.
pub(crate) fn classify_client_text(
    text: String,
    role: Role,
    extension: Option<&str>,
) -> Vec<ClientText> {
    let start = text.trim_start();
    if start.starts_with("<command-name>") || start.starts_with("<command-message>") {
        return vec![slash_command(&text)];
    }
    if let Some(command) = inside_tag(start, "bash-input") {
        return vec![ClientText::Typed(format!("! {}", command.trim()))];
    }
    if let Some(memory) = inside_tag(start, "user-memory-input") {
        return vec![ClientText::Typed(format!("# {}", memory.trim()))];
    }
    if start.starts_with("<user_shell_command>") {
        return shell_command(start);
    }
    let printed = [
        "local-command-stdout",
        "local-command-stderr",
        "bash-stdout",
        "bash-stderr",
    ];
    if printed.iter().any(|tag| opens_with_tag(start, tag)) {
        let texts = printed.iter().filter_map(|tag| inside_tag(start, tag));
        let texts: Vec<&str> = texts.filter(|t| !t.trim().is_empty()).collect();
        return vec![ClientText::Printed(texts.join("\n"))];
    }
    if start.starts_with("[Request interrupted by user") || opens_with_tag(start, "turn_aborted") {
        return vec![ClientText::Interrupted];
    }
    vec![ClientText::Injected(describe_injected(
        text, role, extension,
    ))]
}

/// What the person said, apart from what the client put before it: the text of a skill that they asked
/// for.
pub(crate) fn split_person_text(text: String) -> Vec<ClientText> {
    let start = text.trim_start();
    if opens_with_tag(start, "command-name") || opens_with_tag(start, "command-message") {
        return vec![slash_command(&text)];
    }
    let skill = start.strip_prefix("<skill name=\"").and_then(|rest| {
        let (name, _) = rest.split_once('"')?;
        let (skill, words) = start.split_once("</skill>")?;
        Some((name.to_owned(), skill.to_owned(), words.trim().to_owned()))
    });
    let Some((name, skill, words)) = skill else {
        return vec![ClientText::Words(text)];
    };
    let typed = format!("/skill:{name} {words}");
    vec![
        ClientText::Typed(typed.trim_end().to_owned()),
        ClientText::Injected(InjectedText {
            kind: "skill".to_owned(),
            name: Some(short_name(&name)),
            text: skill,
        }),
    ]
}

/// `/review src`, whatever order its tags are in.
fn slash_command(text: &str) -> ClientText {
    let name = inside_tag(text, "command-name").or_else(|| inside_tag(text, "command-message"));
    let name = name.unwrap_or_default().trim();
    let slash = if name.starts_with('/') { "" } else { "/" };
    let args = inside_tag(text, "command-args").unwrap_or_default().trim();
    ClientText::Typed(format!("{slash}{name} {args}").trim_end().to_owned())
}

/// A command of the shell that the person ran beside the agent, and what it printed.
fn shell_command(text: &str) -> Vec<ClientText> {
    let command = inside_tag(text, "command").unwrap_or_default().trim();
    let mut told = vec![ClientText::Typed(format!("! {command}"))];
    if let Some(result) = inside_tag(text, "result").filter(|r| !r.trim().is_empty()) {
        told.push(ClientText::Printed(result.trim().to_owned()));
    }
    told
}

fn describe_injected(text: String, role: Role, extension: Option<&str>) -> InjectedText {
    let start = text.trim_start();
    let mut name = None;
    let kind = if let Some(rest) = start.strip_prefix("Base directory for this skill:") {
        let folder = rest.lines().next().unwrap_or_default().trim();
        name = folder.rsplit(['/', '\\']).next().filter(|n| !n.is_empty());
        "skill".to_owned()
    } else if start.starts_with("# AGENTS.md") || opens_with_tag(start, "user_instructions") {
        "AGENTS.md".to_owned()
    } else if start.starts_with("Caveat: ") || opens_with_tag(start, "local-command-caveat") {
        "caveat".to_owned()
    } else if let Some(tag) = first_tag(start) {
        if tag == "skill" {
            name = inside_tag(start, "name").map(str::trim);
        }
        tag_words(tag)
    } else if let Some(extension) = extension.filter(|e| !e.trim().is_empty()) {
        short_name(&extension.replace(['_', '-'], " "))
    } else {
        match role {
            Role::System => "instructions".to_owned(),
            Role::User | Role::Assistant | Role::Tool => "note".to_owned(),
        }
    };
    let name = name.map(short_name);
    InjectedText { kind, name, text }
}

/// What a tag is called among people.
fn tag_words(tag: &str) -> String {
    let words = tag.replace(['_', '-'], " ").to_lowercase();
    match words.as_str() {
        "system reminder" => "reminder".to_owned(),
        "environment context" => "environment".to_owned(),
        _ => match words.strip_suffix(" instructions") {
            Some(what) => what.to_owned(),
            None => words,
        },
    }
}

/// The name of the tag that a text begins with.
fn first_tag(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('<')?;
    let end = rest.find(['>', '=', '\n'])?;
    let tag = rest.get(..end)?;
    // Behind the name stands the name of an attribute.
    let tag = if rest.get(end..)?.starts_with('=') {
        tag.rsplit_once(' ')?.0
    } else {
        tag
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_- ".contains(c);
    let begins = tag.starts_with(|c: char| c.is_ascii_alphabetic());
    (begins && tag.len() <= NAME && tag.chars().all(is_word)).then_some(tag)
}

fn opens_with_tag(text: &str, tag: &str) -> bool {
    let rest = text
        .strip_prefix('<')
        .and_then(|rest| rest.strip_prefix(tag));
    rest.is_some_and(|rest| rest.starts_with(['>', ' ']))
}

/// What stands between a tag and its end; up to the end of a text that was cut.
fn inside_tag<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let end = rest.find(&format!("</{tag}>")).unwrap_or(rest.len());
    rest.get(..end)
}

fn short_name(name: &str) -> String {
    name.chars().take(NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(told: &[ClientText]) -> String {
        let one = |told: &ClientText| match told {
            ClientText::Words(text) => format!("words {text}"),
            ClientText::Typed(text) => format!("typed {text}"),
            ClientText::Printed(text) => format!("printed {text}"),
            ClientText::Interrupted => "interrupted".to_owned(),
            ClientText::Injected(injected) => injected.description(),
        };
        let all: Vec<String> = told.iter().map(one).collect();
        all.join("|")
    }

    #[test]
    fn commands_are_what_the_person_typed() {
        for (text, wanted) in [
            (
                "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>src/a.rs now</command-args>",
                "typed /review src/a.rs now",
            ),
            ("<command-name>clear</command-name>", "typed /clear"),
            (
                "<command-message>init is running…</command-message>",
                "typed /init is running…",
            ),
            ("<bash-input>ls -l</bash-input>", "typed ! ls -l"),
            (
                "<bash-stdout>a\nb</bash-stdout><bash-stderr></bash-stderr>",
                "printed a\nb",
            ),
            (
                "<local-command-stdout>Reconnected</local-command-stdout>",
                "printed Reconnected",
            ),
            (
                "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\n</result>\n</user_shell_command>",
                "typed ! ls|printed Exit code: 0",
            ),
            ("[Request interrupted by user for tool use]", "interrupted"),
            ("<turn_aborted>\nThe user…", "interrupted"),
        ] {
            assert_eq!(
                shown(&classify_client_text(text.to_owned(), Role::User, None)),
                wanted
            );
        }
        let skill = "<skill name=\"profiling\" location=\"/x\">\nHow to\n</skill>\n\nthe list";
        assert_eq!(
            shown(&split_person_text(skill.to_owned())),
            "typed /skill:profiling the list|skill \"profiling\""
        );
        assert_eq!(shown(&split_person_text("a < b".to_owned())), "words a < b");
    }

    #[test]
    fn injected_texts_have_names() {
        for (text, extension, wanted) in [
            ("<permissions instructions>\nx", None, "permissions"),
            ("<system-reminder>x</system-reminder>", None, "reminder"),
            ("<environment_context>\n<cwd>/x</cwd>", None, "environment"),
            (
                "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>",
                None,
                "AGENTS.md",
            ),
            (
                "<skill>\n<name>profiling</name>",
                None,
                "skill \"profiling\"",
            ),
            (
                "Base directory for this skill: /h/.claude/skills/pdf\n\n# PDF",
                None,
                "skill \"pdf\"",
            ),
            ("<teammate-message from=\"a\">x", None, "teammate message"),
            ("Nothing special", Some("todo_reminder"), "todo reminder"),
            ("Nothing special", None, "note"),
            ("<<<>>>", None, "note"),
            ("<x", None, "note"),
        ] {
            let told = classify_client_text(text.to_owned(), Role::User, extension);
            assert_eq!(shown(&told), wanted, "{text}");
        }
    }
}
