//! What the client would stumble over.

use insta::assert_snapshot;

use super::{DAMAGED, EVERYTHING, world};

#[test]
fn what_the_client_needs_is_checked() {
    let w = world();
    let sessions = w.home.join(".copilot/session-state");
    let healthy = w.run(&["check", sessions.join(EVERYTHING).to_str().unwrap()]);
    assert_eq!(healthy.code, 0, "{healthy:?}");
    let damaged = w.run(&["check", sessions.join(DAMAGED).to_str().unwrap()]);
    assert_snapshot!("copilot_check", w.plain(&damaged.out));
    let odd = sessions.join("odd");
    std::fs::create_dir(&odd).unwrap();
    let log = "{\"type\":\"user.message\",\"data\":{},\"id\":\"x\",\"timestamp\":\"soon\",\"parentId\":\"y\"}\n{\"type\":\"session.start\",\"data\":{},\"id\":null}\n";
    std::fs::write(odd.join("events.jsonl"), log).unwrap();
    let odd = w.run(&["check", odd.to_str().unwrap()]);
    assert_snapshot!("copilot_check_odd", w.plain(&odd.out));
}
