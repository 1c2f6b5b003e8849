//! The baseline: a row for each click, two indexes, and GROUP BY.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use signpost_domain::analytics::{Dimension, LinkScope, RecordedKind};
use signpost_domain::{AccountId, LinkId};
use signpost_port_contracts::SyntheticClicks;
use signpost_test_servers::postgres::{PostgresDatabase, PostgresServer};

use crate::Scenery;
use crate::cases::{Case, Expected};

/// The number of rows of one COPY.
const ROWS_A_FILE: u64 = 1_000_000;

/// A database with the rows.
pub(crate) struct Rows {
    database: PostgresDatabase,
}

fn columns(kind: &str) -> String {
    let dimensions = Dimension::RECORDED.map(|dimension| format!("{}{kind}", dimension.as_str()));
    dimensions.join(", ")
}

fn uuid(bytes: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(bytes))
}

impl Rows {
    /// Loads all clicks.
    pub(crate) fn load(server: &PostgresServer, scenery: &Scenery) -> Result<Self> {
        let database = server.database(None);
        let table = |name: &str| {
            format!(
                "CREATE TABLE {name} (account uuid NOT NULL, link uuid NOT NULL, at timestamptz NOT NULL, \
                 kind int2 NOT NULL, visitor int8 NOT NULL, {});",
                columns(" text NOT NULL")
            )
        };
        // Both tables have their indexes from the start, like a table that is filled while it is queried.
        let indexes =
            |name: &str| format!("CREATE INDEX ON {name} (link, at); CREATE INDEX ON {name} (account, at);");
        database.run(&format!("{} {} {}", table("clicks"), table("drained"), indexes("drained")));
        for clicks in [scenery.hot, scenery.tail] {
            copy(&database, &clicks)?;
        }
        database.run(&format!("{} VACUUM ANALYZE clicks", indexes("clicks")));
        Ok(Self { database })
    }

    /// The clicks a second that one connection inserts, with a thousand rows in a statement. In 0 seconds it runs one.
    pub(crate) fn drain(&self, seconds: u64) -> Result<f64> {
        let server = self.database.server();
        let values = Dimension::RECORDED.map(|dimension| format!("'{} ' || n % 20", dimension.as_str()));
        let script = tempfile::NamedTempFile::new()?;
        let account = uuid([2; 16]);
        fs::write(
            script.path(),
            format!(
                "INSERT INTO drained SELECT '{account}', lpad(to_hex((n * 7919) % 100000), 32, '0')::uuid, now(), 0, \
                 hashint8(n), {} FROM generate_series(1, 1000) AS n;\n",
                values.join(", ")
            ),
        )?;
        let programs = signpost_test_servers::postgres::programs().context("no pgbench")?;
        let url = self.database.url();
        let seconds = seconds.to_string();
        let until = if seconds == "0" { ["-t", "1"] } else { ["-T", &seconds] };
        let output = Command::new(programs.join("pgbench"))
            .args(["-n", "-M", "prepared", "-c", "1"])
            .args(until)
            .arg("-f")
            .arg(script.path())
            .arg(&url)
            .output()?;
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "pgbench: {}", String::from_utf8_lossy(&output.stderr));
        let rate =
            report.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        let rate: f64 =
            rate.with_context(|| format!("no rate in pgbench's report {report} ({})", server.port()))?;
        Ok(rate * 1_000.0)
    }

    /// The median time of the statements, and their result.
    pub(crate) fn ask(&self, case: &Case, rounds: usize) -> Result<(Duration, Expected)> {
        let mut times = Vec::new();
        let mut expected = None;
        for _ in 0..rounds {
            let began = Instant::now();
            let answer = self.answer(case)?;
            times.push(began.elapsed());
            expected = Some(answer);
        }
        times.sort_unstable();
        let time = times.get(times.len() / 2).copied().context("no round")?;
        Ok((time, expected.context("no round")?))
    }

    fn answer(&self, case: &Case) -> Result<Expected> {
        let question = &case.question;
        let selection = &question.selection;
        let mut condition = match &selection.scope {
            LinkScope::One(link) => format!("link = '{}'", uuid(link.to_bytes())),
            LinkScope::All | LinkScope::Some(_) => {
                format!("account = '{}'", uuid(selection.account.to_bytes()))
            }
        };
        let seconds = |millis: i64| format!("to_timestamp({}.{:03})", millis / 1_000, millis % 1_000);
        // Writing to a `String` cannot fail.
        let _ = write!(
            condition,
            " AND at BETWEEN {} AND {}",
            seconds(selection.period.first().unix_millis()),
            seconds(selection.period.last().unix_millis())
        );
        for filter in &selection.filters {
            let values: Vec<String> = filter.values.iter().map(|value| format!("'{value}'")).collect();
            let sign = if filter.excludes { "NOT IN" } else { "IN" };
            let _ = write!(condition, " AND {} {sign} ({})", filter.dimension.as_str(), values.join(","));
        }
        let counts = "count(*) FILTER (WHERE kind = 0), count(DISTINCT visitor) FILTER (WHERE kind = 0), \
                      count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE kind = 2)";
        let days = self.database.query(&format!(
            "SELECT date_trunc('day', at AT TIME ZONE 'UTC'), {counts} FROM clicks WHERE {condition} GROUP BY 1 ORDER BY 1"
        ));
        let mut totals = (0, 0);
        for line in days.lines() {
            let (clicks, visitors) = two(line)?;
            totals = (totals.0 + clicks, totals.1 + visitors);
        }
        let mut dimensions = Vec::new();
        for dimension in &question.dimensions {
            let name = dimension.as_str();
            let values = self.database.query(&format!(
                "SELECT {name}, count(*), count(DISTINCT visitor) FROM clicks WHERE {condition} AND kind = 0 \
                 GROUP BY 1 ORDER BY 2 DESC, {name}::text COLLATE \"C\" LIMIT 100"
            ));
            dimensions.push(two(values.lines().next().context("no value")?)?);
        }
        Ok(Expected { totals, dimensions })
    }
}

