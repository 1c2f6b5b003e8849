//! Real agents: programs must be recognized, people's browsers must not.

use signpost_user_agents::{Category, classify};

/// One agent a line.
const BROWSERS: &str = include_str!("agents/browsers.txt");

/// A category, a tab and an agent on each line.
const PROGRAMS: &str = include_str!("agents/programs.txt");

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[test]
fn d56_browsers_are_not_taken_for_programs() {
    let taken: Vec<_> = lines(BROWSERS)
        .filter_map(|agent| classify(agent.as_bytes()).map(|program| (program.rule, agent)))
        .collect();
    assert_eq!(taken, Vec::new());
    assert!(lines(BROWSERS).count() >= 150);
}

#[test]
fn d48_every_program_has_its_category() {
    for line in lines(PROGRAMS) {
        let (category, agent) = line.split_once('\t').unwrap();
        let expected = match category {
            "bot" => Category::Bot,
            "previewer" => Category::Previewer,
            "script" => Category::Script,
            "automation" => Category::Automation,
            other => panic!("unknown category: {other}"),
        };
        let found = classify(agent.as_bytes()).map(|program| program.category);
        assert_eq!(found, Some(expected), "{agent}");
    }
    assert!(lines(PROGRAMS).count() >= 300);
}
