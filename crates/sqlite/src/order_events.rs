//! What counts against the budgets of orders (D190).

use diesel::dsl::{count_star, min};
use diesel::prelude::*;
use signpost_domain::{Hostname, OrderBudget, OrderKind, OrderUse, Spent, Timestamp};

use crate::failure::Failure;
use crate::schema::order_events;
use signpost_sql_rows::certificate_order::{
    FAILED_NEW_ORDER_EVENT, FAILURE_EVENT, NEW_ORDER_EVENT, PLAIN_RENEWAL_EVENT, failed_order_event,
    order_event,
};

/// How many events of the period of a budget there are, and the earliest of them.
type Counted = (i64, Option<i64>);

fn spent((count, oldest): Counted) -> Spent {
    Spent {
        count: u32::try_from(count).unwrap_or(u32::MAX),
        oldest: oldest.and_then(Timestamp::from_unix_millis),
    }
}

fn sum(one: Spent, other: Spent) -> Spent {
    Spent {
        count: one.count.saturating_add(other.count),
        oldest: one.oldest.into_iter().chain(other.oldest).min(),
    }
}

/// The first instant that no longer counts at `now`.
fn before(budget: OrderBudget, now: Timestamp) -> i64 {
    let period = i64::try_from(budget.period().as_millis()).unwrap_or(i64::MAX);
    now.unix_millis().saturating_sub(period)
}

/// What is in use of every budget at `now`.
pub(crate) fn order_use(
    connection: &mut SqliteConnection,
    hostname: &Hostname,
    registered_domain: &str,
    now: Timestamp,
) -> Result<OrderUse, Failure> {
    let counted = (count_star(), min(order_events::at));
    let mut of_kind = |kind: &str| {
        order_events::table
            .filter(order_events::kind.eq(kind))
            .filter(order_events::at.gt(before(OrderBudget::NewOrders, now)))
            .select(counted)
            .first::<Counted>(connection)
            .map(spent)
    };
    let new_orders = sum(of_kind(NEW_ORDER_EVENT)?, of_kind(FAILED_NEW_ORDER_EVENT)?);
    let registered = order_events::table
        .filter(order_events::registered_domain.eq(registered_domain))
        .filter(order_events::kind.eq(NEW_ORDER_EVENT))
        .filter(order_events::at.gt(before(OrderBudget::RegisteredDomain, now)))
        .select(counted)
        .first(connection)?;
    let mut of_hostname = |kind: &str, budget| {
        order_events::table
            .filter(order_events::hostname.eq(hostname.as_str()))
            .filter(order_events::kind.eq(kind))
            .filter(order_events::at.gt(before(budget, now)))
            .select(counted)
            .first::<Counted>(connection)
            .map(spent)
    };
    let (new, plain) = (
        of_hostname(NEW_ORDER_EVENT, OrderBudget::Name)?,
        of_hostname(PLAIN_RENEWAL_EVENT, OrderBudget::Name)?,
    );
    Ok(OrderUse {
        new_orders,
        registered_domain: spent(registered),
        name: sum(new, plain),
        hourly_failures: of_hostname(FAILURE_EVENT, OrderBudget::HourlyFailures)?,
        daily_failures: of_hostname(FAILURE_EVENT, OrderBudget::DailyFailures)?,
    })
}

/// Notes an event of this kind.
pub(crate) fn note(
    connection: &mut SqliteConnection,
    kind: &str,
    hostname: &Hostname,
    registered_domain: &str,
    at: Timestamp,
) -> Result<(), Failure> {
    diesel::insert_into(order_events::table)
        .values((
            order_events::at.eq(at.unix_millis()),
            order_events::kind.eq(kind),
            order_events::hostname.eq(hostname.as_str()),
            order_events::registered_domain.eq(registered_domain),
        ))
        .execute(connection)?;
    Ok(())
}

/// Marks the latest order of this kind as one that has brought no certificate.
pub(crate) fn release(
    connection: &mut SqliteConnection,
    kind: OrderKind,
    hostname: &Hostname,
) -> Result<(), Failure> {
    let latest: Option<i64> = order_events::table
        .filter(order_events::hostname.eq(hostname.as_str()))
        .filter(order_events::kind.eq(order_event(kind)))
        .order(order_events::at.desc())
        .select(order_events::id)
        .first(connection)
        .optional()?;
    if let Some(id) = latest {
        diesel::update(order_events::table.find(id))
            .set(order_events::kind.eq(failed_order_event(kind)))
            .execute(connection)?;
    }
    Ok(())
}

/// Deletes up to `at_most` events that are no later than `until`, and returns how many.
pub(crate) fn forget(connection: &mut SqliteConnection, until: i64, at_most: u16) -> Result<usize, Failure> {
    let ids: Vec<i64> = order_events::table
        .filter(order_events::at.le(until))
        .order(order_events::at)
        .select(order_events::id)
        .limit(at_most.into())
        .load(connection)?;
    if ids.is_empty() {
        return Ok(0);
    }
    Ok(diesel::delete(order_events::table.filter(order_events::id.eq_any(ids))).execute(connection)?)
}

/// Whether there are events that are no later than `until`.
pub(crate) fn has_old(connection: &mut SqliteConnection, until: i64) -> Result<bool, Failure> {
    let old = order_events::table.filter(order_events::at.le(until));
    Ok(diesel::select(diesel::dsl::exists(old)).get_result(connection)?)
}
