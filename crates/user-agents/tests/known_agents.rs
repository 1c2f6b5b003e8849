//! Agents as they are seen in the wild: programs must be known, people's browsers must not.

use signpost_user_agents::{Category, classify};

/// One agent a line.
const BROWSERS: &str = include_str!("agents/browsers.txt");

/// A category, a tab and an agent on each line.
const PROGRAMS: &str = include_str!("agents/programs.txt");

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[test]
fn d56_no_browser_is_taken_for_a_program() {
    let taken: Vec<_> = lines(BROWSERS)
        .filter_map(|agent| classify(agent.as_bytes()).map(|program| (program.rule, agent)))
        .collect();
    assert_eq!(taken, Vec::new());
    assert!(lines(BROWSERS).count() >= 150);
}

#[test]
fn d48_every_program_is_known_by_its_category() {
    for line in lines(PROGRAMS) {
        let (category, agent) = line.split_once('\t').unwrap();
        let expected = match category {
            "bot" => Category::Bot,
            "previewer" => Category::Previewer,
            "script" => Category::Script,
            "automation" => Category::Automation,
            other => panic!("no category: {other}"),
        };
        let found = classify(agent.as_bytes()).map(|program| program.category);
        assert_eq!(found, Some(expected), "{agent}");
    }
    assert!(lines(PROGRAMS).count() >= 300);
}
