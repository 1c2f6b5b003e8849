//! The identities of users at identity providers (D77).

use std::sync::Arc;

use signpost_app::ports::{Binding, BoundIdentity, Store};
use signpost_domain::{ExternalIdentity, Issuer, Subject, UserId};

use super::fixture::Fresh;
use super::given::unit;
use super::people_steps;
use crate::run::at_once;
use crate::samples;

cases! {
    $ identities
    d77_an_identity_leads_to_its_user
    d77_an_identity_has_one_user_and_a_user_one_identity_of_each_issuer
    d77_binding_again_changes_nothing
    d77_an_unbound_identity_can_be_bound_again
    d77_all_identities_of_a_user_are_unbound_at_once
    d77_of_bindings_at_once_one_succeeds
    a_user_that_is_missing_is_not_bound
}

const ISSUER: &str = "https://login.example.com";
const OTHER_ISSUER: &str = "https://login.example.com/";

fn identity(issuer: &str, subject: &str) -> ExternalIdentity {
    let (issuer, subject) = (Issuer::parse(issuer).unwrap(), Subject::parse(subject).unwrap());
    ExternalIdentity { issuer, subject }
}

async fn bind_at(store: &Arc<dyn Store>, user: UserId, identity: &ExternalIdentity, millis: i64) -> Binding {
    unit!(store, async |work| Ok(work.bind_identity(user, identity, samples::at(millis)).await?))
        .await
        .unwrap()
}

async fn bind(store: &Arc<dyn Store>, user: UserId, identity: &ExternalIdentity) -> Binding {
    bind_at(store, user, identity, 0).await
}

async fn unbind(store: &Arc<dyn Store>, user: UserId, issuer: &str) -> bool {
    let issuer = Issuer::parse(issuer).unwrap();
    unit!(store, async |work| Ok(work.unbind_identity(user, &issuer).await?)).await.unwrap()
}

async fn bound(store: &Arc<dyn Store>, user: UserId, issuer: &str) -> Option<BoundIdentity> {
    store.identity_of(user, &Issuer::parse(issuer).unwrap()).await.unwrap()
}

/// Issuers and subjects are compared exactly.
pub(super) async fn d77_an_identity_leads_to_its_user(fresh: Fresh) {
    let store = fresh.store().await;
    let (ada, bob) = (people_steps::user(&store).await, people_steps::user(&store).await);
    let (of_ada, of_bob) = (identity(ISSUER, "Ada"), identity(ISSUER, "ada"));
    assert_eq!(bind_at(&store, ada.id, &of_ada, 5).await, Binding::Bound);
    assert_eq!(bind(&store, bob.id, &of_bob).await, Binding::Bound);
    assert_eq!(store.user_with_identity(&of_ada).await.unwrap().as_ref(), Some(&ada));
    for (user, identity, expected) in [(&ada, &of_ada, true), (&bob, &of_ada, false), (&ada, &of_bob, false)]
    {
        let held = unit!(&store, async |work| Ok(work.has_identity(user.id, identity).await?));
        assert_eq!(held.await.unwrap(), expected);
    }
    assert_eq!(store.user_with_identity(&of_bob).await.unwrap().as_ref(), Some(&bob));
    for other in [identity(OTHER_ISSUER, "Ada"), identity(ISSUER, "ADA"), identity(ISSUER, "Ada ")] {
        assert_eq!(store.user_with_identity(&other).await.unwrap(), None, "{other:?}");
    }
    let expected = BoundIdentity { subject: of_ada.subject, bound_at: samples::at(5) };
    assert_eq!(bound(&store, ada.id, ISSUER).await, Some(expected));
    assert_eq!(bound(&store, ada.id, OTHER_ISSUER).await, None);
    assert_eq!(bound(&store, samples::id(), ISSUER).await, None);
}

pub(super) async fn d77_an_identity_has_one_user_and_a_user_one_identity_of_each_issuer(fresh: Fresh) {
    let store = fresh.store().await;
    let (ada, bob) = (people_steps::user(&store).await.id, people_steps::user(&store).await.id);
    let first = identity(ISSUER, "1");
    assert_eq!(bind(&store, ada, &first).await, Binding::Bound);
    assert_eq!(bind(&store, bob, &first).await, Binding::TakenByAnother);
    assert_eq!(bind(&store, ada, &identity(ISSUER, "2")).await, Binding::HasAnother);
    assert_eq!(bind(&store, ada, &identity(OTHER_ISSUER, "1")).await, Binding::Bound);
    // The refused bindings left nothing behind.
    assert_eq!(bind(&store, bob, &identity(ISSUER, "2")).await, Binding::Bound);
    // Both objections: the identity is another's, which the user learns first.
    assert_eq!(bind(&store, bob, &first).await, Binding::TakenByAnother);
    assert_eq!(store.user_with_identity(&first).await.unwrap().unwrap().id, ada);
}

