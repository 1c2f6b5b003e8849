//! Operations of random sequences on custom domains. They use few hostnames, so that accounts compete.

use signpost_app::ports::{LinksOf, UnitOfWork};
use signpost_domain::{
    AccountId, CustomDomain, CustomDomainStatus, DomainId, Hostname, Link, Placement, Timestamp,
};

use super::domain_steps::{ACTIVE, NO_CHECKS, every_status};
use super::given::Decision;
use super::model::{Answer, Model};
use super::random_sequences::answer;
use crate::pseudorandom::Pseudorandom;
use crate::samples;

const DOMAINS_LIMIT: u64 = 2;

/// One hostname more than an account may have domains.
pub(super) const HOSTS: [&str; 3] = ["a.example.net", "b.example.net", "c.example.net"];

/// More domains than any sequence has.
const ALL: u16 = 1_000;

#[allow(clippy::large_enum_variant, reason = "there are few of them at a time")]
pub(super) enum DomainOperation {
    Insert(CustomDomain),
    Update(AccountId, DomainId, CustomDomainStatus),
    Delete(AccountId, DomainId),
    /// Loses all links of the selection.
    LoseLinks(LinksOf, Hostname, Timestamp),
}

/// An operation on a stored domain of either account, or on an unknown one.
pub(super) fn any(
    model: &Model,
    random: &mut Pseudorandom,
    account: AccountId,
    now: Timestamp,
) -> DomainOperation {
    let ids: Vec<DomainId> = model.domains.keys().copied().collect();
    let id = random.pick(&ids).copied().unwrap_or_else(samples::id);
    let host = random.pick(&HOSTS).unwrap();
    // Mostly active, so that visitors see links.
    let status = match random.below(3) {
        0 => random.pick(&every_status()).copied().unwrap(),
        _ => ACTIVE,
    };
    match random.below(8) {
        0..=2 => {
            // No domain is inserted as failed.
            let status = if status.holds_hostname() { status } else { ACTIVE };
            DomainOperation::Insert(CustomDomain { status, ..samples::custom_domain(account, host) })
        }
        3 | 4 => DomainOperation::Update(account, id, status),
        5 => DomainOperation::Delete(account, id),
        6 => DomainOperation::LoseLinks(LinksOf::Account(account), samples::hostname(host), now),
        _ => DomainOperation::LoseLinks(LinksOf::AllBut(account), samples::hostname(host), now),
    }
}

/// The answer of the store.
pub(super) async fn carry_out(
    work: &mut dyn UnitOfWork,
    operation: &DomainOperation,
) -> Result<Answer, Decision> {
    Ok(match operation {
        DomainOperation::Insert(domain) => {
            let inserted = work.insert_custom_domain(domain, NO_CHECKS, DOMAINS_LIMIT).await;
            answer(inserted.map_err(Decision::from))
        }
        DomainOperation::Update(account, id, status) => {
            let Some(domain) = work.lock_custom_domain(*account, *id).await? else {
                return Ok(Answer::NotThere);
            };
            let after = CustomDomain { status: *status, ..domain.domain };
            answer(work.update_custom_domain(&after, NO_CHECKS).await.map_err(Decision::from))
        }
        DomainOperation::Delete(account, id) => {
            if work.delete_custom_domain(*account, *id).await? {
                Answer::Done
            } else {
                Answer::NotThere
            }
        }
        DomainOperation::LoseLinks(whose, hostname, now) => {
            Answer::Lost(work.lose_some_links(*whose, hostname, ALL, *now).await?)
        }
    })
}

impl Model {
    /// The expected answer of the operation, which is carried out unless it is refused.
    pub(super) fn apply_to_domains(&mut self, operation: &DomainOperation) -> Answer {
        match operation {
            DomainOperation::Insert(domain) => {
                let own: Vec<&CustomDomain> = self.domains_of(domain.account_id).collect();
                if own.len() >= usize::try_from(DOMAINS_LIMIT).unwrap() {
                    return Answer::Refused(Decision::LimitReached);
                }
                let is_own = own.iter().any(|own| own.hostname == domain.hostname);
                if is_own || self.holder(&domain.hostname).is_some() {
                    return Answer::Refused(Decision::HostnameTaken);
                }
                self.domains.insert(domain.id, domain.clone());
                Answer::Done
            }
            DomainOperation::Update(account, id, status) => {
                let Some(domain) = self.domains_of(*account).find(|domain| domain.id == *id) else {
                    return Answer::NotThere;
                };
                let holder = self.holder(&domain.hostname);
                if status.holds_hostname() && holder.is_some_and(|holder| holder.id != *id) {
                    return Answer::Refused(Decision::HostnameTaken);
                }
                let after = CustomDomain { status: *status, ..domain.clone() };
                self.domains.insert(*id, after);
                Answer::Done
            }
            DomainOperation::Delete(account, id) => {
                if self.domains_of(*account).all(|domain| domain.id != *id) {
                    return Answer::NotThere;
                }
                self.domains.remove(id);
                Answer::Done
            }
            DomainOperation::LoseLinks(whose, hostname, now) => {
                let meant = self.links.values_mut().filter(|(owner, link)| {
                    let is_whose = match whose {
                        LinksOf::Account(account) => owner == account,
                        LinksOf::AllBut(account) => owner != account,
                    };
                    is_whose && is_on(link, hostname)
                });
                let mut lost = 0;
                for (_, link) in meant {
                    lose_address(link, *now);
                    lost += 1;
                }
                Answer::Lost(lost)
            }
        }
    }
}

fn is_on(link: &Link, hostname: &Hostname) -> bool {
    match &link.placement {
        Placement::Custom { hostname: on, slug: _ } => on == hostname,
        Placement::System { slug: _ } | Placement::Lost { slug: _ } => false,
    }
}

/// Removes the address of a link whose domain is gone (D22).
fn lose_address(link: &mut Link, now: Timestamp) {
    link.placement = Placement::Lost { slug: link.placement.slug().cloned() };
    link.mark_changed(now);
}
