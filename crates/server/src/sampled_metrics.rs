//! Metrics that are read when a scraper asks: those of the process, the pools, and the durations of visits.

use std::fmt::{Display, Write as _};
use std::sync::Arc;

use signpost_app::pool_usage::PoolUsage;
use signpost_app::ports::Clock;
use signpost_domain::Timestamp;
use signpost_edge::{DurationCounts, VisitDurations};
use signpost_tls::{CertificatesOverview, ServedCertificates};

use crate::process_usage::ProcessUsage;

const VISIT_DURATION: &str = "signpost_visit_duration_seconds";
const CONNECTIONS: &str = "signpost_pool_connections";
const MAX_CONNECTIONS: &str = "signpost_pool_connections_max";
const WAITING: &str = "signpost_pool_waiting";

/// Samples the pools of one store.
pub(crate) type PoolSampler = Box<dyn Fn() -> Vec<PoolUsage> + Send + Sync>;

/// What is read at each scrape.
pub(crate) struct SampledMetrics {
    /// The start of the program.
    pub(crate) started: Timestamp,
    pub(crate) durations: VisitDurations,
    pub(crate) pools: Vec<PoolSampler>,
    /// `None` without HTTPS.
    pub(crate) certificates: Option<Arc<ServedCertificates>>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl SampledMetrics {
    /// The metrics in the text format of Prometheus.
    pub(crate) fn render(&self) -> String {
        let mut text = Text(String::new());
        text.durations(&self.durations.counts());
        let pools: Vec<PoolUsage> = self.pools.iter().flat_map(|sample| sample()).collect();
        text.pools(&pools);
        if let Some(certificates) = &self.certificates {
            text.certificates(certificates.overview(self.clock.now()));
        }
        text.process(&ProcessUsage::now(), self.started);
        text.0
    }
}

/// Metrics in the text format.
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn durations(&mut self, counts: &DurationCounts) {
        let DurationCounts { up_to, count, sum } = counts;
        self.head(VISIT_DURATION, "histogram", "Time from a visit's head to its answer.");
        let bucket = format!("{VISIT_DURATION}_bucket");
        for (bound, count) in up_to {
            self.line(&bucket, &format!("{{le=\"{}\"}}", bound.as_secs_f64()), count);
        }
        self.line(&bucket, "{le=\"+Inf\"}", count);
        self.line(&format!("{VISIT_DURATION}_sum"), "", sum.as_secs_f64());
        self.line(&format!("{VISIT_DURATION}_count"), "", count);
    }

    fn pools(&mut self, pools: &[PoolUsage]) {
        self.head(
            CONNECTIONS,
            "gauge",
            "Open connections of a pool, by whether they do something for a caller.",
        );
        for PoolUsage { pool, in_use, idle, max: _, waiting: _ } in pools {
            self.line(CONNECTIONS, &format!("{{pool=\"{pool}\",state=\"in_use\"}}"), in_use);
            self.line(CONNECTIONS, &format!("{{pool=\"{pool}\",state=\"idle\"}}"), idle);
        }
        self.head(MAX_CONNECTIONS, "gauge", "The most connections that a pool may have.");
        for PoolUsage { pool, max, .. } in pools {
            if let Some(max) = max {
                self.line(MAX_CONNECTIONS, &format!("{{pool=\"{pool}\"}}"), max);
            }
        }
        self.head(
            WAITING,
            "gauge",
            "Callers that wait for a connection of a pool or, where they share one, for an answer.",
        );
        for PoolUsage { pool, waiting, .. } in pools {
            self.line(WAITING, &format!("{{pool=\"{pool}\"}}"), waiting);
        }
    }

    fn certificates(&mut self, overview: CertificatesOverview) {
        let CertificatesOverview { served, late, soonest_end } = overview;
        self.value("signpost_certificates", "gauge", "Certificates that this node serves.", Some(served));
        self.value(
            "signpost_certificates_late",
            "gauge",
            "Certificates with less than a fifth of their life left.",
            Some(late),
        );
        self.value(
            "signpost_certificates_soonest_end_seconds",
            "gauge",
            "When the first certificate expires, in seconds since 1970.",
            soonest_end.map(unix_seconds),
        );
    }

