//! The collection of custom domains.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use signpost_app::ports::{
    CHECKS_LEFT_ALONE_FOR, CheckSchedule, ConcludedCheck, DueCheck, MAX_CLAIMS_OF_A_CHECK,
};
use signpost_domain::{
    AccountId, CheckPlan, CustomDomain, DnsObservation, DomainFiles, DomainId, Hostname, Timestamp,
};

/// The custom domains of all accounts, because a hostname is global. Copied on the first change in a unit of work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Domains(Arc<Kept>);

/// The domains and their indexes. Only [`Kept::put`] and [`Kept::remove`] write, so that these always agree.
#[derive(Debug, Clone, Default)]
struct Kept {
    domains: BTreeMap<DomainId, Arc<Checked>>,
    of_account: BTreeMap<AccountId, BTreeSet<DomainId>>,
    named: BTreeMap<(Hostname, AccountId), DomainId>,
    due: BTreeSet<(Timestamp, DomainId)>,
    /// Domains whose checks were given up, by the end of the last claim.
    given_up: BTreeSet<(Timestamp, DomainId)>,
}

/// A domain and its check schedule.
#[derive(Debug, Clone)]
struct Checked {
    domain: CustomDomain,
    plan: CheckPlan,
    /// How often its check was claimed since the plan was written.
    claims: u32,
    files: DomainFiles,
}

impl Checked {
    fn planned(domain: CustomDomain, plan: CheckPlan, files: DomainFiles) -> Self {
        Self { domain, plan, claims: 0, files }
    }

    fn schedule(&self) -> CheckSchedule {
        CheckSchedule { next_check_at: self.plan.next_check_at, claims: self.claims }
    }

    /// Whether its check was tried too often.
    fn is_given_up(&self) -> bool {
        self.claims >= MAX_CLAIMS_OF_A_CHECK
    }
}

impl Kept {
    fn put(&mut self, checked: Checked) {
        let CustomDomain { id, account_id, hostname, .. } = &checked.domain;
        let id = *id;
        self.of_account.entry(*account_id).or_default().insert(id);
        self.named.insert((hostname.clone(), *account_id), id);
        if let Some(next_check_at) = checked.plan.next_check_at {
            self.by_instant(checked.is_given_up()).insert((next_check_at, id));
        }
        self.domains.insert(id, Arc::new(checked));
    }

    fn remove(&mut self, id: DomainId) -> Option<Checked> {
        let checked = Arc::unwrap_or_clone(self.domains.remove(&id)?);
        let CustomDomain { account_id, hostname, .. } = &checked.domain;
        if let Some(ids) = self.of_account.get_mut(account_id) {
            ids.remove(&id);
        }
        self.named.remove(&(hostname.clone(), *account_id));
        if let Some(next_check_at) = checked.plan.next_check_at {
            self.by_instant(checked.is_given_up()).remove(&(next_check_at, id));
        }
        Some(checked)
    }

    fn by_instant(&mut self, is_given_up: bool) -> &mut BTreeSet<(Timestamp, DomainId)> {
        if is_given_up { &mut self.given_up } else { &mut self.due }
    }
}

impl Domains {
    pub(crate) fn has(&self, id: DomainId) -> bool {
        self.0.domains.contains_key(&id)
    }

    /// The account's domain with this id.
    pub(crate) fn of(&self, account: AccountId, id: DomainId) -> Option<&CustomDomain> {
        let domain = &self.0.domains.get(&id)?.domain;
        (domain.account_id == account).then_some(domain)
    }

    /// The account's domains by id, lowest first.
    pub(crate) fn all_of(&self, account: AccountId) -> impl DoubleEndedIterator<Item = &CustomDomain> {
        let ids = self.0.of_account.get(&account).into_iter().flatten();
        ids.filter_map(|id| self.0.domains.get(id)).map(|checked| &checked.domain)
    }