/// A refusal leaves the unit of work usable.
pub(super) async fn d77_binding_again_changes_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let (ada, bob) = (people_steps::user(&store).await.id, people_steps::user(&store).await.id);
    let (first, second) = (identity(ISSUER, "1"), identity(ISSUER, "2"));
    assert_eq!(bind_at(&store, ada, &first, 1).await, Binding::Bound);
    let bindings = unit!(&store, async |work| {
        Ok([
            work.bind_identity(ada, &first, samples::at(2)).await?,
            work.bind_identity(bob, &first, samples::at(2)).await?,
            work.bind_identity(bob, &second, samples::at(2)).await?,
        ])
    });
    assert_eq!(bindings.await.unwrap(), [Binding::Bound, Binding::TakenByAnother, Binding::Bound]);
    assert_eq!(bound(&store, ada, ISSUER).await.unwrap().bound_at, samples::at(1));
    assert_eq!(bound(&store, bob, ISSUER).await.unwrap().bound_at, samples::at(2));
}

pub(super) async fn d77_an_unbound_identity_can_be_bound_again(fresh: Fresh) {
    let store = fresh.store().await;
    let (ada, bob) = (people_steps::user(&store).await.id, people_steps::user(&store).await.id);
    let first = identity(ISSUER, "1");
    assert!(!unbind(&store, ada, ISSUER).await);
    bind(&store, ada, &first).await;
    bind(&store, ada, &identity(OTHER_ISSUER, "1")).await;
    assert!(!unbind(&store, bob, ISSUER).await);
    assert!(unbind(&store, ada, ISSUER).await);
    assert!(!unbind(&store, ada, ISSUER).await);
    assert_eq!(store.user_with_identity(&first).await.unwrap(), None);
    assert!(bound(&store, ada, OTHER_ISSUER).await.is_some());
    assert_eq!(bind(&store, bob, &first).await, Binding::Bound);
}

/// Half of the bindings are of one identity to many users, and half of many identities to one user.
pub(super) async fn d77_of_bindings_at_once_one_succeeds(fresh: Fresh) {
    let store = fresh.store().await;
    for round in 0..4 {
        let wanted = identity(ISSUER, &format!("wanted {round}"));
        let greedy = people_steps::user(&store).await.id;
        let mut users = Vec::new();
        for _ in 0..8 {
            users.push(people_steps::user(&store).await.id);
        }
        let bindings = at_once(16, |number| {
            let (store, wanted) = (store.clone(), wanted.clone());
            let user = users[usize::try_from(number / 2).unwrap()];
            async move {
                if number % 2 == 0 {
                    (0, bind(&store, user, &wanted).await)
                } else {
                    (1, bind(&store, greedy, &identity(ISSUER, &format!("{round} {number}"))).await)
                }
            }
        })
        .await;
        for (kind, refusal) in [(0, Binding::TakenByAnother), (1, Binding::HasAnother)] {
            let of_kind = bindings.iter().filter(|(of, _)| *of == kind).map(|(_, binding)| *binding);
            let (bound, refused): (Vec<_>, Vec<_>) = of_kind.partition(|binding| *binding == Binding::Bound);
            assert_eq!((bound.len(), refused), (1, vec![refusal; 7]));
        }
        assert!(users.contains(&store.user_with_identity(&wanted).await.unwrap().unwrap().id));
    }
}

/// The unit of work stays usable.
pub(super) async fn a_user_that_is_missing_is_not_bound(fresh: Fresh) {
    let store = fresh.store().await;
    let user = people_steps::user(&store).await.id;
    let first = identity(ISSUER, "1");
    let bindings = unit!(&store, async |work| {
        Ok([
            work.bind_identity(samples::id(), &first, samples::at(0)).await?,
            work.bind_identity(user, &first, samples::at(0)).await?,
        ])
    });
    assert_eq!(bindings.await.unwrap(), [Binding::NoSuchUser, Binding::Bound]);
    assert_eq!(store.user_with_identity(&first).await.unwrap().unwrap().id, user);
}

pub(super) async fn d77_all_identities_of_a_user_are_unbound_at_once(fresh: Fresh) {
    let store = fresh.store().await;
    let (ada, bob) = (people_steps::user(&store).await, people_steps::user(&store).await);
    for (user, issuer) in [(ada.id, ISSUER), (ada.id, OTHER_ISSUER)] {
        assert_eq!(bind(&store, user, &identity(issuer, "ada")).await, Binding::Bound);
    }
    assert_eq!(bind(&store, bob.id, &identity(ISSUER, "bob")).await, Binding::Bound);
    for expected in [2, 0] {
        let unbound = unit!(&store, async |work| Ok(work.unbind_identities(ada.id).await?));
        assert_eq!(unbound.await.unwrap(), expected);
    }
    assert_eq!(bound(&store, ada.id, ISSUER).await, None);
    assert!(bound(&store, bob.id, ISSUER).await.is_some());
}
