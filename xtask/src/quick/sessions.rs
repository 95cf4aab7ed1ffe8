//! Sessions of several agents that are long enough for reading them to count: the same sixty turns
//! in each, of which no two say the same.

use std::fmt::Write as _;

/// How often somebody asks, the agent looks something up, and answers.
const TURNS: usize = 60;

/// A session of Claude Code.
pub(super) fn claude_code(id: &str, folder: &str) -> String {
    let mut text = String::new();
    let mut parent = "null".to_owned();
    for turn in 0..TURNS {
        let mut line = |step: usize, rest: &str| {
            let uuid = format!("00000000-0000-4000-8000-{turn:08}{step:04}");
            let time = time(turn, step);
            let _ = writeln!(
                text,
                r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"{folder}","sessionId":"{id}","version":"2.1.197","gitBranch":"main",{rest},"uuid":"{uuid}","timestamp":"{time}"}}"#
            );
            parent = format!("\"{uuid}\"");
        };
        let answer = |content: &str| {
            format!(
                r#""type":"assistant","message":{{"model":"claude-sonnet-4-5-20250929","id":"msg_{turn}","type":"message","role":"assistant","content":[{content}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":6,"cache_creation_input_tokens":0,"cache_read_input_tokens":11840,"output_tokens":214}}}},"requestId":"req_{turn}""#
            )
        };
        let ask = ask(turn);
        line(
            0,
            &format!(r#""type":"user","message":{{"role":"user","content":"{ask}"}}"#),
        );
        let thought = format!(
            r#"{{"type":"thinking","thinking":"{}","signature":"c2FtcGxl"}}"#,
            thought(turn)
        );
        line(1, &answer(&thought));
        let call = format!(
            r#"{{"type":"tool_use","id":"toolu_{turn}","name":"Read","input":{{"file_path":"{folder}/src/part{turn}.js"}}}}"#
        );
        line(2, &answer(&call));
        let result = format!(
            r#""type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_{turn}","type":"tool_result","content":"{}"}}]}}"#,
            code(turn)
        );
        line(3, &result);
        let reply = format!(r#"{{"type":"text","text":"{}"}}"#, reply(turn));
        line(4, &answer(&reply));
    }
    text
}

