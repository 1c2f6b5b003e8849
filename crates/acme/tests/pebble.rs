//! Orders at Pebble, the authority that Let's Encrypt wrote for tests of clients.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod steps;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use signpost_acme::{AcmeOptions, ExternalAccount};
use signpost_app::ports::{AuthorityError, CertificateAuthority as _, Challenge, OrderProgress, OrderUrl};
use signpost_domain::{CertificateFailureReason, Email, ValidationMethod};
use signpost_test_servers::dns::{NameServer, Record};
use signpost_test_servers::pebble::{Pebble, Setup};
use steps::{RunningOrder, authority, hostname, options, register};

const NAME: &str = "go.customer.com";

struct World {
    names: NameServer,
    pebble: Pebble,
    options: AcmeOptions,
}

impl World {
    fn with(setup: &Setup) -> Self {
        let names = NameServer::start();
        names.set(NAME, [Record::address("127.0.0.1")]);
        let pebble = Pebble::start_with("signpost-acme", names.address(), setup);
        let options = options(pebble.directory(), pebble.roots());
        Self { names, pebble, options }
    }

    fn new() -> Self {
        Self::with(&Setup::default())
    }

    /// Answers the challenge where the authority connects to.
    fn answer(&self, challenge: Option<Challenge>) -> Answerer {
        Answerer::listen(self.pebble.http_port(), challenge)
    }
}

/// Answers on the port of challenges, like an installation that has stored the challenge.
#[derive(Clone)]
struct Answerer(Arc<Mutex<Option<Challenge>>>);

impl Answerer {
    fn listen(port: u16, challenge: Option<Challenge>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        let answerer = Self(Arc::new(Mutex::new(challenge)));
        let answering = answerer.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut first = String::new();
                let _ = BufReader::new(&stream).read_line(&mut first);
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                let body = answering.0.lock().unwrap().as_ref().and_then(|challenge| {
                    let token = path.strip_prefix("/.well-known/acme-challenge/")?;
                    (token == challenge.token).then(|| challenge.key_authorization.clone())
                });
                let body = body.unwrap_or_else(|| "a page".to_owned());
                let length = body.len();
                let head =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
            }
        });
        answerer
    }
}

#[tokio::test]
async fn d187_an_order_goes_on_in_another_process_after_each_step() {
    let world = World::new();
    let account = register(&world.options).await;
    let order = RunningOrder::begin(&world.options, &account, NAME).await;
    let challenge = order.challenge().await;
    assert_eq!(order.challenge().await, challenge, "asking changes nothing");
    assert!(challenge.key_authorization.starts_with(&challenge.token));
    let _answerer = world.answer(Some(challenge));
    let certificate = order.finish().await.unwrap();
    assert_eq!(certificate.chain.len(), 2);
    assert!(certificate.issuer.starts_with("Pebble Intermediate CA"), "{}", certificate.issuer);
    assert!(certificate.renewal_id.is_some());

    // Every step may be repeated.
    order.begin_validation().await;
    order.finalize().await;
    assert_eq!(order.progress().await, Ok(OrderProgress::Issued));
    assert_eq!(order.download().await, Ok(certificate.clone()));

    authority(&world.options).revoke(&account, &certificate).await.unwrap();
    authority(&world.options).revoke(&account, &certificate).await.unwrap();
}

#[tokio::test]
async fn d187_an_order_survives_many_refused_nonces() {
    let world = World::with(&Setup { refused_nonces: 50, ..Setup::default() });
    let account = register(&world.options).await;
    let order = RunningOrder::begin(&world.options, &account, NAME).await;
    let _answerer = world.answer(Some(order.challenge().await));
    order.finish().await.unwrap();
}

#[tokio::test]
async fn d194_another_answer_is_a_wrong_answer() {
    let world = World::new();
    let account = register(&world.options).await;
    let order = RunningOrder::begin(&world.options, &account, NAME).await;
    let _answerer = world.answer(None);
    order.begin_validation().await;
    let failure = order.until_failed().await;
    assert_eq!(failure.reason, CertificateFailureReason::WrongAnswer, "{failure:?}");
    assert!(failure.message.is_some());
}

