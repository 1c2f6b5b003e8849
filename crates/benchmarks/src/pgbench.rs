//! Rounds of `pgbench`.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::postgres::Postgres;
use super::turns::Until;

/// A transaction for `pgbench`, and the values of its variables. The variable `:n` is the first of 100 numbers that belong
/// to this transaction alone; the numbers of all transactions are consecutive.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    pub(super) sql: String,
    pub(super) variables: Vec<(String, String)>,
    /// Settings of its connections that differ from the server's defaults.
    settings: Option<(&'static str, &'static str)>,
}

/// Counts the transactions of each client, and interleaves the numbers of all clients.
const NUMBERS: &str = "\\set i :i + 1\n\\set n :first + (:i * :clients + :client_id) * 100\n";

impl Script {
    pub(super) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), ..Self::default() }
    }

    /// The same script with generic plans, so that PostgreSQL plans each statement once.
    pub(super) fn planned_once(self) -> Self {
        Self { settings: Some(("PGOPTIONS", "-c plan_cache_mode=force_generic_plan")), ..self }
    }

    /// Runs it, and returns the number of transactions and their time. `first` is the first number that it may use.
    pub(super) fn run(
        &self,
        postgres: &Postgres,
        clients: u32,
        until: Until,
        first: u64,
    ) -> Result<(u32, Duration)> {
        let file = postgres.folder().join("script.sql");
        fs::write(&file, format!("{NUMBERS}{}\n", self.sql))?;
        let mut command = postgres.pgbench();
        command.args(["-c", &clients.to_string(), "-j", &clients.min(2).to_string()]);
        match until {
            Until::Elapsed(time) => command.args(["-T", &time.as_secs().max(1).to_string()]),
            Until::Requests(count) => command.args(["-t", &(count / clients).to_string()]),
        };
        command.arg("-f").arg(&file).args(["-D", "i=-1"]);
        command.args(["-D", &format!("first={first}"), "-D", &format!("clients={clients}")]);
        for (name, value) in &self.variables {
            command.args(["-D", &format!("{name}={value}")]);
        }
        let output = command.envs(self.settings).output().context("cannot start pgbench")?;
        let (report, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "pgbench: {errors}\n{}", self.sql);
        outcome(&report).with_context(|| format!("no result in pgbench's report: {report}"))
    }
}

fn outcome(report: &str) -> Option<(u32, Duration)> {
    let after = |label: &str| report.lines().find_map(|line| line.strip_prefix(label));
    let transactions =
        after("number of transactions actually processed: ")?.split('/').next()?.parse().ok()?;
    let rate: f64 = after("tps = ")?.split(' ').next()?.parse().ok()?;
    Some((transactions, Duration::try_from_secs_f64(f64::from(transactions) / rate).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_follows_from_the_rate() {
        let report = "transaction type: x\nnumber of transactions actually processed: 300\n\
                      tps = 150.000000 (without initial connection time)\n";
        assert_eq!(outcome(report), Some((300, Duration::from_secs(2))));
        let report = report.replace("300", "300/300");
        assert_eq!(outcome(&report), Some((300, Duration::from_secs(2))));
        assert_eq!(outcome(""), None);
    }
}
