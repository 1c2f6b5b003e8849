//! The statements about custom domains (D39–D44).

use signpost_app::ports::{
    CHECKS_LEFT_ALONE_FOR, ConcludedCheck, CustomDomainReads, DomainChecks, DueCheck,
    InsertCustomDomainError, InsertResourceError, LinkReads, LinksOf, MAX_CLAIMS_OF_A_CHECK, Store,
    UpdateCustomDomainError,
};
use signpost_domain::{
    AccountId, Address, AppFileKind, CheckPlan, CustomDomain, CustomDomainStatus, DnsObservation,
    DomainFiles, PageLimit, PagePosition, Site,
};
use signpost_port_contracts::samples;

use super::{Subject, commit, insert, recorder};

const PLENTY: u64 = 1_000_000;

fn plan(next_check_at: i64) -> CheckPlan {
    CheckPlan { next_check_at: Some(samples::at(next_check_at)), checks_made: 0 }
}

fn domain(account: AccountId, hostname: &str) -> CustomDomain {
    CustomDomain::connect(samples::id(), account, samples::hostname(hostname), samples::at(0))
}

fn has_step(plans: &[String], index: &str, condition: &str) -> bool {
    plans.iter().flat_map(|plan| plan.lines()).any(|step| step.contains(index) && step.ends_with(condition))
}

pub(crate) async fn are_found_by_their_indexes(subject: &mut Subject) {
    let account = subject.account;
    let mut work = subject.store.begin().await.unwrap();
    let other = samples::account();
    work.insert_account(&other).await.unwrap();
    for host in ["mine.example.net", "lost.example.net"] {
        let link = samples::redirect_at(samples::on_custom(host, Some("a")));
        insert(work.as_mut(), account, &link.into(), PLENTY).await;
    }
    commit(work).await;
    reading(subject).await;
    writing(subject, other.id).await;
    checking(subject).await;
}

async fn reading(subject: &mut Subject) {
    let hostname = samples::hostname("mine.example.net");
    let plans = subject
        .plans_of(async |store, account| {
            store.custom_domain(account, samples::id()).await.unwrap();
            for after in [None, Some(PagePosition::behind([1; 16]))] {
                store.custom_domains(account, PageLimit::default(), after).await.unwrap();
            }
            store.holder_of(&hostname).await.unwrap();
            for site in [Site::System, Site::Custom(hostname.clone())] {
                let address = Address { site, slug: Some(samples::slug("a")) };
                store.published_link(&address).await.unwrap();
            }
        })
        .await;
    // Finding the domain's owner costs no extra statement, wherever the link is (D44).
    assert_eq!(plans.len(), 4, "{plans:#?}");
    assert!(has_step(&plans, "custom_domains_of_account", "(account_id=? AND id<?)"), "{plans:#?}");
    assert!(has_step(&plans, "custom_domains_holder", "(hostname=?)"), "{plans:#?}");
    assert!(has_step(&plans, "custom_domains_of_name", "(account_id=? AND hostname=?)"), "{plans:#?}");
    let plans = subject
        .plans_of(async |store, _| {
            store.published_site(&hostname).await.unwrap();
            for kind in AppFileKind::ALL {
                store.published_file(&hostname, kind).await.unwrap();
            }
        })
        .await;
    assert_eq!(plans.len(), 3, "{plans:#?}");
    assert!(has_step(&plans, "custom_domains_holder", "(hostname=?)"), "{plans:#?}");
    // As many as a batch can name: one statement that reads only the named ones (D30).
    for size in [1, 2, 100] {
        let names: Vec<_> = (0..size).map(|n| samples::hostname(&format!("n{n}.example.net"))).collect();
        let plans = subject
            .plans_of(async |store, account| {
                store.custom_domains_named(account, &names).await.unwrap();
                let mut work = store.begin().await.unwrap();
                work.hold_custom_domains(account, &names).await.unwrap();
            })
            .await;
        let [plan] = plans.as_slice() else { panic!("{plans:#?}") };
        assert!(plan.ends_with("custom_domains_of_name (account_id=? AND hostname=?)"), "{plan}");
    }
}

