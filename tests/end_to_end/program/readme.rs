//! The README's lines of curl, run as they are printed but for the ports.

use std::process::Command;

use crate::harness::Program;

const README: &str = include_str!("../../../README.md");

/// The shell block below a heading.
fn block(heading: &str) -> &'static str {
    let section = README.split(heading).nth(1).expect("the heading is there");
    let block = section.split("```sh\n").nth(1).expect("a shell block follows");
    block.split("```").next().unwrap()
}

#[test]
fn the_ten_lines_of_curl_work_as_printed() {
    let program = Program::start();
    let lines = block("## Ten lines of curl");
    assert_eq!(lines.lines().count(), 10);
    let script = lines
        .replace("127.0.0.1:8080", &program.api)
        .replace("localhost:8081", &program.links)
        .replace("curl -i ", "curl -i -H 'Host: localhost' ");
    let key = program.first_key();
    let output = Command::new("sh").args(["-ec", &script]).env("KEY", key).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    assert!(!printed.contains("\"error\""), "{printed}");
    for shown in [
        r#""object":"account""#,
        r#""slug":"sale""#,
        "location: https://example.com/sale",
        r#""note":"moved""#,
        "location: https://example.org/new",
        r#""object":"list""#,
        r#""deleted":true"#,
    ] {
        assert!(printed.contains(shown), "{shown} is not in {printed}");
    }
}

/// The table of settings names exactly what `serve --help` knows.
#[test]
fn the_table_of_settings_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let help = crate::harness::signpost(folder.path(), &["serve", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let mut known: Vec<_> = help
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("--"))
        .filter(|word| !["json", "config", "help"].contains(word))
        .collect();
    known.sort_unstable();
    known.dedup();
    let mut shown: Vec<_> =
        README.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    shown.sort_unstable();
    assert_eq!(shown, known);
}
