//! The links of the documents work, and every document and section is found.
//!
//! A relative link must lead to a file or folder of the repository, and its anchor to a heading of that file. Links to
//! other sites are not followed. Links from the index lead to every document, and long documents begin with links to their
//! sections.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::finding::Finding;

/// The page from which links must lead to every file of [`FOLDER`].
const INDEX: &str = "docs/README.md";
const FOLDER: &str = "docs/";

/// The page that people read first. It must link the index.
const FRONT_PAGE: &str = "README.md";

/// The contract is a copy, which is not ours to arrange.
const CONTRACT: &str = "docs/contract/";

/// The number of lines up to which a document may do without a list of its sections.
const MAX_LINES_WITHOUT_CONTENTS: usize = 300;

/// Reports each relative link without a target, each file in `docs` to which no links lead, and each section that is not
/// listed at the beginning of a long document.
#[must_use]
pub fn check(files: &[String], texts: &[(&str, String)]) -> Vec<Finding> {
    let documents = Documents {
        files: files.iter().map(String::as_str).collect(),
        pages: texts
            .iter()
            .filter(|(path, _)| is_markdown(path))
            .map(|(path, text)| (*path, Page::read(text)))
            .collect(),
    };
    let mut findings = documents.broken_links();
    findings.extend(documents.unreachable_files());
    findings.extend(documents.unlisted_sections());
    findings
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

struct Documents<'a> {
    files: BTreeSet<&'a str>,
    pages: BTreeMap<&'a str, Page>,
}

impl Documents<'_> {
    fn broken_links(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (path, page) in &self.pages {
            for Link { line, destination } in &page.links {
                if let Some(problem) = self.problem(path, destination) {
                    findings.push(Finding::in_line(*path, *line, problem));
                }
            }
        }
        findings
    }

    fn problem(&self, page: &str, destination: &str) -> Option<String> {
        let Some((target, anchor)) = resolve(page, destination) else {
            return Some(format!("the link `{destination}` leads out of the repository"));
        };
        if !self.files.contains(target.as_str()) && !self.is_folder(&target) {
            return Some(format!("the link `{destination}` leads to no file"));
        }
        let anchor = anchor?;
        let has_anchor = self.pages.get(target.as_str()).is_some_and(|page| page.anchors.contains(anchor));
        (!has_anchor).then(|| format!("no heading of {target} has the anchor `#{anchor}`"))
    }

    fn is_folder(&self, path: &str) -> bool {
        let start = format!("{path}/");
        self.files.range(start.as_str()..).next().is_some_and(|file| file.starts_with(&start))
    }

    fn unreachable_files(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if !self.linked_from(FRONT_PAGE).contains(INDEX) {
            findings.push(Finding::about(FRONT_PAGE, format!("does not link {INDEX}")));
        }
        let mut reached = BTreeSet::new();
        let mut waiting = vec![INDEX.to_owned()];
        while let Some(path) = waiting.pop() {
            // A way that leaves the folder is no way for somebody who looks for a document.
            let targets = self.linked_from(&path).into_iter().filter(|target| target.starts_with(FOLDER));
            waiting.extend(targets.filter(|target| !reached.contains(target)));
            reached.insert(path);
        }
        let documents = self.files.iter().filter(|file| file.starts_with(FOLDER));
        let unreached = documents.filter(|file| !reached.contains(**file));
        findings.extend(
            unreached.map(|file| Finding::about(*file, format!("cannot be reached by links from {INDEX}"))),
        );
        findings
    }

    fn unlisted_sections(&self) -> Vec<Finding> {
        let is_long = |(path, page): &(&&str, &Page)| {
            path.starts_with(FOLDER) && !path.starts_with(CONTRACT) && page.lines > MAX_LINES_WITHOUT_CONTENTS
        };
        self.pages.iter().filter(is_long).flat_map(|(path, page)| page.unlisted_sections(path)).collect()
    }

    /// The files that a page links. A link to a folder shows its `README.md`.
    fn linked_from(&self, page: &str) -> BTreeSet<String> {
        let links = self.pages.get(page).map_or(&[][..], |page| &page.links);
        let targets = links.iter().filter_map(|link| Some(resolve(page, &link.destination)?.0));
        targets
            .map(|target| if self.is_folder(&target) { format!("{target}/README.md") } else { target })
            .collect()
    }
}

