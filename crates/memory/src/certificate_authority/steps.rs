//! The steps of an order, as the port has them.

use async_trait::async_trait;
use signpost_app::ports::{
    AuthorityAccount, AuthorityError, CertificateAuthority, CertificateKey, IssuedCertificate, OrderProgress,
    OrderUrl, RenewalAdvice, RenewalId,
};
use signpost_domain::{
    CertificateFailure, CertificateFailureReason, Email, Hostname, ValidationMethod, Validity,
};

use super::{AuthorityCall, FakeCertificateAuthority, Order, Stage, challenge};

#[async_trait]
impl CertificateAuthority for FakeCertificateAuthority {
    async fn issuer_domains(&self) -> Result<Vec<String>, AuthorityError> {
        self.begin(AuthorityCall::IssuerDomains).await?;
        Ok(self.state().issuer_domains.clone())
    }

    async fn register(&self, _: &Email) -> Result<AuthorityAccount, AuthorityError> {
        self.begin(AuthorityCall::Register).await?;
        let mut state = self.state();
        let number = state.number();
        let uri = format!("https://fake.example.net/account/{number}");
        state.accounts.insert(uri.clone());
        let credentials = format!("credentials of account {number}").into_bytes();
        state.answer(AuthorityCall::Register, AuthorityAccount { uri, credentials })
    }

    fn new_key(&self) -> Result<CertificateKey, AuthorityError> {
        self.count(AuthorityCall::NewKey);
        self.fail(AuthorityCall::NewKey)?;
        let number = self.state().number();
        Ok(CertificateKey::from_pkcs8_der(format!("private key {number}").into_bytes()))
    }

    async fn order(
        &self,
        account: &AuthorityAccount,
        hostname: &Hostname,
        replaces: Option<&RenewalId>,
    ) -> Result<OrderUrl, AuthorityError> {
        self.begin(AuthorityCall::Order).await?;
        let mut state = self.state();
        state.check_account(account)?;
        if let Some(replaced) = replaces
            && !state.replaced.insert(replaced.clone())
        {
            return Err(AuthorityError::AlreadyReplaced);
        }
        // Padded, so that the order of texts is the order of creation.
        let url = format!("https://fake.example.net/order/{:020}", state.number());
        let order = Order {
            account: account.uri.clone(),
            hostname: hostname.clone(),
            replaces: replaces.cloned(),
            stage: Stage::Pending,
        };
        state.orders.insert(url.clone(), order);
        state.answer(AuthorityCall::Order, OrderUrl(url))
    }

    async fn progress(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        _: ValidationMethod,
    ) -> Result<OrderProgress, AuthorityError> {
        self.begin(AuthorityCall::Progress).await?;
        let now = self.clock.now();
        let mut state = self.state();
        let ask_again_at = state.ask_again_after.map(|pause| now.plus(pause));
        let hostname = state.order(account, order)?.hostname.clone();
        let failure = state.validation_failures.get(&hostname).cloned();
        let is_closed = state.closed_ports.contains(&hostname);
        let found = state.order(account, order)?;
        let (next, progress) = match found.stage.clone() {
            Stage::Validating(method, 0) => match failure.or_else(|| unreachable_by(method, is_closed)) {
                Some(failure) => (Stage::Failed(failure.clone()), OrderProgress::Failed(failure)),
                None => (Stage::Ready, OrderProgress::Ready),
            },
            Stage::Processing(0, key) => (Stage::Issued(key, now), OrderProgress::Issued),
            Stage::Pending => {
                let challenge = challenge(&order.0);
                let shown = OrderProgress::Challenged { challenge, is_validating: false, ask_again_at: None };
                (Stage::Pending, shown)
            }
            Stage::Validating(method, polls) => {
                let challenge = challenge(&order.0);
                let shown = OrderProgress::Challenged { challenge, is_validating: true, ask_again_at };
                (Stage::Validating(method, polls.saturating_sub(1)), shown)
            }
            Stage::Processing(polls, key) => {
                (Stage::Processing(polls.saturating_sub(1), key), OrderProgress::Processing { ask_again_at })
            }
            Stage::Ready => (Stage::Ready, OrderProgress::Ready),
            Stage::Issued(key, at) => (Stage::Issued(key, at), OrderProgress::Issued),
            Stage::Failed(failure) => (Stage::Failed(failure.clone()), OrderProgress::Failed(failure)),
        };
        found.stage = next;
        state.answer(AuthorityCall::Progress, progress)
    }

