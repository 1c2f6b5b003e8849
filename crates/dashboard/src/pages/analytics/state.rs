//! The state of a page of statistics. Every state is a query, so it can be kept, shared and gone back to.

use signpost_domain::analytics::{Dimension, DimensionFilter, Interval, ReportSubject};

use super::measure::Measure;
use super::part::Part;
use super::range::{Choice, Preset};
use crate::frame::TEXTS;
use crate::pages::sentence;
use crate::paths::with_query;
use crate::query::Query;

/// How many values of a dimension a page shows, and the numbers that people can choose.
const FEW_VALUES: usize = 5;
const VALUES: [usize; 3] = [FEW_VALUES, 25, 100];

/// How long filters, group and domain may be together, in bytes. A page has up to a thousand links, each with all of them.
const MAX_BYTES: usize = 1_024;

/// The longest date that is shown again, so that its mistake can be seen.
const MAX_DATE: usize = 32;

/// `range`, with `from` and `to`: two dates.
const DATES: &str = "dates";

/// What a page of statistics shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) choice: Choice,
    /// `None` for the one that fits the period.
    pub(super) interval: Option<Interval>,
    pub(super) measure: Measure,
    pub(super) part: Part,
    /// How many values of each dimension, or of `detailed` alone.
    pub(super) values: usize,
    /// The one dimension that shows more values than the others.
    pub(super) detailed: Option<Dimension>,
    /// At most one for each dimension.
    pub(super) filters: Vec<DimensionFilter>,
    /// The id of a group, `none`, or empty.
    pub(super) group: String,
    /// A hostname, or empty.
    pub(super) domain: String,
    /// What is wrong with filters, which are left out then.
    pub(super) mistakes: Vec<String>,
}

impl State {
    /// The state that a query names. Names that do not exist count as absent.
    pub(super) fn read(query: &Query, subject: ReportSubject) -> Self {
        // Somebody who writes two dates into the address means them.
        let has_dates = ["from", "to"].iter().any(|name| !query.text(name).is_empty());
        let choice = match Preset::parse(query.text("range")) {
            None if has_dates || query.text("range") == DATES => {
                Choice::Dates { from: date(query.text("from")), to: date(query.text("to")) }
            }
            preset => Choice::Preset(preset.unwrap_or_default()),
        };
        let scope = |name| match subject {
            ReportSubject::Account => query.text(name).trim().to_owned(),
            ReportSubject::Link(_) => String::new(),
        };
        let mut mistakes = Vec::new();
        let mut filters = Vec::new();
        for dimension in subject.dimensions() {
            match filter_of(query, dimension) {
                Ok(filter) => filters.extend(filter),
                Err(message) => {
                    let name = (TEXTS.analytics.dimension)(dimension);
                    mistakes.push((TEXTS.analytics.is)(name, &sentence(&message)));
                }
            }
        }
        // Each link of a page carries its state.
        let mut scopes = [scope("group"), scope("domain")];
        let length = |filters: &[DimensionFilter], scopes: &[String]| {
            filters.iter().map(|filter| filter.to_string().len()).sum::<usize>()
                + scopes.iter().map(String::len).sum::<usize>()
        };
        if length(&filters, &scopes) > MAX_BYTES {
            filters.clear();
            scopes = Default::default();
            mistakes.push(TEXTS.analytics.too_much.to_owned());
        }
        let [group, domain] = scopes;
        let values = query.text("values").parse().ok().filter(|values| VALUES.contains(values));
        let values = values.unwrap_or(FEW_VALUES);
        let is_detailed = |dimension: &Dimension| dimension.as_str() == query.text("values_of");
        let detailed = subject.dimensions().find(is_detailed).filter(|_| values > FEW_VALUES);
        Self {
            choice,
            interval: Interval::parse(query.text("interval")).ok(),
            measure: Measure::parse(query.text("show")).unwrap_or_default(),
            part: Part::parse(query.text("part"), subject).unwrap_or_default(),
            values,
            detailed,
            filters,
            group,
            domain,
            mistakes,
        }
    }

    /// The state of live figures: these filters and links. Everything else of it is as usual.
    pub(super) fn of_live(&self) -> Self {
        Self {
            choice: Choice::Preset(Preset::default()),
            interval: None,
            measure: Measure::default(),
            part: Part::default(),
            values: FEW_VALUES,
            detailed: None,
            ..self.clone()
        }
    }

    /// The query of this state, with a question mark. The usual choices are left out.
    pub(super) fn address(&self) -> String {
        let mut parameters = self.chosen_by_form();
        parameters.extend(self.kept_by_form());
        let pairs = parameters.iter().map(|(name, value)| (*name, value.as_str()));
        let query = with_query("", pairs);
        if query.is_empty() { "?".to_owned() } else { query }
    }

