//! Reads the output of test binaries.

/// The number of tests by their result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

/// Adds up the summaries in the output of one or several test binaries.
pub(crate) fn counts(output: &str) -> Counts {
    let mut sum = Counts::default();
    for line in output.lines() {
        let Some(summary) = line.strip_prefix("test result: ") else { continue };
        let of = |label: &str| {
            let parts = summary.split([';', '.']).map(str::trim);
            parts.filter_map(|part| part.strip_suffix(label)?.trim().parse::<usize>().ok()).sum::<usize>()
        };
        sum.passed += of("passed");
        sum.failed += of("failed");
    }
    sum
}

/// The names of the failed tests: the last list below `failures:`, because the earlier one also has their output. It is
/// empty if the binary ended before it wrote the list.
pub(crate) fn failed_tests(output: &str) -> Vec<String> {
    let Some((_, list)) = output.rsplit_once("\nfailures:\n") else { return Vec::new() };
    let names = list.lines().map_while(|line| line.strip_prefix("    "));
    names.map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Counts, counts, failed_tests};

    const FAILED: &str = "
running 3 tests
test api::works ... ok
test api::fails ... FAILED
test api::fails_too ... FAILED

failures:

---- api::fails stdout ----
failures:
    not this one

---- api::fails_too stdout ----
no


failures:
    api::fails
    api::fails_too

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.30s
";

    #[test]
    fn failed_tests_are_those_of_the_last_list() {
        assert_eq!(failed_tests(FAILED), ["api::fails", "api::fails_too"]);
        assert!(failed_tests("running 1 test\n").is_empty());
    }

    #[test]
    fn the_summaries_of_all_binaries_are_added_up() {
        assert_eq!(counts(FAILED), Counts { passed: 1, failed: 2 });
        let passed = "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(counts(&format!("{FAILED}\n{passed}\n")), Counts { passed: 13, failed: 2 });
    }
}
