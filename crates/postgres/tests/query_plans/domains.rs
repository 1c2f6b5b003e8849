//! Custom domains.

use signpost_app::ports::{
    CHECKS_LEFT_ALONE_FOR, ConcludedCheck, CustomDomainReads, DomainChecks, LinkReads, LinksOf, Store,
};
use signpost_domain::{
    AccountId, Address, AppFileKind, CheckPlan, CustomDomainStatus, DnsObservation, DomainFiles, DomainId,
    Hostname, Id, PageLimit, PagePosition, Site,
};
use signpost_port_contracts::samples;
use signpost_test_servers::postgres::PostgresDatabase;

use super::{PLENTY, Subject, own, recorder};

/// The number of domains; every second one belongs to the first account.
const DOMAINS: u32 = 20_000;

/// How many hostnames a batch of links can name.
const MOST_NAMED: u32 = 100;

/// How many domains are claimed or expired at once.
const AT_ONCE: u16 = 64;

/// The hostname of the links of `pages`, of both accounts.
pub(crate) const HOST: &str = "links.example.net";

/// Domains of all accounts and all statuses in turn, with random instants, and the domain that the links are on.
pub(crate) fn fill(database: &PostgresDatabase) {
    let now = samples::at(0);
    database.run(&format!(
        "INSERT INTO custom_domains SELECT ('03' || lpad(to_hex(n), 30, '0'))::uuid, a.id, \
         CASE n WHEN 1 THEN '{HOST}' ELSE 'h' || n || '.example.com' END, \
         (ARRAY['active', 'pending', 'ssl_pending', 'failed'])[1 + (n - 1) / 2 % 4], \
         CASE WHEN (n - 1) / 2 % 4 IN (1, 2) THEN timestamptz '{now}' + (n * 7919 % {DOMAINS} - {DOMAINS} / 2) \
         * interval '1 s' END, \
         NULL, '{now}', CASE WHEN (n - 1) / 2 % 4 < 3 THEN timestamptz '{now}' + (n * 104729 % {DOMAINS} - {DOMAINS} / 2) \
         * interval '1 s' END, 0, CASE WHEN (n / 2) % 10 = 0 THEN 5 ELSE n % 3 END FROM generate_series(1, {DOMAINS}) AS n \
         JOIN (SELECT id, row_number() OVER (ORDER BY id) AS turn, count(*) OVER () AS turns FROM accounts) AS a \
         ON a.turn = (n - 1) % a.turns + 1; \
         UPDATE accounts AS a SET domains_count = (SELECT count(*) FROM custom_domains AS d WHERE d.account_id = a.id); \
         ANALYZE custom_domains"
    ));
}

fn id(number: u32) -> DomainId {
    Id::from_bytes(bytes(number))
}