    async fn begin_validation(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        method: ValidationMethod,
    ) -> Result<(), AuthorityError> {
        self.begin(AuthorityCall::BeginValidation).await?;
        let mut state = self.state();
        let polls = state.validation_polls;
        let order = state.order(account, order)?;
        if matches!(order.stage, Stage::Pending) {
            order.stage = Stage::Validating(method, polls);
            let begun = (order.hostname.clone(), method);
            state.validations.push(begun);
        }
        state.answer(AuthorityCall::BeginValidation, ())
    }

    async fn finalize(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        _: &Hostname,
        key: &CertificateKey,
    ) -> Result<(), AuthorityError> {
        self.begin(AuthorityCall::Finalize).await?;
        let mut state = self.state();
        let polls = state.processing_polls;
        let order = state.order(account, order)?;
        if matches!(order.stage, Stage::Ready) {
            order.stage = Stage::Processing(polls, key.clone());
        }
        state.answer(AuthorityCall::Finalize, ())
    }

    async fn download(
        &self,
        account: &AuthorityAccount,
        order: &OrderUrl,
        hostname: &Hostname,
        key: &CertificateKey,
    ) -> Result<IssuedCertificate, AuthorityError> {
        self.begin(AuthorityCall::Download).await?;
        let mut state = self.state();
        let life = state.life;
        let found = state.order(account, order)?;
        let Stage::Issued(for_key, issued_at) = &found.stage else {
            return Err(AuthorityError::Unavailable {
                reason: "it has not issued the certificate".to_owned(),
            });
        };
        if for_key != key || found.hostname != *hostname {
            let reason = CertificateFailureReason::AuthorityUnavailable;
            let failure = CertificateFailure::new(reason, "The certificate is for another key or name.");
            return Err(AuthorityError::Refused(failure));
        }
        let number = order.0.rsplit('/').next().unwrap_or_default();
        let certificate = IssuedCertificate {
            chain: vec![format!("certificate of {hostname} from order {number}").into_bytes()],
            validity: Validity { not_before: *issued_at, not_after: issued_at.plus(life) },
            issuer: "Fake Authority".to_owned(),
            renewal_id: Some(RenewalId(format!("fake.{number}"))),
        };
        state.answer(AuthorityCall::Download, certificate)
    }

    async fn renewal_window(&self, _: &RenewalId) -> Result<Option<RenewalAdvice>, AuthorityError> {
        self.begin(AuthorityCall::RenewalWindow).await?;
        Ok(self.state().advice)
    }

    async fn revoke(
        &self,
        account: &AuthorityAccount,
        certificate: &IssuedCertificate,
    ) -> Result<(), AuthorityError> {
        self.begin(AuthorityCall::Revoke).await?;
        let mut state = self.state();
        state.check_account(account)?;
        if !state.revoked.contains(certificate) {
            state.revoked.push(certificate.clone());
        }
        state.answer(AuthorityCall::Revoke, ())
    }
}

/// The failure of a validation at a closed port 80.
fn unreachable_by(method: ValidationMethod, is_closed: bool) -> Option<CertificateFailure> {
    match method {
        ValidationMethod::Http => is_closed
            .then(|| CertificateFailure::new(CertificateFailureReason::Unreachable, "Connection refused")),
        ValidationMethod::TlsAlpn => None,
    }
}
