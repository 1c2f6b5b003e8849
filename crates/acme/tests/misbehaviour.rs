//! Orders at an authority that misbehaves.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod steps;

use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_acme::{AcmeAuthority, AcmeOptions, AcmeOptionsError};
use signpost_app::ports::{
    AuthorityAccount, AuthorityError, CertificateAuthority as _, OrderProgress, OrderUrl, RenewalId,
    WaitScope,
};
use signpost_domain::{CertificateFailureReason, Email, Timestamp, ValidationMethod};
use signpost_memory::ManualClock;
use signpost_test_servers::fake_authority::{
    Endpoint, FakeAuthority, Issuing, Misbehaviour, RenewalInformation, Replacing,
};
use steps::{RunningOrder, authority, hostname, now, options, register};

const NAME: &str = "go.customer.com";

struct World {
    fake: FakeAuthority,
    options: AcmeOptions,
    account: AuthorityAccount,
}

impl World {
    async fn new() -> Self {
        let fake = FakeAuthority::start();
        let options = options(fake.directory(), fake.roots());
        let account = register(&options).await;
        Self { fake, options, account }
    }

    async fn order(&self) -> Result<OrderUrl, AuthorityError> {
        authority(&self.options).order(&self.account, &hostname(NAME), None).await
    }

    async fn renewal(&self, replaces: &RenewalId) -> Result<OrderUrl, AuthorityError> {
        authority(&self.options).order(&self.account, &hostname(NAME), Some(replaces)).await
    }

    async fn running(&self) -> RunningOrder {
        RunningOrder::begin(&self.options, &self.account, NAME).await
    }

    fn advise(&self, start: &str, end: &str, retry_after: Option<&str>) {
        self.fake.advise_renewal(Some(RenewalInformation {
            start: start.to_owned(),
            end: end.to_owned(),
            retry_after: retry_after.map(str::to_owned),
        }));
    }
}

fn id() -> RenewalId {
    RenewalId("aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE".to_owned())
}

fn seconds(count: u64) -> Timestamp {
    now().plus(Duration::from_secs(count))
}

fn is_unavailable<T: std::fmt::Debug>(result: &Result<T, AuthorityError>) -> bool {
    matches!(result, Err(AuthorityError::Unavailable { .. }))
}

#[tokio::test]
async fn d187_an_order_advances_and_says_when_to_ask_again() {
    let mut world = World::new().await;
    world.options.profile = Some("shortlived".to_owned());
    world.fake.process_for(1);
    let order = world.running().await;
    assert_eq!(world.fake.last_profile().as_deref(), Some("shortlived"));
    order.challenge().await;
    order.begin_validation().await;
    assert_eq!(order.progress().await, Ok(OrderProgress::Ready));
    order.finalize().await;
    let asked = OrderProgress::Processing { ask_again_at: Some(seconds(7)) };
    assert_eq!(order.progress().await, Ok(asked));
    order.until(|progress| *progress == OrderProgress::Issued).await;
    let certificate = order.download().await.unwrap();
    assert_eq!(certificate.issuer, "Fake Authority F1");
    assert_eq!(authority(&world.options).issuer_domains().await, Ok(vec!["fake.example.net".to_owned()]));
    assert_eq!(world.fake.orders(), 1);
}

