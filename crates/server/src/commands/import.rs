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
use super::output::{Output, counted};
use crate::settings::LinkFlags;
use crate::transfer::{Progress, ReadAhead};

/// The value of `<FILE>` for standard input.
const STANDARD_INPUT: &str = "-";

/// The arguments of `signpost import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Account to import into: its id or its contact address.
    #[arg(long)]
    account: AccountReference,
    /// Format: csv or jsonl. By default the file's extension decides.
    #[arg(long)]
    format: Option<FileFormat>,
    /// Report what would happen to each row, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// File for the outcome of each row; it must not exist yet. By default the report goes to standard output.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// File to read, or - for standard input.
    file: PathBuf,
    #[command(flatten)]
    pub(super) links: LinkFlags,
}

/// Imports a file. A row that cannot be imported does not stop the others, but makes the command fail at its
/// end.
pub(super) async fn run(
    app: &Application,
    arguments: ImportArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let ImportArguments { account, format, dry_run, report, file, links: _ } = arguments;
    let name = file.display().to_string();
    let Some(format) = format.or_else(|| FileFormat::of_path(&file)) else {
        let message =
            format!("cannot tell the format of {name} from its name; add --format csv or --format jsonl");
        return Err(UsageError(message).into());
    };
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
    let importing = RunningImport { app, rows, import, progress, counts, name: &name };
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

/// Creates the file of the report, which only its owner can read. An existing file is never overwritten: it may
/// be the report of an earlier import, or a link to the imported file.
fn create_report(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let shown = path.display();
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let message =
                format!("--report: {shown} already exists and is not overwritten; name another file");
            Err(UsageError(message).into())
        }
        opened => opened.with_context(|| format!("cannot write {shown}")),
    }
}

/// Prints the summary. It follows JSON rows on standard output, but goes to standard error if standard output
/// has a table of rows.
fn summarise(
    account: AccountId,
    dry_run: bool,
    imported: ImportOutcome,
    report_is_apart: bool,
    output: &mut Output<'_>,
) -> Result<()> {
    let ImportOutcome { counts, groups_created } = imported;
    let ImportCounts { created, unchanged, conflicts, ignored, failed } = counts;
    let json = json!({
        "object": "import",
        "account": account.to_string(),
        "dry_run": dry_run,
        "rows": counts.rows(),
        "created": created,
        "unchanged": unchanged,
        "conflicts": conflicts,
        "ignored": ignored,
        "failed": failed,
        "groups_created": groups_created,
    });
    let verb = if dry_run { "would be created (nothing was written)" } else { "created" };
    let rows = counted(counts.rows(), "row");
    let groups = created_by_name(groups_created, dry_run);
    let text = format!(
        "{rows}: {created} {verb}, {unchanged} unchanged, {conflicts} in conflict, {failed} failed.{groups}{}",
        not_read(ignored),
    );
    if output.is_json() || report_is_apart {
        return Ok(output.result(&json, text)?);
    }
    Ok(writeln!(io::stderr(), "{text}")?)
}

/// A sentence about the groups that were created because rows name them; empty if there are none.
fn created_by_name(groups: u64, dry_run: bool) -> String {
    let verb = if dry_run { "would be created" } else { "created" };
    let them = if groups == 1 { "it" } else { "them" };
    let sentence = || format!(" {} {verb} because rows name {them}.", counted(groups, "group"));
    (groups > 0).then(sentence).unwrap_or_default()
}

/// How many rows are of kinds that imports do not read, as a sentence. Empty if there are none.
fn not_read(rows: u64) -> String {
    let are = if rows == 1 { "is" } else { "are" };
    let sentence =
        || format!(" {} {are} ignored: imports read groups and links alone.", counted(rows, "row"));
    (rows > 0).then(sentence).unwrap_or_default()
}

/// The outcome of an import.
#[derive(Debug, Clone, Copy)]
struct ImportOutcome {
    counts: ImportCounts,
    /// Groups created because rows name them. They have no rows of their own.
    groups_created: u64,
}

/// An import in progress.
struct RunningImport<'a> {
    app: &'a Application,
    rows: ReadAhead,
    import: Import,
    progress: Progress,
    counts: ImportCounts,
    name: &'a str,
}

impl RunningImport<'_> {
    async fn run<W: Write>(mut self, mut report: ReportWriter<W>) -> Result<ImportOutcome> {
        let (mut previous_line, mut bytes_read) = (None, 0);
        loop {
            let end = match self.rows.next().await {
                Some(Ok(part)) => {
                    let rows = part.rows;
                    bytes_read = part.bytes_read;
                    let line = rows.first().map_or(0, |row| row.line);
                    // The previous part may still be on its way into the store.
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
            end.with_context(|| format!("cannot read the rest of {}", self.name))?;
            let groups_created = self.import.groups_created();
            return Ok(ImportOutcome { counts: self.counts, groups_created });
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
    format!("the import stopped at line {line} of {name}; import the same file again to continue")
}
