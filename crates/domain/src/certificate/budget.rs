//! How many orders this installation makes (D190): fewer than the limits of authorities, so that a mistake here never uses up
//! what renewals need.

use std::time::Duration;

#[cfg(feature = "public-suffix")]
use crate::hostname::Hostname;
#[cfg(feature = "public-suffix")]
use crate::public_suffix;
use crate::timestamp::Timestamp;

/// A limit over a sliding period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderBudget {
    /// Orders for new names, of the whole installation.
    NewOrders,
    /// Orders for new names under one registered domain.
    RegisteredDomain,
    /// Orders for one name that do not say which certificate they replace.
    Name,
    /// Failures of one name in an hour.
    HourlyFailures,
    /// Failures of one name in a day.
    DailyFailures,
}

impl OrderBudget {
    /// All budgets.
    pub const ALL: [Self; 5] =
        [Self::NewOrders, Self::RegisteredDomain, Self::Name, Self::HourlyFailures, Self::DailyFailures];

    /// How many events fit into one period.
    #[must_use]
    pub const fn limit(self) -> u32 {
        match self {
            Self::NewOrders => 200,
            Self::RegisteredDomain => 40,
            Self::Name | Self::HourlyFailures => 3,
            Self::DailyFailures => 10,
        }
    }

    /// The length of the period.
    #[must_use]
    pub const fn period(self) -> Duration {
        match self {
            Self::NewOrders => Duration::from_hours(3),
            Self::RegisteredDomain | Self::Name => Duration::from_hours(7 * 24),
            Self::HourlyFailures => Duration::from_hours(1),
            Self::DailyFailures => Duration::from_hours(24),
        }
    }

    /// Whether an order of this kind needs room in the budget. Authorities exempt renewals from the limits of new names.
    #[must_use]
    pub const fn applies_to(self, kind: OrderKind) -> bool {
        match (self, kind) {
            (Self::HourlyFailures | Self::DailyFailures, _) | (_, OrderKind::New | OrderKind::Catchup) => {
                true
            }
            (Self::Name, OrderKind::Renewal { names_predecessor }) => !names_predecessor,
            (Self::NewOrders | Self::RegisteredDomain, OrderKind::Renewal { .. }) => false,
        }
    }
}

impl OrderKind {
    /// How many events of a budget leave no room for an order of this kind. A part of the orders for new names is kept for those
    /// that wait.
    const fn limit(self, budget: OrderBudget) -> u32 {
        match (self, budget) {
            (Self::Catchup, OrderBudget::NewOrders) => budget.limit() / 4 * 3,
            (Self::Catchup | Self::New | Self::Renewal { .. }, _) => budget.limit(),
        }
    }
}

/// What an order is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderKind {
    /// A name that cannot be used before it has a certificate.
    New,
    /// A name that is used already, and has no certificate of this authority: it was used without HTTPS, or the authority was
    /// replaced. It loses nothing by waiting longer than a new one.
    Catchup,
    /// The next certificate of a name.
    Renewal {
        /// Whether the order tells the authority which certificate it replaces (ARI).
        names_predecessor: bool,
    },
}

/// The part of a budget that is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// The events of the last period.
    pub count: u32,
    /// The instant of the earliest of them; `None` if there are none.
    pub oldest: Option<Timestamp>,
}

/// What is in use of every budget, for one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrderUse {
    /// Of [`OrderBudget::NewOrders`].
    pub new_orders: Spent,
    /// Of [`OrderBudget::RegisteredDomain`].
    pub registered_domain: Spent,
    /// Of [`OrderBudget::Name`].
    pub name: Spent,
    /// Of [`OrderBudget::HourlyFailures`].
    pub hourly_failures: Spent,
    /// Of [`OrderBudget::DailyFailures`].
    pub daily_failures: Spent,
}

/// Whether an order may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetDecision {
    /// Yes.
    Allowed,
    /// Not before `ask_again_at`. Then the decision is made again.
    Exhausted {
        /// The budget that frees room last.
        budget: OrderBudget,
        /// When its earliest event is a period old.
        ask_again_at: Timestamp,
    },
}

impl OrderUse {
    /// What is in use of this budget.
    #[must_use]
    pub const fn of(&self, budget: OrderBudget) -> Spent {
        match budget {
            OrderBudget::NewOrders => self.new_orders,
            OrderBudget::RegisteredDomain => self.registered_domain,
            OrderBudget::Name => self.name,
            OrderBudget::HourlyFailures => self.hourly_failures,
            OrderBudget::DailyFailures => self.daily_failures,
        }
    }

    /// Whether an order of this kind may be made now.
    #[must_use]
    pub fn decide(&self, kind: OrderKind, now: Timestamp) -> BudgetDecision {
        let exhausted = OrderBudget::ALL
            .into_iter()
            .filter(|budget| budget.applies_to(kind) && self.of(*budget).count >= kind.limit(*budget));
        let frees = exhausted.map(|budget| {
            // Without an instant the whole period passes. An instant that has passed already is a moment from now, so that
            // a wrong clock causes no busy loop.
            let oldest = self.of(budget).oldest.unwrap_or(now);
            (oldest.plus(budget.period()).max(now.plus(Duration::from_secs(1))), budget)
        });
        match frees.max_by_key(|(at, _)| *at) {
            Some((ask_again_at, budget)) => BudgetDecision::Exhausted { budget, ask_again_at },
            None => BudgetDecision::Allowed,
        }
    }
}

