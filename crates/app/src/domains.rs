//! What callers do with custom domains, and what the installation asks about them (contract "Domain", D37–D43).
//!
//! A hostname is free, or one account holds it. An account gets it by [`connect`] or, after a failure, by
//! [`verify`]. The links that other accounts left there then lose their addresses, in the same unit of work.
//! If there are very many, they lose them before the domain goes into service. A use case asks DNS outside of
//! any unit of work. It then applies the answer to the domain as stored by that time.

mod connect;
mod findings;
mod handover;
mod update;
mod verify;

use signpost_domain::id::DomainKind;
use signpost_domain::{
    AuditAction, CustomDomain, DnsInstruction, DomainFiles, DomainId, GroupFilter, Hostname, IdReference,
    Page, PageLimit, PagePosition, Permission, Precondition, RecordFinding, Refusal, Site, Timestamp,
    dns_instructions,
};

pub use self::connect::{Connected, connect};
pub(crate) use self::findings::{Findings, leads_here};
pub(crate) use self::handover::{LinksLeft, checks_after, jitter, lose_links_before_service};
use self::handover::{NO_CHECKS, lose_links, write};
pub use self::update::update;
pub use self::verify::verify;
use crate::app_error::AppError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::certificates::ShownCertificate;
use crate::ports::{LinksOf, ScheduledDomain, StoreError};
use crate::unit_of_work::{Attempts, commit};

/// A custom domain at the time of the answer (D39). It has the records that its account must add (D38), and
/// what the last look-up found (D65), and the state of its certificate (D194).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainWithInstructions {
    /// The domain.
    pub domain: CustomDomain,
    /// When the background checks it next; `None` if no check is planned.
    pub next_check_at: Option<Timestamp>,
    /// The state of its certificate.
    pub certificate: ShownCertificate,
    /// The records, in the order of display. They are the same in every status.
    pub dns_instructions: Vec<CheckedInstruction>,
    /// Its files (D127). `None` in lists, which do not read them.
    pub files: Option<DomainFiles>,
}

/// A record to add, and what the last look-up found in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedInstruction {
    /// The record.
    pub instruction: DnsInstruction,
    /// What the look-up found.
    pub finding: RecordFinding,
}

impl DomainWithInstructions {
    /// A stored domain as it is at `now`.
    fn at(app: &Application, stored: &ScheduledDomain, now: Timestamp) -> Self {
        let CustomDomain { account_id, hostname, observation, .. } = &stored.domain;
        let finding = |instruction: &DnsInstruction| {
            observation.as_ref().map(|seen| seen.finding_for(instruction)).unwrap_or_default()
        };
        let instructions = dns_instructions(&app.edge, *account_id, hostname).into_iter();
        let checked = instructions
            .map(|instruction| CheckedInstruction { finding: finding(&instruction), instruction });
        Self {
            domain: stored.domain.at(now),
            next_check_at: stored.next_check_at(now),
            // Without ACME nothing happens with what is stored (D194).
            certificate: ShownCertificate::at(
                stored.certificate.as_ref().filter(|_| app.issuance.is_some()),
                now,
            ),
            dns_instructions: checked.collect(),
            files: stored.files.clone(),
        }
    }
}

/// One page of the caller's domains in any status, `failed` included, newest first, as they are now (D39). The plan need
/// not include custom domains, as for [`get`].
pub async fn list(
    app: &Application,
    caller: &Caller,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<DomainWithInstructions>, AppError> {
    caller.require(Permission::Read)?;
    let page = app.store.custom_domains(caller.account_id(), limit, after).await?;
    let now = app.clock.now();
    Ok(page.map(|domain| DomainWithInstructions::at(app, &domain, now)))
}

/// The caller's domain with this id, as it is now (D39). The plan need not include custom domains: only connecting needs
/// the feature (D15).
///
/// # Errors
/// [`Refusal::DomainNotFound`] (D2).
pub async fn get(
    app: &Application,
    caller: &Caller,
    id: IdReference<DomainKind>,
) -> Result<DomainWithInstructions, AppError> {
    caller.require(Permission::Read)?;
    let id = id.id().ok_or(Refusal::DomainNotFound)?;
    let domain = app.store.custom_domain(caller.account_id(), id).await?.ok_or(Refusal::DomainNotFound)?;
    Ok(DomainWithInstructions::at(app, &domain, app.clock.now()))
}

/// How many links something has, as far as it is worth counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkCount {
    /// This many.
    Exactly(usize),
    /// More than this many.
    MoreThan(usize),
}

/// How many links of a domain are counted.
const MOST_COUNTED: usize = 10_000;

