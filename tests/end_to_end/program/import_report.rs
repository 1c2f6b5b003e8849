//! The file that `signpost import --report` writes (docs/import-export.md).

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::harness::Program;

const TABLE: &str = "slug,target_url\na,https://example.com/\n";

/// A report never overwrites an existing file, above all not the imported file.
#[test]
fn a_report_never_overwrites_a_file() {
    let program = Program::start();
    let account = program.account("agency");
    let place = |file: &str| program.folder().join(file);
    fs::write(place("links.csv"), TABLE).unwrap();
    fs::write(place("before.csv"), "before").unwrap();
    fs::hard_link(place("links.csv"), place("same.csv")).unwrap();
    symlink(place("links.csv"), place("link.csv")).unwrap();
    symlink(place("nothing.csv"), place("dangling.csv")).unwrap();
    let run =
        |report: &str| program.run(&["import", "--account", account.id(), "--report", report, "links.csv"]);
    for report in ["links.csv", "./links.csv", "same.csv", "link.csv", "dangling.csv", "before.csv"] {
        let output = run(report);
        assert_eq!(output.status.code(), Some(2), "{report}: {output:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(&format!("--report: {report} ")), "{message}");
        assert!(output.stdout.is_empty(), "{report}: {output:?}");
    }
    assert_eq!(fs::read_to_string(place("links.csv")).unwrap(), TABLE);
    assert_eq!(fs::read_to_string(place("before.csv")).unwrap(), "before");
    assert!(!place("nothing.csv").exists());
    assert_eq!(account.get("/v1/account").expect_status(200).body["usage"]["links"], 0);
}

#[test]
fn only_its_owner_can_read_a_report() {
    let program = Program::start();
    let account = program.account("agency");
    fs::write(program.folder().join("links.csv"), TABLE).unwrap();
    let output = program.run(&["import", "--account", account.id(), "--report", "report.csv", "links.csv"]);
    assert!(output.status.success(), "{output:?}");
    let mode = fs::metadata(program.folder().join("report.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
