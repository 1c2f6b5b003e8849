//! `cargo xtask bench import`: the speed of `signpost import` on both stores, compared with the bare statement.
//!
//! The reference on PostgreSQL inserts the same rows in the same batches from another table, with the indexes and triggers
//! of the program. It neither validates rows nor counts them in their account. The embedded store has no reference,
//! because its triggers call functions that only the program has.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::commands::Commands;
use super::figure::Figure;
use super::postgres::Postgres;
use signpost_xtask::program::{self, PLANS, Profile};
use signpost_xtask::servers;

/// The number of rows that the program inserts in one transaction.
const BATCH: u64 = 1_000;

/// The options of the benchmark.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Number of imported redirects.
    #[arg(long, default_value_t = 1_000_000)]
    rows: u64,
    /// Number of rounds, each on fresh databases.
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    #[arg(skip)]
    executable: Option<PathBuf>,
}

impl Options {
    /// The smallest run of every case.
    pub(super) const fn smallest(executable: PathBuf) -> Self {
        Self { rows: 1_200, rounds: 1, executable: Some(executable) }
    }
}

/// Runs the benchmark, and prints its results.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let Options { rows, rounds, executable } = options;
    let executable = match executable {
        Some(executable) => executable.clone(),
        None => program::build(root, Profile::Release)?,
    };
    let folder = tempfile::tempdir()?;
    let has_postgres = servers::are_installed();
    let names = ["jsonl", "csv"];
    for name in names {
        write_rows(&folder.path().join(format!("rows.{name}")), name, *rows)?;
    }
    let mut figures: Vec<(String, Vec<f64>)> = vec![];
    let mut note = |name: &str, rate: f64| match figures.iter_mut().find(|(known, _)| known == name) {
        Some((_, rates)) => rates.push(rate),
        None => figures.push((name.to_owned(), vec![rate])),
    };
    for _ in 0..*rounds {
        for name in names {
            let file = folder.path().join(format!("rows.{name}"));
            let home = tempfile::tempdir()?;
            let commands = Commands::embedded(&executable, home.path());
            note(&format!("SQLite, {name}"), import(&commands, home.path(), &file, *rows)?);
            if has_postgres {
                let postgres = Postgres::start()?;
                let commands = Commands::on_postgres(&executable, &postgres);
                note(&format!("PostgreSQL, {name}"), import(&commands, postgres.folder(), &file, *rows)?);
                if name == "csv" {
                    note("PostgreSQL, the bare statement", bare(&postgres, *rows)?);
                }
            }
        }
    }
    print(&figures)
}

/// Imports a file into a fresh database, and returns the rows a second.
fn import(commands: &Commands, home: &Path, file: &Path, rows: u64) -> Result<f64> {
    std::fs::write(home.join("plans.toml"), PLANS)?;
    commands.run(&["migrate"])?;
    let (account, _) = commands.account("import")?;
    let (file, report) = (file.display().to_string(), home.join("report.csv").display().to_string());
    let words =
        ["import", "--account", &account, "--plans", "plans.toml", "--report", &report, file.as_str()];
    let begun = Instant::now();
    let summary = commands.run(&words)?;
    let rate = rate(rows, begun);
    ensure!(summary.get("created").and_then(Value::as_u64) == Some(rows), "{summary}");
    Ok(rate)
}

/// Empties the table and inserts the rows of an import again, with the bare statement in transactions of the same size.
/// Returns the rows a second.
fn bare(postgres: &Postgres, rows: u64) -> Result<f64> {
    let columns = "id, account_id, kind, name, host, slug, is_active, note, group_id, analytics_enabled, created_at, \
                   updated_at, target_url, antibot_enabled, geo_blocklist, search_key, pixel_ids";
    let script = format!(
        "CREATE UNLOGGED TABLE imported AS SELECT row_number() OVER (ORDER BY id) - 1 AS number, {columns} FROM links;\n\
         CREATE INDEX ON imported (number);\nANALYZE imported;\nTRUNCATE links CASCADE;\n\
         CREATE PROCEDURE insert_bare() LANGUAGE plpgsql AS $$ DECLARE first bigint := 0; BEGIN \
         WHILE first < {rows} LOOP INSERT INTO links ({columns}) SELECT {columns} FROM imported \
         WHERE number >= first AND number < first + {BATCH} ON CONFLICT (host, slug) DO NOTHING; \
         COMMIT; first := first + {BATCH}; END LOOP; END $$;\n"
    );
    postgres.query(&script)?;
    let begun = Instant::now();
    postgres.query("CALL insert_bare();")?;
    let rate = rate(rows, begun);
    let count = postgres.query("SELECT count(*) FROM links;")?;
    ensure!(count == rows.to_string(), "the bare statement left {count} links");
    Ok(rate)
}

fn rate(rows: u64, begun: Instant) -> f64 {
    u32::try_from(rows).map_or(f64::NAN, f64::from) / begun.elapsed().as_secs_f64()
}

/// Writes a file of redirects. Their slugs are unordered, like those of other services.
fn write_rows(path: &Path, format: &str, rows: u64) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    if format == "csv" {
        writeln!(file, "slug,target_url,name")?;
    }
    for number in 0..rows {
        // Multiplying by an odd number maps each number to a different one.
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slug = format!("s{mixed:016x}");
        let target = format!("https://www.example.com/offers/{}/{number}?utm_source=mail", mixed >> 40);
        let name = format!("Offer {number} of spring");
        match format {
            "csv" => writeln!(file, "{slug},{target},{name}")?,
            _ => writeln!(file, "{}", json!({"slug": slug, "target_url": target, "name": name}))?,
        }
    }
    file.flush().context("cannot write the rows")
}

fn print(figures: &[(String, Vec<f64>)]) -> Result<()> {
    let median = |name: &str| {
        let found = figures.iter().find(|(known, _)| known == name);
        found.map(|(_, rates)| Figure::of(rates.clone()).median)
    };
    let bare = median("PostgreSQL, the bare statement");
    let mut table = String::from("| import | rows/s | spread | to the bare statement |\n|---|---|---|---|\n");
    for (name, rates) in figures {
        let figure = Figure::of(rates.clone());
        let ratio = bare.filter(|_| name.starts_with("PostgreSQL")).map(|bare| figure.median / bare);
        let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
        writeln!(table, "| {name} | {:.0} | {:.0} % | {ratio} |", figure.median, figure.spread * 100.0)?;
    }
    Ok(write!(io::stdout(), "{table}")?)
}
