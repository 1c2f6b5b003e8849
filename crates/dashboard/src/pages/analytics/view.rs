//! Fills the page of statistics.

use actix_web::http::StatusCode;
use signpost_app::AppError;
use signpost_app::analytics::first_kept_day;
use signpost_domain::analytics::{Dimension, Interval, Period, TimeZone, UtcDay, ValueCounts};
use signpost_domain::{Preferences, Refusal};

use super::Problem;
use super::live;
use super::measure::{Measure, change};
use super::names::Names;
use super::part::Part;
use super::questions::Answers;
use super::range::{Choice as RangeChoice, Preset, Range};
use super::series;
use super::state::State;
use super::subject::{Scope, Subject};
use crate::failure::Failure;
use crate::frame::{TEXTS, shell};
use crate::local_time::{date, number};
use crate::pages::links::placement_fields::Choices;
use crate::texts::AnalyticsTexts;
use crate::views::{
    AnalyticsPage, AnalyticsReport, Choice, CurlExample, DimensionBars, LinkScopeFields, NavItem, RangeForm,
    StateLink, Total, ValueBar,
};
use crate::visit::{Member, Visit};

const WORDS: &AnalyticsTexts = TEXTS.analytics;

/// The status and the sentence of a page without a report.
pub(super) fn sentence_about(problem: Problem) -> Result<(StatusCode, String), Failure> {
    Ok(match problem {
        Problem::Mistaken(sentence) => (StatusCode::UNPROCESSABLE_ENTITY, sentence),
        Problem::Unanswered(AppError::Refused(Refusal::AnalyticsRangeTooLong { days })) => {
            let days = usize::try_from(days).unwrap_or(usize::MAX);
            (StatusCode::UNPROCESSABLE_ENTITY, (WORDS.too_long)(days))
        }
        Problem::Unanswered(AppError::Refused(Refusal::AnalyticsNotConfigured)) => {
            (StatusCode::OK, WORDS.not_counted.to_owned())
        }
        Problem::Unanswered(AppError::Invalid(violations)) => {
            let messages = violations.iter().map(|one| format!("{} {}.", one.field(), one.message()));
            (StatusCode::UNPROCESSABLE_ENTITY, messages.collect::<Vec<_>>().join(" "))
        }
        Problem::Unanswered(error @ AppError::AnalyticsUnavailable(_)) => {
            tracing::warn!(cause = signpost_app::with_causes(&error), "a page is shown without statistics");
            (StatusCode::SERVICE_UNAVAILABLE, WORDS.unavailable.to_owned())
        }
        Problem::Unanswered(AppError::AnalyticsBusy) => {
            (StatusCode::SERVICE_UNAVAILABLE, WORDS.busy.to_owned())
        }
        Problem::Unanswered(error) => return Err(error.into()),
    })
}

/// The page with its report.
pub(super) async fn page_of(
    visit: &Visit,
    member: &Member,
    subject: &Subject,
    state: &State,
    answers: &Answers,
) -> Result<AnalyticsPage, Failure> {
    let names = Names::read(visit, member, subject, state, answers).await?;
    let range = &answers.questions.range;
    let preferences = &member.signed_in.user().preferences;
    let curl = vec![answers.questions.curl(visit, subject, state)];
    let mut page = blank(visit, member, subject, state, &names, curl).await?;
    page.form.from = range.first.to_string();
    page.form.to = range.last.to_string();
    page.notes.extend(notes(visit, member, answers, preferences));
    page.notes.extend(state.is_about_widgets().then(|| WORDS.widget_filter.to_owned()));
    page.live = live::figures(visit, member, subject, state).await;
    page.report = Some(report(member, subject, state, answers, &names));
    Ok(page)
}

/// The page with a sentence in place of the report.
pub(super) async fn page_without_report(
    visit: &Visit,
    member: &Member,
    subject: &Subject,
    state: &State,
    sentence: String,
) -> Result<AnalyticsPage, Failure> {
    let example = crate::curl::read(visit.api_url(), TEXTS.curl_account, "/v1/account");
    let mut page = blank(visit, member, subject, state, &Names::default(), vec![example]).await?;
    let now = visit.app().clock.now();
    let zone = &member.signed_in.user().preferences.time_zone;
    if let Ok(range) = Range::of(&state.choice, now, zone, member.caller.plan().limits) {
        page.form.from = range.first.to_string();
        page.form.to = range.last.to_string();
    }
    page.problem = Some(sentence);
    page.form.is_open = true;
    Ok(page)
}

