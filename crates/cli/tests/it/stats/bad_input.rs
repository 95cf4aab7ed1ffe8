//! What cannot be counted is named, and never added up.

use serde_json::json;

use super::{claude_log, prompt, response, stats, tokens, used};
use crate::world::{World, json as parse};

const DAY: &str = "2026-11-10T10:00:00.000Z";

#[test]
fn numbers_that_are_none_are_named_and_count_as_nothing() {
    for (usage, total, kind) in [
        (
            json!({"input_tokens": -5, "output_tokens": 7}),
            7,
            "bad_count",
        ),
        (
            json!({"input_tokens": 1.5, "output_tokens": 7}),
            7,
            "bad_count",
        ),
        (
            json!({"input_tokens": "12", "output_tokens": 7}),
            7,
            "bad_count",
        ),
        (
            json!({"input_tokens": 1e30, "output_tokens": 7}),
            7,
            "bad_count",
        ),
        (
            json!({"input_tokens": 9_000_000_000_000_u64, "output_tokens": 7}),
            0,
            "huge_count",
        ),
    ] {
        let w = World::new();
        claude_log(
            &w,
            "aaaa0001",
            &[
                prompt("aaaa0001", 1, DAY),
                response("aaaa0001", "one00001", DAY, &usage),
            ],
        );
        let answer = w.run(&["stats", "--json"]);
        let all = parse(&answer.out);
        assert_eq!(tokens(&all["total"]), total, "{usage}: {all}");
        assert_eq!(all["oddities"][0]["kind"], kind, "{usage}: {all}");
        assert_eq!(all["oddities"][0]["session_id"], "aaaa0001");
        let people = w.run(&["stats"]);
        assert!(people.err.contains("note: "), "{usage}: {people:?}");
        assert!(people.err.contains("show aaaa0001 --at '#2'"), "{people:?}");
    }
}

#[test]
fn prices_that_are_none_are_left_out() {
    let w = World::new();
    let mut record = response("aaaa0001", "one00001", DAY, &used(1_000_000, 0));
    record["costUSD"] = json!(-3.0);
    claude_log(&w, "aaaa0001", &[prompt("aaaa0001", 1, DAY), record]);
    let all = stats(&w, &[]);
    assert_eq!(all["total"]["recorded_usd"], 0.0);
    // All of it is input, of more than 200,000 tokens.
    assert_eq!(all["total"]["computed_usd"], 6.0);
    assert_eq!(all["oddities"][0]["kind"], "bad_cost");
}

#[test]
fn a_model_without_a_price_is_named_and_counted_apart() {
    let w = World::new();
    let mut local = response("aaaa0001", "one00001", DAY, &used(500, 5));
    local["message"]["model"] = json!("local/qwen");
    let known = response("aaaa0001", "two00002", DAY, &used(1_000, 0));
    claude_log(&w, "aaaa0001", &[prompt("aaaa0001", 1, DAY), local, known]);
    let all = stats(&w, &["--by", "model"]);
    assert_eq!(all["total"]["unpriced_responses"], 1);
    assert_eq!(all["total"]["cost_usd"], 0.003);
    assert_eq!(all["unpriced"][0]["model"], "local/qwen");
    assert_eq!(all["unpriced"][0]["tokens"], 505);
    let page = w.ok(&["stats"]);
    assert!(
        page.contains("1 response of `local/qwen` is unpriced"),
        "{page}"
    );
    // The user may know better.
    let config = w.home.join(".config/rethread");
    std::fs::create_dir_all(&config).unwrap();
    let settings = "[prices.'local/qwen']\ninput = 2\noutput = 20\n";
    std::fs::write(config.join("config.toml"), settings).unwrap();
    let all = stats(&w, &["--by", "model"]);
    assert_eq!(all["total"]["unpriced_responses"], 0);
    assert_eq!(all["total"]["cost_usd"], 0.0041);
    std::fs::write(config.join("config.toml"), "[prices.x]\ninput = -1\n").unwrap();
    let answer = w.run(&["stats"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.err.contains("config.toml"), "{answer:?}");
}

#[test]
fn times_that_are_none_have_no_day() {
    let w = World::new();
    claude_log(
        &w,
        "aaaa0001",
        &[
            prompt("aaaa0001", 1, DAY),
            response("aaaa0001", "one00001", "1969-12-31T23:00:00Z", &used(10, 1)),
            // A clock that jumped back, and one that jumped ahead.
            response("aaaa0001", "two00002", "2026-11-09T10:00:00Z", &used(20, 2)),
            response("aaaa0001", "three003", "2026-11-12T10:00:00Z", &used(30, 3)),
        ],
    );
    let all = stats(&w, &[]);
    assert_eq!(tokens(&all["total"]), 66);
    let keys: Vec<Option<&str>> = all["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["key"].as_str())
        .collect();
    let days = [
        Some("2026-11-09"),
        Some("2026-11-10"),
        Some("2026-11-12"),
        None,
    ];
    assert_eq!(keys, days, "{all}");
    let kinds = all["oddities"].as_array().unwrap();
    assert!(kinds.iter().any(|odd| odd["kind"] == "bad_time"), "{all}");
    // Days apart are no time of work.
    assert_eq!(all["total"]["active_ms"], 0, "{all}");
}

#[test]
fn responses_that_say_nothing_of_tokens_are_named() {
    let w = World::new();
    let mut silent = response("aaaa0001", "one00001", DAY, &json!(null));
    silent["message"].as_object_mut().unwrap().remove("usage");
    claude_log(&w, "aaaa0001", &[prompt("aaaa0001", 1, DAY), silent]);
    let all = stats(&w, &[]);
    assert_eq!(tokens(&all["total"]), 0);
    assert_eq!(all["oddities"][0]["kind"], "no_usage", "{all}");
}
