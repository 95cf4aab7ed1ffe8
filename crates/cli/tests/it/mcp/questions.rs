//! Twenty questions over the sample, with the calls that a careful agent would make, and what they cost.

use serde_json::json;

use super::client::McpClient;
use crate::world::World;

/// A question, the words that are searched for, and what the answer must hold.
const QUESTIONS: [(&str, &str, &str); 20] = [
    (
        "What was wrong with the redirect?",
        "redirect undefined",
        "request.query.next",
    ),
    (
        "Which file did we change to fix the redirect?",
        "file:src/signin.js role:assistant",
        "signin.js",
    ),
    (
        "Which test failed first?",
        "never leaves the shop",
        "example.org",
    ),
    (
        "How did we check that a path is local?",
        "localPath",
        "localPath",
    ),
    (
        "Which sub-agent looked for redirects?",
        "is:subagent redirects",
        "signin.js",
    ),
    (
        "What did the failing command print?",
        "tool:bash has:error fail",
        "fail",
    ),
    (
        "Which conversations are with Codex?",
        "agent:codex",
        "Codex",
    ),
    ("Which conversations are with pi?", "agent:pi", "pi"),
    (
        "Which conversations are with Gemini?",
        "agent:gemini",
        "Gemini",
    ),
    (
        "Which conversations are with OpenCode?",
        "agent:opencode",
        "OpenCode",
    ),
    (
        "Where did we use node's test runner?",
        "node test",
        "node --test",
    ),
    ("Where did we talk about signing in?", "sign*", "sign"),
    (
        "What did I ask about the sign-in?",
        "role:user sign*",
        "sign",
    ),
    ("Where is a status of 302 answered?", "302", "302"),
    ("Where is a status of 429 answered?", "429", "429"),
    (
        "Which conversation has a picture?",
        "has:image",
        "Limit sign-in attempts",
    ),
    ("What failed?", "has:error", "redirect"),
    ("What was said in the shop?", "dir:shop", "shop"),
    (
        "What did the model answer about the slash?",
        "slash",
        "slash",
    ),
    (
        "What has `redirect` in its title?",
        "title:redirect",
        "redirect",
    ),
];

/// The most bytes that a question may cost on average.
const AIM: usize = 6 * 1024;

#[test]
fn twenty_questions_cost_few_bytes() {
    let w = World::new();
    let mut client = McpClient::start(&w, &["--sample", "mcp"]);
    let mut spent = 0;
    let mut report = String::new();
    for (question, query, answer) in QUESTIONS {
        let (found, data) = client.call(
            "search_conversations",
            &json!({ "query": query, "limit": 3 }),
        );
        let mut seen = found.clone();
        let mut cost = found.len();
        let best = &data["conversations"][0];
        let entry = best["places"]
            .as_array()
            .and_then(|places| places.iter().find_map(|p| p["entry"].as_str()));
        let mut window = json!({ "id": best["id"], "max_bytes": 3_000 });
        if let Some(entry) = entry {
            window["around"] = json!(entry);
        }
        let (read, _) = client.call("read_conversation", &window);
        cost += read.len();
        seen.push_str(&read);
        assert!(
            seen.to_lowercase().contains(&answer.to_lowercase()),
            "{question}: {seen}"
        );
        spent += cost;
        report.push_str(&format!("{cost:6} bytes  {question}\n"));
    }
    println!("{report}{:6} bytes a question", spent / QUESTIONS.len());
    assert!(spent / QUESTIONS.len() <= AIM, "{report}");
}
