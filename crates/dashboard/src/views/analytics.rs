//! Statistics of a link and of an account.

use askama::Template;

use super::chart::Chart;
use super::form::Choice;
use super::shell::Shell;

/// Statistics: `GET A/links/{id}/analytics` and `GET A/analytics`. Each of its states has an address of its own.
#[derive(Debug, Clone, Template)]
#[template(path = "analytics.html")]
pub struct AnalyticsPage {
    /// The frame.
    pub shell: Shell,
    /// The page above: its path and its name.
    pub back: Option<(String, String)>,
    /// The periods to choose from.
    pub presets: Vec<StateLink>,
    /// The form for all other choices.
    pub form: RangeForm,
    /// The filters; each leads to the state without it.
    pub filters: Vec<StateLink>,
    /// The state without filters.
    pub without_filters: String,
    /// Remarks about what is shown.
    pub notes: Vec<String>,
    /// Why there is no report.
    pub problem: Option<String>,
    /// The figures of the last half hour.
    pub live: Option<LiveFigures>,
    /// The counts.
    pub report: Option<AnalyticsReport>,
}

/// Figures that change while somebody looks at them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveFigures {
    /// What they were when the page was made.
    pub text: String,
    /// The address that answers with what they are by then, as plain text.
    pub href: String,
}

/// A link to another state of the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateLink {
    /// What it is called.
    pub label: String,
    /// The query of the state.
    pub href: String,
    /// Whether the page is in this state.
    pub is_current: bool,
}

/// The form that is sent with `GET`: `from`, `to`, `interval`, and for an account `group` and `domain`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RangeForm {
    /// `from`: the first day.
    pub from: String,
    /// `to`: the last day.
    pub to: String,
    /// The last day that can be chosen.
    pub today: String,
    /// The intervals.
    pub intervals: Vec<Choice>,
    /// The groups and the domains, if the page is about an account.
    pub links: Option<LinkScopeFields>,
    /// The choices that the form keeps: names and values.
    pub kept: Vec<(String, String)>,
    /// Whether the form is open.
    pub is_open: bool,
}

/// The links that the statistics of an account are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkScopeFields {
    /// `group`
    pub groups: Vec<Choice>,
    /// `domain`
    pub domains: Vec<Choice>,
}

/// The counts of a period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnalyticsReport {
    /// The period in words.
    pub period: String,
    /// The totals.
    pub totals: Vec<Total>,
    /// Why there is nothing to draw.
    pub empty: Option<String>,
    /// The chart of one of the counts.
    pub chart: Chart,
    /// The heading of the previous period's counts; `None` without a comparison.
    pub before: Option<String>,
    /// What the chart shows of the previous period, or why it shows nothing.
    pub comparison: String,
    /// The same numbers as a table.
    pub rows: Vec<BucketRow>,
    /// The parts of the dimensions to choose from.
    pub parts: Vec<StateLink>,
    /// The values of each dimension of the chosen part.
    pub dimensions: Vec<DimensionBars>,
    /// The address of the same numbers as CSV.
    pub csv: String,
}

/// A total, which leads to its series.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Total {
    /// What is counted.
    pub name: String,
    /// How many.
    pub count: String,
    /// The change since the previous period, such as `+12%`. Empty without a comparison.
    pub change: String,
    /// The count of the previous period in words.
    pub before: String,
    /// The query of the state that draws its series.
    pub href: String,
    /// Whether its series is drawn.
    pub is_drawn: bool,
}

/// A row of the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BucketRow {
    /// The bucket.
    pub name: String,
    /// Clicks, visitors, bots and blocked visits.
    pub counts: [String; 4],
    /// What the chart draws of the previous period.
    pub before: String,
}

/// A dimension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DimensionBars {
    /// Its name in the API, which the addresses of `more` and `fewer` lead back to.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its values with the most clicks.
    pub values: Vec<ValueBar>,
    /// The state with more of its values.
    pub more: Option<String>,
    /// The state with as few of its values as usual.
    pub fewer: Option<String>,
    /// How many values are shown at most, in words, if there may be more and no state shows them.
    pub at_most: Option<String>,
}

/// A value of a dimension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValueBar {
    /// The value in words.
    pub name: String,
    /// Its clicks.
    pub clicks: String,
    /// Its visitors.
    pub visitors: String,
    /// The length of its bar.
    pub percent: u64,
    /// The state with only this value, or without this filter if there is one.
    pub only: String,
    /// Whether there is a filter on the value.
    pub is_filtered: bool,
    /// The state without this value.
    pub exclude: String,
    /// The name of the link to it.
    pub exclude_name: String,
}
