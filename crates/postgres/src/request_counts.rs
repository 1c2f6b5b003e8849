//! The counts of admitted requests (D16).
//!
//! A row counts one calendar minute or day of one account, keyed by its start. So a clock that steps back
//! finds the old count again. The database function `admit_request` makes the decision, because it takes two
//! steps and only one round trip; see the migration.

use std::time::Duration;

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use signpost_app::ports::{QuotaStore, StoreError};
use signpost_domain::{
    AccountId, QuotaDecision, QuotaRemaining, QuotaUse, QuotaWindow, RequestBudget, Timestamp,
};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::{Failure, is_contended};
use crate::schema::request_counts;
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant};

/// How long a count is kept after the start of its window: a day's count still exists two days after the day. Larger clock
/// steps are not expected.
const KEPT: Duration = Duration::from_hours(72);

/// How many attempts to count a request when PostgreSQL aborts it in favour of another.
const ATTEMPTS: u32 = 5;

/// The value of the column `span` for minutes.
const MINUTE: i16 = 0;

/// The value of the column `span` for days.
const DAY: i16 = 1;

statement! {
    /// Decides on a request, and counts it if it is admitted. Returns the previous counts of the minute and of the day.
    #[derive(Clone, Copy)]
    AdmitRequest -> (BigInt, BigInt) {
        account: IdBytes => Identifier,
        minute: Instant => Moment,
        day: Instant => Moment,
        per_minute: i64 => BigInt,
        per_day: i64 => BigInt,
        oldest_kept: Instant => Moment,
    } =
    "SELECT in_minute, in_day FROM admit_request($1, $2, $3, $4, $5, $6)"
}

#[async_trait]
impl QuotaStore for PostgresStore {
    async fn admit(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaDecision, StoreError> {
        let minute = QuotaWindow::Minute.start(now);
        let statement = AdmitRequest {
            account: account.into(),
            minute: minute.into(),
            day: QuotaWindow::Day.start(now).into(),
            per_minute: budget.per_minute.into(),
            per_day: budget.per_day.into(),
            oldest_kept: minute.minus(KEPT).into(),
        };
        let used = self.read(async |connection| {
            let mut attempts = 1..ATTEMPTS;
            let (minute, day): (i64, i64) = loop {
                match statement.get_result(connection).await {
                    // The attempt was rolled back, and the other transaction has proceeded.
                    Err(error) if is_contended(&error) && attempts.next().is_some() => {}
                    outcome => break outcome?,
                }
            };
            Ok(QuotaUse { minute: used(account, minute)?, day: used(account, day)? })
        });
        Ok(budget.decide(used.await?))
    }

    async fn remaining(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaRemaining, StoreError> {
        let windows = [(MINUTE, QuotaWindow::Minute), (DAY, QuotaWindow::Day)];
        let [minute, day] = windows.map(|(span, window)| {
            let started_at = Instant::from(window.start(now));
            request_counts::span.eq(span).and(request_counts::started_at.eq(started_at))
        });
        let used = self.read(async |connection| {
            let counts: Vec<(i16, i64)> = request_counts::table
                .filter(request_counts::account_id.eq(IdBytes::from(account)))
                .filter(minute.or(day))
                .select((request_counts::span, request_counts::admitted))
                .load(connection)
                .await?;
            let mut sum = QuotaUse::default();
            for (span, admitted) in counts {
                let admitted = used(account, admitted)?;
                if span == MINUTE { sum.minute = admitted } else { sum.day = admitted }
            }
            Ok(sum)
        });
        Ok(budget.remaining(used.await?))
    }
}

fn used(account: AccountId, admitted: i64) -> Result<u32, Failure> {
    let admitted = u32::try_from(admitted).map_err(|_| "is not from 0 to 4,294,967,295");
    Ok(RowName::new("request_counts", account).cell("admitted", admitted)?)
}
