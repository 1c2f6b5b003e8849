//! Sessions of users (D72, D73).

use signpost_app::ports::{Member, SessionHolder};
use signpost_domain::{AgentName, ClientNetwork, LinkKind, Role, Session, Timestamp, TokenHash, Usage, User};

use super::fixture::Fresh;
use super::given::{self, unit};
use super::people_steps::{self, insert_session, put_member};
use crate::run::at_once;
use crate::samples;

cases! {
    $ sessions
    a_session_reads_back_as_it_was_inserted
    a_token_finds_its_session_and_user
    a_token_finds_the_place_of_its_user_in_an_account
    a_token_finds_user_and_account_as_they_are_now
    an_unknown_token_finds_no_session
    sessions_of_a_user_are_listed_newest_first
    at_most_a_hundred_sessions_are_listed
    no_session_is_inserted_for_a_missing_user
    d73_confirming_a_session_replaces_its_token
    d73_of_concurrent_confirmations_one_succeeds
    a_session_is_ended_by_its_user_only
    ending_all_sessions_keeps_one_and_those_of_others
    the_last_request_of_a_session_only_moves_forward
}

pub(super) async fn a_session_reads_back_as_it_was_inserted(fresh: Fresh) {
    let store = fresh.store().await;
    let user = people_steps::user(&store).await.id;
    let network = |text: &str| Some(ClientNetwork::of(text.parse().unwrap()));
    for change in [
        |session| session,
        |session| Session { is_kept: false, agent: None, network: None, ..session },
        |session| Session { agent: AgentName::of(&"𝄞".repeat(300)), ..session },
        |session| Session { created_at: samples::at(1), seen_at: samples::at(2), ..session },
        |session| Session { created_at: Timestamp::EPOCH, confirmed_at: Timestamp::EPOCH, ..session },
        |session| Session { seen_at: Timestamp::LAST, confirmed_at: Timestamp::LAST, ..session },
    ] {
        for network in [network("203.0.113.9"), network("2001:db8:1:2::3"), network("::1")] {
            let session: Session = change(Session { network, ..samples::session(user) });
            assert!(insert_session(&store, &session).await);
            assert_eq!(store.sessions(user).await.unwrap().first(), Some(&session));
            let holder = store.session_holder(&session.hash, None).await.unwrap().unwrap();
            assert_eq!(holder.session, session);
        }
    }
}

/// Whether the session has ended and whether the user is disabled is for the caller to judge.
pub(super) async fn a_token_finds_its_session_and_user(fresh: Fresh) {
    let store = fresh.store().await;
    let disabled = User { disabled_at: Some(samples::at(1)), ..samples::user() };
    people_steps::insert_user(&store, &disabled).await.unwrap();
    for user in [people_steps::user(&store).await, disabled] {
        let ended = Session { created_at: Timestamp::EPOCH, is_kept: false, ..samples::session(user.id) };
        for session in [samples::session(user.id), ended] {
            assert!(insert_session(&store, &session).await);
            let found = store.session_holder(&session.hash, None).await.unwrap();
            assert_eq!(found, Some(SessionHolder { session, user: user.clone(), member: None }));
        }
    }
}

pub(super) async fn a_token_finds_the_place_of_its_user_in_an_account(fresh: Fresh) {
    let store = fresh.store().await;
    let [account, other, foreign] = [(); 3].map(|()| samples::account());
    for account in [&account, &other, &foreign] {
        given::insert_account(&store, account).await.unwrap();
    }
    given::link(&store, account.id, samples::link(LinkKind::Landing, "a")).await;
    given::group(&store, account.id).await;
    given::pixel(&store, foreign.id).await;
    let (user, stranger) = (people_steps::user(&store).await, people_steps::user(&store).await);
    for (user, account, role) in
        [(&user, &account, Role::Editor), (&user, &other, Role::Viewer), (&stranger, &foreign, Role::Owner)]
    {
        assert!(put_member(&store, user.id, account.id, role).await);
    }
    let session = people_steps::session(&store, user.id).await;
    people_steps::session(&store, user.id).await;
    people_steps::session(&store, stranger.id).await;
    let usage = Usage { links: 1, groups: 1, ..Usage::default() };
    let unknown = samples::id();
    for (asked, member) in [
        (None, None),
        (Some(account.id), Some(Member { role: Role::Editor, account: account.clone(), usage })),
        (
            Some(other.id),
            Some(Member { role: Role::Viewer, account: other.clone(), usage: Usage::default() }),
        ),
        (Some(foreign.id), None),
        (Some(unknown), None),
    ] {
        let found = store.session_holder(&session.hash, asked).await.unwrap();
        let expected = SessionHolder { session: session.clone(), user: user.clone(), member };
        assert_eq!(found, Some(expected), "{asked:?}");
    }
}

