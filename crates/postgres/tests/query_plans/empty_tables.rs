//! Plans made while tables are empty. A connection keeps them while an import fills the tables, and statistics arrive a
//! minute later at the earliest. So these plans must already use the index that a full table needs.

use signpost_app::ports::{
    AccountReads, ClickTaking, GroupReads, LinkPasswordReads, LinkReads, Store, TakenClicks, UnusedClicks,
};
use signpost_domain::{
    AccountId, Address, ExternalId, Id, LinkFilter, LinkKind, LinkState, PageLimit, PagePosition,
    PasswordHash, Revision, Site, StateFilter, TargetHost,
};
use signpost_port_contracts::samples;
use signpost_postgres::migrate;
use signpost_test_servers::postgres::PostgresServer;

use super::{Subject, log_plans};

/// The look-ups of an import, of a visit and of a request for one link each find a row by its whole key.
pub(crate) async fn get_the_plans_of_full_ones(server: &'static PostgresServer) {
    let database = server.database(None);
    migrate(&database.url()).await.unwrap();
    log_plans(server, &database);
    let account: AccountId = Id::from_bytes([1; 16]);
    database.run(
        "INSERT INTO accounts (id, email, email_key, plan, created_at) \
         VALUES (repeat('01', 16)::uuid, 'a@example.com', 'a@example.com', 'agency', '2026-01-01')",
    );
    let subject = Subject::connect(server, &database, account).await;
    let store = &subject.store;
    let link = samples::link(LinkKind::Redirect, "first");
    let address = Address { site: Site::System, slug: Some(samples::slug("first")) };
    let (key, _) = samples::key(account);

    let at_addresses = ["links_address", "slug = n.slug)"];
    let plans =
        subject.plans(async { drop(store.occupied(account, std::slice::from_ref(&address)).await.unwrap()) });
    assert_contains(&plans.await, &at_addresses);
    let plans = subject.plans(async { drop(store.published_link(&address).await.unwrap()) }).await;
    assert_contains(&plans, &["links_address", "link_credits_pkey"]);
    for plans in [
        subject.plans(async { drop(store.links_with_ids(account, &[link.id()]).await.unwrap()) }).await,
        subject.plans(async { drop(store.link(account, link.id()).await.unwrap()) }).await,
    ] {
        assert_contains(&plans, &["links_pkey", "Index Cond: (id = "]);
        // The state of the link's domain.
        assert_contains(&plans, &["custom_domains_of_name"]);
        // Its limit of clicks.
        assert_contains(&plans, &["link_credits_pkey"]);
    }
    let plans = subject.plans(async { drop(store.taken_link_ids(&[link.id()]).await.unwrap()) });
    assert_contains(&plans.await, &["links_pkey", "Index Cond: (id = ANY ("]);
    let plans = subject.plans(async { drop(store.taken_group_ids(&[samples::id()]).await.unwrap()) });
    assert_contains(&plans.await, &["groups_id", "Index Cond: (id = ANY ("]);
    let external_id = ExternalId::parse("1").unwrap();
    let plans = subject.plans(async {
        drop(store.links_with_external_ids(account, std::slice::from_ref(&external_id)).await.unwrap());
    });
    assert_contains(&plans.await, &["links_of_external_id", "(external_id = (n.external_id)::text)"]);
    let target_host = TargetHost::parse("example.com").ok();
    let by_host = LinkFilter { target_host, ..LinkFilter::default() };
    let state = Some(StateFilter { states: LinkState::Lost.into(), at: samples::at(0) });
    let by_state = LinkFilter { state, ..LinkFilter::default() };
    for (filter, index) in
        [(by_host, "using links_of_target_2 on links"), (by_state, "using links_of_host on links")]
    {
        for after in [None, Some(PagePosition::behind([2; 16]))] {
            let list = store.links(account, LinkKind::Redirect, &filter, PageLimit::OF_UNIT_OF_WORK, after);
            let plans = subject.plans(async { drop(list.await.unwrap()) }).await;
            assert_contains(&plans, &[index]);
        }
    }
    let page = samples::landing("page");
    let mut work = store.begin().await.unwrap();
    work.insert_links(account, &[page.clone().into()], 9).await.unwrap();
    let content = samples::page_content();
    let plans = subject.plans(async { work.write_page_content(account, page.id, &content).await.unwrap() });
    assert_contains(&plans.await, &["links_pkey", "Index Cond: (id = ANY ("]);
    let plans = subject.plans(async {
        let redirect = samples::id();
        assert_eq!(work.take_clicks(account, redirect).await.unwrap(), ClickTaking::NoLimit);
        let clicks = TakenClicks { number: 1, since: Revision::FIRST };
        work.give_back_clicks(&[UnusedClicks { account, link: redirect, clicks }]).await.unwrap();
    });
    assert_contains(&plans.await, &["links_pkey", "link_credits_pkey"]);
    let plans = subject.plans(async {
        let hash = PasswordHash::new("$argon2id$".to_owned());
        work.write_link_passwords(account, &[(page.id.into(), Some(hash))]).await.unwrap();
        work.write_link_passwords(account, &[(page.id.into(), None)]).await.unwrap();
        assert_eq!(store.link_password(account, page.id.into()).await.unwrap(), None);
    });
    assert_contains(&plans.await, &["links_pkey", "link_passwords_pkey"]);
    let plans = subject.plans(async { drop(store.key_holder(&key.hash).await.unwrap()) }).await;
    assert_contains(&plans, &["Index Scan"]);
}

fn assert_contains(plans: &str, parts: &[&str]) {
    for part in parts {
        assert!(plans.contains(part), "no {part:?} in {plans}");
    }
    assert!(!plans.contains("Seq Scan"), "{plans}");
}