/// What the check needs of a page.
#[derive(Default)]
struct Page {
    lines: usize,
    links: Vec<Link>,
    anchors: BTreeSet<String>,
    sections: Vec<Section>,
}

/// A heading of the second level.
struct Section {
    line: usize,
    anchor: String,
}

/// A link within the repository.
struct Link {
    line: usize,
    destination: String,
}

impl Page {
    fn read(text: &str) -> Self {
        let mut page = Self { lines: text.lines().count(), ..Self::default() };
        let line_at = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        let mut uses_of_slugs = BTreeMap::new();
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(level)) => {
                    let slug = slug(&heading.take().unwrap_or_default());
                    let uses: &mut usize = uses_of_slugs.entry(slug.clone()).or_default();
                    let anchor = if *uses == 0 { slug } else { format!("{slug}-{uses}") };
                    *uses += 1;
                    if level == HeadingLevel::H2 {
                        page.sections.push(Section { line: line_at(range.start), anchor: anchor.clone() });
                    }
                    page.anchors.insert(anchor);
                }
                Event::Text(words) | Event::Code(words) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. })
                    if !is_elsewhere(&dest_url) =>
                {
                    let line = line_at(range.start);
                    page.links.push(Link { line, destination: dest_url.into_string() });
                }
                _ => {}
            }
        }
        page
    }

    /// The sections that no link before the first of them names.
    fn unlisted_sections(&self, path: &str) -> Vec<Finding> {
        let begin = self.sections.first().map_or(0, |section| section.line);
        let contents = self.links.iter().take_while(|link| link.line < begin);
        let listed: BTreeSet<&str> = contents.filter_map(|link| link.destination.strip_prefix('#')).collect();
        let unlisted = self.sections.iter().filter(|section| !listed.contains(section.anchor.as_str()));
        unlisted
            .map(|Section { line, anchor }| {
                let message = format!("add `#{anchor}` to the list of contents before the first section");
                Finding::in_line(path, *line, message)
            })
            .collect()
    }
}