/// Every request reads them again, so a change of the role, a suspension and a disabled user take effect at once.
pub(super) async fn a_token_finds_user_and_account_as_they_are_now(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let user = people_steps::user(&store).await;
    assert!(put_member(&store, user.id, account, Role::Owner).await);
    let session = people_steps::session(&store, user.id).await;
    let disabled = User { disabled_at: Some(samples::at(5)), ..user.clone() };
    people_steps::update_user(&store, &disabled).await.unwrap();
    assert!(put_member(&store, user.id, account, Role::Viewer).await);
    let changed = unit!(&store, async |work| {
        work.set_plan(account, &samples::plan("free")).await?;
        work.set_suspended(account, Some(samples::at(6))).await?;
        Ok(())
    });
    changed.await.unwrap();
    let SessionHolder { session: found, user, member } =
        store.session_holder(&session.hash, Some(account)).await.unwrap().unwrap();
    assert_eq!((found, user), (session, disabled));
    let Member { role, account, usage } = member.unwrap();
    assert_eq!((role, usage), (Role::Viewer, Usage::default()));
    assert_eq!((account.plan, account.suspended_at), (samples::plan("free"), Some(samples::at(6))));
}

pub(super) async fn an_unknown_token_finds_no_session(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let user = people_steps::user(&store).await;
    assert!(put_member(&store, user.id, account, Role::Owner).await);
    let session = people_steps::session(&store, user.id).await;
    let mut near = session.hash.to_bytes();
    near[31] ^= 1;
    for hash in [near, [0; 32], [0xff; 32], samples::token_hash().to_bytes()].map(TokenHash::from_bytes) {
        for account in [None, Some(account)] {
            assert_eq!(store.session_holder(&hash, account).await.unwrap(), None);
        }
    }
}

pub(super) async fn sessions_of_a_user_are_listed_newest_first(fresh: Fresh) {
    let store = fresh.store().await;
    let (user, other) = (people_steps::user(&store).await.id, people_steps::user(&store).await.id);
    assert_eq!(store.sessions(user).await.unwrap(), []);
    let mut sessions: Vec<Session> = (0..7).map(|_| samples::session(user)).collect();
    sessions[2] = Session { created_at: Timestamp::EPOCH, is_kept: false, ..sessions[2].clone() };
    let of_other = people_steps::session(&store, other).await;
    for position in [3, 0, 6, 1, 5, 2, 4] {
        assert!(insert_session(&store, &sessions[position]).await);
    }
    sessions.reverse();
    assert_eq!(store.sessions(user).await.unwrap(), sessions);
    assert_eq!(store.sessions(other).await.unwrap(), [of_other]);
}

pub(super) async fn at_most_a_hundred_sessions_are_listed(fresh: Fresh) {
    let store = fresh.store().await;
    let user = people_steps::user(&store).await.id;
    let sessions: Vec<Session> = (0..101).map(|_| samples::session(user)).collect();
    let inserted = unit!(&store, async |work| {
        for session in &sessions {
            assert!(work.insert_session(session).await?);
        }
        Ok(())
    });
    inserted.await.unwrap();
    let newest: Vec<Session> = sessions.into_iter().rev().take(100).collect();
    assert_eq!(store.sessions(user).await.unwrap(), newest);
}

/// The unit of work stays usable.
pub(super) async fn no_session_is_inserted_for_a_missing_user(fresh: Fresh) {
    let store = fresh.store().await;
    let user = people_steps::user(&store).await.id;
    let (missing, session) = (samples::session(samples::id()), samples::session(user));
    let inserted = unit!(&store, async |work| {
        assert!(!work.insert_session(&missing).await?);
        Ok(work.insert_session(&session).await?)
    });
    assert!(inserted.await.unwrap());
    assert_eq!(store.session_holder(&missing.hash, None).await.unwrap(), None);
    assert_eq!(store.sessions(user).await.unwrap(), [session]);
}

