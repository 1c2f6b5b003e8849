//! Accounts whose plan the settings do not define (D15).

use std::fs;

use crate::harness::{Program, signpost};

#[test]
fn d15_a_plan_that_accounts_have_and_no_setting_defines_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plans.toml"), "[plans.team]\nextends = \"agency\"").unwrap();
    let with = |plans: &[&str], words: &[&str]| {
        assert!(signpost(folder.path(), &[words, plans].concat()).output().unwrap().status.success());
    };
    with(&[], &["migrate"]);
    for email in ["a@example.com", "b@example.com"] {
        with(&["--plans", "plans.toml"], &["account", "create", "--plan", "team", "--email", email]);
    }
    let mut program = Program::start_in_with(folder, &[], &[]);
    let log = program.stop_and_read_log();
    let warning = log.lines().find(|line| line.contains("a plan that this node does not know")).unwrap();
    assert!(warning.contains("plan=team") && warning.contains("accounts=2"), "{warning}");
}