/// All of the page that needs no answer. `names` are those of the filters.
async fn blank(
    visit: &Visit,
    member: &Member,
    subject: &Subject,
    state: &State,
    names: &Names,
    curl: Vec<CurlExample>,
) -> Result<AnalyticsPage, Failure> {
    let scope = Scope::of(visit, member, state).await?;
    let (back, title, nav) = match subject {
        Subject::Account => (None, scope.title(), NavItem::Analytics),
        Subject::Link(link) => {
            let path = format!("/{}/links/{}", member.caller.account_id(), link.id());
            let name = link.name.as_str();
            (Some((path, name.to_owned())), (WORDS.title_of)(name), NavItem::Links)
        }
    };
    let preset = |preset: Preset| StateLink {
        label: preset.name(),
        href: state.with_choice(RangeChoice::Preset(preset)).address(),
        is_current: state.choice == RangeChoice::Preset(preset),
    };
    let (from, to) = match &state.choice {
        RangeChoice::Dates { from, to } => (from.clone(), to.clone()),
        RangeChoice::Preset(_) => (String::new(), String::new()),
    };
    let zone = &member.signed_in.user().preferences.time_zone;
    let intervals = Interval::ALL.map(|interval| {
        let is_chosen = state.interval == Some(interval);
        Choice::new(interval.as_str(), (WORDS.interval)(interval), is_chosen)
    });
    let automatic = Choice::new("", WORDS.automatic, state.interval.is_none());
    let links = match subject {
        Subject::Link(_) => None,
        Subject::Account => Some(scope_fields(visit, member, state, &scope).await?),
    };
    let kept = state.kept_by_form().into_iter().map(|(name, value)| (name.to_owned(), value));
    Ok(AnalyticsPage {
        back,
        presets: Preset::ALL.map(preset).into(),
        form: RangeForm {
            from,
            to,
            today: signpost_domain::analytics::LocalDate::at(visit.app().clock.now(), zone).to_string(),
            intervals: std::iter::once(automatic).chain(intervals).collect(),
            links,
            kept: kept.collect(),
            is_open: matches!(state.choice, RangeChoice::Dates { .. })
                || state.interval.is_some()
                || !state.group.is_empty()
                || !state.domain.is_empty(),
        },
        filters: scope.filters(state).into_iter().chain(filters(state, names)).collect(),
        without_filters: state.without_filters().address(),
        notes: Vec::new(),
        problem: None,
        live: None,
        report: None,
        shell: shell(visit, member, nav, &title, curl),
    })
}

async fn scope_fields(
    visit: &Visit,
    member: &Member,
    state: &State,
    scope: &Scope,
) -> Result<LinkScopeFields, Failure> {
    let choices = Choices::read(visit, member).await?;
    let chosen = state.group.as_str();
    let listed = choices.groups.iter().map(|group| {
        let id = group.id.to_string();
        let is_chosen = id == chosen;
        Choice::new(id, group.name.as_str(), is_chosen)
    });
    let own = [
        Choice::new("", WORDS.all_links, chosen.is_empty()),
        Choice::new("none", TEXTS.without_group, chosen == "none"),
    ];
    let mut groups: Vec<Choice> = own.into_iter().chain(listed).collect();
    if let Some(group) = scope.group.as_ref().filter(|_| !groups.iter().any(|group| group.selected)) {
        groups.push(Choice::new(chosen, group.label(), true));
    }
    let chosen = state.domain.as_str();
    let other = Some(chosen.to_owned()).filter(|it| !it.is_empty() && !choices.hostnames.contains(it));
    let hostnames = choices.hostnames.into_iter().chain(other);
    let listed =
        hostnames.map(|hostname| Choice::new(hostname.clone(), hostname.clone(), hostname == chosen));
    let all = Choice::new("", WORDS.all_domains, chosen.is_empty());
    Ok(LinkScopeFields { groups, domains: std::iter::once(all).chain(listed).collect() })
}

fn filters(state: &State, names: &Names) -> Vec<StateLink> {
    let mut links = Vec::new();
    for filter in &state.filters {
        let name = (WORDS.dimension)(filter.dimension);
        for value in &filter.values {
            let words = names.in_words(filter.dimension, value);
            links.push(StateLink {
                label: if filter.excludes { (WORDS.is_not)(name, &words) } else { (WORDS.is)(name, &words) },
                href: state.without_filter(filter.dimension, value).address(),
                is_current: true,
            });
        }
    }
    links
}

fn notes(visit: &Visit, member: &Member, answers: &Answers, preferences: &Preferences) -> Vec<String> {
    let range = &answers.questions.range;
    let limits = member.caller.plan().limits;
    let kept_from = first_kept_day(limits, UtcDay::of(visit.app().clock.now()));
    let clamped = range.is_clamped.then(|| (WORDS.clamped)(&date(range.period.first(), preferences)));
    let is_older = UtcDay::of(range.period.first()) < kept_from;
    // Days are kept in UTC, whatever the zone of the page.
    let in_utc = Preferences { time_zone: TimeZone::utc(), ..preferences.clone() };
    let forgotten = is_older.then(|| (WORDS.not_kept)(&date(kept_from.first(), &in_utc)));
    clamped.into_iter().chain(forgotten).collect()
}

