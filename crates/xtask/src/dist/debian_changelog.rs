//! The changelog in Debian's form, which tools show before an upgrade. It is made from `CHANGELOG.md`.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::release::{Entry, Release};

/// The longest line that Debian's tools accept without a warning.
const WIDTH: usize = 80;

/// The changelog of the release, and of the versions before it.
pub(super) fn written(release: &Release, maintainer: &str) -> Result<String> {
    let mut stanzas = Vec::new();
    for entry in &release.entries {
        let version = entry.version.as_deref().unwrap_or(&release.version);
        let day = entry.day.clone().unwrap_or_else(|| format!("@{}", release.time));
        stanzas.push(stanza(entry, version, maintainer, &date(&day)?));
    }
    Ok(stanzas.join("\n"))
}

fn stanza(entry: &Entry, version: &str, maintainer: &str, date: &str) -> String {
    let text = text(&entry.lines);
    format!("signpost ({version}) unstable; urgency=medium\n{text}\n -- {maintainer}  {date}\n")
}

/// A day, or seconds since 1970 after an `@`, in the form of e-mails.
fn date(day: &str) -> Result<String> {
    let mut command = Command::new("date");
    let output = command.args(["--utc", "--rfc-email", "--date", day]).env("LC_ALL", "C").output();
    let output = output.context("cannot start date")?;
    ensure!(output.status.success(), "date does not understand {day}");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The text of an entry: a heading becomes a line in brackets, an item a line with a star, and the rest is folded.
fn text(lines: &[String]) -> String {
    let mut text = String::new();
    for paragraph in paragraphs(lines) {
        let (first, others, words) = match &paragraph {
            Paragraph::Heading(words) => ("  [ ", "    ", format!("{words} ]")),
            Paragraph::Item(words) => ("  * ", "    ", words.clone()),
            Paragraph::Text(words) => ("  ", "  ", words.clone()),
        };
        if !matches!(paragraph, Paragraph::Item(_)) || text.is_empty() {
            text.push('\n');
        }
        text.push_str(&folded(&without_links(&words), first, others));
    }
    if text.is_empty() {
        text.push_str("\n  * No changes.\n");
    }
    text
}

enum Paragraph {
    Heading(String),
    Item(String),
    Text(String),
}

fn paragraphs(lines: &[String]) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut continues = false;
    for line in lines.iter().map(|line| line.trim()) {
        if let Some(words) = line.strip_prefix("### ") {
            paragraphs.push(Paragraph::Heading(words.to_owned()));
        } else if let Some(words) = line.strip_prefix("- ") {
            paragraphs.push(Paragraph::Item(words.to_owned()));
        } else if let Some(Paragraph::Item(text) | Paragraph::Text(text)) =
            paragraphs.last_mut().filter(|_| continues && !line.is_empty())
        {
            text.push(' ');
            text.push_str(line);
        } else if !line.is_empty() {
            paragraphs.push(Paragraph::Text(line.to_owned()));
        }
        continues = !line.is_empty() && !line.starts_with('#');
    }
    paragraphs
}

/// The words with the texts of links in place of the links, whose targets are not in the package.
fn without_links(words: &str) -> String {
    let mut plain = String::new();
    let mut rest = words;
    while let Some((before, text, after)) = next_link(rest) {
        plain.push_str(before);
        plain.push_str(text);
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// What is before the first link, its text, and what is after it.
fn next_link(words: &str) -> Option<(&str, &str, &str)> {
    let (head, tail) = words.split_once("](")?;
    let (before, text) = head.rsplit_once('[')?;
    let (_, after) = tail.split_once(')')?;
    Some((before, text, after))
}

fn folded(words: &str, first: &str, others: &str) -> String {
    let mut folded = String::new();
    let mut line = first.to_owned();
    let mut is_new = true;
    for word in words.split_whitespace() {
        if !is_new && line.chars().count() + 1 + word.chars().count() > WIDTH {
            folded.push_str(&line);
            folded.push('\n');
            others.clone_into(&mut line);
            is_new = true;
        }
        if !is_new {
            line.push(' ');
        }
        line.push_str(word);
        is_new = false;
    }
    folded.push_str(&line);
    folded.push('\n');
    folded
}

#[cfg(test)]
mod tests {
    use super::super::release::{Release, entries};
    use super::{WIDTH, text, without_links, written};

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn each_version_is_a_stanza_with_its_date() {
        let entries = entries("## Unreleased\n\n- new\n\n## 0.1.0 - 2026-12-01\n\n- old\n").unwrap();
        let release = Release { version: "0.2.0".to_owned(), entries, time: 0, revision: String::new() };
        let expected = "signpost (0.2.0) unstable; urgency=medium\n\n  * new\n\n\
                        \u{20}-- A <a@example.com>  Thu, 01 Jan 1970 00:00:00 +0000\n\n\
                        signpost (0.1.0) unstable; urgency=medium\n\n  * old\n\n\
                        \u{20}-- A <a@example.com>  Tue, 01 Dec 2026 00:00:00 +0000\n";
        assert_eq!(written(&release, "A <a@example.com>").unwrap(), expected);
    }

    #[test]
    fn headings_items_and_texts_keep_their_order() {
        let markdown =
            lines("\n### Changed\n\nVisits:\n\n- one\n  line more\n- two\n\n### Fixed\n\n- three\n");
        let expected = "\n  [ Changed ]\n\n  Visits:\n  * one line more\n  * two\n\n  [ Fixed ]\n  * three\n";
        assert_eq!(text(&markdown), expected);
    }

    #[test]
    fn lines_are_folded_and_no_entry_is_empty() {
        let long = text(&lines(&format!("- {}", "word ".repeat(50))));
        assert!(long.lines().count() > 3);
        assert!(long.lines().all(|line| line.len() <= WIDTH && !line.ends_with(' ')), "{long}");
        assert!(text(&[]).contains("  * No changes."));
    }

    #[test]
    fn links_lose_their_targets() {
        assert_eq!(without_links("see ([how](docs/a.md#b)) and [x](y)."), "see (how) and x.");
        assert_eq!(without_links("`a[0](b` stays odd"), "`a[0](b` stays odd");
        assert_eq!(without_links("no link [here]"), "no link [here]");
    }
}
