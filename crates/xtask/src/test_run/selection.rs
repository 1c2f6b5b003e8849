//! Which tests run, and in which order they start.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use anyhow::{Result, ensure};

use super::binaries::{self, TestBinary};
use super::job::Job;
use crate::workspace::{cargo, package_in};

/// Packages that only measure. Clippy checks them and `.ci/run` tests them with their smallest run, so that tests do not
/// wait for their build.
const BENCHMARKS: [&str; 3] = ["signpost-benchmarks", "signpost-bare-actix", "signpost-click-benchmark"];

/// The binaries that take longer than some seconds, the slowest first. They start first, so that the lanes end together.
/// `cargo xtask unsteady` runs these.
const SLOW: [(&str, &str); 23] = [
    ("server", "faults"),
    ("server", "end_to_end"),
    ("server", "browser"),
    ("server", "installation"),
    ("postgres", "store"),
    ("postgres", "contract"),
    ("app", "use_cases"),
    ("server", "exactness"),
    ("sqlite", "contract"),
    ("postgres", "query_plans"),
    ("sqlite", "query_plans"),
    ("xtask", "link_checker"),
    ("http", "api"),
    ("dashboard", "views"),
    ("sqlite", "store"),
    ("domain", "lib"),
    ("click-recorder", "lib"),
    ("listener", "connections"),
    ("redis", "store"),
    ("quota-fallback", "fallback"),
    ("edge", "edge"),
    ("dns", "hostile_answers"),
    ("test-servers", "killed_tests"),
];

/// A second run of a binary on other servers.
struct SecondRun {
    of: (&'static str, &'static str),
    name: &'static str,
    variable: (&'static str, &'static str),
    /// The tests whose path contains one of these are omitted: the store makes no difference to them, or another test
    /// holds the same on these servers.
    skipped: &'static [&'static str],
}

const SECOND_RUNS: [SecondRun; 1] = [SecondRun {
    of: ("server", "end_to_end"),
    name: "on servers",
    variable: ("SIGNPOST_TEST_STORE", "servers"),
    skipped: &[
        "api::limits::",
        "edge::gates::",
        "edge::misses::",
        "edge::target_blocklist::",
        "embedded::",
        "harness::",
        "nodes::",
        "program::guide_numbers::",
        "program::logs::",
        "program::monitoring::",
        "program::operations_guide::",
        "program::settings::",
        "promises::domains::name_servers::",
        "promises::domains::chains::",
        "promises::hostile::bodies::d10_",
        "promises::hostile::framing::",
        "promises::throttle::",
        "r26_unknown_and_read_only_fields",
    ],
}];

/// The options that select tests. Without any, all tests run.
#[derive(Debug, clap::Args)]
pub(crate) struct Selection {
    /// Only tests whose path contains one of these words.
    words: Vec<String>,
    /// Only this binary of integration tests, of every crate that has one of this name.
    #[arg(long = "test", value_name = "NAME")]
    tests: Vec<String>,
    /// Only the unit tests of libraries.
    #[arg(long)]
    lib: bool,
    /// Only the unit tests of programs.
    #[arg(long)]
    bins: bool,
    /// Only the examples in the docs of the code.
    #[arg(long)]
    doc: bool,
    /// Only this crate of `crates`.
    #[arg(long, short, value_name = "CRATE")]
    package: Vec<String>,
    /// How many binaries run at a time. The default is one more than the machine has cores, because tests wait a lot.
    #[arg(long)]
    lanes: Option<NonZero<usize>>,
}

impl Selection {
    pub(crate) fn lanes(&self) -> usize {
        let default = || thread::available_parallelism().map_or(1, NonZero::get) + 1;
        self.lanes.map_or_else(default, NonZero::get)
    }

    /// Whether the options leave the choice of binaries open.
    pub(crate) const fn names_nothing(&self) -> bool {
        let Self { words, tests, lib, bins, doc, package, lanes: _ } = self;
        words.is_empty() && tests.is_empty() && !*lib && !*bins && !*doc && package.is_empty()
    }

