//! `signpost export`.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use signpost_app::Application;
use signpost_app::transfer::{Export, Field, FieldValue};
use signpost_domain::AccountId;
use signpost_link_files::{FileFormat, RecordWriter};

use super::output::{Output, unless_reader_left};
use crate::shutdown::StopSignals;
use crate::transfer::{NewFile, Progress};

/// What stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// What `signpost export` is told.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The account whose groups and links they are.
    #[arg(long, value_name = "ID")]
    account: AccountId,
    /// csv or jsonl; by default what the file's name says, else csv, or jsonl with --json.
    #[arg(long)]
    format: Option<FileFormat>,
    /// The file to write, or - for standard output. It gets its name when it is whole.
    #[arg(long, value_name = "FILE", default_value = STANDARD_OUTPUT)]
    output: PathBuf,
}

/// Exports an account.
pub(super) async fn run(
    app: &Application,
    arguments: ExportArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let ExportArguments { account, format, output: target } = arguments;
    let otherwise = if output.is_json() { FileFormat::JsonLines } else { FileFormat::Csv };
    let format = format.or_else(|| FileFormat::of_path(&target)).unwrap_or(otherwise);
    if target == Path::new(STANDARD_OUTPUT) {
        // A bar among the records would do neither any good.
        let is_shown = !io::stdout().is_terminal() && !output.is_json();
        let exported = export(app, account, format, BufWriter::new(output.raw()), is_shown).await;
        let left_out = exported.as_ref().map_or(0, |(_, counts)| counts.left_out);
        unless_reader_left(exported.map(drop))?;
        return fail_if_incomplete(left_out);
    }
    let mut signals = StopSignals::listen().context("cannot listen for signals")?;
    let name = target.display().to_string();
    let file = NewFile::create(&target).with_context(|| format!("cannot write {name}"))?;
    let is_shown = !output.is_json();
    let exporting = async {
        let (file, counts) = export(app, account, format, file, is_shown).await?;
        file.finish()?;
        Ok(counts)
    };
    let counts: Result<Counts> = tokio::select! {
        counts = exporting => counts,
        // What was written so far is dropped, and with it the file.
        signal = signals.next() => bail!("stopped by {signal}; {name} was not written"),
    };
    let Counts { groups, links, left_out } = counts.with_context(|| format!("{name} was not written"))?;
    let json = json!({
        "object": "export",
        "account": account.to_string(),
        "file": name,
        "format": format.as_str(),
        "groups": groups,
        "links": links,
    });
    let text = format!("Exported {groups} groups and {links} links of account {account} to {name}.");
    output.result(&json, text)?;
    fail_if_incomplete(left_out)
}

/// Half of an account must not look like a whole one to a script that moves it.
fn fail_if_incomplete(left_out: usize) -> Result<()> {
    match left_out {
        0 => Ok(()),
        1 => bail!("1 row that cannot be read was left out; the log names it"),
        left_out => bail!("{left_out} rows that cannot be read were left out; the log names them"),
    }
}

/// How much was written.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    groups: u64,
    links: u64,
    left_out: usize,
}

async fn export<W: Write>(
    app: &Application,
    account: AccountId,
    format: FileFormat,
    destination: W,
    is_shown: bool,
) -> Result<(W, Counts)> {
    let mut export = Export::start(app, account).await?;
    let mut writer = RecordWriter::new(format, destination)?;
    let progress = Progress::of_records(export.expected(), is_shown);
    let mut counts = Counts::default();
    while let Some(records) = export.next(app).await? {
        for record in records {
            match record.get(Field::Object) {
                Some(FieldValue::Text(object)) if object == "group" => counts.groups += 1,
                Some(_) | None => counts.links += 1,
            }
            writer.write(&record)?;
        }
        progress.show(counts.groups + counts.links);
    }
    counts.left_out = export.left_out();
    Ok((writer.finish()?, counts))
}