/// Every method of a unit of work, through all of its branches.
async fn writing(subject: &mut Subject, other: AccountId) {
    let hostname = samples::hostname("mine.example.net");
    let plans = subject
        .plans_of(async |store, account| {
            let mine = domain(account, "mine.example.net");
            let mut work = store.begin().await.unwrap();
            work.lock_claims(account, &hostname).await.unwrap();
            work.insert_custom_domain(&mine, plan(5), 1).await.unwrap();
            let late = domain(account, "late.example.net");
            let refused = work.insert_custom_domain(&late, plan(5), 1).await;
            assert!(matches!(
                refused,
                Err(InsertCustomDomainError::Resource(InsertResourceError::LimitReached))
            ));
            let theirs = domain(other, "mine.example.net");
            let refused = work.insert_custom_domain(&theirs, plan(5), 1).await;
            assert!(matches!(refused, Err(InsertCustomDomainError::HostnameTaken)));
            let failed = CustomDomain { status: CustomDomainStatus::Failed, ..theirs };
            work.insert_custom_domain(&failed, plan(5), 1).await.unwrap();
            work.lock_custom_domain(other, failed.id).await.unwrap().unwrap();
            let back =
                CustomDomain { status: CustomDomainStatus::Active { misdirected_since: None }, ..failed };
            let refused = work.update_custom_domain(&back, plan(6)).await;
            assert!(matches!(refused, Err(UpdateCustomDomainError::HostnameTaken)));
            work.update_custom_domain(&mine, plan(6)).await.unwrap();
            work.update_domain_settings(&mine, &DomainFiles::default()).await.unwrap();
            let seen = DnsObservation { checked_at: samples::at(1), records: vec![] };
            work.record_observation(account, mine.id, &seen).await.unwrap();
            for whose in [LinksOf::AllBut(account), LinksOf::AllBut(other), LinksOf::Account(account)] {
                work.lose_some_links(whose, &hostname, 10, samples::at(1)).await.unwrap();
            }
            assert!(work.delete_custom_domain(account, mine.id).await.unwrap());
            assert!(work.delete_custom_domain(other, back.id).await.unwrap());
            commit(work).await;
        })
        .await;
    // The skipped account costs nothing, however many links it has there.
    for range in ["(host=? AND account_id<?)", "(host=? AND account_id>?)"] {
        assert!(has_step(&plans, "links_on_host", range), "{range}\n{plans:#?}");
    }
}

async fn checking(subject: &mut Subject) {
    let (now, until) = (samples::at(10), samples::at(20));
    let account = subject.account;
    let mut work = subject.store.begin().await.unwrap();
    for host in ["a.example.net", "b.example.net"] {
        work.insert_custom_domain(&domain(account, host), plan(5), PLENTY).await.unwrap();
    }
    commit(work).await;
    let plans = subject
        .plans_of(async |store, _| {
            let due = store.claim_due_checks(now, until, 10).await.unwrap();
            assert_eq!(due.len(), 2);
            let concluded = |due: &DueCheck| {
                let observation = Some(DnsObservation { checked_at: now, records: vec![] });
                ConcludedCheck { id: due.domain.id, plan: plan(5), observation }
            };
            for many in [1, 2] {
                let plans: Vec<_> = due.iter().take(many).map(concluded).collect();
                store.plan_checks(until, &plans).await.unwrap();
            }
            for _ in 0..MAX_CLAIMS_OF_A_CHECK {
                assert_eq!(store.claim_due_checks(until, until, 10).await.unwrap().len(), 2);
            }
            let much_later = until.plus(CHECKS_LEFT_ALONE_FOR);
            assert_eq!(store.release_checks(much_later, 10).await.unwrap(), 2);
            let deadline = due[0].domain.status.deadline().unwrap();
            assert_eq!(store.expire_domains(deadline, 10).await.unwrap(), 2);
        })
        .await;
    assert!(has_step(&plans, "custom_domains_due", "(next_check_at<?)"), "{plans:#?}");
    assert!(has_step(&plans, "custom_domains_given_up", "(next_check_at<?)"), "{plans:#?}");
    assert!(has_step(&plans, "custom_domains_deadline", "(deadline<?)"), "{plans:#?}");
    let plans = plans.iter().filter(|plan| plan.contains("SCAN plans"));
    assert!(plans.clone().all(|plan| plan.ends_with("custom_domains USING PRIMARY KEY (id=?)")));
    assert_eq!(plans.count(), 2);
    for statements in [
        recorder::recorded(subject.store.claim_due_checks(now, until, 10)).await.0,
        recorder::recorded(subject.store.expire_domains(now, 10)).await.0,
        recorder::recorded(subject.store.release_checks(now, 10)).await.0,
    ] {
        let statements: Vec<_> =
            statements.iter().filter(|statement| !recorder::is_steering(statement)).collect();
        assert_eq!(statements.len(), 1, "without work there is more than one read: {statements:#?}");
    }
}
