//! One run of one program that runs tests.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::libtest::{self, Counts};
use crate::workspace;

/// The time limit of a job. The slowest takes a quarter of an hour beside the others on two cores, and more on a busy machine; one
/// that is killed runs again from its beginning. Without a limit, one hanging test would cost the whole run and its output.
const TIME_LIMIT: Duration = Duration::from_mins(40);

/// How long to wait for the rest of the output of an ended program. A process that outlives it could hold the pipe open.
const REST_WITHIN: Duration = Duration::from_secs(5);

/// A program that runs tests, such as a test binary.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// The selection of tests, which a run of a single test omits.
    pub(crate) words: Vec<String>,
    /// The working folder.
    pub(crate) folder: PathBuf,
    pub(crate) variables: Vec<(String, String)>,
    /// Show the output while it runs, because it runs by itself.
    pub(crate) is_live: bool,
}

/// The result of a job.
#[derive(Debug)]
pub(crate) struct JobResult {
    /// Standard output and standard error, in their order.
    pub(crate) output: String,
    pub(crate) has_passed: bool,
    pub(crate) counts: Counts,
    /// The failed tests. It is empty if the program failed without naming any.
    pub(crate) failed: Vec<String>,
    pub(crate) took: Duration,
}

impl Job {
    /// The same program with only this test.
    pub(crate) fn only(&self, test: &str) -> Self {
        let mut arguments = self.arguments.clone();
        arguments.push("--exact".into());
        Self { arguments, words: vec![test.to_owned()], is_live: false, ..self.clone() }
    }

    /// The names of the tests that it would run.
    pub(crate) fn tests(&self) -> Result<Vec<String>> {
        let mut command = self.command();
        let output = command.args(["--list", "--format", "terse"]).output();
        let output = output.with_context(|| format!("cannot start {}", self.name))?;
        ensure!(output.status.success(), "{} cannot list its tests", self.name);
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    /// Runs it to its end, or to the time limit.
    pub(crate) fn run(&self) -> Result<JobResult> {
        let began = Instant::now();
        let mut command = self.command();
        let (reader, writer) = io::pipe()?;
        command.stdout(writer.try_clone()?).stderr(writer);
        let mut child = command.spawn().with_context(|| format!("cannot start {}", self.name))?;
        // It holds the pipe's other end, which must close with the program.
        drop(command);
        let chunks = read_on_a_thread(reader);
        let mut output = Vec::new();
        let status = self.await_end(&mut child, &chunks, &mut output)?;
        let mut output = String::from_utf8_lossy(&output).into_owned();
        if status.is_none() {
            output.push_str("\nkilled: it did not end within the time limit of a test binary\n");
        }
        let has_passed = status.is_some_and(|status| status.success());
        let mut counts = libtest::counts(&output);
        let failed = libtest::failed_tests(&output);
        if !has_passed && failed.is_empty() {
            counts.failed += 1;
        }
        Ok(JobResult { output, has_passed, counts, failed, took: began.elapsed() })
    }

    /// Collects the output until the program ends. `None` if it was killed at the time limit.
    fn await_end(
        &self,
        child: &mut Child,
        chunks: &Receiver<Vec<u8>>,
        output: &mut Vec<u8>,
    ) -> Result<Option<ExitStatus>> {
        let ends = Instant::now() + TIME_LIMIT;
        let mut has_more = true;
        let mut keep = |wait| {
            let chunk = chunks.recv_timeout(wait);
            if let (true, Ok(chunk)) = (self.is_live, &chunk) {
                io::stdout().write_all(chunk)?;
            }
            output.extend(chunk.as_deref().unwrap_or_default());
            anyhow::Ok(chunk.err())
        };
        loop {
            // Poll: an ended program may have left a process that holds the pipe open.
            let wait = Duration::from_millis(20);
            if has_more {
                has_more = keep(wait)? != Some(RecvTimeoutError::Disconnected);
            } else {
                thread::sleep(wait);
            }
            let status = child.try_wait()?;
            let is_late = Instant::now() > ends;
            if status.is_none() && is_late {
                child.kill()?;
                child.wait()?;
            }
            if status.is_some() || is_late {
                let until = Instant::now() + REST_WITHIN;
                while has_more && keep(until.saturating_duration_since(Instant::now()))?.is_none() {}
                return Ok(status);
            }
        }
    }

    fn command(&self) -> Command {
        let mut command = workspace::command(&self.program);
        command
            .args(&self.arguments)
            .args(&self.words)
            .current_dir(&self.folder)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// The chunks that arrive in a pipe; the channel closes when the pipe does.
fn read_on_a_thread(mut reader: io::PipeReader) -> Receiver<Vec<u8>> {
    let (sender, chunks) = channel();
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(read) = reader.read(&mut buffer) {
            let chunk = buffer.get(..read).unwrap_or_default();
            if chunk.is_empty() || sender.send(chunk.to_vec()).is_err() {
                break;
            }
        }
    });
    chunks
}

#[cfg(test)]
mod tests {
    use super::Job;

    fn shell(script: &str) -> Job {
        Job {
            name: "a script".to_owned(),
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
            words: Vec::new(),
            folder: "/".into(),
            variables: vec![("NAME".to_owned(), "value".to_owned())],
            is_live: false,
        }
    }

    #[test]
    fn output_of_both_streams_is_kept_in_order() {
        let result = shell("echo $NAME; echo error >&2; pwd").run().unwrap();
        assert!(result.has_passed);
        assert_eq!(result.output, "value\nerror\n/\n");
    }

    #[test]
    fn a_crash_without_a_list_counts_as_one_failure() {
        let result = shell("echo 'running 1 test'; kill -ABRT $$").run().unwrap();
        assert!(!result.has_passed);
        assert_eq!((result.counts.failed, result.failed.len()), (1, 0));
    }

    #[test]
    fn a_process_left_behind_does_not_hold_the_run() {
        let result = shell("sleep 60 & echo done").run().unwrap();
        assert_eq!((result.has_passed, result.output.as_str()), (true, "done\n"));
    }
}
