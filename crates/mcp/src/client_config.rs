//! What to add to a client's settings.

use serde_json::json;

/// A client that can be told of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The file that is changed, or the command that changes it.
    pub place: &'static str,
    form: ConfigForm,
}

/// How a client keeps its servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConfigForm {
    /// A command of its own adds a server.
    Command(&'static str),
    /// `"mcpServers": { "rethread": { "command", "args" } }`
    McpServers,
    /// `[mcp_servers.rethread]`
    CodexToml,
    /// `"mcp": { "rethread": { "type": "local", "command": […] } }`
    OpenCode,
}

/// The clients that are known.
pub const MCP_CLIENTS: [ClientConfig; 7] = [
    ClientConfig {
        name: "claude",
        place: "run this",
        form: ConfigForm::Command("claude mcp add --scope user rethread --"),
    },
    ClientConfig {
        name: "codex",
        place: "add this to ~/.codex/config.toml",
        form: ConfigForm::CodexToml,
    },
    ClientConfig {
        name: "gemini",
        place: "add this to ~/.gemini/settings.json",
        form: ConfigForm::McpServers,
    },
    ClientConfig {
        name: "opencode",
        place: "add this to ~/.config/opencode/opencode.json",
        form: ConfigForm::OpenCode,
    },
    ClientConfig {
        name: "copilot",
        place: "add this to ~/.copilot/mcp-config.json",
        form: ConfigForm::McpServers,
    },
    ClientConfig {
        name: "cursor",
        place: "add this to ~/.cursor/mcp.json",
        form: ConfigForm::McpServers,
    },
    ClientConfig {
        name: "claude-desktop",
        place: "add this to claude_desktop_config.json",
        form: ConfigForm::McpServers,
    },
];

impl ClientConfig {
    /// The client of a name.
    pub fn named(name: &str) -> Option<Self> {
        MCP_CLIENTS.into_iter().find(|client| client.name == name)
    }

    /// What to add or run, for a server that is started by these words.
    pub fn text(self, words: &[String]) -> String {
        let (program, rest) = words
            .split_first()
            .map_or(("", words), |(p, r)| (p.as_str(), r));
        let pretty =
            |value: serde_json::Value| serde_json::to_string_pretty(&value).unwrap_or_default();
        match self.form {
            ConfigForm::Command(command) => {
                let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
                format!("{command} {}", words.join(" "))
            }
            ConfigForm::McpServers => {
                let server = json!({ "command": program, "args": rest });
                pretty(json!({ "mcpServers": { "rethread": server } }))
            }
            ConfigForm::CodexToml => {
                // A JSON string is a string of TOML, too.
                let rest: Vec<String> = rest.iter().map(|word| json!(word).to_string()).collect();
                format!(
                    "[mcp_servers.rethread]\ncommand = {}\nargs = [{}]",
                    json!(program),
                    rest.join(", ")
                )
            }
            ConfigForm::OpenCode => {
                let server = json!({ "type": "local", "command": words, "enabled": true });
                pretty(json!({ "mcp": { "rethread": server } }))
            }
        }
    }
}

/// A word as a shell takes it.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
