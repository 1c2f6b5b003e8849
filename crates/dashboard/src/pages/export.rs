//! The export of an account: everything in one file, groups and links, the content of landing pages, and single clicks (D69).

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Bytes;
use actix_web::{HttpResponse, HttpResponseBuilder};
use futures_util::{TryStreamExt as _, stream};
use signpost_app::analytics::{self, AskedClicks, LinkChoice};
use signpost_app::transfer::{AccountExport, Export, PageExport, Record};
use signpost_app::{AppError, Application, with_causes};
use signpost_domain::Permission;
use signpost_domain::analytics::{ExportedClick, Period, TimeZone};
use signpost_link_files::{
    FileFormat, LineFormat, RecordWriter, click_parts, write_clicks, write_objects, write_page,
};

use crate::failure::Failure;
use crate::file_name::{day, saved_as};
use crate::visit::{Member, Visit};

const JSON_LINES: &str = "application/x-ndjson";

const DAY: Duration = Duration::from_hours(24);

/// The head of a file to save.
fn file(
    visit: &Visit,
    member: &Member,
    content_type: &str,
    what: &str,
    extension: &str,
) -> HttpResponseBuilder {
    let day = day(visit.app().clock.now(), &member.signed_in.user().preferences);
    let name = saved_as(what, member.caller.account(), &day, extension);
    let mut response = HttpResponse::Ok();
    response.insert_header((CONTENT_TYPE, content_type));
    response.insert_header((CONTENT_DISPOSITION, name));
    response
}

/// `GET /{account}/export.csv`
pub(crate) async fn export_csv(visit: Visit) -> Result<HttpResponse, Failure> {
    export(&visit, FileFormat::Csv, "text/csv; charset=utf-8", "csv").await
}

/// `GET /{account}/export.jsonl`
pub(crate) async fn export_json_lines(visit: Visit) -> Result<HttpResponse, Failure> {
    export(&visit, FileFormat::JsonLines, JSON_LINES, "jsonl").await
}

/// A running export.
struct Running {
    app: Arc<Application>,
    export: Export,
    format: FileFormat,
    /// Whether the beginning of the file is still to be sent.
    is_new: bool,
    /// The request is in flight until the end.
    _member: Member,
}

/// Every group and link of the account. Each part is read when the browser has taken the one before.
async fn export(
    visit: &Visit,
    format: FileFormat,
    content_type: &str,
    extension: &str,
) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::Read)?;
    let mut response = file(visit, &member, content_type, "links", extension);
    let app = visit.shared_app();
    let export = Export::start(&app, member.caller.account_id()).await?.without_counts();
    let running = Running { app, export, format, is_new: true, _member: member };
    let body = stream::try_unfold(running, async |mut running| {
        loop {
            let Some(records) = running.export.next(&running.app).await.map_err(|error| aborted(&error))?
            else {
                return Ok::<_, std::io::Error>(None);
            };
            let part = rows(running.format, &records, running.is_new)?;
            running.is_new = false;
            // An empty chunk would end the file.
            if !part.is_empty() {
                return Ok(Some((Bytes::from(part), running)));
            }
        }
    });
    Ok(response.streaming(body))
}

