//! Calls at random, made to both.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rethread_judges::PiVersion;

use super::agree;
use super::calls::{Call, NOBODY};
use super::ours::{assistant, user};
use super::script::ours;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c ]{0,6}",
        Just(" two\r\nlines\n".to_owned()),
        Just("\"\\/\u{0}\u{8}\u{1f}\u{7f}\u{85}\u{2028}\u{feff}é🦀".to_owned()),
    ]
}

fn json() -> impl Strategy<Value = Option<String>> {
    const SOME: &[&str] = &[
        "null",
        "false",
        "0",
        "[1.5,-2]",
        r#"{"b":{},"a":"x"}"#,
        "\"\"",
    ];
    proptest::option::of(proptest::sample::select(SOME).prop_map(str::to_owned))
}

/// Mostly an entry that is there.
fn place() -> impl Strategy<Value = usize> {
    prop_oneof![20 => 0_usize..64, 1 => Just(NOBODY)]
}

fn call() -> impl Strategy<Value = Call> {
    let flag = || proptest::option::of(any::<bool>());
    let maybe = || proptest::option::weighted(0.8, place());
    prop_oneof![
        8 => text().prop_map(|text| user(&text)),
        8 => text().prop_map(|text| assistant(&text)),
        1 => text().prop_map(Call::ThinkingLevel),
        1 => (text(), text()).prop_map(|(provider, model)| Call::Model(provider, model)),
        2 => (text(), maybe(), 0..1000_u64, json(), flag()).prop_map(
            |(summary, kept, tokens, details, from_hook)| Call::Compaction {
                summary,
                kept,
                tokens,
                details,
                from_hook,
            }
        ),
        1 => (text(), json()).prop_map(|(custom_type, data)| Call::Custom(custom_type, data)),
        2 => (text(), text(), any::<bool>(), json()).prop_map(
            |(custom_type, content, display, details)| Call::CustomMessage {
                custom_type,
                content,
                display,
                details,
            }
        ),
        3 => (place(), proptest::option::of(text())).prop_map(|(to, label)| Call::Label(to, label)),
        1 => text().prop_map(Call::Name),
        4 => place().prop_map(Call::Branch),
        1 => Just(Call::ResetLeaf),
        2 => (maybe(), text(), json(), flag()).prop_map(|(to, summary, details, from_hook)| {
            Call::BranchWithSummary {
                to,
                summary,
                details,
                from_hook,
            }
        }),
        1 => place().prop_map(Call::BranchedSession),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_same_calls_do_the_same(calls in proptest::collection::vec(call(), 1..40)) {
        let script = ours(&calls);
        script.compare();
        if script.file().exists() {
            agree(PiVersion::V0_74, &script.w, &script.file());
        }
        // What the old program writes differs from ours, and we read it as it does itself.
        for pi in PiVersion::ALL {
            let Some(theirs) = script.theirs(pi) else { return Ok(()) };
            if theirs.text("text").is_some() {
                agree(pi, &script.w, theirs.text("file").unwrap().as_ref());
            }
        }
    }
}
