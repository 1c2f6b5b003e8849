//! `cargo xtask bench instructions`: the instructions that a visit takes, by the kind of its link.
//!
//! Callgrind counts them, so a busy machine hardly matters. A figure is what the thread that serves the connection was counted
//! for, divided by the visits. Each start of the program measures all cases on one connection, so that they can be compared;
//! several starts show how much the counts vary.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::{ApiClient, Connection};
use crate::edge::scenery::{path_of, target_of};
use crate::figure::Figure;
use crate::link_features::LinkFeature;
use signpost_xtask::program::{Profile, Program};

/// The lines of a browser's request after the first.
const HEADERS: &str = "Host: localhost\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n\
    Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
    Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br\r\n\
    Referer: https://www.example.com/page\r\nUpgrade-Insecure-Requests: 1\r\n\r\n";

/// The query of visits that have one.
const QUERY: &str = "?gclid=EAIaIQobChMI&ref=a[0]";

/// Visits of a link before it is measured, and how often a case is tried in all. Under callgrind the first visits of a link can
/// take longer than the program waits for its store.
const WARM_UP: u32 = 300;
const ATTEMPTS: u32 = 10;

/// The options of the benchmark.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// How often each program is started.
    #[arg(long, default_value_t = 5)]
    starts: usize,
    /// How many visits of each kind of link a start measures.
    #[arg(long, default_value_t = 2_000)]
    visits: u32,
    /// A program to measure instead of the one built from this checkout.
    #[arg(long)]
    program: Option<PathBuf>,
    /// An earlier program, for a comparison of links that it knows.
    #[arg(long)]
    before: Option<PathBuf>,
}

/// A kind of visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Plain,
    /// A query at a link that ignores it.
    PlainWithQuery,
    With(LinkFeature),
}

impl Case {
    fn all() -> Vec<Self> {
        [Self::Plain, Self::PlainWithQuery].into_iter().chain(LinkFeature::ALL.map(Self::With)).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "only a target",
            Self::PlainWithQuery => "only a target, visited with a query",
            Self::With(feature) => feature.name(),
        }
    }

    /// The case with the same request at a link that has only a target.
    const fn reference(self) -> Self {
        match self {
            Self::PlainWithQuery | Self::With(LinkFeature::Forwarding | LinkFeature::Ruled) => {
                Self::PlainWithQuery
            }
            Self::Plain
            | Self::With(
                LinkFeature::Dated
                | LinkFeature::Utm
                | LinkFeature::Splitting
                | LinkFeature::Limited
                | LinkFeature::Previewed,
            ) => Self::Plain,
        }
    }

    fn path(self) -> String {
        let path = match self {
            Self::Plain | Self::PlainWithQuery => path_of(0),
            Self::With(feature) => feature.path_of(0),
        };
        if self.reference() == Self::PlainWithQuery { path + QUERY } else { path }
    }
}

/// A program with its links, and what was counted for each case at each start.
struct Counted {
    executable: PathBuf,
    folder: TempDir,
    cases: Vec<(Case, Vec<f64>)>,
}

/// Counts for both programs in turns, and prints the tables.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let Options { starts, visits, program, before } = options;
    let executable = crate::program_to_measure(root, program.as_deref(), Profile::Release)?;
    let mut now = Counted::set_up(executable)?;
    let mut before = before.as_ref().map(|before| Counted::set_up(crate::absolute(before)?)).transpose()?;
    for _ in 0..*starts {
        for program in before.iter_mut().chain([&mut now]) {
            program.count(*visits)?;
        }
    }
    print(&now, before.as_ref())
}

impl Counted {
    /// Creates a link for each case that the program knows.
    fn set_up(executable: PathBuf) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let program = Program::start(&executable, folder.path())?;
        let caller = ApiClient::new(&program, &program.key);
        let mut connection = caller.connect()?;
        let mut create = |path: String, fields: Value| -> Result<bool> {
            let mut link =
                json!({"name": "A link", "slug": path.trim_start_matches('/'), "target_url": target_of(0)});
            if let (Value::Object(link), Value::Object(fields)) = (&mut link, fields) {
                link.extend(fields);
            }
            let request = caller.request("POST", "/v1/redirects", &link.to_string());
            let answer = connection.exchange(&request)?;
            ensure!([201, 400].contains(&answer.status), "{}", String::from_utf8_lossy(answer.body));
            Ok(answer.status == 201)
        };
        ensure!(create(path_of(0), json!({}))?, "no link can be created");
        let mut cases = Vec::new();
        for case in Case::all() {
            let is_known = match case {
                Case::Plain | Case::PlainWithQuery => true,
                Case::With(feature) => create(feature.path_of(0), feature.fields())?,
            };
            if is_known {
                cases.push((case, Vec::new()));
            }
        }
        program.stop()?;
        Ok(Self { executable, folder, cases })
    }

    /// Starts the program under callgrind on one core, and counts every case.
    fn count(&mut self, visits: u32) -> Result<()> {
        let counts = tempfile::tempdir()?;
        let mut command = Command::new("taskset");
        command.args(["-c", "0", "valgrind", "--tool=callgrind", "--separate-threads=yes"]);
        command.arg(format!("--callgrind-out-file={}/counts", counts.path().display())).arg(&self.executable);
        // Under callgrind the program takes longer for everything.
        let settings = ["--click-recording", "off", "--store-timeout", "60s"];
        let program = Program::start_by(command, self.folder.path(), &settings)?;
        let mut connection = Connection::open(&program.links)?;
        let mut counted = Vec::new();
        for (case, _) in &self.cases {
            let request = format!("GET {} HTTP/1.1\r\n{HEADERS}", case.path()).into_bytes();
            let mut attempts = (0..ATTEMPTS)
                .map(|_| counts_of(&program, counts.path(), &mut connection, &request, visits).transpose());
            let counts = attempts.find_map(|counts| counts);
            counted.push(counts.with_context(|| format!("{case:?}: the program does not redirect"))??);
        }
        program.stop()?;
        let worker = worker_of(&counted).context("callgrind has counted nothing")?;
        for ((case, figures), counts) in self.cases.iter_mut().zip(&counted) {
            let instructions = counts.get(&worker).copied().unwrap_or(f64::NAN) / f64::from(visits);
            figures.push(instructions);
            // Shows progress; the table follows at the end.
            let _ = writeln!(io::stderr(), "{}: {instructions:.0}", case.name());
        }
        Ok(())
    }
}

