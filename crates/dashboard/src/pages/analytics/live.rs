//! The figures of the last half hour, which a page asks for again and again while somebody looks at it.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_TYPE;
use signpost_app::AppError;
use signpost_app::analytics::Asked;
use signpost_domain::analytics::{Buckets, Interval, Period, TimeZone};

use super::measure::Measure;
use super::questions::ask_one;
use super::reader;
use super::state::State;
use super::subject::Subject;
use crate::failure::Failure;
use crate::frame::TEXTS;
use crate::local_time::number;
use crate::views::LiveFigures;
use crate::visit::{Member, Visit};

/// How far the figures reach back.
const RECENT: Duration = Duration::from_mins(30);

/// How long a page waits for its figures.
const PATIENCE: Duration = Duration::from_secs(1);

/// `GET /{account}/analytics/live`
pub(crate) async fn of_account(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = reader(&visit).await?;
    answer(&visit, &member, &Subject::Account).await
}

/// `GET /{account}/links/{id}/analytics/live`
pub(crate) async fn of_link(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = reader(&visit).await?;
    let subject = Subject::link(&visit, &member).await?;
    answer(&visit, &member, &subject).await
}

async fn answer(visit: &Visit, member: &Member, subject: &Subject) -> Result<HttpResponse, Failure> {
    let state = State::read(&visit.query(), subject.of_report());
    if !state.mistakes.is_empty() {
        return Err(Failure::NOT_FOUND);
    }
    let sentence = sentence(visit, member, subject, &state).await?;
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "text/plain; charset=utf-8")).body(sentence))
}

/// The figures for a page, with the address that has them later. `None` if they could not be read in time.
pub(super) async fn figures(
    visit: &Visit,
    member: &Member,
    subject: &Subject,
    state: &State,
) -> Option<LiveFigures> {
    // A page does not wait long for them: it works without.
    let text = tokio::time::timeout(PATIENCE, sentence(visit, member, subject, state)).await.ok()?.ok()?;
    Some(LiveFigures { text, href: format!("{}/live{}", subject.path(member), state.of_live().address()) })
}

/// The figures of the last half hour with the filters of `state`, as a sentence.
async fn sentence(
    visit: &Visit,
    member: &Member,
    subject: &Subject,
    state: &State,
) -> Result<String, AppError> {
    let now = visit.app().clock.now();
    let zone = TimeZone::utc();
    let period = Period::new(now.minus(RECENT), now);
    let cut = period.and_then(|period| Some((period, Buckets::cut(period, &zone, Interval::Hour).ok()?)));
    // A period of half an hour is always valid, and has at most two hourly buckets.
    let Some((period, buckets)) = cut else { return Ok(String::new()) };
    let filters = state.filters.clone();
    let asked = Asked { period, zone, buckets, dimensions: vec![], limit: 1, filters };
    let deadline = visit.app().analytics.deadline();
    let report =
        tokio::time::timeout_at(deadline.into(), ask_one(visit, member, subject, state, asked, deadline));
    let counts = report.await.unwrap_or(Err(AppError::AnalyticsBusy))?.totals;
    let [clicks, visitors] = [Measure::Clicks, Measure::Visitors].map(|measure| {
        let count = measure.of(counts);
        format!("{} {}", number(count), measure.counted(count))
    });
    Ok((TEXTS.analytics.live)(&clicks, &visitors))
}