/// A broken connection shows that rows are missing.
fn aborted(error: &(dyn std::error::Error + 'static)) -> std::io::Error {
    tracing::error!(cause = with_causes(error), "an export was aborted");
    std::io::Error::other("the export was aborted")
}

/// A part of a file. Only the first part of a table has the header.
fn rows(format: FileFormat, records: &[Record], is_first: bool) -> std::io::Result<Vec<u8>> {
    let mut writer = RecordWriter::new(format, Vec::new())?;
    for record in records {
        writer.write(record)?;
    }
    let mut file = writer.finish()?;
    if format == FileFormat::Csv && !is_first {
        let header = file.iter().position(|byte| *byte == b'\n').map_or(file.len(), |end| end + 1);
        file.drain(..header);
    }
    Ok(file)
}

/// A running export of landing pages.
struct RunningPages {
    app: Arc<Application>,
    export: PageExport,
    /// The request is in flight until the end.
    _member: Member,
}

/// `GET /{account}/export-pages.jsonl`: the content of every landing page.
pub(crate) async fn export_pages(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let export = PageExport::start(&member.caller)?;
    let mut response = file(&visit, &member, JSON_LINES, "pages", "jsonl");
    let running = RunningPages { app: visit.shared_app(), export, _member: member };
    let body = stream::try_unfold(running, async |mut running| {
        loop {
            let Some(pages) = running.export.next(&running.app).await.map_err(|error| aborted(&error))?
            else {
                return Ok::<_, std::io::Error>(None);
            };
            let mut lines = Vec::new();
            for page in &pages {
                write_page(page, &mut lines)?;
            }
            // An empty chunk would end the file.
            if !lines.is_empty() {
                return Ok(Some((Bytes::from(lines), running)));
            }
        }
    });
    Ok(response.streaming(body))
}

/// `GET /{account}/export-clicks.csv`
pub(crate) async fn export_clicks_csv(visit: Visit) -> Result<HttpResponse, Failure> {
    export_clicks(&visit, LineFormat::Csv, "csv").await
}

/// `GET /{account}/export-clicks.jsonl`
pub(crate) async fn export_clicks_json_lines(visit: Visit) -> Result<HttpResponse, Failure> {
    export_clicks(&visit, LineFormat::Ndjson, "jsonl").await
}

/// Begins the export of every click that the plan lets the account see.
async fn begin_clicks(app: &Application, member: &Member) -> Result<analytics::Export, Failure> {
    let now = app.clock.now();
    let days = member.caller.plan().limits.analytics_days.saturating_sub(1);
    let start = now.minus(DAY.saturating_mul(days));
    let period =
        Period::new(start, now).ok_or_else(|| Failure::Broken("the clock is before 1970".to_owned()))?;
    let asked = AskedClicks { period, zone: TimeZone::utc(), filters: Vec::new(), after: None };
    let begun = analytics::export_of_account(app, &member.caller, LinkChoice::default(), asked);
    Ok(within(app.analytics.deadline(), begun).await?)
}

async fn export_clicks(visit: &Visit, format: LineFormat, extension: &str) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let app = visit.shared_app();
    let mut export = begin_clicks(&app, &member).await?;
    // Read before the status is sent, so that a failing store is an error page.
    let first = next_clicks(&app, &mut export).await?;
    let mut response = file(visit, &member, format.content_type(), "clicks", extension);
    // The request is in flight until the end.
    let running = (app, export, member);
    let body = click_parts(format, first, running, async |(app, export, _)| {
        next_clicks(app, export).await.map_err(|error| aborted(&error))
    });
    Ok(response.streaming(body.map_ok(Bytes::from)))
}

/// A running export of everything.
struct RunningEverything {
    app: Arc<Application>,
    /// `None` after its end.
    objects: Option<AccountExport>,
    clicks: analytics::Export,
    /// The request is in flight until the end.
    member: Member,
}

/// `GET /{account}/export-everything.jsonl`: all that the account has, with the clicks at the end.
pub(crate) async fn export_everything(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let app = visit.shared_app();
    let objects = Some(AccountExport::start(&member.caller)?);
    // Begun before the status is sent, so that the limit of such files is an error page.
    let clicks = begin_clicks(&app, &member).await?;
    let mut response = file(&visit, &member, JSON_LINES, "everything", "jsonl");
    let running = RunningEverything { app, objects, clicks, member };
    let body = stream::try_unfold(running, async |mut running| {
        loop {
            let RunningEverything { app, objects, clicks, member } = &mut running;
            let mut lines = Vec::new();
            if let Some(export) = objects {
                match export.next(app, &member.caller).await.map_err(|error| aborted(&error))? {
                    Some(objects) => write_objects(&objects, &mut lines)?,
                    None => *objects = None,
                }
            } else {
                let clicks = next_clicks(app, clicks).await.map_err(|error| aborted(&error))?;
                if clicks.is_empty() {
                    return Ok::<_, std::io::Error>(None);
                }
                write_clicks(&clicks, &mut lines)?;
            }
            // An empty chunk would end the file.
            if !lines.is_empty() {
                return Ok(Some((Bytes::from(lines), running)));
            }
        }
    });
    Ok(response.streaming(body))
}

async fn next_clicks(
    app: &Application,
    export: &mut analytics::Export,
) -> Result<Vec<ExportedClick>, AppError> {
    let deadline = app.analytics.deadline();
    within(deadline, export.next(app, deadline)).await
}

async fn within<T>(
    deadline: Instant,
    work: impl Future<Output = Result<T, AppError>>,
) -> Result<T, AppError> {
    tokio::time::timeout_at(deadline.into(), work).await.unwrap_or(Err(AppError::AnalyticsBusy))
}
