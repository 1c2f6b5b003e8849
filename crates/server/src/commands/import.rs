//! `signpost import`.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use signpost_app::Application;
use signpost_app::accounts::{self, AccountReference};
use signpost_app::transfer::{Import, ImportCounts, ImportMode, ImportedRow};
use signpost_domain::AccountId;
use signpost_link_files::{FileFormat, RecordReader, ReportWriter};

use super::UsageError;
use super::output::Output;
use super::wording::counted;
use crate::settings::LinkFlags;
use crate::transfer::{Progress, ReadAhead};

/// What stands for standard input.
const STANDARD_INPUT: &str = "-";

/// What `signpost import` is told.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The account whose groups and links they will be: its id or its owner's e-mail address.
    #[arg(long)]
    account: AccountReference,
    /// csv or jsonl; by default what the file's name says.
    #[arg(long)]
    format: Option<FileFormat>,
    /// Say what would become of each row, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// The file that says of each row what became of it, which must not be there yet; standard output if none is named.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// The file to read, or - for standard input.
    file: PathBuf,
    #[command(flatten)]
    pub(super) links: LinkFlags,
}

/// Imports a file. Rows that cannot be imported stop no others, but make the command fail at its end.
pub(super) async fn run(
    app: &Application,
    arguments: ImportArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let ImportArguments { account, format, dry_run, report, file, links: _ } = arguments;
    let Some(format) = format.or_else(|| FileFormat::of_path(&file)) else {
        let message = "the name of the file does not tell its format; say --format csv or --format jsonl";
        return Err(UsageError(message.to_owned()).into());
    };
    let name = file.display().to_string();
    let (source, size) = open(&file).with_context(|| format!("cannot read {name}"))?;
    let reader = RecordReader::open(format, source).with_context(|| format!("cannot read {name}"))?;
    let mode = if dry_run { ImportMode::Rehearse } else { ImportMode::Write };
    let account = accounts::find(app, &account).await?;
    let import = Import::start(app, account, mode).await?;
    let is_json = output.is_json();
    let report_is_apart = report.is_some();
    let rows_on_a_terminal = !report_is_apart && io::stdout().is_terminal();
    let progress = Progress::of_bytes(size, !is_json && !rows_on_a_terminal);
    let rows = ReadAhead::start(reader).context("cannot start a thread to read the file")?;
    let counts = ImportCounts::default();
    let importing = Importing { app, rows, import, progress, counts, name: &name };
    let imported = if let Some(path) = report {
        let file = create_report(&path)?;
        let format = if is_json { Some(FileFormat::JsonLines) } else { FileFormat::of_path(&path) };
        let format = format.unwrap_or(FileFormat::Csv);
        importing.run(ReportWriter::new(format, BufWriter::new(file))).await?
    } else {
        let format = if is_json { FileFormat::JsonLines } else { FileFormat::Csv };
        importing.run(ReportWriter::new(format, output.raw())).await?
    };
    summarise(account, dry_run, imported, report_is_apart, output)?;
    let rows = counted(imported.counts.rows(), "row");
    match (imported.counts.not_imported(), dry_run) {
        (0, _) => Ok(()),
        (failed, true) => bail!("{failed} of {rows} of {name} would not be imported; the report says why"),
        (1, false) => bail!("1 of {rows} of {name} was not imported; the report says why"),
        (failed, false) => bail!("{failed} of {rows} of {name} were not imported; the report says why"),
    }
}

/// The file, and its size if it has one.
fn open(file: &Path) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
    if file == Path::new(STANDARD_INPUT) {
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(file)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let size = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(file), size))
}

/// The file of the report, which its owner alone may read. What is there already is never written over: it may be the
/// report of an import before, or by some link the very file that is to be read.
fn create_report(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let shown = path.display();
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let message =
                format!("--report: {shown} is there already and is not written over; name another file");
            Err(UsageError(message).into())
        }
        opened => opened.with_context(|| format!("cannot write {shown}")),
    }
}

