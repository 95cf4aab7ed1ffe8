//! The agents' own clients, run without a network against a stand-in for their model.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::opencode::OpenCodeServer;
use crate::standin::StandInModel;
use crate::turns::{Turn, turns_of_call};
use crate::{codex, installed_program};

/// A client of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientKind {
    /// Claude Code 2.1.325.
    Claude,
    /// Claude Code 2.0.76, of 2025.
    Claude2025,
    /// Codex CLI 0.166.0.
    Codex,
    /// Gemini CLI 0.61.0.
    Gemini,
    /// `OpenCode` 1.18.33.
    OpenCode,
}

/// A client that is installed, with a home of its own.
#[derive(Debug)]
pub struct InstalledClient {
    client: ClientKind,
    program: PathBuf,
    /// The node that runs it, if it does not run by itself.
    node: Option<PathBuf>,
    home: PathBuf,
    folder: PathBuf,
    model: StandInModel,
    /// Settings beside those that every test needs.
    settings: Value,
    /// The client's own server, once it was needed; only `OpenCode` has one.
    server: OnceLock<OpenCodeServer>,
}

impl ClientKind {
    /// The variable that names its program.
    const fn program_variable(self) -> &'static str {
        match self {
            Self::Claude => "RETHREAD_JUDGE_CLAUDE",
            Self::Claude2025 => "RETHREAD_JUDGE_CLAUDE_2025",
            Self::Codex => "RETHREAD_JUDGE_CODEX",
            Self::Gemini => "RETHREAD_JUDGE_GEMINI",
            Self::OpenCode => "RETHREAD_JUDGE_OPENCODE",
        }
    }

    /// The client at work in a folder, with a home that holds nothing but what the test put there;
    /// none if it is not installed, and then the test is to be skipped.
    ///
    /// # Panics
    ///
    /// If it is not installed where `CI` is set.
    pub fn set_up(self, home: &Path, folder: &Path) -> Option<InstalledClient> {
        let needs_node = matches!(self, Self::Claude2025 | Self::Gemini);
        let node = if needs_node {
            Some(installed_program("RETHREAD_JUDGE_NODE_24")?)
        } else {
            None
        };
        Some(InstalledClient {
            client: self,
            program: installed_program(self.program_variable())?,
            node,
            home: home.to_owned(),
            folder: folder.to_owned(),
            model: StandInModel::start(),
            settings: Value::Null,
            server: OnceLock::new(),
        })
    }
}

impl InstalledClient {
    /// The client with more settings, in its own words; each replaces the one with its name.
    #[must_use]
    pub fn with_settings(self, settings: Value) -> Self {
        Self {
            settings,
            server: OnceLock::new(),
            ..self
        }
    }

    /// The stand-in for the model that it talks to.
    pub fn model(&self) -> &StandInModel {
        &self.model
    }

    /// Asks the client's own server for something, as its windows do; only `OpenCode` has one.
    ///
    /// # Panics
    ///
    /// If it is not done.
    pub fn post_to_server(&self, path: &str, body: &Value) {
        let server = self.server.get_or_init(|| {
            self.write_settings();
            OpenCodeServer::start(self.client_command(&os_args(&["serve", "--port", "0"])))
        });
        server.post_json(path, body);
    }

    /// As [`Self::resume_session`], by the client's own server where it has one: to start a client takes longer
    /// than all that it does then.
    ///
    /// # Panics
    ///
    /// If the prompt never arrived.
    pub fn resume_by_server(&self, session: &str, prompt: &str) -> Vec<Turn> {
        if self.client != ClientKind::OpenCode {
            return self.resume_session(session, prompt);
        }
        let (provider, model) = STANDIN_MODEL.split_once('/').unwrap_or_default();
        let body = json!({ "model": { "providerID": provider, "modelID": model },
            "parts": [{ "type": "text", "text": prompt }] });
        self.post_to_server(&format!("/session/{session}/message"), &body);
        self.sent_turns(prompt, None)
    }

    /// Lets the client go on with a session, with one more prompt. Gives what it sent to the model:
    /// the conversation as it understood it, the prompt at its end.
    ///
    /// # Panics
    ///
    /// If the prompt never arrived.
    pub fn resume_session(&self, session: &str, prompt: &str) -> Vec<Turn> {
        match self.try_resume_session(session, prompt) {
            Ok(turns) => turns,
            Err(why) => panic!("{why}"),
        }
    }

