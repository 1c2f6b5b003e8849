//! Decision records are numbered consecutively from 1.

use crate::finding::Finding;

const FOLDER: &str = "docs/decisions/";

/// The index of the records, which is not a record itself.
const INDEX: &str = "README.md";

/// Reports a record whose name is not `NNNN-title.md`, and every number that is missing or used twice.
#[must_use]
pub fn check(paths: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut numbers = Vec::new();
    for path in paths {
        let Some(name) = path.strip_prefix(FOLDER).filter(|name| *name != INDEX) else { continue };
        match number(name) {
            Some(number) => numbers.push((number, path)),
            None => findings.push(Finding::about(path, "is not called `NNNN-short-title.md`")),
        }
    }
    numbers.sort_unstable();
    let mut expected = 1;
    for (number, path) in numbers {
        if number != expected {
            findings.push(Finding::about(path, format!("number {expected:04} should follow here")));
        }
        expected = number + 1;
    }
    findings
}

fn number(name: &str) -> Option<u32> {
    let (number, title) = name.strip_suffix(".md")?.split_once('-')?;
    let number = Some(number)
        .filter(|number| number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit()))?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    title.split('-').all(|word| !word.is_empty() && word.bytes().all(plain)).then_some(())?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::check;

    fn reported(names: &[&str]) -> Vec<String> {
        let paths: Vec<String> = names.iter().map(|name| format!("docs/decisions/{name}")).collect();
        check(&paths).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn consecutive_numbers_pass() {
        assert_eq!(reported(&[]), Vec::<String>::new());
        assert_eq!(reported(&["README.md", "0001-one.md", "0002-two-words.md"]), Vec::<String>::new());
    }

    #[test]
    fn gaps_repetitions_and_a_late_start_are_reported() {
        for names in [["0001-a.md", "0003-b.md"], ["0001-a.md", "0001-b.md"]] {
            let reported = reported(&names);
            assert_eq!(reported.len(), 1, "{names:?}: {reported:?}");
            assert!(reported.iter().all(|line| line.contains("number 0002 should follow")), "{reported:?}");
        }
        assert_eq!(reported(&["0002-a.md"]).len(), 1);
    }

    #[test]
    fn malformed_names_are_reported() {
        for name in ["1-a.md", "0001_a.md", "0001-A.md", "0001-.md", "0001-a.txt", "+001-a.md", "0001-a/b.md"]
        {
            assert_eq!(
                reported(&[name]),
                [format!("docs/decisions/{name}: is not called `NNNN-short-title.md`")]
            );
        }
    }
}
