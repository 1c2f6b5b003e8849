//! Use cases can be spawned: their futures may move between threads.

use std::sync::Arc;

use signpost_app::idempotency::Idempotency;
use signpost_app::{Operator, accounts, domains, groups, keys, links};
use signpost_domain::{
    Email, IdReference, PlanName, Precondition, RedirectContent, RedirectRequest, Submitted,
};
use signpost_memory::InMemory;

#[tokio::test(flavor = "multi_thread")]
async fn writing_use_cases_can_be_spawned() {
    let app = Arc::new(InMemory::default().application());
    let command = accounts::CreateAccount {
        email: Email::parse("ann@example.com").unwrap(),
        name: None,
        plan: PlanName::parse("agency").unwrap(),
    };
    let spawned = tokio::spawn(async move {
        let account = accounts::create(&app, &Operator::COMMAND, command).await.unwrap();
        let (_, secret) = keys::issue(&app, account.id, None).await.unwrap();
        let address = std::net::Ipv4Addr::LOCALHOST.into();
        let caller = signpost_app::admission::admit(&app, Some(&secret), address, None).await.unwrap().caller;
        let patch = Submitted::valid(RedirectRequest::default());
        let updated = links::update::<RedirectContent>(
            &app,
            &caller,
            IdReference::Malformed,
            patch,
            &Precondition::None,
        )
        .await;
        let deleted = groups::delete(&app, &caller, IdReference::Malformed, &Precondition::None).await;
        let connected = domains::connect(&app, &caller, "links.shop.com", Idempotency::disabled()).await;
        let id = connected.unwrap().domain.domain.id;
        let verified = domains::verify(&app, &caller, id.into(), Idempotency::disabled()).await;
        let removed = domains::delete(&app, &caller, id.into(), &Precondition::None).await;
        (updated.is_err(), deleted.is_err(), verified.is_ok(), removed.is_ok())
    });
    assert_eq!(spawned.await.unwrap(), (true, true, true, true));
}
