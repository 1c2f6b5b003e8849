//! What this node has refused, out of its metrics.

use std::collections::BTreeMap;

use metrics_exporter_prometheus::PrometheusHandle;
use signpost_app::ports::{RefusalCount, RefusalCounts, Refused};

/// The counters, with the label of their reasons.
const COUNTERS: [(&str, Option<&str>, Refused); 5] = [
    ("signpost_api_refused_total", Some("code"), Refused::ApiRequests),
    ("signpost_visits_turned_away_total", Some("reason"), Refused::Visits),
    (VISITS, Some("outcome"), Refused::Visits),
    ("signpost_failed_sign_ins_total", None, Refused::SignIns),
    (DASHBOARD, Some("status"), Refused::DashboardRequests),
];

/// All visits by outcome. The other outcomes are no refusals, or are counted with their reasons.
const VISITS: &str = "signpost_visits_total";
const REFUSALS_OF_VISITS: [&str; 4] = ["throttled", "unavailable", "password_throttled", "passwords_busy"];

/// All requests to the dashboard by method, route and status. Other statuses are no limits.
const DASHBOARD: &str = "signpost_dashboard_requests_total";
const BEYOND_A_LIMIT: &str = "429";

/// Reads the counters that the recorder of metrics keeps.
pub(crate) struct RecordedRefusals(pub(crate) PrometheusHandle);

impl RefusalCounts for RecordedRefusals {
    fn since_start(&self) -> Vec<RefusalCount> {
        // A counter with more labels than the reason has several series of one reason.
        let mut counts: BTreeMap<(Refused, String), u64> = BTreeMap::new();
        for RefusalCount { refused, reason, times } in self.0.render().lines().filter_map(read) {
            let count = counts.entry((refused, reason)).or_default();
            *count = count.saturating_add(times);
        }
        let count = |((refused, reason), times)| RefusalCount { refused, reason, times };
        counts.into_iter().map(count).collect()
    }
}

/// The count in a line of the text format of Prometheus, such as `signpost_api_refused_total{code="not_found"} 3`.
fn read(line: &str) -> Option<RefusalCount> {
    let (series, times) = line.rsplit_once(' ')?;
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let (_, label, refused) = COUNTERS.into_iter().find(|(counter, ..)| *counter == name)?;
    let mut reason = match label {
        None => String::new(),
        Some(label) => {
            let mut pairs = labels.strip_suffix('}')?.split(',').filter_map(|pair| pair.split_once('='));
            pairs.find(|(name, _)| *name == label)?.1.trim_matches('"').to_owned()
        }
    };
    if name == VISITS && !REFUSALS_OF_VISITS.contains(&reason.as_str()) {
        return None;
    }
    if name == DASHBOARD {
        if reason != BEYOND_A_LIMIT {
            return None;
        }
        reason.clear();
    }
    let times = times.parse().ok().filter(|times| *times > 0)?;
    Some(RefusalCount { refused, reason, times })
}

#[cfg(test)]
mod tests {
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    #[test]
    fn what_was_refused_is_read_out_of_the_metrics() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let refusals = RecordedRefusals(recorder.handle());
        metrics::with_local_recorder(&recorder, || {
            metrics::counter!("signpost_api_refused_total", "code" => "validation_failed").increment(2);
            metrics::counter!("signpost_api_requests_total", "status" => "404").increment(9);
            metrics::counter!("signpost_visits_turned_away_total", "reason" => "unknown").increment(70);
            metrics::counter!("signpost_visits_turned_away_total", "reason" => "bot").increment(1);
            metrics::counter!("signpost_visits_turned_away_total", "reason" => "loop").increment(0);
            metrics::counter!("signpost_visits_total", "outcome" => "redirected").increment(8);
            metrics::counter!("signpost_visits_total", "outcome" => "unavailable").increment(6);
            metrics::counter!("signpost_failed_sign_ins_total").increment(4);
            for (method, route, status, times) in [
                ("POST", "/sign-in", "429", 20),
                ("GET", "/{account}/links/{id}", "429", 11),
                ("GET", "/{account}/links/{id}", "200", 500),
                ("GET", "/{account}/links/{id}", "503", 5),
            ] {
                let labels = [("method", method), ("route", route), ("status", status)];
                metrics::counter!(DASHBOARD, &labels).increment(times);
            }
        });
        let count = |refused, reason: &str, times| RefusalCount { refused, reason: reason.to_owned(), times };
        assert_eq!(
            refusals.since_start(),
            [
                count(Refused::ApiRequests, "validation_failed", 2),
                count(Refused::Visits, "bot", 1),
                count(Refused::Visits, "unavailable", 6),
                count(Refused::Visits, "unknown", 70),
                count(Refused::SignIns, "", 4),
                count(Refused::DashboardRequests, "", 31),
            ]
        );
    }
}