    /// Builds the selected binaries. Returns a job for each, in the order in which they should start.
    pub(crate) fn jobs(
        &self,
        root: &Path,
        variables: &[(String, String)],
        libtest: &[String],
    ) -> Result<Vec<Job>> {
        let (packages, mut jobs) = (self.packages(root)?, Vec::new());
        let names_binaries = self.lib || self.bins || !self.tests.is_empty();
        if names_binaries || !self.doc {
            let selection = [packages.clone(), self.targets()].concat();
            let binaries = binaries::build(root, &selection)?;
            jobs.extend(binaries.iter().flat_map(|binary| self.jobs_of(binary, variables, libtest)));
        }
        if !self.words.is_empty() {
            let has_tests = |job: &Job| job.tests().map(|tests| !tests.is_empty());
            let with_tests: Result<Vec<_>> = jobs.iter().map(has_tests).collect();
            let mut with_tests = with_tests?.into_iter();
            jobs.retain(|_| with_tests.next().unwrap_or_default());
        }
        if self.names_nothing() {
            let is_missing = |slow: &&_| !jobs.iter().any(|job| is_of(job, slow));
            let missing: Vec<_> = SLOW.iter().filter(is_missing).collect();
            ensure!(missing.is_empty(), "`SLOW` names binaries that do not exist: {missing:?}");
        }
        jobs.sort_by_key(|job| SLOW.iter().position(|slow| is_of(job, slow)).unwrap_or(SLOW.len()));
        // Cargo refuses to look for examples in a program.
        let is_library = |name: &String| root.join("crates").join(name).join("src/lib.rs").is_file();
        let has_examples = self.package.iter().all(is_library);
        if self.doc || (self.words.is_empty() && !names_binaries && has_examples) {
            // After the first of the slow ones, because it needs the processor most of the time.
            jobs.insert(jobs.len().min(1), self.doc_job(root, &packages, variables, libtest));
        }
        if let [only] = jobs.as_mut_slice() {
            only.is_live = true;
        }
        Ok(jobs)
    }

    /// Cargo's options for the selected packages.
    ///
    /// Cargo unifies features over them. So a first run with `--package` compiles some dependencies again, and later ones
    /// compile only that crate.
    fn packages(&self, root: &Path) -> Result<Vec<String>> {
        let mut options = Vec::new();
        for crate_name in &self.package {
            options.extend(["--package".to_owned(), package_in(root, crate_name)?]);
        }
        if options.is_empty() {
            options.push("--workspace".to_owned());
            options.extend(BENCHMARKS.into_iter().flat_map(|name| ["--exclude".to_owned(), name.to_owned()]));
        }
        Ok(options)
    }

    /// Cargo's options for the selected targets.
    fn targets(&self) -> Vec<String> {
        let mut options = Vec::new();
        if self.lib {
            options.push("--lib".to_owned());
        }
        if self.bins {
            options.push("--bins".to_owned());
        }
        options.extend(self.tests.iter().flat_map(|name| ["--test".to_owned(), name.clone()]));
        if options.is_empty() {
            // Without examples, which clippy checks.
            options.push("--tests".to_owned());
        }
        options
    }

    fn jobs_of(&self, binary: &TestBinary, variables: &[(String, String)], libtest: &[String]) -> Vec<Job> {
        let first = Job {
            name: binary.name(),
            program: binary.path.clone(),
            arguments: libtest.iter().map(OsString::from).collect(),
            words: self.words.clone(),
            folder: binary.folder.clone(),
            variables: variables.to_vec(),
            is_live: false,
        };
        let second = SECOND_RUNS.iter().filter(|run| is_of(&first, &run.of)).map(|run| {
            let SecondRun { of: _, name, variable: (variable, value), skipped } = run;
            let mut job = Job { name: format!("{} {name}", first.name), ..first.clone() };
            job.variables.push(((*variable).to_owned(), (*value).to_owned()));
            job.arguments.extend(skipped.iter().flat_map(|part| ["--skip".into(), OsString::from(part)]));
            job
        });
        let second: Vec<_> = second.collect();
        [first].into_iter().chain(second).collect()
    }

    fn doc_job(
        &self,
        root: &Path,
        packages: &[String],
        variables: &[(String, String)],
        libtest: &[String],
    ) -> Job {
        let mut arguments: Vec<OsString> = vec!["test".into(), "--doc".into(), "--no-fail-fast".into()];
        arguments.extend(packages.iter().map(OsString::from));
        arguments.push("--".into());
        arguments.extend(libtest.iter().map(OsString::from));
        Job {
            name: "the examples in the docs".to_owned(),
            program: cargo().get_program().into(),
            arguments,
            words: self.words.clone(),
            folder: root.to_owned(),
            variables: variables.to_vec(),
            is_live: false,
        }
    }
}

/// Whether a job runs the binary of this crate and target, on any servers.
fn is_of(job: &Job, (crate_name, target): &(&str, &str)) -> bool {
    let rest = job.name.strip_prefix(crate_name).and_then(|rest| rest.trim_start().strip_prefix(target));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The jobs of the slow binaries.
pub(crate) fn only_slow(jobs: Vec<Job>) -> Vec<Job> {
    jobs.into_iter().filter(|job| SLOW.iter().any(|slow| is_of(job, slow))).collect()
}