    /// The plan of the checks of a domain.
    pub(crate) fn schedule(&self, id: DomainId) -> CheckSchedule {
        self.0.domains.get(&id).map(|checked| checked.schedule()).unwrap_or_default()
    }

    /// The files of a domain.
    pub(crate) fn files(&self, id: DomainId) -> DomainFiles {
        self.0.domains.get(&id).map(|checked| checked.files.clone()).unwrap_or_default()
    }

    /// The hostnames that may have certificates by the stored status, with their accounts.
    pub(crate) fn proven(&self) -> impl Iterator<Item = (&Hostname, AccountId)> {
        let proven = self.0.domains.values().filter(|checked| checked.domain.status.may_have_certificate());
        proven.map(|checked| (&checked.domain.hostname, checked.domain.account_id))
    }

    pub(crate) fn count_of(&self, account: AccountId) -> usize {
        self.0.of_account.get(&account).map_or(0, BTreeSet::len)
    }

    /// The account's domain with this hostname.
    pub(crate) fn named(&self, account: AccountId, hostname: &Hostname) -> Option<&CustomDomain> {
        let id = self.0.named.get(&(hostname.clone(), account))?;
        self.of(account, *id)
    }

    /// The domain of any account with this hostname that is not stored as failed.
    pub(crate) fn holder(&self, hostname: &Hostname) -> Option<&CustomDomain> {
        self.all_named(hostname).find(|domain| domain.status.holds_hostname())
    }

    fn all_named(&self, hostname: &Hostname) -> impl Iterator<Item = &CustomDomain> {
        let [lowest, highest] =
            [[0; 16], [u8::MAX; 16]].map(|account| (hostname.clone(), AccountId::from_bytes(account)));
        self.0.named.range(lowest..=highest).filter_map(|((_, account), id)| self.of(*account, *id))
    }

    /// Adds a domain.
    pub(crate) fn insert(&mut self, domain: CustomDomain, plan: CheckPlan) {
        Arc::make_mut(&mut self.0).put(Checked::planned(domain, plan, DomainFiles::default()));
    }

    /// Writes the fields of a domain that events change, and another plan. `None` if the account has no such domain.
    pub(crate) fn update(&mut self, after: &CustomDomain, plan: CheckPlan) -> Option<CustomDomain> {
        let CustomDomain { id, account_id, status, failure_reason, observation, history, .. } = after.clone();
        let CustomDomain { updated_at, revision, .. } = *after;
        let before = self.of(account_id, id)?.clone();
        let domain =
            CustomDomain { status, failure_reason, observation, history, updated_at, revision, ..before };
        let kept = Arc::make_mut(&mut self.0);
        let Checked { files, .. } = kept.remove(id)?;
        kept.put(Checked::planned(domain.clone(), plan, files));
        Some(domain)
    }

    /// Writes the settings and the revision of a domain. `None` if the account has no such domain.
    pub(crate) fn configure(&mut self, after: &CustomDomain, files: &DomainFiles) -> Option<()> {
        let CustomDomain { id, account_id, updated_at, revision, ref urls, .. } = *after;
        self.of(account_id, id)?;
        let kept = Arc::make_mut(&mut self.0);
        let Checked { domain, plan, claims, files: _ } = kept.remove(id)?;
        let domain = CustomDomain { updated_at, revision, urls: urls.clone(), ..domain };
        kept.put(Checked { domain, plan, claims, files: files.clone() });
        Some(())
    }

    /// Writes only the observation of look-ups. `None` if the account has no such domain.
    pub(crate) fn observe(
        &mut self,
        account: AccountId,
        id: DomainId,
        observation: DnsObservation,
    ) -> Option<()> {
        self.of(account, id)?;
        let kept = Arc::make_mut(&mut self.0);
        let Checked { domain, plan, claims, files } = kept.remove(id)?;
        let domain = CustomDomain { observation: Some(observation), ..domain };
        kept.put(Checked { domain, plan, claims, files });
        Some(())
    }

