//! Reading and changing certificates.

use async_trait::async_trait;
use signpost_app::ports::{
    CertificateClaim, CertificateReads, CertificateWork, CertificateWrites, KeepOrder, NO_ACCOUNT,
    RunningOrder, ServedCertificate, StoreError, StoredAuthorityAccount, StoredCertificate, StoredChallenge,
    WorkPlan,
};
use signpost_domain::{AccountId, BudgetDecision, Hostname, OrderKind, Timestamp};

use crate::store::MemoryStore;
use crate::unit_of_work::MemoryUnitOfWork;

#[async_trait]
impl CertificateReads for MemoryStore {
    async fn certificate(&self, hostname: &Hostname) -> Result<Option<StoredCertificate>, StoreError> {
        self.read(|state| state.certificates.of(hostname).cloned())
    }

    async fn certificates(
        &self,
        after: Option<&Hostname>,
        at_most: u16,
    ) -> Result<(Vec<StoredCertificate>, Option<Hostname>), StoreError> {
        self.read(|state| {
            let mut rows = state.certificates.after(after).cloned();
            let page: Vec<StoredCertificate> = rows.by_ref().take(usize::from(at_most)).collect();
            let next = rows.next().and(page.last()).map(|last| last.hostname.clone());
            (page, next)
        })
    }

    async fn challenge(&self, token: &str, now: Timestamp) -> Result<Option<StoredChallenge>, StoreError> {
        self.read(|state| state.certificates.challenge(token, now).cloned())
    }

    async fn authority_account(&self, directory: &str) -> Result<Option<StoredAuthorityAccount>, StoreError> {
        self.read(|state| state.certificates.account(directory).cloned())
    }

    async fn challenge_of(
        &self,
        hostname: &Hostname,
        now: Timestamp,
    ) -> Result<Option<StoredChallenge>, StoreError> {
        self.read(|state| state.certificates.challenge_of(hostname, now).cloned())
    }

    async fn authority_wait(&self, directory: &str) -> Result<Option<Timestamp>, StoreError> {
        self.read(|state| state.certificates.wait(directory))
    }
}

#[async_trait]
impl CertificateWork for MemoryStore {
    async fn want_certificates(
        &self,
        own: &[Hostname],
        now: Timestamp,
        at_most: u16,
    ) -> Result<u16, StoreError> {
        let own: Vec<Hostname> = own.to_vec();
        self.write_at_once(|state| {
            let mut inserted = 0_u16;
            for hostname in &own {
                inserted = inserted.saturating_add(u16::from(state.certificates.want(None, hostname, now)));
            }
            let missing: Vec<_> = state
                .domains
                .proven()
                .filter(|(hostname, _)| state.certificates.of(hostname).is_none())
                .take(usize::from(at_most))
                .map(|(hostname, account)| (hostname.clone(), account))
                .collect();
            for (hostname, account) in missing {
                inserted = inserted.saturating_add(u16::from(state.certificates.want(
                    Some(account),
                    &hostname,
                    now,
                )));
            }
            inserted
        })
        .await
    }

    async fn claim_due_certificates(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u16,
    ) -> Result<Vec<StoredCertificate>, StoreError> {
        if self.read(|state| state.certificates.due(now).is_empty())? {
            return Ok(Vec::new());
        }
        self.write_at_once(|state| {
            let due = state.certificates.due(now).into_iter().take(usize::from(at_most));
            due.filter_map(|hostname| state.certificates.claim(&hostname, until)).collect()
        })
        .await
    }

    async fn hasten_certificate(&self, hostname: &Hostname, now: Timestamp) -> Result<bool, StoreError> {
        self.write_at_once(|state| state.certificates.hasten(hostname, now)).await
    }

    async fn write_order(
        &self,
        claim: &CertificateClaim,
        order: Option<&RunningOrder>,
    ) -> Result<bool, StoreError> {
        self.write_at_once(|state| state.certificates.write_order(claim, order)).await
    }

    async fn write_challenge(
        &self,
        claim: &CertificateClaim,
        challenge: &StoredChallenge,
    ) -> Result<bool, StoreError> {
        self.write_at_once(|state| state.certificates.write_challenge(claim, challenge)).await
    }

    async fn conclude_certificate(
        &self,
        claim: &CertificateClaim,
        plan: &WorkPlan,
        renew_at: Option<Timestamp>,
        order: KeepOrder,
    ) -> Result<bool, StoreError> {
        self.write_at_once(|state| state.certificates.conclude(claim, plan, renew_at, order)).await
    }

    async fn spend_on_order(
        &self,
        hostname: &Hostname,
        registered_domain: &str,
        kind: OrderKind,
        now: Timestamp,
    ) -> Result<BudgetDecision, StoreError> {
        self.write_at_once(|state| state.certificates.spend(hostname, registered_domain, kind, now)).await
    }

    async fn note_failed_order(
        &self,
        hostname: &Hostname,
        registered_domain: &str,
        kind: OrderKind,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write_at_once(|state| state.certificates.note_failed(hostname, registered_domain, kind, now))
            .await
    }

    async fn keep_authority_account(
        &self,
        directory: &str,
        account: &StoredAuthorityAccount,
    ) -> Result<StoredAuthorityAccount, StoreError> {
        self.write_at_once(|state| state.certificates.keep_account(directory, account)).await
    }

    async fn forget_authority_account(&self, directory: &str, uri: &str) -> Result<(), StoreError> {
        self.write_at_once(|state| state.certificates.forget_authority(directory, uri)).await
    }

    async fn set_authority_wait(&self, directory: &str, until: Timestamp) -> Result<(), StoreError> {
        self.write_at_once(|state| state.certificates.set_wait(directory, until)).await
    }

    async fn forget_order_events(&self, now: Timestamp, at_most: u16) -> Result<bool, StoreError> {
        self.write_at_once(|state| state.certificates.forget_old(now, usize::from(at_most))).await
    }
}

#[async_trait]
impl CertificateWrites for MemoryUnitOfWork {
    async fn want_certificate(
        &mut self,
        account: AccountId,
        hostname: &Hostname,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(|state| {
            state.certificates.want(Some(account), hostname, now);
            Ok(())
        })
    }

    async fn write_certificate(
        &mut self,
        claim: &CertificateClaim,
        certificate: &ServedCertificate,
        plan: &WorkPlan,
    ) -> Result<bool, StoreError> {
        self.write_noting(|state, changes| {
            let Some(account) = state.certificates.serve(claim, certificate, plan) else {
                return Ok(false);
            };
            changes.note_domain(account.unwrap_or(NO_ACCOUNT), &claim.hostname);
            Ok(true)
        })
    }

    async fn delete_certificate(&mut self, hostname: &Hostname) -> Result<bool, StoreError> {
        self.write_noting(|state, changes| {
            let Some(removed) = state.certificates.remove(hostname, None) else { return Ok(false) };
            changes.note_domain(removed.account.unwrap_or(NO_ACCOUNT), hostname);
            Ok(true)
        })
    }
}
