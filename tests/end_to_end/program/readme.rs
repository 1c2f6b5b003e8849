//! Runs the README's lines of curl with other ports, and checks its plan.

use std::process::Command;

use crate::harness::{Program, ProgramBuilder};

const README: &str = include_str!("../../../README.md");

/// The shell block below a heading.
fn block(heading: &str) -> &'static str {
    let section = README.split(heading).nth(1).expect("the README has the heading");
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

#[test]
fn the_plan_in_the_readme_is_the_built_in_plan() {
    let shown = README.split("```toml\n").nth(1).expect("a block of plans").split("```").next().unwrap();
    assert!(shown.starts_with("[plans.agency]\n"), "{shown}");
    let account = |builder: ProgramBuilder| {
        let program = builder.start();
        let account = program.account("agency").get("/v1/account").expect_status(200).body;
        ["plan", "features", "limits"].map(|field| account[field].clone())
    };
    assert_eq!(account(Program::builder().plan(shown)), account(Program::builder().builtin_plans()));
}
