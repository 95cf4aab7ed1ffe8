//! Whatever is in the files of a session: nothing is lost, nothing fails, nothing is written.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use rethread_formats::{Want, agentuse::FORMAT};

use super::{assert_lossless, fixtures, sessions};

/// What a file may hold: anything, JSON of another shape, or what the program writes.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let originals: Vec<Vec<u8>> = sessions(&fixtures().join("0.30/everything"))
        .iter()
        .flat_map(|s| crate::world::tree(s))
        .map(|(_, bytes)| bytes)
        .collect();
    let swapped = (
        prop::sample::select(originals.clone()),
        "[a-zA-Z]{1,9}",
        "[a-zA-Z0-9\\[\\]{}\":,.]{0,6}",
    );
    prop_oneof![
        prop::sample::select(originals),
        swapped.prop_map(|(bytes, from, to)| {
            String::from_utf8_lossy(&bytes).replacen(&from, &to, 1).into_bytes()
        }),
        prop::collection::vec(any::<u8>(), 0..64),
        Just(br#"{"type":"tool","state":7,"time":[],"callID":null}"#.to_vec()),
        Just(br#"{"time":{"created":1e400},"user":7,"assistant":{"system":[1,[2]],"tokens":[],"error":"e"}}"#.to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_content_is_read_and_saved_byte_for_byte(
        files in prop::collection::vec((0_usize..12, content()), 1..10),
    ) {
        let temp = tempfile::tempdir().unwrap();
        let session = temp.path().join("session/01KA3J1000S000000000000001-x");
        let names = [
            "session.json",
            "tools.json",
            "notes/other.bin",
            "01KA3J1000M000000000000001/message.json",
            "01KA3J1000M000000000000001/part/01KA3J1000P000000000000001.json",
            "01KA3J1000M000000000000001/part/01KA3J1000P000000000000002.json",
            "01KA3J1000M000000000000001/part/x.json",
            "01KA3J1000M000000000000001/artifact/tool-output-bash-01KA3J1000A000000000000001.json",
            "01KA3J1000M000000000000002/message.json",
            "01KA3J1000M000000000000002/part/01KA3J1000P000000000000003.json",
            "01KA3J1000M000000000000002/part/readme.txt",
            "01KA3J1000M000000000000003/part/01KA3J1000P000000000000004.json",
        ];
        let mut written: Vec<PathBuf> = Vec::new();
        for (name, bytes) in &files {
            let path = session.join(names[*name]);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, bytes).unwrap();
            written.push(path);
        }
        let before = crate::world::tree(&session);
        let conversation = assert_lossless(&session);
        let (usage, size) = (true, true);
        for want in [Want::default(), Want { size, ..Want::default() }, Want { usage, size }] {
            FORMAT.reader().summarize(&conversation.source, want);
        }
        FORMAT.rules().unwrap().check(&session, &mut |_| {}).unwrap();
        prop_assert_eq!(crate::world::tree(&session), before);
    }
}