/// The second and the third column of a line.
fn two(line: &str) -> Result<(u64, u64)> {
    let mut columns = line.split('|').skip(1);
    let mut next = || columns.next().context("a column")?.parse::<u64>().context("a number");
    Ok((next()?, next()?))
}

fn copy(database: &PostgresDatabase, clicks: &SyntheticClicks) -> Result<()> {
    let folder = tempfile::tempdir()?;
    // The server reads the file as another user.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), readable)?;
    let path = folder.path().join("rows");
    let begin = || -> Result<BufWriter<File>> { Ok(BufWriter::new(File::create(&path)?)) };
    let hand_over = |mut file: BufWriter<File>| -> Result<()> {
        file.flush()?;
        database.run(&format!("COPY clicks FROM '{}'", path.display()));
        Ok(())
    };
    let mut file = Some(begin()?);
    let (mut number, mut outcome): (u64, Result<()>) = (0, Ok(()));
    clicks.for_each(|click| {
        if outcome.is_err() {
            return;
        }
        let line = line(click.account, click.link, click);
        outcome = (|| {
            file.as_mut().context("a file")?.write_all(line.as_bytes())?;
            number += 1;
            if number % ROWS_A_FILE == 0 {
                hand_over(file.take().context("a file")?)?;
                file = Some(begin()?);
            }
            Ok(())
        })();
    });
    outcome?;
    hand_over(file.context("a file")?)
}

fn line(account: AccountId, link: LinkId, click: &signpost_domain::analytics::RecordedClick<'_>) -> String {
    let visitor = click.visitor.0.iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    let kind = match click.kind {
        RecordedKind::Click => 0,
        RecordedKind::Bot => 1,
        RecordedKind::Blocked => 2,
        RecordedKind::Widget => 3,
    };
    let values = click.values.0.join("\t");
    let (account, link) = (uuid(account.to_bytes()), uuid(link.to_bytes()));
    format!("{account}\t{link}\t{}\t{kind}\t{visitor}\t{values}\n", click.at)
}
