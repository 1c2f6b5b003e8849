//! The fake certificate authority.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{
    AuthorityAccount, AuthorityError, CertificateAuthority as _, Clock as _, OrderProgress, OrderUrl,
    RenewalId,
};
use signpost_domain::{CertificateFailure, CertificateFailureReason, Email, Hostname, ValidationMethod};
use signpost_memory::{AuthorityCall, FakeCertificateAuthority, ManualClock};

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

fn authority() -> (Arc<ManualClock>, Arc<FakeCertificateAuthority>) {
    let clock = Arc::new(ManualClock::default());
    (clock.clone(), Arc::new(FakeCertificateAuthority::new(clock)))
}

async fn account(ca: &FakeCertificateAuthority) -> AuthorityAccount {
    ca.register(&Email::parse("ops@example.com").unwrap()).await.unwrap()
}

fn hostname() -> Hostname {
    Hostname::parse("go.customer.com").unwrap()
}

#[test]
fn d187_an_order_takes_the_steps_of_the_port() {
    run(async {
        let (clock, ca) = authority();
        ca.set_slow(1, 1, Some(Duration::from_secs(5)));
        let account = account(&ca).await;
        let key = ca.new_key().unwrap();
        let url = ca.order(&account, &hostname(), None).await.unwrap();
        let progress = || ca.progress(&account, &url, ValidationMethod::Http);
        assert!(matches!(
            progress().await,
            Ok(OrderProgress::Challenged { is_validating: false, ask_again_at: None, .. })
        ));
        let [(name, challenge)] = ca.open_challenges().try_into().unwrap();
        assert_eq!(name, hostname());
        assert!(challenge.key_authorization.starts_with(&challenge.token));
        ca.begin_validation(&account, &url, ValidationMethod::Http).await.unwrap();
        let later = Some(clock.now().plus(Duration::from_secs(5)));
        match progress().await.unwrap() {
            OrderProgress::Challenged { is_validating: true, ask_again_at, .. } => {
                assert_eq!(ask_again_at, later);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(progress().await, Ok(OrderProgress::Ready));
        ca.finalize(&account, &url, &hostname(), &key).await.unwrap();
        assert_eq!(progress().await, Ok(OrderProgress::Processing { ask_again_at: later }));
        assert_eq!(progress().await, Ok(OrderProgress::Issued));
        let certificate = ca.download(&account, &url, &hostname(), &key).await.unwrap();
        assert_eq!(certificate.validity.not_after, clock.now().plus(FakeCertificateAuthority::LIFE));

        // Every step may be repeated; another key gets nothing.
        ca.begin_validation(&account, &url, ValidationMethod::Http).await.unwrap();
        ca.finalize(&account, &url, &hostname(), &key).await.unwrap();
        clock.advance(Duration::from_hours(1));
        assert_eq!(ca.download(&account, &url, &hostname(), &key).await, Ok(certificate.clone()));
        let other = ca.new_key().unwrap();
        let refused = ca.download(&account, &url, &hostname(), &other).await;
        assert!(matches!(refused, Err(AuthorityError::Refused(_))));
        ca.revoke(&account, &certificate).await.unwrap();
        ca.revoke(&account, &certificate).await.unwrap();
        assert_eq!(ca.revoked(), [certificate]);
        assert_eq!((ca.calls(AuthorityCall::NewKey), ca.calls(AuthorityCall::Progress)), (2, 5));
    });
}

#[test]
fn d194_a_validation_fails_as_the_test_says() {
    run(async {
        let (_, ca) = authority();
        let account = account(&ca).await;
        let failure = CertificateFailure::new(CertificateFailureReason::Unreachable, "refused");
        ca.set_validation(&hostname(), Some(failure.clone()));
        let url = ca.order(&account, &hostname(), None).await.unwrap();
        ca.begin_validation(&account, &url, ValidationMethod::Http).await.unwrap();
        for _ in 0..2 {
            assert_eq!(
                ca.progress(&account, &url, ValidationMethod::Http).await,
                Ok(OrderProgress::Failed(failure.clone()))
            );
        }
        assert!(ca.open_challenges().is_empty());
    });
}

#[test]
fn d187_answers_are_lost_after_their_effect_and_failures_have_none() {
    run(async {
        let (_, ca) = authority();
        let account = account(&ca).await;
        ca.fail_next(AuthorityCall::Order, &AuthorityError::Transient, 1);
        assert_eq!(ca.order(&account, &hostname(), None).await, Err(AuthorityError::Transient));
        assert!(ca.orders().is_empty());
        ca.lose_answers(AuthorityCall::Order, 1);
        let lost = ca.order(&account, &hostname(), None).await;
        assert!(matches!(lost, Err(AuthorityError::Unavailable { .. })));
        assert_eq!(ca.orders(), [(hostname(), None)]);
        ca.order(&account, &hostname(), None).await.unwrap();
        ca.fail_always(AuthorityCall::Order, Some(AuthorityError::Transient));
        for _ in 0..2 {
            assert_eq!(ca.order(&account, &hostname(), None).await, Err(AuthorityError::Transient));
        }
        ca.fail_always(AuthorityCall::Order, None);
        ca.order(&account, &hostname(), None).await.unwrap();
        assert_eq!((ca.orders().len(), ca.calls(AuthorityCall::Order)), (3, 6));
    });
}

#[test]
fn d191_a_certificate_is_replaced_once() {
    run(async {
        let (_, ca) = authority();
        let account = account(&ca).await;
        let [old, older] = ["fake.1", "fake.0"].map(|id| RenewalId(id.to_owned()));
        let name = hostname();
        ca.mark_replaced(&older);
        let renew = |replaces| ca.order(&account, &name, replaces);
        assert_eq!(renew(Some(&older)).await, Err(AuthorityError::AlreadyReplaced));
        renew(Some(&old)).await.unwrap();
        assert_eq!(renew(Some(&old)).await, Err(AuthorityError::AlreadyReplaced));
        renew(None).await.unwrap();
    });
}

#[test]
fn d187_orders_belong_to_their_account_and_may_be_forgotten() {
    run(async {
        let (_, ca) = authority();
        let (mine, other) = (account(&ca).await, account(&ca).await);
        let url = ca.order(&mine, &hostname(), None).await.unwrap();
        assert_eq!(ca.progress(&other, &url, ValidationMethod::Http).await, Err(AuthorityError::NoSuchOrder));
        let unknown = OrderUrl("https://fake.example.net/order/0".to_owned());
        assert_eq!(
            ca.progress(&mine, &unknown, ValidationMethod::Http).await,
            Err(AuthorityError::NoSuchOrder)
        );
        ca.forget_everything();
        assert_eq!(
            ca.progress(&mine, &url, ValidationMethod::Http).await,
            Err(AuthorityError::NoSuchAccount)
        );
    });
}

#[test]
fn d187_a_held_call_waits() {
    run(async {
        let (_, ca) = authority();
        let account = account(&ca).await;
        let held = ca.hold(AuthorityCall::Order);
        let (asking, of) = (ca.clone(), account.clone());
        let order = tokio::spawn(async move { asking.order(&of, &hostname(), None).await });
        ca.called(AuthorityCall::Order, 1).await;
        assert!(ca.orders().is_empty());
        drop(held);
        order.await.unwrap().unwrap();
        assert_eq!(ca.orders().len(), 1);
    });
}
