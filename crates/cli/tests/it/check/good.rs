//! A store without a fault, laid out by hand, to be broken in one way at a time.

use std::fs;
use std::path::PathBuf;

use crate::world::{World, json};

pub(super) const THREAD: &str = r#"{
  "specVersion": "1.1",
  "threadId": "t-1",
  "title": "T",
  "createdAt": "2026-01-01T00:00:00.000Z",
  "updatedAt": "2026-01-01T00:00:04.000Z",
  "agent": {
    "id": "a",
    "name": "A",
    "version": "1.0",
    "protocol": "acp",
    "protocolVersion": 1
  },
  "context": {
    "workingDir": "/w",
    "relativeDir": ".",
    "gitBranch": "main",
    "gitCommit": "abc",
    "worktree": {
      "path": "/w/t",
      "branch": "b"
    }
  },
  "stats": {
    "messageCount": 3,
    "userMessageCount": 1,
    "agentMessageCount": 1,
    "toolCallCount": 1
  },
  "metadata": {}
}
"#;

pub(super) const LOG: &str = concat!(
    r#"{"id":"m1","role":"system","timestamp":"2026-01-01T00:00:01.000Z","content":[{"type":"text","text":"rules"}]}"#,
    "\n",
    r#"{"id":"m2","role":"user","timestamp":"2026-01-01T00:00:02.000Z","content":[{"type":"text","text":"look"},{"type":"image","assetRef":"sha256-ba7816bf8f01cfea.png","mimeType":"image/png"}]}"#,
    "\n",
    r#"{"id":"m3","role":"agent","timestamp":"2026-01-01T00:00:04.000Z","content":[{"type":"thinking","text":"hm, é…"},{"type":"text","text":"done"}],"toolCalls":[{"toolCallId":"c1","name":"edit","title":"Edit","status":"completed","input":"{}","output":"ok","duration":5,"diff":{"path":"a.rs","oldText":"1","newText":"2"}}],"stopReason":"end_turn","model":"m","tokens":{"input":1,"output":2}}"#,
    "\n",
);

pub(super) const CONFIG: &str = r#"{
  "specVersion": "1.1",
  "createdBy": {
    "name": "N",
    "version": "V"
  },
  "defaults": {
    "agentId": "a",
    "interactionMode": "code",
    "useWorktree": true
  },
  "agentSettings": {
    "a": {
      "model": "m",
      "maxTokens": 4096,
      "tokenizer": "cl100k_base",
      "apiKeyEnv": "SOME_VARIABLE",
      "oauthToken": "${TOKEN}"
    }
  },
  "worktreeHooks": {
    "symlinks": [
      {
        "source": ".env.local",
        "target": "config/.env"
      }
    ],
    "postSetupCommands": [
      {
        "command": "true",
        "label": "L",
        "timeout": 1,
        "continueOnError": true,
        "platforms": [
          "linux"
        ]
      }
    ],
    "initialPrompt": "p"
  }
}
"#;

/// The first sixteen digits of the hash of `abc`.
pub(super) const ASSET: &str = "assets/sha256-ba7816bf8f01cfea.png";

pub(super) struct Good {
    pub(super) w: World,
}

impl Good {
    pub(super) fn new() -> Self {
        let w = World::new();
        let good = Self { w };
        fs::create_dir_all(good.thread("assets")).unwrap();
        good.put("config.json", CONFIG);
        good.put("thread.json", THREAD);
        good.put("messages.jsonl", LOG);
        fs::write(good.thread(ASSET), "abc").unwrap();
        fs::write(good.w.project.join(".agent/.gitignore"), "").unwrap();
        good
    }

    fn thread(&self, name: &str) -> PathBuf {
        self.w.folder("t-1").join(name)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        match name {
            "config.json" | ".gitignore" => self.w.project.join(".agent").join(name),
            _ => self.thread(name),
        }
    }

    pub(super) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Changes the text of a file, which must hold `from`.
    pub(super) fn edit(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        assert!(text.contains(from), "{name} has no {from}");
        self.put(name, text.replacen(from, to, 1));
    }

    pub(super) fn check(&self) -> Verdict {
        check(&self.w, &["check"])
    }
}

/// What a check found: `level[rule] file:line`, a line each, and its exit code.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) code: i32,
    pub(super) found: Vec<String>,
    pub(super) messages: Vec<String>,
}

pub(super) fn check(w: &World, args: &[&str]) -> Verdict {
    let mut args = args.to_vec();
    args.push("--json");
    let answer = w.run(&args);
    assert!(!answer.err.contains("panicked"), "{answer:?}");
    let objects: Vec<_> = answer.out.lines().map(json).collect();
    let brief = |v: &serde_json::Value| {
        let path = v["path"].as_str().unwrap();
        let file = path.rsplit(['/', '\\']).next().unwrap();
        let (level, rule) = (v["level"].as_str().unwrap(), v["rule"].as_str().unwrap());
        assert!(!v["section"].as_str().unwrap().is_empty());
        match v["line"].as_u64() {
            Some(line) => format!("{level}[{rule}] {file}:{line}"),
            None => format!("{level}[{rule}] {file}"),
        }
    };
    Verdict {
        code: answer.code,
        found: objects.iter().map(brief).collect(),
        messages: objects
            .iter()
            .map(|v| v["message"].as_str().unwrap().to_owned())
            .collect(),
    }
}

/// The line on which a text says something for the first time.
pub(super) fn line_of(text: &str, what: &str) -> usize {
    text.lines().position(|l| l.contains(what)).unwrap() + 1
}
