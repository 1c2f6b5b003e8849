//! `signpost export`.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Map, Value, json};
use signpost_app::Application;
use signpost_app::accounts::{self, AccountReference};
use signpost_app::transfer::{Export, Field, FieldValue, LeftOut};
use signpost_domain::{AccountId, PlanResource};
use signpost_link_files::{FileFormat, RecordWriter};

use super::output::{Output, counted, enumerated, unless_reader_left};
use crate::shutdown::StopSignals;
use crate::transfer::{NewFile, Progress};

/// The value of `--output` for standard output.
const STANDARD_OUTPUT: &str = "-";

/// The arguments of `signpost export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Account to export: its id or its contact address.
    #[arg(long)]
    account: AccountReference,
    /// Format: csv or jsonl. By default the file's extension decides, else csv, or jsonl with --json.
    #[arg(long)]
    format: Option<FileFormat>,
    /// File to write, or - for standard output. It appears under this name only once it is complete.
    #[arg(long, value_name = "FILE", default_value = STANDARD_OUTPUT)]
    output: PathBuf,
    /// End with exit status 1 if the export leaves out any part of the account, such as clicks or pixels. The file is written
    /// all the same.
    #[arg(long)]
    strict: bool,
}

/// Exports an account.
pub(super) async fn run(
    app: &Application,
    arguments: ExportArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let ExportArguments { account, format, output: target, strict } = arguments;
    let account = accounts::find(app, &account).await?;
    let otherwise = if output.is_json() { FileFormat::JsonLines } else { FileFormat::Csv };
    let format = format.or_else(|| FileFormat::of_path(&target)).unwrap_or(otherwise);
    if target == Path::new(STANDARD_OUTPUT) {
        // A progress bar on the same terminal would garble the records.
        let shows_progress = !io::stdout().is_terminal() && !output.is_json();
        let is_json = output.is_json();
        return match export(app, account, format, BufWriter::new(output.raw()), shows_progress).await {
            Ok((_, exported)) => report_omissions(exported.left_out, strict, is_json),
            Err(error) => unless_reader_left(Err(error)),
        };
    }
    let mut signals = StopSignals::listen().context("cannot listen for signals")?;
    let name = target.display().to_string();
    let file = NewFile::create(&target).with_context(|| format!("cannot write {name}"))?;
    let shows_progress = !output.is_json();
    let exporting = async {
        let (file, exported) = export(app, account, format, file, shows_progress).await?;
        file.finish()?;
        Ok(exported)
    };
    let exported: Result<Exported> = tokio::select! {
        exported = exporting => exported,
        // Dropping the unfinished file deletes it.
        signal = signals.first() => bail!("stopped by {signal}; {name} was not written"),
    };
    let Exported { groups, links, left_out } = exported.with_context(|| format!("{name} was not written"))?;
    let json = json!({
        "object": "export",
        "account": account.to_string(),
        "file": name,
        "format": format.as_str(),
        "groups": groups,
        "links": links,
        "left_out": named_counts(left_out),
    });
    let (groups, links) = (counted(groups, "group"), counted(links, "link"));
    output.result(&json, format_args!("Exported {groups} and {links} of account {account} to {name}."))?;
    report_omissions(left_out, strict, output.is_json())
}

/// Reports on standard error what the export leaves out. Fails if `strict` is set or rows are unreadable.
fn report_omissions(left_out: LeftOut, strict: bool, is_json: bool) -> Result<()> {
    if left_out.is_nothing() {
        return Ok(());
    }
    let words = in_words(left_out);
    // A script that moves an account must not mistake an incomplete export for a complete one.
    let is_failure = strict || left_out.unreadable > 0;
    if is_json {
        writeln!(io::stderr(), "{}", json!({ "left_out": named_counts(left_out) }))?;
    } else if !is_failure {
        writeln!(io::stderr(), "The export leaves out {words}.")?;
    }
    if is_failure {
        bail!("the export is written, but leaves out {words}");
    }
    Ok(())
}

/// What is left out, for people. Counts of zero are omitted.
fn in_words(left_out: LeftOut) -> String {
    let LeftOut { page_contents, redirects_with_pixels, passwords, resources, clicks, unreadable } = left_out;
    let mut items = vec![
        (unreadable, format!("{} that cannot be read (see the log)", counted(unreadable, "row"))),
        (clicks, counted(clicks, "recorded click")),
        (page_contents, format!("the content of {}", counted(page_contents, "landing page"))),
    ];
    items.extend(PlanResource::ALL.map(|resource| {
        let count = resources.of(resource);
        (count, counted(count, resource.noun()))
    }));
    let with_pixels = counted(redirects_with_pixels, "redirect");
    items.push((redirects_with_pixels, format!("the use of pixels in {with_pixels}")));
    items.push((passwords, format!("the passwords of {}", counted(passwords, "link"))));
    let items: Vec<_> = items.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    enumerated(&items)
}

/// What is left out, for programs. Counts of zero are omitted.
fn named_counts(left_out: LeftOut) -> Map<String, Value> {
    let LeftOut { page_contents, redirects_with_pixels, passwords, resources, clicks, unreadable } = left_out;
    let counts = [
        ("unreadable_rows", unreadable),
        ("clicks", clicks),
        ("page_contents", page_contents),
        ("redirects_with_pixels", redirects_with_pixels),
        ("passwords", passwords),
    ];
    let resources = PlanResource::ALL.map(|resource| (resource.as_str(), resources.of(resource)));
    let counts = counts.into_iter().chain(resources).filter(|(_, count)| *count > 0);
    counts.map(|(name, count)| (name.to_owned(), count.into())).collect()
}

/// What was exported and what was left out.
#[derive(Debug, Clone, Copy, Default)]
struct Exported {
    groups: u64,
    links: u64,
    left_out: LeftOut,
}

async fn export<W: Write>(
    app: &Application,
    account: AccountId,
    format: FileFormat,
    destination: W,
    shows_progress: bool,
) -> Result<(W, Exported)> {
    let mut export = Export::start(app, account).await?;
    let mut writer = RecordWriter::new(format, destination)?;
    let progress = Progress::of_records(export.expected(), shows_progress);
    let mut exported = Exported::default();
    while let Some(records) = export.next(app).await? {
        for record in records {
            match record.get(Field::Object) {
                Some(FieldValue::Text(object)) if object == "group" => exported.groups += 1,
                Some(_) | None => exported.links += 1,
            }
            writer.write(&record)?;
        }
        progress.show(exported.groups + exported.links);
    }
    exported.left_out = export.left_out();
    Ok((writer.finish()?, exported))
}