    /// As [`Self::resume_session`]; what the client said instead, if the prompt never arrived.
    ///
    /// # Errors
    ///
    /// If the prompt never arrived.
    pub fn try_resume_session(&self, session: &str, prompt: &str) -> Result<Vec<Turn>, String> {
        let args: Vec<OsString> = match self.client {
            ClientKind::Claude | ClientKind::Claude2025 => {
                os_args(&["-p", "--resume", session, prompt, "--output-format", "json"])
            }
            ClientKind::Codex => {
                let mut args = os_args(&["exec", "resume"]);
                args.extend(self.codex_settings());
                args.extend(os_args(&["--skip-git-repo-check", session, prompt]));
                args
            }
            ClientKind::Gemini => {
                os_args(&["--resume", session, "-m", "gemini-2.5-pro", "-p", prompt])
            }
            ClientKind::OpenCode => os_args(&["run", "-m", STANDIN_MODEL, "-s", session, prompt]),
        };
        let output = self.run_client(&args);
        self.try_sent_turns(prompt, Some(&output))
    }

    /// Lets the client begin a conversation with a prompt; it may use the tools that it has.
    ///
    /// # Panics
    ///
    /// If the prompt never arrived.
    pub fn begin_session(&self, prompt: &str) -> Vec<Turn> {
        let args: Vec<OsString> = match self.client {
            ClientKind::Claude | ClientKind::Claude2025 => os_args(&[
                "-p",
                prompt,
                "--output-format",
                "json",
                "--allowedTools",
                "Bash,Read",
            ]),
            ClientKind::Codex => {
                let mut args = os_args(&["exec"]);
                args.extend(self.codex_settings());
                args.extend(os_args(&["--skip-git-repo-check", prompt]));
                args
            }
            ClientKind::Gemini => os_args(&["-m", "gemini-2.5-pro", "--yolo", "-p", prompt]),
            ClientKind::OpenCode => os_args(&["run", "-m", STANDIN_MODEL, prompt]),
        };
        let output = self.run_client(&args);
        self.sent_turns(prompt, Some(&output))
    }

    /// What the client prints when it lists its sessions; none where it cannot.
    pub fn list_sessions(&self) -> Option<String> {
        let args = match self.client {
            ClientKind::Gemini => os_args(&["--list-sessions"]),
            ClientKind::OpenCode => os_args(&["session", "list", "--format", "json"]),
            ClientKind::Codex => {
                let mut args = os_args(&["app-server"]);
                args.extend(self.codex_settings());
                self.write_settings();
                return Some(codex::list_threads(self.client_command(&args)));
            }
            ClientKind::Claude | ClientKind::Claude2025 => return None,
        };
        Some(String::from_utf8_lossy(&self.run_client(&args).stdout).into_owned())
    }

