//! The collection of certificates, and what belongs to the work on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use signpost_app::ports::{
    CERTIFICATES_LEFT_ALONE_FOR, CertificateClaim, KeepOrder, MAX_CLAIMS_OF_A_CERTIFICATE, ORDER_EVENTS_KEPT,
    RunningOrder, ServedCertificate, StoredAuthorityAccount, StoredCertificate, StoredChallenge, WorkPlan,
};
use signpost_domain::{
    AccountId, BudgetDecision, Hostname, OrderBudget, OrderKind, OrderUse, SealedSecret, Spent, Timestamp,
};

/// What is stored about certificates. Copied on the first change in a unit of work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Certificates(Arc<Kept>);

#[derive(Debug, Clone, Default)]
struct Kept {
    rows: BTreeMap<Hostname, StoredCertificate>,
    challenges: BTreeMap<String, StoredChallenge>,
    events: Vec<Event>,
    accounts: BTreeMap<String, StoredAuthorityAccount>,
    waits: BTreeMap<String, Timestamp>,
}

/// Something that counts against budgets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Event {
    at: Timestamp,
    /// `None` for a failure.
    order: Option<OrderKind>,
    /// Whether the order brought no certificate.
    has_failed: bool,
    hostname: Hostname,
    registered_domain: String,
}

const fn is_renewal(kind: OrderKind) -> bool {
    matches!(kind, OrderKind::Renewal { .. })
}

impl Certificates {
    fn kept(&mut self) -> &mut Kept {
        Arc::make_mut(&mut self.0)
    }

    pub(crate) fn of(&self, hostname: &Hostname) -> Option<&StoredCertificate> {
        self.0.rows.get(hostname)
    }

    /// By hostname, after this one.
    pub(crate) fn after(&self, after: Option<&Hostname>) -> impl Iterator<Item = &StoredCertificate> {
        let is_after = move |hostname: &Hostname| after.is_none_or(|after| hostname > after);
        self.0.rows.values().filter(move |row| is_after(&row.hostname))
    }

    pub(crate) fn challenge(&self, token: &str, now: Timestamp) -> Option<&StoredChallenge> {
        self.0.challenges.get(token).filter(|challenge| now < challenge.expires_at)
    }

    pub(crate) fn challenge_of(&self, hostname: &Hostname, now: Timestamp) -> Option<&StoredChallenge> {
        let of_hostname = self.0.challenges.values().filter(|challenge| challenge.hostname == *hostname);
        of_hostname
            .filter(|challenge| now < challenge.expires_at)
            .max_by_key(|challenge| challenge.expires_at)
    }

    pub(crate) fn account(&self, directory: &str) -> Option<&StoredAuthorityAccount> {
        self.0.accounts.get(directory)
    }

    pub(crate) fn accounts(&self) -> &BTreeMap<String, StoredAuthorityAccount> {
        &self.0.accounts
    }

    pub(crate) fn credentials_mut(&mut self, directory: &str) -> Option<&mut SealedSecret> {
        self.kept().accounts.get_mut(directory).map(|account| &mut account.credentials)
    }

    pub(crate) fn sealed_key_mut(&mut self, hostname: &Hostname) -> Option<&mut SealedSecret> {
        self.kept().rows.get_mut(hostname)?.served.as_mut().map(|served| &mut served.key)
    }

    pub(crate) fn wait(&self, directory: &str) -> Option<Timestamp> {
        self.0.waits.get(directory).copied()
    }

    /// Inserts a row that is due at `now`. `false` if there is one.
    pub(crate) fn want(&mut self, account: Option<AccountId>, hostname: &Hostname, now: Timestamp) -> bool {
        if let Some(row) = self.0.rows.get(hostname) {
            if account.is_some()
                && row.account.is_none()
                && let Some(row) = self.kept().rows.get_mut(hostname)
            {
                row.account = account;
                row.plan.next_attempt_at = Some(now);
                row.claims = 0;
                return true;
            }
            return false;
        }
        let row = StoredCertificate {
            hostname: hostname.clone(),
            account,
            served: None,
            order: None,
            plan: WorkPlan { next_attempt_at: Some(now), ..WorkPlan::default() },
            claims: 0,
        };
        self.kept().rows.insert(hostname.clone(), row);
        true
    }