    fn chosen_by_form(&self) -> Vec<(&'static str, String)> {
        let mut parameters = Vec::new();
        match &self.choice {
            Choice::Preset(preset) if *preset == Preset::default() => {}
            Choice::Preset(preset) => parameters.push(("range", preset.as_str().to_owned())),
            Choice::Dates { from, to } => {
                parameters.extend([("range", DATES.to_owned()), ("from", from.clone()), ("to", to.clone())]);
            }
        }
        parameters.extend(self.interval.map(|interval| ("interval", interval.as_str().to_owned())));
        let scope = [("group", &self.group), ("domain", &self.domain)];
        let scope = scope.into_iter().filter(|(_, value)| !value.is_empty());
        parameters.extend(scope.map(|(name, value)| (name, value.clone())));
        parameters
    }

    /// The parameters that the form does not choose, and keeps.
    pub(super) fn kept_by_form(&self) -> Vec<(&'static str, String)> {
        let mut parameters = Vec::new();
        if self.measure != Measure::default() {
            parameters.push(("show", self.measure.as_str().to_owned()));
        }
        if self.part != Part::default() {
            parameters.push(("part", self.part.as_str().to_owned()));
        }
        if self.values != FEW_VALUES {
            parameters.push(("values", self.values.to_string()));
            parameters.extend(self.detailed.map(|dimension| ("values_of", dimension.as_str().to_owned())));
        }
        for filter in &self.filters {
            for value in &filter.values {
                let one = DimensionFilter { values: [value.clone()].into(), ..filter.clone() };
                parameters.push((filter.dimension.as_str(), one.to_string()));
            }
        }
        parameters
    }

    pub(super) fn with_choice(&self, choice: Choice) -> Self {
        // An interval that fits one period seldom fits another.
        Self { choice, interval: None, ..self.clone() }
    }

    pub(super) fn with_measure(&self, measure: Measure) -> Self {
        Self { measure, ..self.clone() }
    }

    pub(super) fn with_part(&self, part: Part) -> Self {
        Self { part, ..self.clone() }
    }

    /// How many values of this dimension are shown.
    pub(super) fn values_of(&self, dimension: Dimension) -> usize {
        match self.detailed {
            Some(detailed) if detailed != dimension => FEW_VALUES,
            Some(_) | None => self.values,
        }
    }

    /// The values of this dimension that are shown.
    pub(super) fn shown<'a, T>(&self, dimension: Dimension, values: &'a [T]) -> &'a [T] {
        values.get(..self.values_of(dimension)).unwrap_or(values)
    }

    /// With more values of this dimension, if there are more to choose.
    pub(super) fn with_more_values(&self, dimension: Dimension) -> Option<Self> {
        let shown = self.values_of(dimension);
        let values = VALUES.into_iter().find(|values| *values > shown)?;
        Some(Self { values, detailed: Some(dimension), ..self.clone() })
    }

    /// With as few values of this dimension as usual, if it has more.
    pub(super) fn with_few_values(&self, dimension: Dimension) -> Option<Self> {
        let is_long = self.values_of(dimension) > FEW_VALUES;
        is_long.then(|| Self { values: FEW_VALUES, detailed: None, ..self.clone() })
    }

    pub(super) fn without_filters(&self) -> Self {
        Self { filters: Vec::new(), ..self.without_group().without_domain() }
    }

    pub(super) fn without_group(&self) -> Self {
        Self { group: String::new(), ..self.clone() }
    }

    pub(super) fn without_domain(&self) -> Self {
        Self { domain: String::new(), ..self.clone() }
    }

    /// With a filter on a value. A dimension is filtered by values that visits must have, or by values that they must not have,
    /// never by both; so a filter of the other sort goes.
    pub(super) fn with_filter(&self, dimension: Dimension, value: &str, excludes: bool) -> Self {
        let mut state = self.clone();
        let filter = state.filters.iter_mut().find(|filter| filter.dimension == dimension);
        match filter {
            Some(filter) if filter.excludes == excludes => {
                filter.values.insert(value.to_owned());
            }
            Some(filter) => {
                *filter = DimensionFilter { dimension, values: [value.to_owned()].into(), excludes };
            }
            None => {
                state.filters.push(DimensionFilter {
                    dimension,
                    values: [value.to_owned()].into(),
                    excludes,
                });
            }
        }
        state
    }

    pub(super) fn without_filter(&self, dimension: Dimension, value: &str) -> Self {
        let mut state = self.clone();
        for filter in state.filters.iter_mut().filter(|filter| filter.dimension == dimension) {
            filter.values.remove(value);
        }
        state.filters.retain(|filter| !filter.values.is_empty());
        state
    }

    /// Whether only clicks on widgets match, which are no visits.
    pub(super) fn is_about_widgets(&self) -> bool {
        let mut filters = self.filters.iter().filter(|filter| filter.dimension == Dimension::Widget);
        filters.any(|filter| !filter.excludes && !filter.values.contains(""))
    }

    /// Whether visits must have this value.
    pub(super) fn is_filtered(&self, dimension: Dimension, value: &str) -> bool {
        let filter = self.filters.iter().find(|filter| filter.dimension == dimension);
        filter.is_some_and(|filter| !filter.excludes && filter.values.contains(value))
    }
}