/// The name that [`OrderBudget::RegisteredDomain`] counts under: the registrable domain by the public suffix list, or the
/// hostname itself if it is a public suffix.
///
/// ```
/// use signpost_domain::Hostname;
/// use signpost_domain::certificate::registered_domain;
///
/// assert_eq!(registered_domain(&Hostname::parse("go.eu.example.co.uk").unwrap()), "example.co.uk");
/// ```
#[cfg(feature = "public-suffix")]
#[must_use]
pub fn registered_domain(hostname: &Hostname) -> &str {
    public_suffix::zone_of(hostname).unwrap_or(hostname.as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RENEWAL: OrderKind = OrderKind::Renewal { names_predecessor: true };
    const PLAIN_RENEWAL: OrderKind = OrderKind::Renewal { names_predecessor: false };

    fn instant(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    fn spending(budget: OrderBudget, spent: Spent) -> OrderUse {
        let mut used = OrderUse::default();
        match budget {
            OrderBudget::NewOrders => used.new_orders = spent,
            OrderBudget::RegisteredDomain => used.registered_domain = spent,
            OrderBudget::Name => used.name = spent,
            OrderBudget::HourlyFailures => used.hourly_failures = spent,
            OrderBudget::DailyFailures => used.daily_failures = spent,
        }
        used
    }

    #[test]
    fn d190_budgets_are_below_the_limits_of_authorities() {
        let hours = OrderBudget::ALL.map(|budget| (budget.limit(), budget.period().as_secs() / 3_600));
        assert_eq!(hours, [(200, 3), (40, 168), (3, 168), (3, 1), (10, 24)]);
    }

    #[test]
    fn d190_an_order_is_allowed_until_a_budget_is_used_up() {
        let now = instant(1_000_000_000_000);
        assert_eq!(OrderUse::default().decide(OrderKind::New, now), BudgetDecision::Allowed);
        for budget in OrderBudget::ALL {
            let oldest = now.minus(budget.period() / 4);
            let spent = |count| spending(budget, Spent { count, oldest: Some(oldest) });
            let limit = budget.limit();
            assert_eq!(spent(limit - 1).decide(OrderKind::New, now), BudgetDecision::Allowed);
            let ask_again_at = oldest.plus(budget.period());
            for count in [limit, limit + 100] {
                let decision = spent(count).decide(OrderKind::New, now);
                assert_eq!(decision, BudgetDecision::Exhausted { budget, ask_again_at });
            }
        }
    }

    #[test]
    fn d190_renewals_do_not_need_the_budgets_of_new_names() {
        let now = instant(1_000_000_000_000);
        for (budget, new, plain, with_predecessor) in [
            (OrderBudget::NewOrders, false, true, true),
            (OrderBudget::RegisteredDomain, false, true, true),
            (OrderBudget::Name, false, false, true),
            (OrderBudget::HourlyFailures, false, false, false),
            (OrderBudget::DailyFailures, false, false, false),
        ] {
            let used = spending(budget, Spent { count: budget.limit(), oldest: Some(now) });
            let allows = |kind| used.decide(kind, now) == BudgetDecision::Allowed;
            let allowed = [OrderKind::New, PLAIN_RENEWAL, RENEWAL].map(allows);
            assert_eq!(allowed, [new, plain, with_predecessor], "{budget:?}");
        }
    }

    /// Thousands of domains that were used before do not keep new ones from their certificates.
    #[test]
    fn d190_catching_up_leaves_room_for_new_names() {
        let now = instant(1_000_000_000_000);
        for (count, new, catchup) in
            [(149, true, true), (150, true, false), (199, true, false), (200, false, false)]
        {
            let used = spending(OrderBudget::NewOrders, Spent { count, oldest: Some(now) });
            let allows = |kind| used.decide(kind, now) == BudgetDecision::Allowed;
            assert_eq!((allows(OrderKind::New), allows(OrderKind::Catchup)), (new, catchup), "{count}");
        }
        for budget in [OrderBudget::RegisteredDomain, OrderBudget::Name, OrderBudget::DailyFailures] {
            let used = spending(budget, Spent { count: budget.limit() - 1, oldest: Some(now) });
            assert_eq!(used.decide(OrderKind::Catchup, now), BudgetDecision::Allowed);
        }
    }

    #[test]
    fn d190_the_budget_that_frees_room_last_decides() {
        let now = instant(1_000_000_000_000);
        let used = OrderUse {
            hourly_failures: Spent { count: 3, oldest: Some(now) },
            daily_failures: Spent { count: 10, oldest: Some(now.minus(Duration::from_hours(20))) },
            ..OrderUse::default()
        };
        let ask_again_at = now.plus(Duration::from_hours(4));
        let budget = OrderBudget::DailyFailures;
        assert_eq!(used.decide(RENEWAL, now), BudgetDecision::Exhausted { budget, ask_again_at });
    }

    #[cfg(feature = "public-suffix")]
    #[test]
    fn d190_names_count_under_their_registered_domain() {
        for (hostname, domain) in [
            ("example.com", "example.com"),
            ("a.b.example.com", "example.com"),
            ("go.shop.co.uk", "shop.co.uk"),
            ("github.io", "github.io"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(registered_domain(&Hostname::parse(hostname).unwrap()), domain);
        }
    }

    proptest! {
        /// R22: no clock causes a panic or a busy loop.
        #[test]
        fn d190_asking_again_lies_ahead(
            now in 0..=Timestamp::LAST.unix_millis(),
            oldest in prop::option::of(0..=Timestamp::LAST.unix_millis()),
            count in any::<u32>(),
        ) {
            let now = instant(now);
            for budget in OrderBudget::ALL {
                let spent = Spent { count, oldest: oldest.map(instant) };
                match spending(budget, spent).decide(OrderKind::New, now) {
                    BudgetDecision::Allowed => prop_assert!(count < budget.limit()),
                    BudgetDecision::Exhausted { ask_again_at, .. } => {
                        prop_assert!(ask_again_at > now || now == Timestamp::LAST);
                    }
                }
            }
        }
    }
}
