//! The settings of custom domains, their revisions, and what visitors get of both (D120, D127).

use std::sync::Arc;

use signpost_app::ports::{Affected, PublishedFile, PublishedSite, Store, VisibleChange};
use signpost_domain::{
    AccountId, AppFile, AppFileKind, CustomDomain, CustomDomainStatus, DomainFiles, DomainUrls, Revision,
};

use super::domain_steps::{self, ACTIVE, NO_CHECKS, checked_at};
use super::fixture::Fresh;
use super::given::unit;
use super::stored;
use crate::run::at_once;
use crate::samples;

cases! {
    $ domain_settings
    d127_settings_read_back_and_outlast_every_status
    d127_files_are_kept_byte_for_byte
    d127_visitors_get_settings_only_of_a_domain_that_serves_links
    d120_a_deadline_that_passes_is_one_revision
    d120_each_of_many_concurrent_changes_is_one_revision
}

const HOST: &str = "links.example.net";

fn urls(path: &str) -> DomainUrls {
    let url = |name| Some(samples::target(&format!("https://example.org/{name}?{path}")));
    DomainUrls { root_url: url("root"), not_found_url: url("nothing"), expired_url: url("expired") }
}

/// Files with these texts.
fn files(apple: &str, assets: &str) -> DomainFiles {
    let file = |text| Some(AppFile::parse(text).unwrap());
    DomainFiles { apple_app_site_association: file(apple), asset_links: file(assets) }
}

/// Locks the domain and gives it these settings, as one revision.
async fn configure(
    store: &Arc<dyn Store>,
    domain: &CustomDomain,
    urls: DomainUrls,
    files: &DomainFiles,
) -> CustomDomain {
    let configured = unit!(store, async |work| {
        let before = work.lock_custom_domain(domain.account_id, domain.id).await?.unwrap().domain;
        let (urls, revision) = (urls.clone(), before.revision.next());
        let after = CustomDomain { urls, revision, updated_at: samples::at(77), ..before };
        work.update_domain_settings(&after, files).await?;
        let changed =
            VisibleChange { account: domain.account_id, affected: Affected::Domain(domain.hostname.clone()) };
        assert!(work.changes().contains(&changed), "{:?}", work.changes());
        Ok(after)
    });
    configured.await.unwrap()
}

pub(super) async fn d127_settings_read_back_and_outlast_every_status(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let neighbour = domain_steps::domain(&store, other, "other.example.net", ACTIVE).await;
    let domain = domain_steps::planned(&store, account, HOST, checked_at(10)).await;
    let schedule = store.custom_domain(account, domain.id).await.unwrap().unwrap().schedule;
    let files = files("{}", "[]");
    let domain = configure(&store, &domain, urls("1"), &files).await;
    let whole = store.custom_domain(account, domain.id).await.unwrap().unwrap();
    assert_eq!((&whole.domain, whole.schedule, &whole.files), (&domain, schedule, &Some(files.clone())));
    let listed = store.custom_domains(account, super::given::limit(9), None).await.unwrap().items;
    assert_eq!((&listed[0].domain, &listed[0].files), (&domain, &None), "lists do not read files");
    let mut domain = domain;
    for status in [CustomDomainStatus::Failed, ACTIVE, CustomDomainStatus::claimed(samples::at(5))] {
        domain = domain_steps::update(&store, &domain, status, NO_CHECKS).await.unwrap();
        let whole = store.custom_domain(account, domain.id).await.unwrap().unwrap();
        assert_eq!((&whole.domain, &whole.files), (&domain, &Some(files.clone())), "{status:?}");
    }
    let cleared = configure(&store, &domain, DomainUrls::default(), &DomainFiles::default()).await;
    let whole = store.custom_domain(account, domain.id).await.unwrap().unwrap();
    assert_eq!((whole.domain, whole.files), (cleared, Some(DomainFiles::default())));
    assert_eq!(stored::custom_domains(&store, other).await, [neighbour]);
    let mut work = store.begin().await.unwrap();
    let stolen = CustomDomain { account_id: other, ..domain };
    work.update_domain_settings(&stolen, &files).await.unwrap_err();
}

pub(super) async fn d127_files_are_kept_byte_for_byte(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domain = domain_steps::domain(&store, account, HOST, ACTIVE).await;
    let longest = format!("[\"{}\"]", "\u{fc}".repeat(AppFile::MAX_BYTES / 2 - 2));
    assert_eq!(longest.len(), AppFile::MAX_BYTES);
    for text in ["{\"z\" : 1.50,\r\n\t\"a\":[ 1e3, \"\\u0000\\/\"]}", "{}", &longest] {
        let files = files(text, text);
        configure(&store, &domain, DomainUrls::default(), &files).await;
        let whole = store.custom_domain(account, domain.id).await.unwrap().unwrap();
        assert_eq!(whole.files, Some(files.clone()));
        for kind in AppFileKind::ALL {
            let published = store.published_file(&domain.hostname, kind).await.unwrap().unwrap();
            assert_eq!(published.file.as_ref().map(AppFile::as_str), Some(text));
        }
    }
}