    /// The hostnames whose work may be claimed at `now`, the longest due first.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<Hostname> {
        let due_since = |row: &StoredCertificate| {
            let next = row.plan.next_attempt_at?;
            let pause = row.claims >= MAX_CLAIMS_OF_A_CERTIFICATE;
            let since = if pause { next.plus(CERTIFICATES_LEFT_ALONE_FOR) } else { next };
            (since <= now).then_some(since)
        };
        let mut due: Vec<_> =
            self.0.rows.values().filter_map(|row| Some((due_since(row)?, row.hostname.clone()))).collect();
        due.sort();
        due.into_iter().map(|(_, hostname)| hostname).collect()
    }

    pub(crate) fn claim(&mut self, hostname: &Hostname, until: Timestamp) -> Option<StoredCertificate> {
        let row = self.kept().rows.get_mut(hostname)?;
        row.claims = if row.claims >= MAX_CLAIMS_OF_A_CERTIFICATE { 1 } else { row.claims + 1 };
        row.plan.next_attempt_at = Some(until);
        Some(row.clone())
    }

    pub(crate) fn hasten(&mut self, hostname: &Hostname, now: Timestamp) -> bool {
        let Some(row) = self.kept().rows.get_mut(hostname) else { return false };
        if row.claims > 0 && row.plan.next_attempt_at.is_some_and(|until| until > now) {
            return false;
        }
        row.plan.next_attempt_at = Some(now);
        row.claims = 0;
        if let Some(served) = &mut row.served {
            served.renew_at = served.renew_at.min(now);
        }
        true
    }

    /// The row, if the claim has not ended.
    fn held(&mut self, claim: &CertificateClaim) -> Option<&mut StoredCertificate> {
        let row = self.kept().rows.get_mut(&claim.hostname)?;
        (row.claims > 0 && row.plan.next_attempt_at == Some(claim.until)).then_some(row)
    }

    pub(crate) fn write_order(&mut self, claim: &CertificateClaim, order: Option<&RunningOrder>) -> bool {
        self.held(claim).map(|row| row.order = order.cloned()).is_some()
    }

    pub(crate) fn write_challenge(&mut self, claim: &CertificateClaim, challenge: &StoredChallenge) -> bool {
        if self.held(claim).is_none() {
            return false;
        }
        self.kept().challenges.insert(challenge.token.clone(), challenge.clone());
        true
    }

    fn forget_challenges(&mut self, hostname: &Hostname) {
        self.kept().challenges.retain(|_, challenge| challenge.hostname != *hostname);
    }

    pub(crate) fn conclude(
        &mut self,
        claim: &CertificateClaim,
        plan: &WorkPlan,
        renew_at: Option<Timestamp>,
        order: KeepOrder,
    ) -> bool {
        let Some(row) = self.held(claim) else { return false };
        row.plan = plan.clone();
        row.claims = 0;
        if let (Some(served), Some(renew_at)) = (&mut row.served, renew_at) {
            served.renew_at = renew_at;
        }
        match order {
            KeepOrder::Yes => {}
            KeepOrder::No => {
                row.order = None;
                self.forget_challenges(&claim.hostname);
            }
        }
        true
    }

    /// Puts a certificate into service. Returns whose it is; `None` if the claim has ended.
    #[expect(
        clippy::option_option,
        reason = "a name of the installation has no account, which differs from an ended claim"
    )]
    pub(crate) fn serve(
        &mut self,
        claim: &CertificateClaim,
        certificate: &ServedCertificate,
        plan: &WorkPlan,
    ) -> Option<Option<AccountId>> {
        let row = self.held(claim)?;
        row.served = Some(certificate.clone());
        row.order = None;
        row.claims = 0;
        row.plan = plan.clone();
        let account = row.account;
        self.forget_challenges(&claim.hostname);
        Some(account)
    }

    /// Removes the row of a hostname, of any account or of this one.
    pub(crate) fn remove(&mut self, hostname: &Hostname, of: Option<AccountId>) -> Option<StoredCertificate> {
        let row = self.0.rows.get(hostname)?;
        if of.is_some() && row.account != of {
            return None;
        }
        self.forget_challenges(hostname);
        self.kept().rows.remove(hostname)
    }

    pub(crate) fn forget_account(&mut self, account: AccountId) {
        let of_account = self.0.rows.values().filter(|row| row.account == Some(account));
        let hostnames: Vec<Hostname> = of_account.map(|row| row.hostname.clone()).collect();
        for hostname in hostnames {
            self.remove(&hostname, Some(account));
        }
    }

    /// What is in use of every budget at `now`.
    fn order_use(&self, hostname: &Hostname, registered_domain: &str, now: Timestamp) -> OrderUse {
        let spent = |budget: OrderBudget, counts: &dyn Fn(&Event) -> bool| {
            let since = now.minus(budget.period());
            let events = self.0.events.iter().filter(|event| event.at > since && counts(event));
            let instants: Vec<Timestamp> = events.map(|event| event.at).collect();
            Spent {
                count: u32::try_from(instants.len()).unwrap_or(u32::MAX),
                oldest: instants.into_iter().min(),
            }
        };
        let counted =
            |budget: OrderBudget, event: &Event| event.order.is_some_and(|kind| budget.applies_to(kind));
        OrderUse {
            new_orders: spent(OrderBudget::NewOrders, &|event| counted(OrderBudget::NewOrders, event)),
            registered_domain: spent(OrderBudget::RegisteredDomain, &|event| {
                counted(OrderBudget::RegisteredDomain, event)
                    && !event.has_failed
                    && event.registered_domain == registered_domain
            }),
            name: spent(OrderBudget::Name, &|event| {
                counted(OrderBudget::Name, event) && !event.has_failed && event.hostname == *hostname
            }),
            hourly_failures: spent(OrderBudget::HourlyFailures, &|event| {
                event.order.is_none() && event.hostname == *hostname
            }),
            daily_failures: spent(OrderBudget::DailyFailures, &|event| {
                event.order.is_none() && event.hostname == *hostname
            }),
        }
    }

    pub(crate) fn spend(
        &mut self,
        hostname: &Hostname,
        registered_domain: &str,
        kind: OrderKind,
        now: Timestamp,
    ) -> BudgetDecision {
        let decision = self.order_use(hostname, registered_domain, now).decide(kind, now);
        if decision == BudgetDecision::Allowed {
            self.note(hostname, registered_domain, Some(kind), now);
        }
        decision
    }

    pub(crate) fn note(
        &mut self,
        hostname: &Hostname,
        registered_domain: &str,
        order: Option<OrderKind>,
        at: Timestamp,
    ) {
        let (hostname, registered_domain) = (hostname.clone(), registered_domain.to_owned());
        self.kept().events.push(Event { at, order, has_failed: false, hostname, registered_domain });
    }

    pub(crate) fn note_failed(
        &mut self,
        hostname: &Hostname,
        registered_domain: &str,
        kind: OrderKind,
        at: Timestamp,
    ) {
        let is_order = |event: &&mut Event| {
            event.hostname == *hostname
                && !event.has_failed
                && event.order.is_some_and(|order| OrderBudget::Name.applies_to(order))
                && event.order.map(is_renewal) == Some(is_renewal(kind))
        };
        if OrderBudget::Name.applies_to(kind)
            && let Some(event) = self.kept().events.iter_mut().filter(is_order).max_by_key(|event| event.at)
        {
            event.has_failed = true;
        }
        self.note(hostname, registered_domain, None, at);
    }

    pub(crate) fn keep_account(
        &mut self,
        directory: &str,
        account: &StoredAuthorityAccount,
    ) -> StoredAuthorityAccount {
        self.kept().accounts.entry(directory.to_owned()).or_insert_with(|| account.clone()).clone()
    }

    pub(crate) fn forget_authority(&mut self, directory: &str, uri: &str) {
        self.kept().accounts.retain(|of, account| of != directory || account.uri != uri);
    }

    pub(crate) fn set_wait(&mut self, directory: &str, until: Timestamp) {
        let stored = self.kept().waits.entry(directory.to_owned()).or_insert(until);
        *stored = until.max(*stored);
    }

    /// Forgets up to `at_most` of each kind. Returns whether more are left.
    pub(crate) fn forget_old(&mut self, now: Timestamp, at_most: usize) -> bool {
        let is_expired = |challenge: &StoredChallenge| challenge.expires_at <= now;
        let expired = self.0.challenges.values().filter(|challenge| is_expired(challenge));
        let mut tokens: Vec<String> = expired.map(|challenge| challenge.token.clone()).collect();
        let since = now.minus(ORDER_EVENTS_KEPT);
        let mut old = self.0.events.iter().filter(|event| event.at <= since).count();
        let is_more = tokens.len() > at_most || old > at_most;
        tokens.truncate(at_most);
        old = old.min(at_most);
        if tokens.is_empty() && old == 0 {
            return is_more;
        }
        let kept = self.kept();
        for token in tokens {
            kept.challenges.remove(&token);
        }
        kept.events.retain(|event| {
            let goes = event.at <= since && old > 0;
            old -= usize::from(goes);
            !goes
        });
        is_more
    }
}
