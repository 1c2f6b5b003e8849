//! The numbers of a page as CSV: one row for each count, with the part of the page that it is from.

use signpost_domain::analytics::{Buckets, Counts, Report, ValueCounts, push_csv_cell};

use super::names::Names;
use super::questions::{Answers, Previous};
use super::range::Range;
use super::state::State;
use super::subject::Scope;

const NO_COUNTS: [Option<u64>; 4] = [None; 4];

const HEADER: &[u8] = b"part,value,clicks,visitors,bots,blocked,name\r\n";

/// The file: first what it is about, then the counts. Buckets are named by the instant at which they begin, as in the API. Values of
/// dimensions count clicks alone, so their cells of bots and blocked visits are empty. They and filters have a name: what the page
/// calls them.
pub(super) fn file(state: &State, answers: &Answers, names: &Names, scope: &Scope) -> Vec<u8> {
    let Answers { questions, report, previous, is_late: _ } = answers;
    let mut lines = HEADER.to_vec();
    let Range { first, last, .. } = &questions.range;
    let days = [("first_day", first.to_string()), ("last_day", last.to_string())];
    for (part, value) in days.into_iter().chain([("time_zone", questions.asked.zone.name().to_owned())]) {
        write_row([part, &value, ""], NO_COUNTS, &mut lines);
    }
    for (filter, name) in filters(state, scope, names) {
        write_row(["filter", &filter, &name], NO_COUNTS, &mut lines);
    }
    write_report(["total", "series"], report, &questions.asked.buckets, &mut lines);
    if let Some(Previous { buckets, report }) = previous {
        write_report(["previous_total", "previous_series"], report, buckets, &mut lines);
    }
    for (dimension, values) in questions.asked.dimensions.iter().zip(&report.dimensions) {
        for ValueCounts { value, clicks, visitors } in state.shown(*dimension, values) {
            let counts = [Some(*clicks), Some(*visitors), None, None];
            let name = names.in_words(*dimension, value);
            write_row([dimension.as_str(), value, &name], counts, &mut lines);
        }
    }
    lines
}

/// The filters, as the API takes them, and in words.
fn filters(state: &State, scope: &Scope, names: &Names) -> Vec<(String, String)> {
    let group =
        scope.group.as_ref().map(|group| (format!("group_id={}", state.group), group.label().to_owned()));
    let domain = scope.domain.as_ref().map(|domain| (format!("domain={domain}"), domain.clone()));
    let filters = state.filters.iter().map(|filter| {
        let words: Vec<String> =
            filter.values.iter().map(|value| names.in_words(filter.dimension, value)).collect();
        (format!("{}={filter}", filter.dimension.as_str()), words.join(", "))
    });
    group.into_iter().chain(domain).chain(filters).collect()
}

fn write_report([total, series]: [&str; 2], report: &Report, buckets: &Buckets, lines: &mut Vec<u8>) {
    write_row([total, "", ""], counts(report.totals), lines);
    for (start, bucket) in buckets.starts().iter().zip(&report.series) {
        write_row([series, &start.to_string(), ""], counts(*bucket), lines);
    }
}

const fn counts(Counts { clicks, visitors, bots, blocked }: Counts) -> [Option<u64>; 4] {
    [Some(clicks), Some(visitors), Some(bots), Some(blocked)]
}

fn write_row([part, value, name]: [&str; 3], counts: [Option<u64>; 4], lines: &mut Vec<u8>) {
    push_csv_cell(part, lines);
    lines.push(b',');
    push_csv_cell(value, lines);
    for count in counts {
        lines.push(b',');
        lines.extend(count.map(|count| count.to_string()).unwrap_or_default().bytes());
    }
    lines.push(b',');
    push_csv_cell(name, lines);
    lines.extend_from_slice(b"\r\n");
}