    pub(crate) fn remove(&mut self, account: AccountId, id: DomainId) -> Option<CustomDomain> {
        self.of(account, id)?;
        Some(Arc::make_mut(&mut self.0).remove(id)?.domain)
    }

    /// Removes all domains of an account.
    pub(crate) fn forget_account(&mut self, account: AccountId) {
        if let Some(ids) = self.0.of_account.get(&account).cloned() {
            let kept = Arc::make_mut(&mut self.0);
            for id in ids {
                kept.remove(id);
            }
            kept.of_account.remove(&account);
        }
    }

    /// The domains whose checks are due, longest due first.
    pub(crate) fn due(&self, now: Timestamp) -> impl Iterator<Item = DomainId> {
        self.0.due.iter().take_while(move |(due_at, _)| *due_at <= now).map(|(_, id)| *id)
    }

    /// The domains whose checks were given up long enough ago, earliest first.
    pub(crate) fn to_be_released(&self, now: Timestamp) -> impl Iterator<Item = DomainId> {
        let is_over = move |ran_out: &Timestamp| ran_out.plus(CHECKS_LEFT_ALONE_FOR) <= now;
        self.0.given_up.iter().take_while(move |(ran_out, _)| is_over(ran_out)).map(|(_, id)| *id)
    }

    /// Makes a check due again that was given up.
    pub(crate) fn release(&mut self, id: DomainId) {
        let kept = Arc::make_mut(&mut self.0);
        if let Some(Checked { domain, plan, claims: _, files }) = kept.remove(id) {
            kept.put(Checked::planned(domain, plan, files));
        }
    }

    pub(crate) fn claim(&mut self, id: DomainId, until: Timestamp) -> Option<DueCheck> {
        let kept = Arc::make_mut(&mut self.0);
        let Checked { domain, plan, claims, files } = kept.remove(id)?;
        let claims = claims.saturating_add(1);
        let due = DueCheck { domain: domain.clone(), checks_made: plan.checks_made, claims };
        let plan = CheckPlan { next_check_at: Some(until), ..plan };
        kept.put(Checked { domain, plan, claims, files });
        Some(due)
    }

    /// Writes the plan and the observation of a domain, unless another plan was written since it was claimed, or it was
    /// claimed again.
    pub(crate) fn plan(&mut self, check: &ConcludedCheck, claimed_until: Timestamp) {
        let ConcludedCheck { id, plan, observation } = check.clone();
        let is_as_claimed =
            |checked: &Checked| checked.claims > 0 && checked.plan.next_check_at == Some(claimed_until);
        if self.0.domains.get(&id).is_some_and(|checked| is_as_claimed(checked)) {
            let kept = Arc::make_mut(&mut self.0);
            if let Some(Checked { domain, plan: _, claims: _, files }) = kept.remove(id) {
                let observation = observation.or_else(|| domain.observation.clone());
                kept.put(Checked::planned(CustomDomain { observation, ..domain }, plan, files));
            }
        }
    }

    /// The domains that read as failed at `now` but are not stored as failed.
    pub(crate) fn overtaken(&self, now: Timestamp) -> impl Iterator<Item = DomainId> {
        let domains = self.0.domains.values().map(|checked| &checked.domain);
        domains.filter(move |domain| domain.status.at(now) != domain.status).map(|domain| domain.id)
    }

    /// Stores a domain as it reads at `now`, and plans no more checks.
    pub(crate) fn settle(&mut self, id: DomainId, now: Timestamp) -> Option<CustomDomain> {
        let kept = Arc::make_mut(&mut self.0);
        let Checked { domain, plan, claims: _, files } = kept.remove(id)?;
        let plan = CheckPlan { next_check_at: None, ..plan };
        let settled = domain.at(now);
        kept.put(Checked::planned(settled.clone(), plan, files));
        Some(settled)
    }
}