/// How many of the caller's links live on `hostname`, so that people know what a deletion costs. It counts up to ten
/// thousand.
pub async fn links_on(
    app: &Application,
    caller: &Caller,
    hostname: &Hostname,
) -> Result<LinkCount, AppError> {
    caller.require(Permission::Read)?;
    let site = Site::Custom(hostname.clone());
    let ids =
        app.store.link_ids(caller.account_id(), GroupFilter::Any, Some(&site), MOST_COUNTED + 1).await?;
    Ok(if ids.len() > MOST_COUNTED {
        LinkCount::MoreThan(MOST_COUNTED)
    } else {
        LinkCount::Exactly(ids.len())
    })
}

/// Deletes a domain (D43). Its links lose their addresses in the same unit of work (D22), and the hostname is free at
/// once. The plan need not include custom domains: only connecting needs the feature.
///
/// More than ten thousand links take several units of work (ADR 23). The first one stores the domain as failed, so that it
/// no longer serves visitors or holds the hostname. The last one deletes the domain. An interrupted deletion leaves a
/// failed domain, which the caller can delete again. The first unit of work decides on the precondition.
///
/// # Errors
/// [`Refusal::DomainNotFound`] (D2) and [`Refusal::PreconditionFailed`].
pub async fn delete(
    app: &Application,
    caller: &Caller,
    id: IdReference<DomainKind>,
    precondition: &Precondition,
) -> Result<DomainId, AppError> {
    caller.require(Permission::WriteDomains)?;
    let id = id.id().ok_or(Refusal::DomainNotFound)?;
    let mut required = precondition;
    while delete_or_shrink(app, caller, id, required).await? == LinksLeft::Some {
        required = &Precondition::None;
    }
    Ok(id)
}

/// A domain as entries of the audit name it.
fn domain_named(domain: &CustomDomain) -> String {
    format!("{} {}", domain.id, domain.hostname)
}

/// Takes links off the domain. Deletes it if no link is left, and takes it out of service otherwise.
async fn delete_or_shrink(
    app: &Application,
    caller: &Caller,
    id: DomainId,
    precondition: &Precondition,
) -> Result<LinksLeft, AppError> {
    let account = caller.account_id();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let domain = work.lock_custom_domain(account, id).await?.ok_or(Refusal::DomainNotFound)?.domain;
            let now = app.clock.now();
            precondition.check(domain.at(now).revision)?;
            let left = lose_links(work.as_mut(), LinksOf::Account(account), &domain.hostname, now).await?;
            match left {
                LinksLeft::None => {
                    work.delete_custom_domain(account, id).await?;
                    let deed = Deed::of(caller, AuditAction::DomainDeleted, domain_named(&domain));
                    record(app, work.as_mut(), deed).await?;
                }
                LinksLeft::Some => {
                    write(work.as_mut(), &domain.out_of_service(now), NO_CHECKS).await?;
                }
            }
            commit(app, work).await?;
            Ok(left)
        })
        .await
}

/// Parses `text` as a hostname for which an account may have a certificate. `None` if it is not a hostname, or is one of
/// the installation's own names: the operator gets their certificates elsewhere. This also holds for an own name that an
/// account connected before it became one (see [`own_names_held`]).
#[must_use]
pub fn certifiable_hostname(app: &Application, text: &str) -> Option<Hostname> {
    let hostname = Hostname::parse(text).ok()?;
    app.hostname_rules.own_names().all(|own| *own != hostname).then_some(hostname)
}

/// Whether a certificate may be issued now for a [`certifiable_hostname`]: only if its domain is proven, so `ssl_pending`
/// or `active` (D39).
///
/// # Errors
/// The store broke; callers must not take that for a "no".
pub async fn may_have_certificate(app: &Application, hostname: &Hostname) -> Result<bool, StoreError> {
    let holder = app.store.holder_of(hostname).await?;
    Ok(holder.is_some_and(|domain| domain.at(app.clock.now()).status.may_have_certificate()))
}

/// Those of the installation's own names that an account holds as its custom domain. Accounts cannot connect
/// them (D37), but the operator can add a name to the settings after an account connected it. Such a domain
/// no longer works. A name of the system domain opens the system domain's links, and the installation's names
/// get no certificate as custom domains.
///
/// # Errors
/// The store broke.
pub async fn own_names_held(app: &Application) -> Result<Vec<&Hostname>, StoreError> {
    let mut held = Vec::new();
    for name in app.hostname_rules.own_names() {
        let holder = app.store.holder_of(name).await?;
        if holder.is_some_and(|domain| domain.at(app.clock.now()).status.holds_hostname()) {
            held.push(name);
        }
    }
    Ok(held)
}