fn report(
    member: &Member,
    subject: &Subject,
    state: &State,
    answers: &Answers,
    names: &Names,
) -> AnalyticsReport {
    let preferences = &member.signed_in.user().preferences;
    let Answers { questions, report, previous, is_late } = answers;
    let days_of = |period: Period| {
        let (first, last) = (date(period.first(), preferences), date(period.last(), preferences));
        if first == last { first } else { format!("{first} – {last}") }
    };
    let days = days_of(questions.range.period);
    let total = |measure: Measure| {
        let count = measure.of(report.totals);
        let before = previous.as_ref().map(|previous| measure.of(previous.report.totals));
        Total {
            name: measure.name().to_owned(),
            count: number(count),
            change: before.map(|before| change(before, count)).unwrap_or_default(),
            before: before.map(|before| (WORDS.before)(&number(before))).unwrap_or_default(),
            href: state.with_measure(measure).address(),
            is_drawn: state.measure == measure,
        }
    };
    let part = |part: Part| StateLink {
        label: part.name().to_owned(),
        href: state.with_part(part).address(),
        is_current: state.part == part,
    };
    let drawn = series::drawn(answers, state.measure, &days, preferences);
    let dimensions = questions.asked.dimensions.iter().zip(&report.dimensions);
    AnalyticsReport {
        period: (WORDS.in_zone)(&days, preferences.time_zone.name()),
        totals: Measure::ALL.map(total).into(),
        empty: emptiness(member, subject, state, answers),
        chart: drawn.chart,
        before: previous.as_ref().map(|_| (WORDS.before)(state.measure.name())),
        comparison: match previous {
            Some(_) => (WORDS.legend_before)(&questions.range.previous.map(days_of).unwrap_or_default()),
            None if *is_late => WORDS.previous_is_late.to_owned(),
            None => WORDS.no_comparison.to_owned(),
        },
        rows: drawn.rows,
        parts: Part::offered(subject.of_report()).map(part).collect(),
        dimensions: dimensions.map(|(dimension, values)| bars(state, *dimension, values, names)).collect(),
        csv: format!("{}.csv{}", subject.path(member), state.address()),
    }
}

/// Why there is nothing to draw, if there is nothing in this period and in the one before. Clicks on widgets are in no total, but
/// the page shows them.
fn emptiness(member: &Member, subject: &Subject, state: &State, answers: &Answers) -> Option<String> {
    let is_zero = |counts| Measure::ALL.iter().all(|measure| measure.of(counts) == 0);
    let before = answers.previous.as_ref().is_none_or(|previous| is_zero(previous.report.totals));
    if !is_zero(answers.report.totals) || !before {
        return None;
    }
    let created = match subject {
        Subject::Link(link) => link.created_at,
        Subject::Account => member.caller.account().created_at,
    };
    if created > answers.questions.range.period.last() {
        let preferences = &member.signed_in.user().preferences;
        return Some((WORDS.created_later)(&date(created, preferences)));
    }
    if state.is_about_widgets() {
        return None;
    }
    let sentence = if state.filters.is_empty() { WORDS.no_visits } else { WORDS.no_match };
    Some(sentence.to_owned())
}

fn bars(state: &State, dimension: Dimension, values: &[ValueCounts], names: &Names) -> DimensionBars {
    let most = values.iter().map(|counts| counts.clicks).max().unwrap_or(0).max(1);
    let dimension_name = (WORDS.dimension)(dimension);
    let bar = |ValueCounts { value, clicks, visitors }: &ValueCounts| {
        let name = names.in_words(dimension, value);
        let is_filtered = state.is_filtered(dimension, value);
        let only = if is_filtered {
            state.without_filter(dimension, value)
        } else {
            state.with_filter(dimension, value, false)
        };
        let percent = u128::from(*clicks) * 100 / u128::from(most);
        ValueBar {
            clicks: number(*clicks),
            visitors: number(*visitors),
            percent: u64::try_from(percent).unwrap_or(100),
            only: only.address(),
            is_filtered,
            exclude: state.with_filter(dimension, value, true).address(),
            exclude_name: (WORDS.exclude)(&name),
            name,
        }
    };
    let to_card = |state: &State| format!("{}#{}", state.address(), dimension.as_str());
    let shown = state.shown(dimension, values);
    let is_cut = shown.len() >= state.values_of(dimension);
    let more = state.with_more_values(dimension).filter(|_| is_cut);
    DimensionBars {
        id: dimension.as_str().to_owned(),
        name: dimension_name.to_owned(),
        values: shown.iter().map(bar).collect(),
        more: more.as_ref().map(to_card),
        at_most: (is_cut && more.is_none()).then(|| (WORDS.at_most)(shown.len())),
        fewer: state.with_few_values(dimension).as_ref().map(to_card),
    }
}
