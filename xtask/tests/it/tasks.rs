//! What `cargo xtask` says when it is asked for nothing, or for something unknown.

use std::process::{Command, Output};

fn xtask(args: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_xtask"));
    program.args(args).output().unwrap()
}

#[test]
fn without_a_task_it_names_them() {
    let said = xtask(&[]);
    let help = String::from_utf8(said.stdout).unwrap();
    assert!(said.status.success());
    for task in ["test", "bench", "fuzz", "docs", "metrics"] {
        assert!(help.contains(&format!("\n  {task} ")), "{help}");
    }
}

#[test]
fn an_unknown_task_is_wrong_usage() {
    for args in [
        &["tset"][..],
        &["docs", "extra"],
        &["metrics", "extra"],
        &["bench", "--quick", "list"],
        &["fuzz", "--fast"],
    ] {
        let said = xtask(args);
        assert_eq!(said.status.code(), Some(2), "{args:?}");
        assert!(said.stdout.is_empty());
        assert!(String::from_utf8_lossy(&said.stderr).contains("Usage: cargo xtask"));
    }
}