pub(super) async fn d73_confirming_a_session_replaces_its_token(fresh: Fresh) {
    let store = fresh.store().await;
    let user = people_steps::user(&store).await.id;
    let (session, other) =
        (people_steps::session(&store, user).await, people_steps::session(&store, user).await);
    let confirm = async |id, before: TokenHash, after: TokenHash| {
        let confirmed =
            unit!(&store, async |work| Ok(work.confirm_session(id, &before, &after, samples::at(7)).await?));
        confirmed.await.unwrap()
    };
    let after = samples::token_hash();
    for (id, before) in [
        (samples::id(), session.hash),
        (session.id, other.hash),
        (session.id, samples::token_hash()),
        (session.id, after),
    ] {
        assert!(!confirm(id, before, after).await);
    }
    assert_eq!(store.sessions(user).await.unwrap(), [other.clone(), session.clone()]);

    assert!(confirm(session.id, session.hash, after).await);
    let confirmed = Session { hash: after, confirmed_at: samples::at(7), ..session.clone() };
    assert_eq!(store.session_holder(&session.hash, None).await.unwrap(), None);
    assert_eq!(store.session_holder(&after, None).await.unwrap().unwrap().session, confirmed);
    assert_eq!(store.sessions(user).await.unwrap(), [other, confirmed]);
    // The former token is no longer that of the session.
    assert!(!confirm(session.id, session.hash, samples::token_hash()).await);
}

pub(super) async fn d73_of_concurrent_confirmations_one_succeeds(fresh: Fresh) {
    let store = fresh.store().await;
    let user = people_steps::user(&store).await.id;
    let Session { id, hash: before, .. } = people_steps::session(&store, user).await;
    let confirmed = at_once(12, |_| {
        let store = store.clone();
        async move {
            let after = samples::token_hash();
            let is_confirmed = unit!(&store, async |work| {
                Ok(work.confirm_session(id, &before, &after, samples::at(1)).await?)
            });
            is_confirmed.await.unwrap().then_some(after)
        }
    });
    let confirmed: Vec<TokenHash> = confirmed.await.into_iter().flatten().collect();
    let [after] = confirmed.as_slice() else { panic!("{confirmed:?}") };
    assert_eq!(store.session_holder(after, None).await.unwrap().unwrap().session.id, id);
}

pub(super) async fn a_session_is_ended_by_its_user_only(fresh: Fresh) {
    let store = fresh.store().await;
    let (user, other) = (people_steps::user(&store).await.id, people_steps::user(&store).await.id);
    let (session, kept) =
        (people_steps::session(&store, user).await, people_steps::session(&store, user).await);
    let end =
        async |user, id| unit!(&store, async |work| Ok(work.end_session(user, id).await?)).await.unwrap();
    assert!(!end(other, session.id).await);
    assert!(!end(user, samples::id()).await);
    assert_eq!(store.sessions(user).await.unwrap(), [kept.clone(), session.clone()]);
    assert!(end(user, session.id).await);
    assert!(!end(user, session.id).await);
    assert_eq!(store.session_holder(&session.hash, None).await.unwrap(), None);
    assert_eq!(store.sessions(user).await.unwrap(), [kept]);
}

pub(super) async fn ending_all_sessions_keeps_one_and_those_of_others(fresh: Fresh) {
    let store = fresh.store().await;
    let (user, other) = (people_steps::user(&store).await.id, people_steps::user(&store).await.id);
    let mut sessions = Vec::new();
    for _ in 0..5 {
        sessions.push(people_steps::session(&store, user).await);
    }
    let of_other = people_steps::session(&store, other).await;
    let end =
        async |kept| unit!(&store, async |work| Ok(work.end_sessions(user, kept).await?)).await.unwrap();
    assert_eq!(end(Some(sessions[1].id)).await, 4);
    assert_eq!(store.sessions(user).await.unwrap(), [sessions[1].clone()]);
    assert_eq!(end(Some(sessions[1].id)).await, 0);
    // A session of another user keeps nothing.
    assert_eq!(end(Some(of_other.id)).await, 1);
    assert_eq!(end(None).await, 0);
    assert_eq!(store.sessions(user).await.unwrap(), []);
    people_steps::session(&store, user).await;
    assert_eq!(end(None).await, 1);
    assert_eq!(store.sessions(other).await.unwrap(), [of_other]);
}

pub(super) async fn the_last_request_of_a_session_only_moves_forward(fresh: Fresh) {
    let store = fresh.store().await;
    let user = people_steps::user(&store).await.id;
    let session = people_steps::session(&store, user).await;
    let other = people_steps::session(&store, user).await;
    for (at, expected) in [(5, 5), (3, 5), (5, 5), (-9, 5), (6, 6)] {
        store.see_session(session.id, samples::at(at)).await.unwrap();
        let seen = Session { seen_at: samples::at(expected), ..session.clone() };
        assert_eq!(store.sessions(user).await.unwrap(), [other.clone(), seen]);
    }
    store.see_session(samples::id(), samples::at(9)).await.unwrap();
}