fn date(text: &str) -> String {
    text.trim().chars().take(MAX_DATE).collect()
}

/// The filter of a dimension. Each of its parameters is in the form of the API; those of the other sort than the first are left
/// out.
fn filter_of(query: &Query, dimension: Dimension) -> Result<Option<DimensionFilter>, String> {
    let parse =
        |text: &str| DimensionFilter::parse(dimension, text).map_err(|error| error.message().to_owned());
    let mut all: Option<DimensionFilter> = None;
    for text in query.all(dimension.as_str()) {
        let filter = parse(text)?;
        match &mut all {
            None => all = Some(filter),
            Some(all) if all.excludes == filter.excludes => all.values.extend(filter.values),
            Some(_) => {}
        }
    }
    // Together they keep the limits of one filter.
    all.map(|filter| parse(&filter.to_string())).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> State {
        let pairs = url::form_urlencoded::parse(query.trim_start_matches('?').as_bytes());
        State::read(&Query::of(pairs.into_owned().collect()), ReportSubject::Account)
    }

    #[test]
    fn every_state_has_an_address_that_leads_back_to_it() {
        for (query, address) in [
            ("", "?"),
            ("?range=30d&show=clicks&values=5&range=x&part=sources", "?"),
            (
                "?range=7d&interval=hour&show=bots&part=devices&values=25",
                "?range=7d&interval=hour&show=bots&part=devices&values=25",
            ),
            ("?range=dates&from=2026-11-01&to=", "?range=dates&from=2026-11-01&to="),
            ("?country=DE,at&country=CH", "?country=AT&country=CH&country=DE"),
            ("?country=-DE&country=AT&country=-CH", "?country=-CH&country=-DE"),
            ("?group=none&domain=go.example.com", "?group=none&domain=go.example.com"),
            ("?utm_campaign=%5C-50%25%5C,%5C%5C", "?utm_campaign=%5C-50%25%5C%2C%5C%5C"),
            ("?referrer=", "?referrer="),
            ("?values=25&values_of=country", "?values=25&values_of=country"),
            ("?values_of=country", "?"),
            ("?widget=wgt_1&city=x", "?"),
        ] {
            let state = read(query);
            assert_eq!(state.address(), address, "{query}");
            assert_eq!(read(address), state, "{query}");
        }
    }

    #[test]
    fn d45_values_are_added_excluded_and_removed() {
        let one = read("").with_filter(Dimension::Country, "DE", false);
        let two = one.with_filter(Dimension::Country, "AT", false);
        assert_eq!(two.address(), "?country=AT&country=DE");
        assert!(two.is_filtered(Dimension::Country, "DE") && !two.is_filtered(Dimension::Device, "DE"));
        assert_eq!(two.without_filter(Dimension::Country, "AT"), one);
        assert_eq!(one.without_filter(Dimension::Country, "DE"), read(""));
        let not = two.with_filter(Dimension::Country, "CH", true);
        assert_eq!(not.address(), "?country=-CH");
        assert!(!not.is_filtered(Dimension::Country, "CH"));
        assert_eq!(not.with_filter(Dimension::Country, "", true).address(), "?country=-&country=-CH");
    }

    #[test]
    fn one_dimension_is_lengthened_and_shortened_again() {
        let (country, device) = (Dimension::Country, Dimension::Device);
        let more = read("").with_more_values(country).unwrap();
        assert_eq!((more.values_of(country), more.values_of(device)), (25, FEW_VALUES));
        assert_eq!(
            (more.shown(country, &[0; 30]).len(), more.shown(device, &[0; 30]).len()),
            (25, FEW_VALUES)
        );
        let most = more.with_more_values(country).unwrap();
        assert_eq!((most.values_of(country), most.with_more_values(country)), (100, None));
        assert_eq!((most.with_few_values(country), most.with_few_values(device)), (Some(read("")), None));
    }

    #[test]
    fn d45_a_mistaken_filter_is_left_out_and_explained() {
        let state = read("?country=a%5Cb&device=mobile");
        assert_eq!((state.filters.len(), state.mistakes.len()), (1, 1));
        assert!(state.mistakes[0].starts_with("Countries: Has a"), "{:?}", state.mistakes);
        let long = read(&format!("?domain={}&utm_campaign={}", "d".repeat(1_000), "c".repeat(200)));
        assert_eq!((long.address().as_str(), long.mistakes.len()), ("?", 1));
        assert!(read(&format!("?range=dates&from={}", "1".repeat(5_000))).address().len() < 100);
        let many = (0..101).map(|number| format!("referrer={number}.example")).collect::<Vec<_>>().join("&");
        assert_eq!(read(&many).mistakes.len(), 1);
    }
}
