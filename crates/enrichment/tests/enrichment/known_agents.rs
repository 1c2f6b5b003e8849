//! Real agents: programs must be recognized, people's browsers must not.

use signpost_enrichment::{Category, classify};

/// One agent a line.
const BROWSERS: &str = include_str!("agents/browsers.txt");

/// A category, a tab and an agent on each line.
const PROGRAMS: &str = include_str!("agents/programs.txt");

/// A category or `person`, a tab and an agent on each line.
const CURRENT: &str = include_str!("agents/current.txt");

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

/// The name of the category in the files.
fn category_of(agent: &str) -> &'static str {
    match classify(agent.as_bytes()).map(|program| program.category) {
        Some(Category::Bot) => "bot",
        Some(Category::Previewer) => "previewer",
        Some(Category::Viewer) => "viewer",
        Some(Category::Script) => "script",
        Some(Category::Automation) => "automation",
        Some(Category::Empty) => "empty",
        None => "person",
    }
}

#[test]
fn d48_people_and_programs_of_2026_are_told_apart() {
    let wrong: Vec<_> = lines(CURRENT)
        .map(|line| line.split_once('\t').unwrap())
        .filter(|(category, agent)| category_of(agent) != *category)
        .map(|(category, agent)| (category, category_of(agent), agent))
        .collect();
    assert_eq!(wrong, Vec::new());
    let people = lines(CURRENT).filter(|line| line.starts_with("person\t")).count();
    assert!(people >= 75 && lines(CURRENT).count() - people >= 75);
}

const PHONES: [&str; 4] = [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 $",
    "Mozilla/5.0 (Linux; Android 16; $ Build/BP2A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/143.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Android 16; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0 $/2",
    "$/2 CFNetwork/3860.200.71 Darwin/25.1.0",
];

/// Agents that lack one part of a complete phone's agent.
const OTHERS: [&str; 5] = [
    "$/2",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 $",
    "Mozilla/5.0 (compatible; $) AppleWebKit/537.36 Mobile",
    "Mozilla/5.0 (Linux; Android 16) Mobile $",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Mobile $",
];

#[test]
fn d56_endings_never_turn_away_complete_agents_of_phones() {
    for name in ["QRScanner", "PriceChecker", "QRbot", "MyCrawler", "Spider", "SiteMonitoring", "LinkPreview"]
    {
        for phone in PHONES {
            let agent = phone.replace('$', name);
            // The HTTP library of a phone's system also serves programs, and these say that they crawl.
            let crawls = !phone.starts_with("Mozilla") && ["MyCrawler", "Spider"].contains(&name);
            assert_eq!(classify(agent.as_bytes()).is_some(), crawls, "{agent}");
        }
        for other in OTHERS {
            let agent = other.replace('$', name);
            assert!(classify(agent.as_bytes()).is_some(), "{agent}");
        }
    }
}

#[test]
fn d56_contacts_mark_programs_wherever_they_stand() {
    for contact in ["+http://a.example", "+https://a.example", "+HTTPS://A.EXAMPLE", "+mailto:a@b.example"] {
        for place in PHONES.iter().chain(&OTHERS) {
            for around in ["$", "Name; $", "($)", "Name/1.0 ($; de)", "Name$"] {
                let agent = place.replace('$', &around.replace('$', contact));
                let category = classify(agent.as_bytes()).map(|program| program.category);
                assert_eq!(category, Some(Category::Bot), "{agent}");
            }
        }
    }
}

#[test]
fn d48_every_program_has_its_category() {
    for line in lines(PROGRAMS) {
        let (category, agent) = line.split_once('\t').unwrap();
        assert_eq!(category_of(agent), category, "{agent}");
    }
    assert!(lines(PROGRAMS).count() >= 300);
}
