//! What counts against the budgets of orders (D190).

use std::time::Instant as Monotonic;

use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{ORDER_EVENTS_KEPT, StoreError, UnitOfWork as _};
use signpost_domain::{BudgetDecision, Hostname, OrderBudget, OrderKind, OrderUse, Spent, Timestamp};
use signpost_sql_rows::sql_types::Moment;

use crate::failure::Failure;
use crate::statement::{both, statement};
use crate::store::PostgresStore;
use crate::unit_of_work::{PostgresUnitOfWork, pause};
use signpost_sql_rows::certificate_order::order_event;
use signpost_sql_rows::columns::Instant;

statement! {
    /// Locks the row of the budgets. Every order does so before it counts.
    LockBudgets -> Bool {} =
    "SELECT is_the_row FROM order_budget WHERE is_the_row FOR UPDATE"
}

statement! {
    /// Counts the events since the beginning of the period of each budget, and finds the earliest of each: all new orders, those
    /// of a registered domain, those of a name, and its failures in an hour and in a day.
    CountEvents<'a> -> (
        BigInt, Nullable<Moment>, BigInt, Nullable<Moment>, BigInt, Nullable<Moment>, BigInt, Nullable<Moment>, BigInt,
        Nullable<Moment>,
    ) {
        hostname: &'a str => Text,
        registered_domain: &'a str => Text,
        new_orders: Instant => Moment,
        of_domain: Instant => Moment,
        of_name: Instant => Moment,
        hour: Instant => Moment,
        day: Instant => Moment,
    } =
    "SELECT a.*, b.*, c.*, d.*, e.* FROM (SELECT count(*), min(at) FROM order_events WHERE kind IN ('new', 'failed_new') AND at > $3) AS a, \
     (SELECT count(*), min(at) FROM order_events WHERE registered_domain = $2 AND kind = 'new' AND at > $4) AS b, (SELECT \
     count(*), min(at) FROM order_events WHERE hostname = $1 AND kind IN ('new', 'plain_renewal') AND at > $5) AS c, \
     (SELECT count(*), min(at) FROM order_events WHERE hostname = $1 AND kind = 'failure' AND at > $6) AS d, (SELECT \
     count(*), min(at) FROM order_events WHERE hostname = $1 AND kind = 'failure' AND at > $7) AS e"
}

statement! {
    /// Notes an event.
    NoteEvent<'a> -> Bool {
        at: Instant => Moment,
        kind: &'a str => Text,
        hostname: &'a str => Text,
        registered_domain: &'a str => Text,
    } =
    "INSERT INTO order_events (at, kind, hostname, registered_domain) VALUES ($1, $2, $3, $4)"
}

statement! {
    /// Notes a failure, and marks the latest order of a kind as one that has brought no certificate.
    pub(crate) NoteFailure<'a> -> Bool {
        at: Instant => Moment,
        hostname: &'a str => Text,
        registered_domain: &'a str => Text,
        order: &'a str => Text,
        failed_order: &'a str => Text,
    } =
    "WITH released AS (UPDATE order_events SET kind = $5 WHERE id = (SELECT id FROM order_events WHERE hostname = $2 AND kind = \
     $4 ORDER BY at DESC LIMIT 1)) INSERT INTO order_events (at, kind, hostname, registered_domain) VALUES ($1, 'failure', $2, $3)"
}

statement! {
    /// Deletes events, the oldest first. It finds one more than it deletes, and counts those that it has found.
    pub(crate) ForgetEvents -> BigInt {
        until: Instant => Moment,
        found: u32,
        at_most: u16,
    } =
    "WITH old AS MATERIALIZED (SELECT o.id, o.at FROM order_events AS o WHERE o.at <= $1 ORDER BY o.at LIMIT $2 FOR UPDATE \
     SKIP LOCKED), gone AS (DELETE FROM order_events AS d WHERE d.id = ANY (ARRAY(SELECT id FROM old ORDER BY at LIMIT \
     $3))) SELECT count(*) FROM old"
}