/// Whether a destination begins with a scheme.
fn is_elsewhere(destination: &str) -> bool {
    destination
        .split_once(':')
        .is_some_and(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The anchor that GitHub gives to the first heading with this text.
fn slug(heading: &str) -> String {
    let is_kept = |character: &char| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_');
    heading.to_lowercase().chars().filter(is_kept).map(|kept| if kept == ' ' { '-' } else { kept }).collect()
}

/// The path from the root, and the anchor, to which a link of a page leads. `None` if that is outside.
fn resolve<'a>(page: &str, destination: &'a str) -> Option<(String, Option<&'a str>)> {
    let (path, anchor) = match destination.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (destination, None),
    };
    if path.is_empty() {
        return Some((page.to_owned(), anchor));
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            "" => return None,
            "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some((parts.join("/"), anchor))
}

#[cfg(test)]
mod tests {
    use super::check;

    const FRONT_PAGE: (&str, &str) = ("README.md", "[all](docs/README.md)");

    fn reported(pages: &[(&str, &str)]) -> Vec<String> {
        let mut files: Vec<String> = pages.iter().map(|(path, _)| (*path).to_owned()).collect();
        files.extend(["LICENSE".to_owned(), "crates/domain/src/lib.rs".to_owned()]);
        let texts: Vec<(&str, String)> =
            pages.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
        check(&files, &texts).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_to_files_folders_and_headings_are_accepted() {
        let page = "[a](../LICENSE) [b](../crates/domain) [c](../crates/domain/) [d](./a.md#one-two) [e](#here)\n\n# Here";
        let other =
            "# One, *two*!\n\n# One two\n\n## `code_1` – ä\n\n[f](#one-two-1) [g](#code_1--ä) [h](README.md)";
        assert_eq!(
            reported(&[FRONT_PAGE, ("docs/README.md", page), ("docs/a.md", other)]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn links_to_other_sites_and_code_are_ignored() {
        let page = "[a](https://example.com/x.md#y) [b](mailto:ada@example.com) `[c](x.md)`\n\n```sh\n[d](x.md)\n```";
        assert_eq!(reported(&[FRONT_PAGE, ("docs/README.md", page)]), Vec::<String>::new());
    }

    #[test]
    fn a_link_without_a_target_is_reported_with_its_line() {
        for (link, problem) in [
            ("b.md", "the link `b.md` leads to no file"),
            ("crates", "the link `crates` leads to no file"),
            ("../../LICENSE", "the link `../../LICENSE` leads out of the repository"),
            ("/LICENSE", "the link `/LICENSE` leads out of the repository"),
            ("#There", "no heading of docs/README.md has the anchor `#There`"),
            ("../README.md#x", "no heading of README.md has the anchor `#x`"),
            ("../LICENSE#x", "no heading of LICENSE has the anchor `#x`"),
        ] {
            for link in [format!("# There\n\n[a]({link})"), format!("# There\n\n![a]({link})")] {
                assert_eq!(
                    reported(&[FRONT_PAGE, ("docs/README.md", &link)]),
                    [format!("docs/README.md:3: {problem}")]
                );
            }
        }
    }

    #[test]
    fn a_link_in_a_table_is_checked() {
        let page = "| a | b |\n| --- | --- |\n| c | [d](b.md) |";
        assert_eq!(
            reported(&[FRONT_PAGE, ("docs/README.md", page)]),
            ["docs/README.md:3: the link `b.md` leads to no file"]
        );
    }

    #[test]
    fn every_document_is_reached_from_the_index() {
        let index = ("docs/README.md", "[a](a.md) [records](decisions) [out](../README.md)");
        let pages = [
            ("README.md", "[all](docs/README.md) [c](docs/c.md)"),
            index,
            ("docs/a.md", "[b](b.md)"),
            ("docs/b.md", "[a](a.md)"),
            ("docs/c.md", "[a](a.md)"),
            ("docs/data.json", "{}"),
            ("docs/decisions/README.md", "[1](0001-one.md)"),
            ("docs/decisions/0001-one.md", ""),
        ];
        assert_eq!(
            reported(&pages),
            ["docs/c.md", "docs/data.json"]
                .map(|file| format!("{file}: cannot be reached by links from docs/README.md"))
        );
    }

    #[test]
    fn a_long_document_begins_with_links_to_its_sections() {
        let long = |contents: &str| {
            format!(
                "# All\n\n{contents}\n\n## One\n\n[two](#two)\n\n## Two\n\n### Three\n{}",
                "\n".repeat(300)
            )
        };
        let index = |text: &str| reported(&[FRONT_PAGE, ("docs/README.md", text)]);
        assert_eq!(index(&long("[one](#one), [two](#two)")), Vec::<String>::new());
        let unlisted = ["docs/README.md:9: add `#two` to the list of contents before the first section"];
        assert_eq!(index(&long("[one](#one)")), unlisted);
        assert_eq!(index("## One"), Vec::<String>::new());
        let contract = ("docs/contract/api.md", &*long(""));
        assert_eq!(
            reported(&[FRONT_PAGE, ("docs/README.md", "[api](contract/api.md)"), contract]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn the_front_page_links_the_index() {
        assert_eq!(
            reported(&[("README.md", "docs/README.md"), ("docs/README.md", "")]),
            ["README.md: does not link docs/README.md"]
        );
    }
}
