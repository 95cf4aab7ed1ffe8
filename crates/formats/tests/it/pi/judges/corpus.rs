//! Real sessions, where a folder of them is at hand: `RETHREAD_CORPUS`.

use rethread_formats::pi::{SessionError, SessionManager};
use rethread_json::Object;
use rethread_judges::PiVersion;

use super::super::corpus::files;
use super::{agree_on, ask, world};

#[test]
fn every_real_session_is_judged_alike() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let w = world();
    let mut opened = 0;
    for file in files(&corpus.join("pi")) {
        match SessionManager::open(&w.host, &file, None) {
            Ok(session) => {
                opened += 1;
                for pi in PiVersion::ALL {
                    agree_on(pi, &file, &session);
                }
            }
            Err(SessionError::NotASession { .. }) => {
                let question = Object::new().str("file", file.to_str().unwrap());
                let Some(answer) = ask(PiVersion::V0_87, question) else {
                    return;
                };
                let error = answer.error().unwrap_or_default();
                assert!(error.starts_with("Session file is not a valid"), "{error}");
            }
            Err(e) => panic!("{}: {e}", file.display()),
        }
    }
    assert!(opened > 0);
}