fn bytes(number: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = 3;
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Hostnames of domains of the first account.
fn hostnames(number: u32) -> Vec<Hostname> {
    let odd = (1..=number).map(|number| number * 2 + 1);
    odd.map(|number| samples::hostname(&format!("h{number}.example.com"))).collect()
}

/// Each is one statement that finds its rows through an index.
pub(crate) async fn are_found_by_indexes(subject: &Subject) {
    lists(subject).await;
    single_domains(subject).await;
    changes(subject).await;
    checks(subject).await;
    lost_links(subject).await;
}

async fn lists(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let limit = PageLimit::new(25).unwrap();
    for after in [None, Some(PagePosition::behind(bytes(DOMAINS / 2)))] {
        // Repeated, because PostgreSQL may choose another plan from the sixth run on.
        for _ in 0..8 {
            let plans = subject
                .plans(async {
                    let reading = store.custom_domains(*account, limit, after);
                    let (statements, page) = recorder::recorded(reading).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    assert_eq!(page.unwrap().items.len(), 25);
                })
                .await;
            assert!(plans.contains("using custom_domains_of_account on custom_domains"), "{plans}");
            // A hostname may have the certificate of another account.
            let is_of_account = "Filter: (account_id = custom_domains.account_id)";
            let plans = plans.replace(is_of_account, "");
            for wrong in ["Seq Scan", "Sort", "Bitmap", "Filter:"] {
                assert!(!plans.contains(wrong), "{after:?}: {plans}");
            }
        }
    }
}

async fn single_domains(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let site = Site::Custom(samples::hostname(HOST));
    let address = Address { site, slug: Some(samples::slug("s10")) };
    for number in [1, 2, MOST_NAMED] {
        let hostnames = hostnames(number);
        for _ in 0..8 {
            let plans = subject
                .plans(async {
                    let (statements, found) =
                        recorder::recorded(store.custom_domains_named(*account, &hostnames)).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    assert_eq!(found.unwrap().len(), hostnames.len());
                    let (statements, found) = recorder::recorded(store.custom_domain(*account, id(1))).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    assert!(found.unwrap().is_some());
                    let (statements, found) =
                        recorder::recorded(store.holder_of(&samples::hostname(HOST))).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    assert!(found.unwrap().is_some());
                    let hostname = samples::hostname(HOST);
                    let (statements, found) = recorder::recorded(store.published_site(&hostname)).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    assert!(found.unwrap().is_some());
                    let kind = AppFileKind::AssetLinks;
                    let (statements, found) = recorder::recorded(store.published_file(&hostname, kind)).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    assert!(found.unwrap().is_some());
                    let (statements, found) = recorder::recorded(store.published_link(&address)).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    assert!(found.unwrap().is_some());
                })
                .await;
            assert!(!plans.contains("Seq Scan on custom_domains"), "{number}: {plans}");
            assert!(!plans.contains("Seq Scan on links"), "{number}: {plans}");
        }
    }
}

/// Each step of a unit of work runs a fixed number of statements, and finds its rows through indexes.
async fn changes(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let named = hostnames(MOST_NAMED);
    for number in 0..8 {
        let hostname = samples::hostname(&format!("new-{number}.example.com"));
        let domain = samples::custom_domain(*account, hostname.as_str());
        let plan = CheckPlan { next_check_at: None, checks_made: 0 };
        let plans = subject
            .plans(async {
                let mut work = store.begin().await.unwrap();
                let holding = work.hold_custom_domains(*account, &named);
                assert_eq!(number_of(holding).await, 1);
                assert_eq!(number_of(work.lock_claims(*account, &hostname)).await, 2);
                assert_eq!(number_of(work.insert_custom_domain(&domain, plan, PLENTY)).await, 2);
                assert_eq!(number_of(work.lock_custom_domain(*account, domain.id)).await, 1);
                assert_eq!(number_of(work.update_custom_domain(&domain, plan)).await, 1);
                let files = DomainFiles::default();
                assert_eq!(number_of(work.update_domain_settings(&domain, &files)).await, 1);
                let seen = DnsObservation { checked_at: samples::at(1), records: vec![] };
                assert_eq!(number_of(work.record_observation(*account, domain.id, &seen)).await, 1);
                assert_eq!(number_of(work.delete_custom_domain(*account, domain.id)).await, 2);
                // Rolled back explicitly: a rollback in the background would run beside the next recorded statements.
                work.commit().await.unwrap();
            })
            .await;
        assert!(!plans.contains("Seq Scan on custom_domains"), "{plans}");
    }
}

/// How many statements of its own a successful call runs.
async fn number_of<T, E: std::fmt::Debug>(work: impl Future<Output = Result<T, E>>) -> usize {
    let (statements, outcome) = recorder::recorded(work).await;
    outcome.unwrap();
    own(&statements)
}

/// D42: one statement finds due checks or passed deadlines by their instants among any number, and only reads if there are
/// none.
async fn checks(subject: &Subject) {
    let Subject { store, .. } = subject;
    let (now, until) = (samples::at(0), samples::at(60_000));
    for _ in 0..8 {
        let mut plans_of_checks = Vec::new();
        let plans = subject
            .plans(async {
                let claiming = store.claim_due_checks(now, until, AT_ONCE);
                let (statements, claimed) = recorder::recorded(claiming).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                let claimed = claimed.unwrap();
                assert_eq!(claimed.len(), usize::from(AT_ONCE));
                let next = CheckPlan { next_check_at: Some(samples::at(90_000)), checks_made: 1 };
                let observation = Some(DnsObservation { checked_at: now, records: vec![] });
                plans_of_checks.extend(claimed.iter().map(|check| ConcludedCheck {
                    id: check.domain.id,
                    plan: next,
                    observation: observation.clone(),
                }));
            })
            .await;
        are_by_index(&plans, "custom_domains_due");
        let plans = subject
            .plans(async {
                let (statements, planned) =
                    recorder::recorded(store.plan_checks(until, &plans_of_checks)).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                planned.unwrap();
            })
            .await;
        assert!(!plans.contains("Seq Scan on custom_domains"), "{plans}");
        let plans = subject
            .plans(async {
                let (statements, expired) = recorder::recorded(store.expire_domains(now, AT_ONCE)).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert_eq!(expired.unwrap(), AT_ONCE);
            })
            .await;
        assert!(plans.contains("using custom_domains_deadline on custom_domains"), "{plans}");
        assert!(!plans.contains("Seq Scan"), "{plans}");
        let later = now.plus(CHECKS_LEFT_ALONE_FOR);
        let plans = subject
            .plans(async {
                let (statements, released) = recorder::recorded(store.release_checks(later, AT_ONCE)).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert_eq!(released.unwrap(), AT_ONCE);
            })
            .await;
        are_by_index(&plans, "custom_domains_given_up");
    }
    let long_ago = samples::at(-1_000_000_000);
    let nothing = async {
        assert_eq!(store.claim_due_checks(long_ago, now, AT_ONCE).await.unwrap(), []);
        assert_eq!(store.expire_domains(long_ago, AT_ONCE).await.unwrap(), 0);
        assert_eq!(store.release_checks(long_ago, AT_ONCE).await.unwrap(), 0);
    };
    let (statements, ()) = recorder::recorded(nothing).await;
    assert_eq!(statements.len(), 3, "{statements:#?}");
}

fn are_by_index(plans: &str, index: &str) {
    assert!(plans.contains(&format!("using {index} on custom_domains")), "{plans}");
    for wrong in ["Seq Scan", "Sort", "Bitmap"] {
        assert!(!plans.contains(wrong), "{plans}");
    }
}

/// D22: links lose their addresses in batches. A batch costs the same among any number of links, of any accounts.
async fn lost_links(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let hostname = samples::hostname(HOST);
    let nobody: AccountId = samples::id();
    for whose in [LinksOf::Account(*account), LinksOf::AllBut(*account), LinksOf::AllBut(nobody)] {
        for _ in 0..8 {
            let plans = subject
                .plans(async {
                    let mut work = store.begin().await.unwrap();
                    let losing = work.lose_some_links(whose, &hostname, 1_000, samples::at(1));
                    let (statements, lost) = recorder::recorded(losing).await;
                    assert_eq!(lost.unwrap(), 1_000);
                    // A range of accounts may be empty, and each range is searched.
                    assert!(own(&statements) <= 2, "{statements:#?}");
                    assert_eq!(work.changes().len(), 1);
                })
                .await;
            assert!(plans.contains("using links_on_host on links"), "{whose:?}: {plans}");
            for wrong in ["Seq Scan on links", "Sort"] {
                assert!(!plans.contains(wrong), "{whose:?}: {plans}");
            }
        }
    }
    let serving = CustomDomainStatus::Active { misdirected_since: None };
    assert_eq!(store.holder_of(&hostname).await.unwrap().unwrap().status, serving);
}