/// What visitors get of the domain: its site, and each file.
async fn published(store: &Arc<dyn Store>) -> (Option<PublishedSite>, [Option<PublishedFile>; 2]) {
    let hostname = samples::hostname(HOST);
    let [apple, assets] = AppFileKind::ALL;
    let file = async |kind| store.published_file(&hostname, kind).await.unwrap();
    (store.published_site(&hostname).await.unwrap(), [file(apple).await, file(assets).await])
}

pub(super) async fn d127_visitors_get_settings_only_of_a_domain_that_serves_links(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let nothing = (None, [None, None]);
    assert_eq!(published(&store).await, nothing);
    // A failed claim of another account, which has settings too.
    let failed = domain_steps::domain(&store, other, HOST, CustomDomainStatus::Failed).await;
    configure(&store, &failed, urls("2"), &files("{\"b\":2}", "[2]")).await;
    assert_eq!(published(&store).await, nothing);
    let mut domain = domain_steps::domain(&store, account, HOST, ACTIVE).await;
    let bare = |account: AccountId| {
        let file = Some(PublishedFile { account, file: None });
        let site = PublishedSite { account, root_url: None, not_found_url: None, expired_url: None };
        (Some(site), [file.clone(), file])
    };
    assert_eq!(published(&store).await, bare(account));
    let given = files("{\"a\":1}", "[1]");
    domain = configure(&store, &domain, urls("1"), &given).await;
    let DomainUrls { root_url, not_found_url, expired_url } = urls("1");
    let file = |kind| Some(PublishedFile { account, file: given.of(kind).cloned() });
    let site = PublishedSite { account, root_url, not_found_url, expired_url };
    let full = (Some(site), AppFileKind::ALL.map(file));
    assert_eq!(published(&store).await, full);
    for since in [Some(samples::at(0)), None] {
        unit!(&store, async |work| Ok(work.set_suspended(account, since).await?)).await.unwrap();
        let expected = if since.is_some() { bare(account) } else { full.clone() };
        assert_eq!(published(&store).await, expected, "{since:?}");
    }
    let expires_at = samples::at(9);
    for status in [
        CustomDomainStatus::Pending { expires_at },
        CustomDomainStatus::SslPending { expires_at },
        CustomDomainStatus::Failed,
    ] {
        domain = domain_steps::update(&store, &domain, status, NO_CHECKS).await.unwrap();
        assert_eq!(published(&store).await, nothing, "{status:?}");
    }
    domain = domain_steps::update(&store, &domain, ACTIVE, NO_CHECKS).await.unwrap();
    assert_eq!(published(&store).await, full);
    assert!(domain_steps::delete(&store, account, domain.id).await);
    assert_eq!(published(&store).await, nothing);
}

/// Readers see the revision at the deadline, and the store writes the same one later.
pub(super) async fn d120_a_deadline_that_passes_is_one_revision(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let expires_at = samples::at(50);
    for (host, status) in [
        ("a.example.net", CustomDomainStatus::Pending { expires_at }),
        ("b.example.net", CustomDomainStatus::SslPending { expires_at }),
    ] {
        let domain = domain_steps::domain(&store, account, host, status).await;
        // Its settings may have changed after the deadline, before a store noticed that it had passed.
        let changed = configure(&store, &domain, urls(host), &DomainFiles::default()).await;
        assert_eq!(changed.revision, Revision::FIRST.next());
        let expected = changed.at(samples::at(60));
        assert_eq!((expected.revision, expected.updated_at), (changed.revision.next(), samples::at(77)));
        assert_eq!(store.expire_domains(samples::at(60), 9).await.unwrap(), 1);
        assert_eq!(stored::custom_domain(&store, account, domain.id).await, Some(expected));
    }
}

pub(super) async fn d120_each_of_many_concurrent_changes_is_one_revision(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domain = domain_steps::domain(&store, account, HOST, ACTIVE).await;
    let changes = at_once(20, |number| {
        let (store, domain) = (store.clone(), domain.clone());
        async move { configure(&store, &domain, urls(&number.to_string()), &DomainFiles::default()).await }
    });
    let mut revisions: Vec<u64> = changes.await.iter().map(|changed| changed.revision.get()).collect();
    revisions.sort_unstable();
    assert_eq!(revisions, (2..=21).collect::<Vec<_>>());
    let stored = stored::custom_domain(&store, account, domain.id).await.unwrap();
    assert_eq!(stored.revision.get(), 21);
}