#[tokio::test]
async fn d190_a_limit_is_a_wait_and_asks_only_once() {
    let world = World::new().await;
    for (misbehaviour, until) in [
        (Misbehaviour::problem(429, "rateLimited").retry_after("120"), seconds(120)),
        (Misbehaviour::status(429).retry_after("Sat, 31 Jan 2026 09:10:00 GMT"), seconds(600)),
        (Misbehaviour::problem(429, "rateLimited"), seconds(3_600)),
    ] {
        let before = world.fake.requests(Endpoint::NewOrder);
        world.fake.misbehave(Endpoint::NewOrder, misbehaviour);
        match world.order().await {
            Err(AuthorityError::Wait { until: at, scope, failure }) => {
                assert_eq!((at, scope), (until, WaitScope::Hostname));
                assert_eq!(failure.reason, CertificateFailureReason::RateLimited);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(world.fake.requests(Endpoint::NewOrder), before + 1);
    }
    assert_eq!(world.fake.orders(), 0);
}

/// Let's Encrypt says in words which limit it is.
#[tokio::test]
async fn d190_a_limit_of_new_names_is_told_from_one_of_the_hostname() {
    let world = World::new().await;
    for (detail, expected) in [
        ("too many new orders (300) from this account in the last 3h0m0s", WaitScope::NewOrders),
        ("too many certificates (50) already issued for \"example.com\"", WaitScope::RegisteredDomain),
        ("too many certificates (5) already issued for this exact set of domains", WaitScope::Hostname),
    ] {
        let limit = Misbehaviour::problem_saying(429, "rateLimited", detail).retry_after("120");
        world.fake.misbehave(Endpoint::NewOrder, limit);
        match world.order().await {
            Err(AuthorityError::Wait { until, scope, .. }) => {
                assert_eq!((until, scope), (seconds(120), expected), "{detail}");
            }
            other => panic!("{detail}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn d190_an_overloaded_authority_is_a_wait_with_everything() {
    let world = World::new().await;
    for endpoint in [Endpoint::Directory, Endpoint::NewNonce, Endpoint::NewOrder] {
        world.fake.misbehave(endpoint, Misbehaviour::page(503).retry_after("30"));
        match world.order().await {
            Err(AuthorityError::Wait { until, scope, .. }) => {
                assert_eq!((until, scope), (seconds(30), WaitScope::Everything), "{endpoint:?}");
            }
            other => panic!("{endpoint:?}: {other:?}"),
        }
        world.fake.behave(endpoint);
    }
    assert_eq!(world.fake.orders(), 0);
}

#[tokio::test]
async fn d190_answers_outside_the_protocol_are_unavailability() {
    let world = World::new().await;
    let order = world.running().await;
    for misbehaviour in [
        Misbehaviour::page(500),
        Misbehaviour::page(502),
        Misbehaviour::page(400),
        Misbehaviour::page(200),
        Misbehaviour::status(302),
        Misbehaviour::status(503),
        Misbehaviour::huge_body(10_000_000),
        Misbehaviour::close(),
    ] {
        for endpoint in [Endpoint::Directory, Endpoint::Order, Endpoint::Authorization] {
            world.fake.misbehave(endpoint, misbehaviour.clone());
            let progress = order.progress().await;
            assert!(is_unavailable(&progress), "{endpoint:?} {misbehaviour:?}: {progress:?}");
            world.fake.behave(endpoint);
        }
    }
    // It was no more than a moment's trouble.
    order.challenge().await;
    order.finish().await.unwrap();
}

#[tokio::test]
async fn d190_silence_and_slow_bytes_end_within_the_time_limit() {
    let world = World::new().await;
    let mut order = world.running().await;
    order.options.time_limit = Duration::from_millis(500);
    for misbehaviour in [Misbehaviour::silence(), Misbehaviour::slow_bytes()] {
        for endpoint in [Endpoint::Directory, Endpoint::NewNonce, Endpoint::Order] {
            world.fake.misbehave(endpoint, misbehaviour.clone());
            let start = Instant::now();
            let progress = order.progress().await;
            assert!(is_unavailable(&progress), "{endpoint:?} {misbehaviour:?}: {progress:?}");
            assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
            world.fake.behave(endpoint);
        }
    }
}

#[tokio::test]
async fn d187_an_unusable_certificate_is_refused() {
    let world = World::new().await;
    let order = world.running().await;
    order.finish().await.unwrap();
    for (issuing, fault) in [
        (Issuing::WrongChain, "chain is not in order"),
        (Issuing::OtherKey, "for another key"),
        (Issuing::OtherName, "does not name go.customer.com"),
        (Issuing::Expired, "expired at 2021-01-01"),
        (Issuing::Garbage, "contains no certificate"),
    ] {
        world.fake.issue(issuing);
        match order.download().await {
            Err(AuthorityError::Refused(failure)) => {
                assert_eq!(failure.reason, CertificateFailureReason::AuthorityUnavailable);
                assert!(failure.message.as_ref().unwrap().as_str().contains(fault), "{failure:?}");
            }
            other => panic!("{issuing:?}: {other:?}"),
        }
    }
    world.fake.issue(Issuing::Well);
    order.download().await.unwrap();
}

#[tokio::test]
async fn d190_refused_nonces_are_transient() {
    let world = World::new().await;
    world.fake.refuse_every_other_nonce(true);
    world.running().await.finish().await.unwrap();
    assert_eq!(world.fake.orders(), 1);

    let before = world.fake.requests(Endpoint::NewOrder);
    world.fake.misbehave(Endpoint::NewOrder, Misbehaviour::problem(400, "badNonce"));
    assert_eq!(world.order().await, Err(AuthorityError::Transient));
    assert!(world.fake.requests(Endpoint::NewOrder) - before <= 12);
    assert_eq!(world.fake.orders(), 1);
}

#[tokio::test]
async fn d194_failed_validations_have_reasons() {
    let world = World::new().await;
    for (kind, reason) in [
        ("caa", CertificateFailureReason::CaaForbids),
        ("connection", CertificateFailureReason::Unreachable),
        ("tls", CertificateFailureReason::Unreachable),
        ("unauthorized", CertificateFailureReason::WrongAnswer),
        ("dns", CertificateFailureReason::DnsFailed),
        ("serverInternal", CertificateFailureReason::AuthorityUnavailable),
    ] {
        world.fake.fail_validation(Some(kind));
        let order = world.running().await;
        order.begin_validation().await;
        let failure = order.until_failed().await;
        assert_eq!(failure.reason, reason, "{kind}");
        assert_eq!(failure.message.unwrap().as_str(), format!("because of {kind}"));
    }
}

#[tokio::test]
async fn d194_a_refused_name_is_told_apart() {
    let world = World::new().await;
    world.fake.misbehave(Endpoint::NewOrder, Misbehaviour::problem(400, "rejectedIdentifier"));
    match world.order().await {
        Err(AuthorityError::Refused(failure)) => {
            assert_eq!(failure.reason, CertificateFailureReason::NameRefused);
        }
        other => panic!("{other:?}"),
    }
    world.fake.misbehave(Endpoint::NewOrder, Misbehaviour::problem(400, "accountDoesNotExist"));
    assert_eq!(world.order().await, Err(AuthorityError::NoSuchAccount));
}

#[tokio::test]
async fn d191_the_authority_says_when_to_renew() {
    let world = World::new().await;
    assert_eq!(authority(&world.options).renewal_window(&id()).await, Ok(None), "no extension");

    let [start, end] = ["2026-02-01T00:00:00Z", "2026-02-03T00:00:00Z"];
    for (retry_after, ask_again_at) in [(Some("21600"), Some(seconds(21_600))), (None, None)] {
        world.advise(start, end, retry_after);
        let advice = authority(&world.options).renewal_window(&id()).await.unwrap().unwrap();
        assert_eq!(advice.ask_again_at, ask_again_at);
        let window = [advice.window.start(), advice.window.end()];
        assert_eq!(window, [start, end].map(|instant| Timestamp::parse(instant).unwrap()));
    }
    world.advise(end, start, None);
    assert!(is_unavailable(&authority(&world.options).renewal_window(&id()).await));

    world.fake.misbehave(Endpoint::RenewalInfo, Misbehaviour::problem(404, "malformed"));
    assert_eq!(authority(&world.options).renewal_window(&id()).await, Ok(None), "unknown certificate");
    world.fake.misbehave(Endpoint::RenewalInfo, Misbehaviour::status(429).retry_after("60"));
    let limited = authority(&world.options).renewal_window(&id()).await;
    assert!(matches!(limited, Err(AuthorityError::Wait { .. })), "{limited:?}");
}

#[tokio::test]
async fn d191_an_order_says_what_it_replaces_if_the_authority_wants_to_know() {
    let world = World::new().await;
    world.renewal(&id()).await.unwrap();
    assert_eq!(world.fake.last_replaced(), None);

    world.advise("2026-02-01T00:00:00Z", "2026-02-03T00:00:00Z", None);
    world.renewal(&id()).await.unwrap();
    assert_eq!(world.fake.last_replaced(), Some(id().0));

    world.fake.replace(Replacing::AlreadyReplaced);
    assert_eq!(world.renewal(&id()).await, Err(AuthorityError::AlreadyReplaced));
    world.order().await.unwrap();
    assert_eq!(world.fake.orders(), 3);
}

#[tokio::test]
async fn d187_an_order_is_not_lost_if_its_answer_is_incomplete() {
    let world = World::new().await;
    world.advise("2026-02-01T00:00:00Z", "2026-02-03T00:00:00Z", None);
    world.fake.replace(Replacing::Hidden);
    let url = world.renewal(&id()).await.unwrap();
    assert_eq!(world.fake.orders(), 1);
    let progress = authority(&world.options).progress(&world.account, &url, ValidationMethod::Http).await;
    assert!(matches!(progress, Ok(OrderProgress::Challenged { .. })), "{progress:?}");
}

#[tokio::test]
async fn d180_nothing_is_asked_before_there_is_work() {
    let world = World::new().await;
    let before = world.fake.requests(Endpoint::Directory);
    let ca = authority(&world.options);
    ca.new_key().unwrap();
    assert_eq!(world.fake.requests(Endpoint::Directory), before);
    // The directory is fetched once for many calls.
    for _ in 0..3 {
        ca.order(&world.account, &hostname(NAME), None).await.unwrap();
    }
    assert_eq!(world.fake.requests(Endpoint::Directory), before + 1);

    // An authority that is away does not keep the program from starting.
    let ca = authority(&world.options);
    drop(world);
    let contact = Email::parse("ops@example.com").unwrap();
    assert!(is_unavailable(&ca.register(&contact).await));
}

#[tokio::test]
async fn d180_an_old_directory_is_fetched_again() {
    let world = World::new().await;
    let clock = Arc::new(ManualClock::new(now()));
    let ca = AcmeAuthority::new(world.options.clone(), clock.clone()).unwrap();
    ca.issuer_domains().await.unwrap();
    let before = world.fake.requests(Endpoint::Directory);
    ca.issuer_domains().await.unwrap();
    assert_eq!(world.fake.requests(Endpoint::Directory), before);
    clock.advance(Duration::from_hours(1));
    ca.issuer_domains().await.unwrap();
    assert_eq!(world.fake.requests(Endpoint::Directory), before + 1);
}

#[tokio::test]
async fn d180_only_https_and_trusted_servers_are_asked() {
    let world = World::new().await;
    for directory in ["http://localhost/directory", "localhost/directory", "https:///x", "not a url", ""] {
        let options = AcmeOptions { directory: directory.to_owned(), ..world.options.clone() };
        let refused = AcmeAuthority::new(options, Arc::new(ManualClock::new(now()))).map(drop);
        assert_eq!(refused, Err(AcmeOptionsError::Directory(directory.to_owned())));
    }
    let other = FakeAuthority::start();
    let distrusting = options(other.directory(), world.fake.roots());
    let asked = authority(&distrusting).issuer_domains().await;
    assert!(is_unavailable(&asked), "{asked:?}");
    assert_eq!(other.requests(Endpoint::Directory), 0);
}

#[tokio::test]
async fn d193_spoiled_secrets_are_reported_without_their_content() {
    let world = World::new().await;
    for credentials in [b"secret".to_vec(), b"[\"secret\"]".to_vec(), Vec::new()] {
        let account = AuthorityAccount { credentials, ..world.account.clone() };
        let asked = authority(&world.options).order(&account, &hostname(NAME), None).await.unwrap_err();
        assert!(matches!(asked, AuthorityError::Unusable { .. }), "{asked:?}");
        assert!(!format!("{asked} {asked:?}").contains("secret"));
    }
}