    /// Runs the client with any arguments.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn run_client(&self, args: &[OsString]) -> Output {
        self.write_settings();
        match self.client_command(args).output() {
            Ok(output) => output,
            Err(e) => panic!("`{}` does not start: {e}", self.program.display()),
        }
    }

    fn client_command(&self, args: &[OsString]) -> Command {
        let mut command = match &self.node {
            Some(node) => {
                let mut command = Command::new(node);
                command.arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .args(args)
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", path)
            .env("HOME", &self.home)
            .env("TERM", "xterm-256color")
            .env("NO_PROXY", "127.0.0.1")
            .envs(self.client_variables())
            .stdin(Stdio::null());
        command
    }

    /// The longest call that holds a prompt, which the client was run with.
    ///
    /// # Panics
    ///
    /// If the prompt never arrived.
    pub fn turns_with(&self, prompt: &str) -> Vec<Turn> {
        self.sent_turns(prompt, None)
    }

    /// The longest call that holds the prompt.
    fn sent_turns(&self, prompt: &str, output: Option<&Output>) -> Vec<Turn> {
        match self.try_sent_turns(prompt, output) {
            Ok(turns) => turns,
            Err(why) => panic!("{why}"),
        }
    }

    fn try_sent_turns(&self, prompt: &str, output: Option<&Output>) -> Result<Vec<Turn>, String> {
        // One client puts backslashes before quotes.
        let plain = |text: &str| text.replace('\\', "");
        let holds = |turns: &Vec<Turn>| {
            let is_it = |turn: &Turn| match turn {
                Turn::Text(_, text) => plain(text).contains(&plain(prompt)),
                _ => false,
            };
            turns.iter().any(is_it)
        };
        let calls = self.model.calls();
        let all = calls.iter().map(turns_of_call).filter(holds);
        all.max_by_key(Vec::len).ok_or_else(|| {
            let tail = |bytes: &[u8]| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                let start = text.chars().count().saturating_sub(1500);
                text.chars().skip(start).collect::<String>()
            };
            let ended = output.map(|o| (o.status, tail(&o.stdout), tail(&o.stderr)));
            format!(
                "{:?} never sent the prompt; {} calls; {ended:#?}",
                self.client,
                calls.len(),
            )
        })
    }

    /// Keys are none: nothing leaves the machine.
    fn client_variables(&self) -> Vec<(&'static str, OsString)> {
        let url = self.model.url();
        let one = || OsString::from("1");
        let home = |name: &str| self.home.join(name).into_os_string();
        match self.client {
            ClientKind::Claude | ClientKind::Claude2025 => vec![
                ("CLAUDE_CONFIG_DIR", home(".claude")),
                ("ANTHROPIC_BASE_URL", url.into()),
                ("ANTHROPIC_API_KEY", "sk-ant-none".into()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", one()),
                ("DISABLE_AUTOUPDATER", one()),
                ("DISABLE_TELEMETRY", one()),
                ("DISABLE_ERROR_REPORTING", one()),
            ],
            ClientKind::Codex => vec![
                ("CODEX_HOME", home(".codex")),
                ("STANDIN_KEY", "none".into()),
            ],
            ClientKind::Gemini => vec![
                ("GEMINI_API_KEY", "none".into()),
                ("GOOGLE_GEMINI_BASE_URL", url.into()),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
            ],
            ClientKind::OpenCode => vec![
                ("OPENCODE_DISABLE_AUTOUPDATE", one()),
                ("OPENCODE_DISABLE_MODELS_FETCH", one()),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", one()),
                ("OPENCODE_DISABLE_DEFAULT_PLUGINS", one()),
            ],
        }
    }

    fn codex_settings(&self) -> Vec<OsString> {
        let provider = format!(
            "model_providers.standin={{name=\"Stand-in\",base_url=\"{}/v1\",env_key=\"STANDIN_KEY\",wire_api=\"responses\",request_max_retries=0,stream_max_retries=0}}",
            self.model.url()
        );
        os_args(&[
            "-c",
            "model=\"gpt-5.2-codex\"",
            "-c",
            "model_provider=\"standin\"",
            "-c",
            &provider,
        ])
    }

    /// Settings that some clients read from files.
    fn write_settings(&self) {
        let (file, mut settings) = match self.client {
            ClientKind::Claude | ClientKind::Claude2025 => return,
            ClientKind::Codex => {
                // The client wants its folder to be there.
                write_file(&self.home.join(".codex/.keep"), "");
                return;
            }
            ClientKind::Gemini => (
                ".gemini/settings.json",
                json!({ "security": { "auth": { "selectedType": "gemini-api-key" } },
                    "privacy": { "usageStatisticsEnabled": false },
                    "general": { "disableAutoUpdate": true } }),
            ),
            ClientKind::OpenCode => (
                ".config/opencode/opencode.json",
                json!({ "autoupdate": false, "share": "disabled", "model": STANDIN_MODEL,
                    "small_model": STANDIN_MODEL,
                    "provider": { "standin": { "npm": "@ai-sdk/openai-compatible",
                        "name": "Stand-in",
                        "options": { "baseURL": format!("{}/v1", self.model.url()),
                            "apiKey": "none" },
                        "models": { "model": { "name": "Model", "attachment": true,
                            "modalities": { "input": ["text", "image"], "output": ["text"] },
                            "limit": { "context": 100_000, "output": 4000 } } } } } }),
            ),
        };
        for (key, value) in self.settings.as_object().into_iter().flatten() {
            settings[key] = value.clone();
        }
        write_file(&self.home.join(file), &settings.to_string());
    }
}

/// The model of the stand-in, as `OpenCode` names it.
const STANDIN_MODEL: &str = "standin/model";

fn os_args(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn write_file(path: &Path, text: &str) {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    if let Err(e) = made.and_then(|()| std::fs::write(path, text)) {
        panic!("`{}` cannot be written: {e}", path.display());
    }
}