    /// The standard metrics of a process. What the system does not tell is left out.
    fn process(&mut self, usage: &ProcessUsage, started: Timestamp) {
        let ProcessUsage { cpu_seconds, open_files, max_open_files, virtual_bytes, resident_bytes, threads } =
            *usage;
        self.value("process_cpu_seconds_total", "counter", "Processor time in seconds.", cpu_seconds);
        self.value("process_open_fds", "gauge", "Open file descriptors.", open_files);
        self.value("process_max_fds", "gauge", "The most open file descriptors.", max_open_files);
        self.value("process_virtual_memory_bytes", "gauge", "Virtual memory in bytes.", virtual_bytes);
        self.value("process_resident_memory_bytes", "gauge", "Resident memory in bytes.", resident_bytes);
        self.value(
            "process_start_time_seconds",
            "gauge",
            "Start of the process in seconds since 1970.",
            Some(unix_seconds(started)),
        );
        self.value("process_threads", "gauge", "Threads of the process.", threads);
    }

    fn value(&mut self, name: &str, kind: &str, help: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.head(name, kind, help);
            self.line(name, "", value);
        }
    }
}

const fn unix_seconds(instant: Timestamp) -> i64 {
    instant.unix_millis().div_euclid(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::SystemClock;

    fn sampled(pools: Vec<PoolSampler>) -> SampledMetrics {
        let started = Timestamp::from_unix_millis(1_769_850_307_042).unwrap();
        let durations = VisitDurations::default();
        SampledMetrics { started, durations, pools, certificates: None, clock: Arc::new(SystemClock) }
    }

    #[test]
    fn d195_certificates_are_counted_if_the_node_serves_https() {
        let mut sampled = sampled(Vec::new());
        assert!(!sampled.render().contains("signpost_certificates"));
        sampled.certificates = Some(Arc::new(ServedCertificates::new("go.example.com", 9)));
        let text = sampled.render();
        for line in ["signpost_certificates 0", "signpost_certificates_late 0"] {
            assert!(text.lines().any(|shown| shown == line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("soonest_end"), "without a certificate none ends: {text}");
    }

    #[test]
    fn d63_sampled_metrics_are_in_the_text_format() {
        let pools = || {
            let redis = PoolUsage { pool: "redis", in_use: 3, idle: 0, max: None, waiting: 5 };
            vec![PoolUsage { pool: "requests", in_use: 2, idle: 6, max: Some(14), waiting: 1 }, redis]
        };
        let text = sampled(vec![Box::new(pools)]).render();
        for line in [
            "# TYPE signpost_visit_duration_seconds histogram",
            "signpost_visit_duration_seconds_bucket{le=\"0.000025\"} 0",
            "signpost_visit_duration_seconds_bucket{le=\"+Inf\"} 0",
            "signpost_visit_duration_seconds_sum 0",
            "signpost_pool_connections{pool=\"requests\",state=\"in_use\"} 2",
            "signpost_pool_connections{pool=\"requests\",state=\"idle\"} 6",
            "signpost_pool_connections_max{pool=\"requests\"} 14",
            "signpost_pool_waiting{pool=\"redis\"} 5",
            "process_start_time_seconds 1769850307",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("connections_max{pool=\"redis\"}"), "{text}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn d63_the_metrics_of_the_process_are_plausible() {
        let text = sampled(Vec::new()).render();
        let value = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.unwrap_or_else(|| panic!("{name} is not in\n{text}")).parse().unwrap()
        };
        assert!(value("process_resident_memory_bytes") > 1e6);
        assert!((3.0..=value("process_max_fds")).contains(&value("process_open_fds")));
        assert!(value("process_threads") >= 1.0 && value("process_cpu_seconds_total") >= 0.0);
    }
}