statement! {
    /// Deletes expired challenges like [`ForgetEvents`].
    pub(crate) ForgetChallenges -> BigInt {
        now: Instant => Moment,
        found: u32,
        at_most: u16,
    } =
    "WITH old AS MATERIALIZED (SELECT o.token, o.expires_at FROM certificate_challenges AS o WHERE o.expires_at <= $1 \
     ORDER BY o.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED), gone AS (DELETE FROM certificate_challenges AS d WHERE \
     d.token = ANY (ARRAY(SELECT token FROM old ORDER BY expires_at LIMIT $3))) SELECT count(*) FROM old"
}

impl ForgetEvents {
    /// Those that no longer count against any budget at `now`.
    pub(crate) fn older(now: Timestamp, found: u32, at_most: u16) -> Self {
        Self { until: Instant::from(now).minus(ORDER_EVENTS_KEPT), found, at_most }
    }
}

/// How many events there are in each period, each with the earliest of them.
type Counted = (
    i64,
    Option<Instant>,
    i64,
    Option<Instant>,
    i64,
    Option<Instant>,
    i64,
    Option<Instant>,
    i64,
    Option<Instant>,
);

fn order_use(counted: Counted) -> OrderUse {
    let spent = |count, oldest: Option<Instant>| Spent {
        count: u32::try_from(count).unwrap_or(u32::MAX),
        oldest: oldest.and_then(Instant::timestamp),
    };
    OrderUse {
        new_orders: spent(counted.0, counted.1),
        registered_domain: spent(counted.2, counted.3),
        name: spent(counted.4, counted.5),
        hourly_failures: spent(counted.6, counted.7),
        daily_failures: spent(counted.8, counted.9),
    }
}

/// Counts an order if all budgets allow it, within a transaction that holds the lock until its end.
async fn decide(
    connection: &mut &AsyncPgConnection,
    hostname: &str,
    registered_domain: &str,
    kind: OrderKind,
    now: Timestamp,
) -> Result<BudgetDecision, Failure> {
    let at = Instant::from(now);
    let since = |budget: OrderBudget| at.minus(budget.period());
    let count = CountEvents {
        hostname,
        registered_domain,
        new_orders: since(OrderBudget::NewOrders),
        of_domain: since(OrderBudget::RegisteredDomain),
        of_name: since(OrderBudget::Name),
        hour: since(OrderBudget::HourlyFailures),
        day: since(OrderBudget::DailyFailures),
    };
    let (mut locking, mut counting) = (*connection, *connection);
    let lock = async { Ok(LockBudgets {}.load::<bool>(&mut locking).await?) };
    let count = async { Ok(count.get_result::<Counted>(&mut counting).await?) };
    // The second statement begins after the lock is taken, so it sees all that earlier holders have spent.
    let (locked, counted) = both(lock, count).await?;
    if locked.is_empty() {
        return Err(Failure::Other("order_budget has no row".to_owned()));
    }
    let decision = order_use(counted).decide(kind, now);
    if decision == BudgetDecision::Allowed {
        let kind = order_event(kind);
        NoteEvent { at, kind, hostname, registered_domain }.execute(connection).await?;
    }
    Ok(decision)
}

/// Counts an order if all budgets allow it, and returns the decision.
pub(crate) async fn spend(
    store: &PostgresStore,
    hostname: &Hostname,
    registered_domain: &str,
    kind: OrderKind,
    now: Timestamp,
) -> Result<BudgetDecision, StoreError> {
    let begun = Monotonic::now();
    loop {
        let attempt = async {
            let mut work = PostgresUnitOfWork::begin(store.connections(), begun).await?;
            let step = async |connection: &mut &AsyncPgConnection| {
                decide(connection, hostname.as_str(), registered_domain, kind, now).await
            };
            let decision = work.step(step).await?;
            #[expect(clippy::disallowed_methods, reason = "it changes nothing that visitors see")]
            Box::new(work).commit().await?;
            Ok(decision)
        };
        match attempt.await {
            Err(StoreError::Contended) => pause(begun + store.time_limit()).await,
            outcome => return outcome,
        }
    }
}
