//! The questions whose answers a page shows: about a period, and about the one before it.

use std::time::Instant;

use signpost_app::AppError;
use signpost_app::analytics::{Asked, of_account, of_link};
use signpost_domain::analytics::{Buckets, Interval, Period, Report, TimeZone};
use signpost_domain::{IdReference, LinkId};

use super::range::Range;
use super::state::State;
use super::subject::{Subject, links_of};
use crate::curl;
use crate::frame::TEXTS;
use crate::paths::with_query;
use crate::views::CurlExample;
use crate::visit::{Member, Visit};

/// What is asked.
pub(super) struct Questions {
    pub(super) range: Range,
    pub(super) interval: Interval,
    pub(super) asked: Asked,
    /// About the previous period; without dimensions.
    previous: Option<Asked>,
}

/// The questions and their answers.
pub(super) struct Answers {
    pub(super) questions: Questions,
    pub(super) report: Report,
    pub(super) previous: Option<Previous>,
    /// Whether the previous period could not be read in time.
    pub(super) is_late: bool,
}

/// The answer about the previous period.
pub(super) struct Previous {
    pub(super) buckets: Buckets,
    pub(super) report: Report,
}

impl Questions {
    /// The questions of a state.
    ///
    /// # Errors
    /// What is wrong with the state, as a sentence.
    pub(super) fn of(
        visit: &Visit,
        member: &Member,
        subject: &Subject,
        state: &State,
    ) -> Result<Self, String> {
        let zone = &member.signed_in.user().preferences.time_zone;
        let limits = member.caller.plan().limits;
        let range = Range::of(&state.choice, visit.app().clock.now(), zone, limits)?;
        let interval = state.interval.unwrap_or_else(|| range.interval());
        let cut = |period: Period| Buckets::cut(period, zone, interval);
        let buckets = cut(range.period).map_err(|_| {
            let is_long_enough = |it: &Interval| Buckets::cut(range.period, zone, *it).is_ok();
            let long_enough: Vec<&str> =
                Interval::ALL.into_iter().filter(is_long_enough).map(TEXTS.analytics.interval).collect();
            let sentence = (TEXTS.analytics.too_many_buckets)(&long_enough);
            (TEXTS.analytics.is)(TEXTS.analytics.interval_label, &sentence)
        })?;
        let asked = |period, buckets, dimensions| Asked {
            period,
            zone: zone.clone(),
            buckets,
            dimensions,
            limit: state.values,
            filters: state.filters.clone(),
        };
        let previous = range.previous.and_then(|previous| {
            Some(asked(previous, range.previous_buckets(&buckets, interval, zone)?, vec![]))
        });
        let dimensions = state.part.dimensions(subject.of_report());
        Ok(Self { asked: asked(range.period, buckets, dimensions), previous, interval, range })
    }

    /// Asks, within the time that a question has (D51).
    pub(super) async fn ask(
        self,
        visit: &Visit,
        member: &Member,
        subject: &Subject,
        state: &State,
    ) -> Result<Answers, AppError> {
        let deadline = visit.app().analytics.deadline();
        let ask = async |asked: Asked| ask_one(visit, member, subject, state, asked, deadline).await;
        // The use case ends no wait for a turn by itself.
        let first = tokio::time::timeout_at(deadline.into(), async {
            let report = ask(self.asked.clone()).await?;
            Ok(report)
        });
        let report = first.await.unwrap_or(Err(AppError::AnalyticsBusy))?;
        // In what is left of the time. Without it the page shows the counts without a comparison.
        let previous = match &self.previous {
            None => Ok(None),
            Some(asked) => {
                let answer = tokio::time::timeout_at(deadline.into(), ask(asked.clone())).await;
                let answer = answer.unwrap_or(Err(AppError::AnalyticsBusy));
                answer.map(|report| Some(Previous { buckets: asked.buckets.clone(), report }))
            }
        };
        let (previous, is_late) = match previous {
            Ok(previous) => (previous, false),
            Err(AppError::AnalyticsBusy | AppError::AnalyticsUnavailable(_)) => (None, true),
            Err(error) => return Err(error),
        };
        Ok(Answers { questions: self, report, previous, is_late })
    }

    /// How programs ask the same.
    pub(super) fn curl(&self, visit: &Visit, subject: &Subject, state: &State) -> CurlExample {
        let Asked { period, zone, dimensions, limit, filters, buckets: _ } = &self.asked;
        let mut parameters = vec![
            ("start_date", period.first().unix_millis().to_string()),
            ("end_date", period.last().unix_millis().to_string()),
        ];
        if *zone != TimeZone::utc() {
            parameters.push(("timezone", zone.name().to_owned()));
        }
        parameters.push(("interval", self.interval.as_str().to_owned()));
        let names: Vec<&str> = dimensions.iter().map(|dimension| dimension.as_str()).collect();
        parameters.push(("dimensions", names.join(",")));
        parameters.push(("limit", limit.to_string()));
        let scope = [("group_id", &state.group), ("domain", &state.domain)];
        let scope = scope.into_iter().filter(|(_, value)| !value.is_empty());
        parameters.extend(scope.map(|(name, value)| (name, value.clone())));
        parameters.extend(filters.iter().map(|filter| (filter.dimension.as_str(), filter.to_string())));
        let pairs = parameters.iter().map(|(name, value)| (*name, value.as_str()));
        let query = with_query(&subject.api_path(), pairs);
        curl::read(visit.api_url(), TEXTS.analytics.curl_report, &query)
    }
}

/// Asks one question.
pub(super) async fn ask_one(
    visit: &Visit,
    member: &Member,
    subject: &Subject,
    state: &State,
    asked: Asked,
    deadline: Instant,
) -> Result<Report, AppError> {
    let (app, caller) = (visit.app(), &member.caller);
    match subject {
        Subject::Account => of_account(app, caller, links_of(state), asked, deadline).await,
        Subject::Link(link) => match link.id() {
            LinkId::Redirect(id) => of_link(app, caller, IdReference::Id(id), asked, deadline).await,
            LinkId::Landing(id) => of_link(app, caller, IdReference::Id(id), asked, deadline).await,
        },
    }
}
