//! Runs failed tests once more, alone.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::job::{Job, JobResult};

/// With more failures a run does not blame chance, and repeats none of them.
const MOST_BY_CHANCE: usize = 20;

/// What became of the failed tests of a run.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Those that passed when they ran alone.
    unsteady: Vec<String>,
    /// Those that did not.
    failed: Vec<String>,
}

impl Verdict {
    pub(crate) const fn has_failed(&self) -> bool {
        !self.failed.is_empty()
    }

    /// How many tests passed only when they ran again.
    pub(crate) const fn unsteady(&self) -> usize {
        self.unsteady.len()
    }

    /// A line for each test that failed at least once.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.unsteady.iter().chain(&self.failed).map(String::as_str)
    }
}

/// A failed test, or a whole binary that failed without naming one.
struct Failure<'a> {
    job: &'a Job,
    first: &'a JobResult,
    test: Option<&'a str>,
}

impl Failure<'_> {
    fn name(&self) -> String {
        self.test.map_or_else(|| self.job.name.clone(), |test| format!("{}: {test}", self.job.name))
    }

    /// Runs it alone, and writes both outputs to a file.
    fn run_again(&self, folder: &Path, output: &mut impl Write) -> Result<(bool, PathBuf)> {
        let job = self.test.map_or_else(|| self.job.clone(), |test| self.job.only(test));
        let second = job.run()?;
        writeln!(output, "Running again, alone: {}\n{}", self.name(), second.output.trim_end())?;
        let text = format!(
            "{}\n\n== Among the others ==\n{}\n\n== Again, alone ==\n{}",
            self.name(),
            self.first.output,
            second.output
        );
        Ok((second.has_passed, keep(folder, &self.name(), &text)?))
    }
}

/// Runs each failed test once more, after all others. Prints what it says to `output`, and keeps both outputs under
/// `target/unsteady`.
pub(crate) fn judge(
    root: &Path,
    jobs: &[Job],
    results: &[JobResult],
    output: &mut impl Write,
) -> Result<Verdict> {
    let failures: Vec<_> = jobs.iter().zip(results).flat_map(|(job, first)| failures(job, first)).collect();
    let mut verdict = Verdict::default();
    if failures.len() > MOST_BY_CHANCE {
        let names = failures.iter().map(|failure| format!("failed: {}", failure.name()));
        verdict.failed.extend(names);
        return Ok(verdict);
    }
    let folder = root.join("target/unsteady");
    for failure in failures {
        let (has_passed, file) = failure.run_again(&folder, output)?;
        let (name, file) = (failure.name(), file.strip_prefix(root).unwrap_or(&file).display().to_string());
        if has_passed {
            verdict.unsteady.push(format!(
                "unsteady: {name} failed, and passed when it ran again alone; both outputs are in {file}"
            ));
        } else {
            verdict.failed.push(format!("failed twice: {name}; both outputs are in {file}"));
        }
    }
    Ok(verdict)
}

fn failures<'a>(job: &'a Job, first: &'a JobResult) -> Vec<Failure<'a>> {
    if first.has_passed {
        return Vec::new();
    }
    if first.failed.is_empty() {
        return vec![Failure { job, first, test: None }];
    }
    first.failed.iter().map(|test| Failure { job, first, test: Some(test) }).collect()
}

/// Writes a text to a file in `folder` that is named after a test, and returns its path.
pub(crate) fn keep(folder: &Path, name: &str, text: &str) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let name: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let file = folder.join(format!("{name}.txt"));
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Job, judge};

    /// A script that plays a test binary with the test `it`. It passes when it runs `it` alone, if `steady` says so.
    fn binary(folder: &Path, script: &str) -> Job {
        Job {
            name: "a binary".to_owned(),
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into(), "sh".into()],
            words: Vec::new(),
            folder: folder.to_owned(),
            variables: Vec::new(),
            is_live: false,
        }
    }

    const FAILS: &str =
        "printf '\\nfailures:\\n    it\\n\\ntest result: FAILED. 4 passed; 1 failed;\\n'; exit 101";

    fn outcome_of(script: &str) -> (bool, usize, String, String) {
        let folder = tempfile::tempdir().unwrap();
        let job = binary(folder.path(), script);
        let results = [job.run().unwrap()];
        let verdict = judge(folder.path(), &[job], &results, &mut Vec::new()).unwrap();
        let kept = std::fs::read_dir(folder.path().join("target/unsteady")).unwrap();
        let kept = kept.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        let lines: Vec<_> = verdict.lines().collect();
        (verdict.has_failed(), verdict.unsteady(), lines.join("\n"), kept)
    }

    #[test]
    fn a_test_that_passes_alone_is_unsteady() {
        let script = format!("if [ \"$1 $2\" = '--exact it' ]; then echo fine; else {FAILS}; fi");
        let (has_failed, unsteady, lines, kept) = outcome_of(&script);
        assert_eq!((has_failed, unsteady), (false, 1));
        assert_eq!(
            lines,
            "unsteady: a binary: it failed, and passed when it ran again alone; both outputs are in \
             target/unsteady/a-binary--it.txt"
        );
        assert!(kept.contains("4 passed; 1 failed") && kept.contains("fine"), "{kept}");
    }

    #[test]
    fn a_test_that_fails_twice_fails_the_run() {
        let (has_failed, unsteady, lines, _) = outcome_of(FAILS);
        assert_eq!((has_failed, unsteady), (true, 0));
        assert!(lines.starts_with("failed twice: a binary: it; "), "{lines}");
    }

    #[test]
    fn a_crash_repeats_the_whole_binary() {
        let (has_failed, unsteady, lines, _) = outcome_of("[ -e crashed ] || { touch crashed; exit 1; }");
        assert_eq!((has_failed, unsteady), (false, 1));
        assert!(lines.starts_with("unsteady: a binary failed"), "{lines}");
    }
}
