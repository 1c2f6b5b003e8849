//! The handover of a hostname with more links than one unit of work can change, on the embedded store (D41,
//! D43).

use std::time::Duration;

use serde_json::{Value, json};
use signpost_app::ports::Store;
use signpost_domain::{AccountId, CheckPlan, CustomDomain, CustomDomainStatus};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};

use crate::harness::domains::{DomainScene, connect, verify, verify_path};
use crate::harness::{Account, redirect_body};

const HOST: &str = "go.shop.test";

/// More links than the ten thousand that one unit of work changes.
const MANY: usize = 10_500;

/// Puts links of the account on the hostname, and lets its domain fail. It writes to the store, because the API
/// would take minutes, or days for the failure.
async fn put_links_on_failed_domain(scene: &DomainScene, account: AccountId) {
    let file = DatabaseFile::at(scene.first().folder().join("signpost.db")).unwrap();
    let options = SqliteOptions { time_limit: Duration::from_mins(1), ..SqliteOptions::default() };
    let store = SqliteStore::open(&file, &options).unwrap();
    let mut work = store.begin().await.unwrap();
    let domain = work.lock_claims(account, &samples::hostname(HOST)).await.unwrap().own.unwrap().domain;
    let failed = CustomDomain { status: CustomDomainStatus::Failed, ..domain };
    let no_checks = CheckPlan { next_check_at: None, checks_made: 0 };
    work.update_custom_domain(&failed, no_checks).await.unwrap();
    for number in 1..=MANY {
        let place = samples::on_custom(HOST, Some(&format!("sale-{number}")));
        work.insert_links(account, &[samples::redirect_at(place).into()], u64::MAX).await.unwrap();
    }
    work.commit().await.unwrap();
}

#[test]
fn d41_a_hostname_with_very_many_links_is_handed_over_without_them() {
    let scene = DomainScene::start();
    let [before, after] = [(), ()].map(|()| scene.first().account("agency"));
    let former = scene.activate(&before, HOST);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(put_links_on_failed_domain(&scene, before.id().parse().unwrap()));
    let on_host = |account: &Account| account.get(&format!("/v1/redirects?domain={HOST}&limit=1"));
    assert_eq!(on_host(&before).body["data"].as_array().unwrap().len(), 1);
    let domain = connect(&after, HOST);
    scene.publish(&[&domain]);
    assert_eq!(verify(&after, &domain)["status"], "active");
    let links = before.walk("/v1/redirects", "?limit=100");
    assert_eq!(links.len(), MANY);
    for link in &links {
        assert_eq!([&link["domain"], &link["url"]], [&Value::Null, &Value::Null], "{link}");
    }
    before.post(&verify_path(&former), &json!({})).expect_error(409, "hostname_already_taken");
    let sale = after.create_redirect(&redirect_body(json!({"domain": HOST, "slug": "sale-9999"})));
    scene.assert_leads(scene.first(), HOST, "/sale-9999", sale["target_url"].as_str());
    scene.assert_leads(scene.first(), HOST, "/sale-2", None);
}