/// A session of Codex CLI.
pub(super) fn codex(id: &str, folder: &str) -> String {
    let mut text = String::new();
    let mut line = |turn: usize, step: usize, kind: &str, payload: &str| {
        let time = time(turn, step);
        let _ = writeln!(
            text,
            r#"{{"timestamp":"{time}","type":"{kind}","payload":{payload}}}"#
        );
    };
    let meta = format!(
        r#"{{"id":"{id}","timestamp":"{}","cwd":"{folder}","originator":"codex-tui","cli_version":"0.166.0","source":"cli","model_provider":"openai"}}"#,
        time(0, 0)
    );
    line(0, 0, "session_meta", &meta);
    for turn in 0..TURNS {
        let context = format!(
            r#"{{"turn_id":"t{turn}","cwd":"{folder}","approval_policy":"on-request","sandbox_policy":{{"type":"workspace-write"}},"model":"gpt-5.2-codex","effort":"medium","summary":"auto"}}"#
        );
        line(turn, 0, "turn_context", &context);
        let ask = ask(turn);
        let message = |role: &str, kind: &str, text: &str| {
            format!(
                r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}"#
            )
        };
        line(
            turn,
            0,
            "response_item",
            &message("user", "input_text", &ask),
        );
        let event = format!(r#"{{"type":"user_message","message":"{ask}","images":[]}}"#);
        line(turn, 0, "event_msg", &event);
        let thought = format!(
            r#"{{"type":"reasoning","summary":[{{"type":"summary_text","text":"{}"}}],"content":null,"encrypted_content":"c2FtcGxl"}}"#,
            thought(turn)
        );
        line(turn, 1, "response_item", &thought);
        let call = format!(
            r#"{{"type":"function_call","name":"shell","arguments":"{{\"command\":[\"cat\",\"src/part{turn}.js\"]}}","call_id":"call_{turn}"}}"#
        );
        line(turn, 2, "response_item", &call);
        let output = format!(
            r#"{{"type":"function_call_output","call_id":"call_{turn}","output":"{}"}}"#,
            code(turn)
        );
        line(turn, 3, "response_item", &output);
        let reply = reply(turn);
        line(
            turn,
            4,
            "response_item",
            &message("assistant", "output_text", &reply),
        );
        let event = format!(r#"{{"type":"agent_message","message":"{reply}"}}"#);
        line(turn, 4, "event_msg", &event);
    }
    text
}

/// A session of pi.
pub(super) fn pi(id: &str, folder: &str) -> String {
    let time_of = time;
    let mut text = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"{}\",\"cwd\":\"{folder}\"}}\n",
        time(0, 0)
    );
    let mut parent = "null".to_owned();
    for turn in 0..TURNS {
        let mut line = |step: usize, message: &str| {
            let entry = format!("{turn:04x}{step:04x}");
            let time = time_of(turn, step);
            let _ = writeln!(
                text,
                r#"{{"type":"message","id":"{entry}","parentId":{parent},"timestamp":"{time}","message":{{{message},"timestamp":1794475214000}}}}"#
            );
            parent = format!("\"{entry}\"");
        };
        let answer = |content: &str| {
            format!(
                r#""role":"assistant","content":[{content}],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{{"input":2140,"output":88,"cacheRead":0,"cacheWrite":0,"totalTokens":2228,"cost":{{"input":0.00642,"output":0.00132,"cacheRead":0,"cacheWrite":0,"total":0.00774}}}},"stopReason":"stop""#
            )
        };
        let said = format!(r#"{{"type":"text","text":"{}"}}"#, ask(turn));
        line(0, &format!(r#""role":"user","content":[{said}]"#));
        let thought = thought(turn);
        let call = format!(
            r#"{{"type":"thinking","thinking":"{thought}","thinkingSignature":"c2FtcGxl"}},{{"type":"toolCall","id":"toolu_{turn}","name":"read","arguments":{{"path":"src/part{turn}.js"}}}}"#
        );
        line(2, &answer(&call));
        let code = code(turn);
        let result = format!(
            r#""role":"toolResult","toolCallId":"toolu_{turn}","toolName":"read","content":[{{"type":"text","text":"{code}"}}],"isError":false"#
        );
        line(3, &result);
        let reply = format!(r#"{{"type":"text","text":"{}"}}"#, reply(turn));
        line(4, &answer(&reply));
    }
    text
}

/// When a step of a turn was: each day has its turns, and each minute of one its steps.
fn time(turn: usize, step: usize) -> String {
    let (hour, minute) = (turn / 30, turn % 30 * 2);
    format!("2026-11-14T{:02}:{minute:02}:{step:02}.000Z", 9 + hour)
}

fn ask(turn: usize) -> String {
    format!(
        "Part {turn} of the shop is slow when {} customers come at once. Why is that, and what can be done?\\n\\n- It was not so last week.\\n- The *orders* page is not affected.",
        turn * 7 + 3
    )
}

fn thought(turn: usize) -> String {
    format!(
        "Probably one query a row, as in part {}. I should look at the file before I say so, and count the calls.",
        turn / 2
    )
}

/// What the file says that the agent reads: some forty lines of code, as they stand in JSON.
fn code(turn: usize) -> String {
    let mut code = String::new();
    for n in 0..40 {
        let _ = write!(
            code,
            "{n:>6}\\texport function part{turn}_{n}(rows) {{ return rows.filter((row) => row.price > {}); }}\\n",
            n * turn
        );
    }
    code
}

fn reply(turn: usize) -> String {
    format!(
        "It asks for the price of every row: {} rows are as many queries.\\n\\n```js\\nconst prices = await db.prices(rows.map((row) => row.item));\\n```\\n\\nWith this, part {turn} needs **two** queries, see `src/part{turn}.js`.",
        turn * 100
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_json() {
        for session in [claude_code("a", "/b"), codex("a", "/b"), pi("a", "/b")] {
            assert!(session.lines().count() > TURNS * 3);
            for line in session.lines() {
                let value: Result<serde_json::Value, _> = serde_json::from_str(line);
                assert!(value.is_ok_and(|value| value.is_object()), "{line}");
            }
        }
    }
}
