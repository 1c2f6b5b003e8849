//! Checks that the settings, commands and metrics of `docs/operations.md` and the packaging exist.

use std::collections::BTreeSet;
use std::path::Path;

use crate::harness::signpost;

const GUIDE: &str = include_str!("../../../docs/operations.md");
const CONTAINERFILE: &str = include_str!("../../../Containerfile");
const UNIT: &str = include_str!("../../../packaging/signpost.service");
const TOOLCHAIN: &str = include_str!("../../../rust-toolchain.toml");

/// Hyphenated words of the guide that are not settings: the spool's folder, and values of `sslmode`.
const NO_SETTINGS: [&str; 3] = ["signpost-spool", "verify-ca", "verify-full"];

fn printed(arguments: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let output = signpost(folder.path(), arguments).output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// Every setting, from the help of `serve`.
fn settings() -> BTreeSet<String> {
    let help = printed(&["serve", "--help"]).unwrap();
    help.split_whitespace().filter_map(|word| word.strip_prefix("--")).map(str::to_owned).collect()
}

/// The fenced blocks in a language.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    let fences = GUIDE.split("\n```").skip(1).step_by(2);
    fences.filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
}

/// The texts in backticks outside of blocks.
fn spans() -> impl Iterator<Item = &'static str> {
    let prose = GUIDE.split("\n```").step_by(2);
    prose.flat_map(|text| text.split('`').skip(1).step_by(2))
}

fn is_hyphenated(word: &str) -> bool {
    word.contains('-') && word.split('-').all(is_word)
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Words of letters and underscores that begin with `prefix`.
fn names<'t>(text: &'t str, prefix: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(prefix).map(move |(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn every_setting_that_the_guide_and_the_packaging_name_exists() {
    let known = settings();
    let keys =
        blocks("toml").flat_map(str::lines).filter_map(|line| line.split_once(" = ")).map(|(key, _)| key);
    let keys: Vec<&str> = keys.collect();
    assert!(keys.len() > 10, "the guide has lost its examples");
    let spans: Vec<&str> = spans().filter(|span| is_hyphenated(span)).collect();
    assert!(spans.len() > 20, "the guide has lost its settings");
    for name in keys.into_iter().chain(spans).filter(|name| !NO_SETTINGS.contains(name)) {
        assert!(known.contains(name), "there is no setting `{name}`");
    }
    for text in [GUIDE, CONTAINERFILE, UNIT] {
        for variable in names(text, "SIGNPOST_") {
            let name = variable["SIGNPOST_".len()..].to_lowercase().replace('_', "-");
            assert!(known.contains(&name), "there is no setting for {variable}");
        }
    }
}

#[test]
fn every_command_that_the_guide_and_the_packaging_name_exists() {
    let lines = blocks("sh")
        .flat_map(str::lines)
        .chain(UNIT.lines().filter_map(|line| line.strip_prefix("ExecStart=")));
    let named = lines.chain(spans().filter(|span| span.starts_with("signpost "))).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let program = words.iter().rposition(|word| word.rsplit('/').next() == Some("signpost"));
        let behind = program.map_or(0, |at| at + 1);
        words[behind..].iter().take_while(|word| program.is_some() && is_command(word)).copied().collect()
    });
    let commands: BTreeSet<Vec<&str>> = named.filter(|words: &Vec<&str>| !words.is_empty()).collect();
    for needed in [&["backup"][..], &["migrate"], &["serve"], &["key", "revoke"]] {
        assert!(commands.contains(needed), "the guide has lost {needed:?}");
    }
    for command in commands {
        let words = [&command[..], &["--help"]].concat();
        assert!(printed(&words).is_some(), "there is no `signpost {}`", command.join(" "));
    }
}

fn is_command(word: &str) -> bool {
    is_word(word) || is_hyphenated(word)
}

/// `/tls-allowed` needs no key and has no budget, so strangers must not reach it through a proxy.
#[test]
fn d39_every_front_end_of_the_guide_hides_the_question_about_certificates() {
    let front_ends: Vec<&str> = blocks("").filter(|block| block.contains("api.example.com")).collect();
    assert_eq!(front_ends.len(), 3, "HAProxy, nginx and Caddy");
    for front_end in front_ends {
        let mut lines = front_end.lines();
        let is_hidden = lines.any(|line| line.contains("/tls-allowed") && line.contains("404"));
        assert!(is_hidden, "{front_end}");
    }
}

/// The table of metrics has exactly the metrics whose names are literals in the sources.
#[test]
fn the_table_of_metrics_is_complete() {
    let section = GUIDE.split("\n## ").find(|section| section.starts_with("Watching\n")).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let shown: BTreeSet<String> = rows.flat_map(|row| names(row, "signpost_")).map(str::to_owned).collect();
    let mut known = BTreeSet::new();
    for member in [
        "app",
        "click-recorder",
        "dashboard",
        "edge",
        "geoip",
        "http",
        "listener",
        "postgres",
        "quota-fallback",
        "redis",
        "server",
        "sqlite",
    ] {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(member).join("src");
        add_literals(&sources, &mut known);
    }
    assert_eq!(shown, known);
    for name in names(section, "signpost_") {
        assert!(known.contains(name), "there is no metric {name}");
    }
}

/// Adds the metric names among the literals of the sources below a folder.
fn add_literals(folder: &Path, literals: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_literals(&path, literals);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let named = text
                .split('"')
                .skip(1)
                .step_by(2)
                .filter(|literal| names(literal, "signpost_").next() == Some(literal));
            literals.extend(named.map(str::to_owned));
        }
    }
}

/// The image is built with the toolchain of the repository.
#[test]
fn the_container_file_names_the_toolchain() {
    let version = TOOLCHAIN.split("channel = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(CONTAINERFILE.contains(&format!("\nARG RUST_VERSION={version}\n")), "it is {version}");
}