/// The last word: behind the rows if they are JSON, else apart from them, because a table has no room for it.
fn summarise(
    account: AccountId,
    dry_run: bool,
    imported: WholeImport,
    report_is_apart: bool,
    output: &mut Output<'_>,
) -> Result<()> {
    let WholeImport { counts, groups_created } = imported;
    let ImportCounts { created, unchanged, conflicts, failed } = counts;
    let json = json!({
        "object": "import",
        "account": account.to_string(),
        "dry_run": dry_run,
        "rows": counts.rows(),
        "created": created,
        "unchanged": unchanged,
        "conflicts": conflicts,
        "failed": failed,
        "groups_created": groups_created,
    });
    let verb = if dry_run { "would be created (nothing was written)" } else { "created" };
    let rows = counted(counts.rows(), "row");
    let groups = created_by_name(groups_created, dry_run);
    let text = format!(
        "{rows}: {created} {verb}, {unchanged} unchanged, {conflicts} in conflict, {failed} failed.{groups}"
    );
    if output.is_json() || report_is_apart {
        return Ok(output.result(&json, text)?);
    }
    Ok(writeln!(io::stderr(), "{text}")?)
}

/// A sentence about groups that rows name and that were not there; empty if there are none.
fn created_by_name(groups: u64, dry_run: bool) -> String {
    let verb = if dry_run { "would be created" } else { "created" };
    let them = if groups == 1 { "it" } else { "them" };
    let sentence = || format!(" {} {verb} because rows name {them}.", counted(groups, "group"));
    (groups > 0).then(sentence).unwrap_or_default()
}

/// What came of an import.
#[derive(Debug, Clone, Copy)]
struct WholeImport {
    counts: ImportCounts,
    /// Groups that rows named by names that no group had. They have no rows of their own.
    groups_created: u64,
}

/// An import from a file.
struct Importing<'a> {
    app: &'a Application,
    rows: ReadAhead,
    import: Import,
    progress: Progress,
    counts: ImportCounts,
    name: &'a str,
}

impl Importing<'_> {
    async fn run<W: Write>(mut self, mut report: ReportWriter<W>) -> Result<WholeImport> {
        let (mut previous_line, mut bytes_read) = (None, 0);
        loop {
            let end = match self.rows.next().await {
                Some(Ok(part)) => {
                    let rows = part.rows;
                    bytes_read = part.bytes_read;
                    let line = rows.first().map_or(0, |row| row.line);
                    // The rows before these may still be on their way into the store.
                    let open_line = previous_line.replace(line).unwrap_or(line);
                    let imported = self.import.push(self.app, rows).await;
                    let imported = imported.with_context(|| stopped(self.name, open_line))?;
                    self.report(&mut report, &imported, bytes_read)?;
                    continue;
                }
                Some(Err(error)) => Err(error),
                None => Ok(()),
            };
            let imported = self.import.finish(self.app).await;
            let imported = imported.with_context(|| stopped(self.name, previous_line.unwrap_or(0)))?;
            self.report(&mut report, &imported, bytes_read)?;
            end.with_context(|| format!("cannot read {} on", self.name))?;
            let groups_created = self.import.groups_created();
            return Ok(WholeImport { counts: self.counts, groups_created });
        }
    }

    fn report<W: Write>(
        &mut self,
        report: &mut ReportWriter<W>,
        imported: &[ImportedRow],
        bytes_read: u64,
    ) -> Result<()> {
        for row in imported {
            self.counts.count(&row.outcome);
        }
        report.write(imported).context("cannot write the report")?;
        let rows = counted(self.counts.rows(), "row");
        let words = format!("{rows}, {} not imported", self.counts.not_imported());
        self.progress.show_with(bytes_read, words);
        Ok(())
    }
}

fn stopped(name: &str, line: u64) -> String {
    format!("the import stopped at line {line} of {name}; import the same file again to go on")
}
