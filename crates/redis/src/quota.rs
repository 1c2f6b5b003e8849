//! The counts of admitted requests (D16).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use redis::{RedisError, Script};
use signpost_app::pool_usage::PoolUsage;
use signpost_app::ports::{Clock, CountId, CountedElsewhere, MergingQuotaStore, QuotaStore, StoreError};
use signpost_domain::{
    AccountId, QuotaDecision, QuotaRemaining, QuotaUse, QuotaWindow, RequestBudget, Timestamp,
};

use crate::clock_comparison::ClockComparison;
use crate::connection::Server;
use crate::failure::{Failure, corrupt};
use crate::url::RedisUrl;

/// The lifetime of a key in seconds: until at least two days after the end of its day.
const KEPT: &str = "259200";

const ADMIT: &str = include_str!("scripts/admit.lua");
const MERGE: &str = include_str!("scripts/merge.lua");
const TRY_WRITE: &str = include_str!("scripts/try_write.lua");
const DAY: &str = "day";
/// This key never expires, and is lost together with the counts.
const NAME: &str = "signpost:quota:name";

/// The options of the store.
#[derive(Debug, Clone)]
pub struct RedisOptions {
    /// The time limit of a call, waiting for the connection included; 500 ms by default. A caller that falls back sooner
    /// still gets the answer within this time.
    pub time_limit: Duration,
    /// The root certificates (PEM) for `rediss://` and `rediss-cluster://`. Without them, the machine's roots are trusted.
    pub root_certificates: Option<Vec<u8>>,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self { time_limit: Duration::from_millis(500), root_certificates: None }
    }
}

/// Counts requests in Redis. See the crate's documentation.
pub struct RedisQuotaStore {
    server: Server,
    admit: Script,
    merge: Script,
    try_write: Script,
    clocks: ClockComparison,
}

/// The store cannot be opened: the root certificates are invalid, or this machine has none.
#[derive(Debug, thiserror::Error)]
#[error("cannot prepare the connection to Redis")]
pub struct RedisOpenError(#[from] RedisError);

impl fmt::Debug for RedisQuotaStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisQuotaStore").finish_non_exhaustive()
    }
}

impl RedisQuotaStore {
    /// Prepares the store without connecting. Any tokio runtime with I/O and timers enabled may call it; each has its own
    /// connection. `clock` is the clock that names the time of requests; it is compared with that of Redis whenever the
    /// store is tried.
    ///
    /// # Errors
    /// The certificates cannot be read.
    pub fn open(url: RedisUrl, options: RedisOptions, clock: Arc<dyn Clock>) -> Result<Self, RedisOpenError> {
        Ok(Self {
            server: Server::new(url, options)?,
            admit: Script::new(ADMIT),
            merge: Script::new(MERGE),
            try_write: Script::new(TRY_WRITE),
            clocks: ClockComparison::by(clock),
        })
    }

    /// How busy the connections are.
    #[must_use]
    pub fn pool_usage(&self) -> Vec<PoolUsage> {
        vec![self.server.usage()]
    }

    /// Whether Redis answers, for health checks.
    ///
    /// [`StoreError::Unavailable`] if Redis does not answer within the time limit.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.server.query::<()>(&redis::cmd("PING")).await.map_err(StoreError::unavailable)
    }
}

/// The key of an account and the day of `now`, and the field of the minute.
fn place(account: AccountId, now: Timestamp) -> (String, String) {
    let day = QuotaWindow::Day.start(now);
    let minute = (QuotaWindow::Minute.start(now).unix_millis() - day.unix_millis()) / 60_000;
    let date = day.to_string();
    let date = date.split('T').next().unwrap_or_default();
    (format!("signpost:quota:{{{account}}}:{date}"), minute.to_string())
}

fn count(key: &str, value: i64) -> Result<u32, StoreError> {
    u32::try_from(value).map_err(|_| corrupt(key, format!("{value} is not from 0 to 4,294,967,295")))
}

fn parse(key: &str, value: Option<&[u8]>) -> Result<u32, StoreError> {
    let Some(value) = value else { return Ok(0) };
    let number = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| corrupt(key, "is not a number from 0 to 4,294,967,295".to_owned()))
}

#[async_trait]
impl QuotaStore for RedisQuotaStore {
    async fn admit(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaDecision, StoreError> {
        let (key, minute) = place(account, now);
        let (per_minute, per_day) = (budget.per_minute.to_string(), budget.per_day.to_string());
        let arguments = [&*minute, &per_minute, &per_day, KEPT];
        let used: Result<(i64, i64), Failure> = self.server.run(&self.admit, ADMIT, &key, &arguments).await;
        let (minute, day) = used.map_err(|failure| failure.about(&key))?;
        // The script counted the request if both counts are below the budget; this repeats its decision.
        Ok(budget.decide(QuotaUse { minute: count(&key, minute)?, day: count(&key, day)? }))
    }

    async fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaRemaining, StoreError> {
        let (key, minute) = place(account, now);
        let mut command = redis::cmd("HMGET");
        command.arg(&key).arg(minute).arg(DAY);
        let used: Result<(Option<Vec<u8>>, Option<Vec<u8>>), Failure> = self.server.query(&command).await;
        let (minute, day) = used.map_err(|failure| failure.about(&key))?;
        let used = QuotaUse { minute: parse(&key, minute.as_deref())?, day: parse(&key, day.as_deref())? };
        Ok(budget.remaining(used))
    }
}

#[async_trait]
impl MergingQuotaStore for RedisQuotaStore {
    async fn merge(
        &self,
        account: AccountId,
        window: QuotaWindow,
        at: Timestamp,
        counted: CountedElsewhere,
    ) -> Result<u32, StoreError> {
        let CountedElsewhere { count: id, alone, merged, in_store } = counted;
        let (key, minute) = place(account, at);
        let field = match window {
            QuotaWindow::Minute => &*minute,
            QuotaWindow::Day => DAY,
        };
        let taken_in = format!("from:{:032x}", id.as_u128());
        let (alone, merged, in_store) = (alone.to_string(), merged.to_string(), in_store.to_string());
        let arguments = [field, &taken_in, &alone, &merged, &in_store, KEPT];
        let after: Result<i64, Failure> = self.server.run(&self.merge, MERGE, &key, &arguments).await;
        count(&key, after.map_err(|failure| failure.about(&key))?)
    }

    async fn try_write(&self, proposed: CountId) -> Result<CountId, StoreError> {
        let proposed = format!("{:032x}", proposed.as_u128());
        let asked = self.clocks.now();
        let answer: Result<Vec<String>, Failure> =
            self.server.run(&self.try_write, TRY_WRITE, NAME, &[&proposed]).await;
        let answer = answer.map_err(|failure| failure.about(NAME))?;
        if let [_, seconds, micros] = &*answer {
            self.clocks.compare(asked, seconds, micros);
        }
        let name = answer.first().and_then(|name| u128::from_str_radix(name, 16).ok());
        let name = name.ok_or_else(|| corrupt(NAME, "is not a name of counts".to_owned()))?;
        Ok(CountId::from_u128(name))
    }
}
