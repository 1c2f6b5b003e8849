//! Statistics of a link and of an account (D45 to D51), as a page and as CSV.

mod csv;
pub(crate) mod live;
mod measure;
mod names;
mod part;
mod questions;
mod range;
mod series;
mod state;
mod subject;
mod view;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use signpost_app::AppError;
use signpost_domain::Permission;

use self::names::Names;
use self::questions::{Answers, Questions};
use self::state::State;
use self::subject::{Scope, ScopedGroup, Subject};
use crate::answer::page_with;
use crate::failure::Failure;
use crate::file_name::{NamePart, saved_about};
use crate::views::ErrorKind;
use crate::visit::{Member, Visit};

/// `GET /{account}/links/{id}/analytics`
pub(crate) async fn show_link(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = reader(&visit).await?;
    let subject = Subject::link(&visit, &member).await?;
    show(&visit, &member, &subject).await
}

/// `GET /{account}/analytics`
pub(crate) async fn show_account(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = reader(&visit).await?;
    show(&visit, &member, &Subject::Account).await
}

/// `GET /{account}/links/{id}/analytics.csv`
pub(crate) async fn save_link(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = reader(&visit).await?;
    let subject = Subject::link(&visit, &member).await?;
    save(&visit, &member, &subject).await
}

/// `GET /{account}/analytics.csv`
pub(crate) async fn save_account(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = reader(&visit).await?;
    save(&visit, &member, &Subject::Account).await
}

/// A member who may read statistics. The use cases check it too, but the page for a mistaken address calls none.
async fn reader(visit: &Visit) -> Result<Member, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::ReadAnalytics)?;
    Ok(member)
}

/// Why a page has no report.
pub(super) enum Problem {
    /// The address asks for something invalid; the sentence says what.
    Mistaken(String),
    /// The use case did not answer.
    Unanswered(AppError),
}

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        Self::Unanswered(error)
    }
}

async fn answers(
    visit: &Visit,
    member: &Member,
    subject: &Subject,
    state: &State,
) -> Result<Answers, Problem> {
    if !state.mistakes.is_empty() {
        // Figures without the filters would look as if they were applied.
        return Err(Problem::Mistaken(state.mistakes.join(" ")));
    }
    let questions = Questions::of(visit, member, subject, state).map_err(Problem::Mistaken)?;
    Ok(questions.ask(visit, member, subject, state).await?)
}

async fn show(visit: &Visit, member: &Member, subject: &Subject) -> Result<HttpResponse, Failure> {
    let state = State::read(&visit.query(), subject.of_report());
    match answers(visit, member, subject, &state).await {
        Ok(answers) => {
            let page = view::page_of(visit, member, subject, &state, &answers).await?;
            page_with(StatusCode::OK, &page)
        }
        Err(problem) => {
            let (status, sentence) = view::sentence_about(problem)?;
            let page = view::page_without_report(visit, member, subject, &state, sentence).await?;
            let mut response = page_with(status, &page)?;
            if status == StatusCode::SERVICE_UNAVAILABLE {
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
            }
            Ok(response)
        }
    }
}

async fn save(visit: &Visit, member: &Member, subject: &Subject) -> Result<HttpResponse, Failure> {
    let state = State::read(&visit.query(), subject.of_report());
    if !state.mistakes.is_empty() {
        // The page says what is wrong with the filters.
        let query = visit.raw_query();
        return Err(Failure::Redirected(format!("{}?{query}", subject.path(member))));
    }
    let answers = answers(visit, member, subject, &state).await.map_err(|problem| match problem {
        // The page says what is wrong; a download has no room for it.
        Problem::Mistaken(_) | Problem::Unanswered(AppError::Invalid(_)) => {
            Failure::Redirected(format!("{}{}", subject.path(member), state.address()))
        }
        Problem::Unanswered(AppError::AnalyticsUnavailable(_)) => {
            Failure::Later { kind: ErrorKind::Unavailable, seconds: 5 }
        }
        Problem::Unanswered(error) => error.into(),
    })?;
    let mut response = HttpResponse::Ok();
    response.insert_header((CONTENT_TYPE, "text/csv; charset=utf-8"));
    let scope = Scope::of(visit, member, &state).await?;
    response.insert_header((CONTENT_DISPOSITION, file_name(visit, member, subject, &scope, &answers)));
    let names = Names::read(visit, member, subject, &state, &answers).await?;
    Ok(response.body(csv::file(&state, &answers, &names, &scope)))
}

/// The name of the file: what it is about, and its days. A slug and an id have only characters that every file system takes.
fn file_name(visit: &Visit, member: &Member, subject: &Subject, scope: &Scope, answers: &Answers) -> String {
    let range = &answers.questions.range;
    let days = format!("{}-{}", range.first, range.last);
    let rest = match subject {
        Subject::Account => days,
        Subject::Link(link) => match link.placement.slug() {
            Some(slug) => format!("{slug}-{days}"),
            None => format!("{}-{days}", visit.part("id")),
        },
    };
    let group_id = match &scope.group {
        Some(ScopedGroup::Named(group)) => group.id.to_string(),
        Some(ScopedGroup::None | ScopedGroup::Unknown(_)) | None => "group".to_owned(),
    };
    let group = scope.group.as_ref().map(|group| NamePart { name: group.label(), id: &group_id });
    let domain = scope.domain.as_ref().map(|domain| NamePart { name: domain, id: "domain" });
    let about: Vec<NamePart<'_>> = group.into_iter().chain(domain).collect();
    saved_about("statistics", member.caller.account(), &about, &rest, "csv")
}
