//! Accounts as operators manage them (D15, D60).

use signpost_app::accounts::{self, AccountReference, CreateAccount, OperatorError};
use signpost_app::{AppError, Operator, keys};
use signpost_domain::{Account, Address, PageLimit, Site};
use signpost_port_contracts::samples;

use crate::world::{World, create_as, draft, group_of};

fn command(email: &str, plan: &str) -> CreateAccount {
    CreateAccount {
        email: samples::email(email),
        name: Some(samples::name("Ada")),
        plan: samples::plan(plan),
    }
}

#[tokio::test]
async fn an_account_is_stored_as_requested() {
    let world = World::new().await;
    let created =
        accounts::create(&world.app, &Operator::COMMAND, command("Ada@Example.com", "pro")).await.unwrap();
    let expected = Account {
        id: created.id,
        email: samples::email("Ada@Example.com"),
        name: Some(samples::name("Ada")),
        plan: samples::plan("pro"),
        suspended_at: None,
        requires_second_factor: false,
        created_at: samples::at(0),
    };
    assert_eq!(created, expected);
    assert_eq!(world.app.store.account(created.id).await.unwrap(), Some(expected));
}

#[tokio::test]
async fn an_email_address_has_one_account() {
    let world = World::new().await;
    accounts::create(&world.app, &Operator::COMMAND, command("ada@example.com", "pro")).await.unwrap();
    let refused = accounts::create(&world.app, &Operator::COMMAND, command("ADA@example.com", "pro"))
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, OperatorError::EmailTaken(email) if email == "ADA@example.com"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn d60_accounts_are_found_by_email_address_or_id() {
    let world = World::new().await;
    let ada =
        accounts::create(&world.app, &Operator::COMMAND, command("Ada@example.com", "pro")).await.unwrap();
    let find = async |text: &str| accounts::find(&world.app, &text.parse().unwrap()).await;
    for text in ["ada@EXAMPLE.com", " Ada@example.com ", &ada.id.to_string()] {
        assert_eq!(find(text).await.unwrap(), ada.id, "{text}");
    }
    let unknown = find("ida@example.com").await.unwrap_err();
    assert_eq!(unknown.to_string(), "there is no account with the contact address ida@example.com");
}

#[test]
fn an_account_is_named_by_an_id_or_an_email_address() {
    for text in ["", "acc_1", "ada", "key_00000000000000000000000000000000", "a@b@c"] {
        let malformed = text.parse::<AccountReference>().unwrap_err();
        assert_eq!(malformed.to_string(), "is neither an account id (acc_…) nor an e-mail address", "{text}");
    }
}

/// The message lists the configured plans.
#[tokio::test]
async fn d15_unknown_plans_are_refused() {
    let world = World::new().await;
    let created = accounts::create(&world.app, &Operator::COMMAND, command("ada@example.com", "gold"))
        .await
        .unwrap_err();
    let set = accounts::set_plan(&world.app, &Operator::COMMAND, world.account.id, &samples::plan("gold"))
        .await
        .unwrap_err();
    for refused in [created, set] {
        assert_eq!(
            refused.to_string(),
            "there is no plan `gold`; the plans are agency, free, pro, unlimited"
        );
    }
    assert_eq!(world.app.store.account(world.account.id).await.unwrap().as_ref(), Some(&world.account));
    let all = accounts::list(&world.app, PageLimit::default(), None).await.unwrap();
    assert_eq!(all.items, [world.account]);
}

/// The account may be deleted after the request was admitted.
#[tokio::test]
async fn a_caller_of_a_deleted_account_creates_nothing() {
    let world = World::new().await;
    let caller = world.caller().await;
    accounts::delete(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    let created = create_as(&world.app, &caller, draft("sale")).await;
    assert!(matches!(created, Err(AppError::AccountGone)), "{created:?}");
    let created = group_of(&world.app, &caller, "Late").await;
    assert!(matches!(created, Err(AppError::AccountGone)), "{created:?}");
    let address = Address { site: Site::System, slug: Some(samples::slug("sale")) };
    assert_eq!(world.app.store.published_link(&address).await.unwrap(), None);
}

#[tokio::test]
async fn an_unknown_account_is_reported() {
    let world = World::new().await;
    let unknown = samples::id();
    let outcomes = [
        accounts::set_plan(&world.app, &Operator::COMMAND, unknown, &samples::plan("pro")).await,
        accounts::suspend(&world.app, &Operator::COMMAND, unknown).await,
        accounts::resume(&world.app, &Operator::COMMAND, unknown).await,
        accounts::delete(&world.app, &Operator::COMMAND, unknown).await,
        keys::issue(&world.app, unknown, None).await.map(|_| ()),
        keys::list(&world.app, unknown).await.map(|_| ()),
    ];
    for outcome in outcomes {
        assert!(matches!(&outcome, Err(OperatorError::NoSuchAccount(id)) if *id == unknown), "{outcome:?}");
    }
}