/// The instructions of each thread, by its name in callgrind's files.
type Counts = BTreeMap<String, f64>;

/// The thread that serves the connection: the busiest one of most cases. In a single case another thread may have more to do.
fn worker_of(cases: &[Counts]) -> Option<String> {
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    for counts in cases {
        let (busiest, _) = counts.iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        *times.entry(busiest).or_default() += 1;
    }
    times.into_iter().max_by_key(|(_, times)| *times).map(|(thread, _)| thread.to_owned())
}

/// What these visits were counted for, unless one was not redirected.
fn counts_of(
    program: &Program,
    folder: &Path,
    connection: &mut Connection,
    request: &[u8],
    visits: u32,
) -> Result<Option<Counts>> {
    let mut all_redirected = |visits: u32| -> Result<bool> {
        let mut all = true;
        for _ in 0..visits {
            all &= connection.exchange(request)?.status == 302;
        }
        Ok(all)
    };
    if !all_redirected(WARM_UP)? {
        return Ok(None);
    }
    dump(program.pid())?;
    let all = all_redirected(visits)?;
    dump(program.pid())?;
    Ok(if all { Some(of_the_last_dump(folder)?) } else { None })
}

/// Lets callgrind write what it counted since the last time.
fn dump(process: u32) -> Result<()> {
    let output = Command::new("callgrind_control").args(["--dump", &process.to_string()]).output();
    let output = output.context("cannot start `callgrind_control`; install valgrind")?;
    let printed = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success() && printed.contains("OK."), "callgrind_control: {printed}");
    Ok(())
}

/// The counts of the last dump, whose files end in its number, a hyphen and the thread.
fn of_the_last_dump(folder: &Path) -> Result<Counts> {
    let mut dumps: BTreeMap<u32, Counts> = BTreeMap::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        let ending = name.split_once('.').and_then(|(_, ending)| ending.split_once('-'));
        let Some((Ok(dump), thread)) = ending.map(|(dump, thread)| (dump.parse(), thread)) else { continue };
        let counted = String::from_utf8_lossy(&fs::read(file.path())?).into_owned();
        let total = counted.lines().find_map(|line| line.strip_prefix("totals: ")).context("no total")?;
        dumps.entry(dump).or_default().insert(thread.to_owned(), total.trim().parse()?);
    }
    Ok(dumps.pop_last().context("callgrind has written nothing")?.1)
}

fn print(now: &Counted, before: Option<&Counted>) -> Result<()> {
    let figures = |counted: &Counted, case: Case| {
        counted.cases.iter().find(|(known, _)| *known == case).map(|(_, figures)| figures.clone())
    };
    // Ratios of the same start: its cases share a connection.
    let ratio = |ours: &[f64], reference: &[f64]| {
        Figure::of(ours.iter().zip(reference).map(|(ours, reference)| ours / reference).collect())
    };
    let mut output = io::stdout().lock();
    writeln!(
        output,
        "| link | instructions a visit | lowest and highest start | to only a target | before | to before |"
    )?;
    writeln!(output, "| --- | --- | --- | --- | --- | --- |")?;
    for (case, ours) in &now.cases {
        let reference = figures(now, case.reference()).unwrap_or_default();
        let to_reference = ratio(ours, &reference).median;
        let lowest = ours.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = ours.iter().copied().fold(0.0, f64::max);
        let earlier = before.and_then(|before| figures(before, *case));
        let (earlier, to_earlier) = earlier.map_or_else(Default::default, |earlier| {
            let figure = Figure::of(earlier.clone());
            (format!("{:.0}", figure.median), format!("{:.3}", ratio(ours, &earlier).median))
        });
        writeln!(
            output,
            "| {} | {:.0} | {lowest:.0}, {highest:.0} | {to_reference:.3} | {earlier} | {to_earlier} |",
            case.name(),
            Figure::of(ours.clone()).median,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_last_dump() {
        let folder = tempfile::tempdir().unwrap();
        for (name, total) in [("counts.9-01", 900), ("counts.10-01", 7), ("counts.10-02", 40)] {
            fs::write(folder.path().join(name), format!("events: Ir\ntotals: {total}\n")).unwrap();
        }
        fs::write(folder.path().join("counts"), "").unwrap();
        let counts = Counts::from([("01".to_owned(), 7.0), ("02".to_owned(), 40.0)]);
        assert_eq!(of_the_last_dump(folder.path()).unwrap(), counts);
    }

    #[test]
    fn the_worker_is_the_busiest_thread_of_most_cases() {
        let counts = |one, other| Counts::from([("01".to_owned(), one), ("02".to_owned(), other)]);
        assert_eq!(worker_of(&[counts(1.0, 3.0), counts(9.0, 3.0), counts(2.0, 3.0)]).as_deref(), Some("02"));
    }

    #[test]
    fn every_case_is_compared_with_the_same_request_at_a_plain_link() {
        for case in Case::all() {
            assert_eq!(case.path().contains('?'), case.reference().path().contains('?'), "{case:?}");
        }
    }
}