#[tokio::test]
async fn d194_a_closed_port_is_unreachable() {
    let world = World::new();
    let account = register(&world.options).await;
    let order = RunningOrder::begin(&world.options, &account, NAME).await;
    order.begin_validation().await;
    let failure = order.until_failed().await;
    assert_eq!(failure.reason, CertificateFailureReason::Unreachable, "{failure:?}");
}

#[tokio::test]
async fn d194_a_name_without_an_address_is_not_reached() {
    let world = World::new();
    world.names.remove(NAME);
    let account = register(&world.options).await;
    let order = RunningOrder::begin(&world.options, &account, NAME).await;
    order.begin_validation().await;
    let failure = order.until_failed().await;
    // Pebble reports this as a connection that failed; Let's Encrypt has a type of its own for it.
    let either = [CertificateFailureReason::DnsFailed, CertificateFailureReason::Unreachable];
    assert!(either.contains(&failure.reason), "{failure:?}");
}

#[tokio::test]
async fn d187_unknown_orders_and_accounts_are_told_apart() {
    let world = World::new();
    let account = register(&world.options).await;
    let order = RunningOrder::begin(&world.options, &account, NAME).await;
    let forgotten = OrderUrl(format!("{}x", order.url.0));
    let ca = authority(&world.options);
    assert_eq!(
        ca.progress(&account, &forgotten, ValidationMethod::Http).await,
        Err(AuthorityError::NoSuchOrder)
    );
    let other = register(&world.options).await;
    assert_eq!(
        ca.progress(&other, &order.url, ValidationMethod::Http).await,
        Err(AuthorityError::NoSuchOrder)
    );

    // The account of another authority, of the same kind.
    let elsewhere = World::new();
    let asked = authority(&elsewhere.options).order(&account, &hostname(NAME), None).await;
    assert_eq!(asked, Err(AuthorityError::NoSuchAccount));
    // An authority that has lost its accounts.
    let credentials = String::from_utf8(account.credentials.clone()).unwrap();
    let [here, there] = [&world, &elsewhere].map(|world| world.pebble.directory().replace("/dir", "/"));
    let moved = credentials.replace(&here, &there);
    let mut moved_account = account.clone();
    moved_account.credentials = moved.into_bytes();
    let asked = authority(&elsewhere.options).order(&moved_account, &hostname(NAME), None).await;
    assert_eq!(asked, Err(AuthorityError::NoSuchAccount));
}

#[tokio::test]
async fn d180_an_external_account_is_bound() {
    let key = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W";
    let setup = Setup { external_account: Some(("kid-1".to_owned(), key.to_owned())), ..Setup::default() };
    let mut world = World::with(&setup);
    let contact = Email::parse("ops@example.com").unwrap();
    let refused = authority(&world.options).register(&contact).await.unwrap_err();
    assert!(matches!(refused, AuthorityError::Refused(_)), "{refused:?}");
    let decoded = [
        0xcd, 0x63, 0x43, 0x64, 0xce, 0x9e, 0x40, 0x61, 0xd6, 0xa5, 0x24, 0x53, 0x3d, 0xa9, 0x79, 0x78, 0x85,
        0x18, 0x15, 0x3b, 0xbb, 0x11, 0xa8, 0xd5, 0x22, 0x88, 0x2e, 0xca, 0xca, 0x99, 0xf7, 0x01, 0xb8, 0xe2,
        0x73, 0x04, 0xb7, 0x1d, 0xcc, 0x50, 0x0b, 0x14, 0x0e, 0x43, 0x13, 0x43, 0x5d, 0x96,
    ];
    world.options.external_account =
        Some(ExternalAccount { key_id: "kid-1".to_owned(), key: decoded.to_vec() });
    authority(&world.options).register(&contact).await.unwrap();
}

#[tokio::test]
async fn d189_pebble_names_no_domain_for_caa() {
    let world = World::new();
    assert_eq!(authority(&world.options).issuer_domains().await, Ok(Vec::new()));
    assert_eq!(
        authority(&world.options).renewal_window(&signpost_app::ports::RenewalId("AA.AA".to_owned())).await,
        Ok(None)
    );
}
