//! The diagnosis of a domain: the reason of a failure, the observations of look-ups, and the next check (D65).

use signpost_app::ports::{CheckSchedule, ConcludedCheck, ScheduledDomain};
use signpost_domain::{
    CustomDomain, CustomDomainStatus, DnsObservation, DnsRecordType, DomainFiles, FailureReason,
    RecordFinding, RecordStatus, SeenRecord, Timestamp,
};

use super::change_reading::Reader;
use super::domain_steps::{self, ACTIVE, NO_CHECKS, checked_at, claim, conclude, planned};
use super::fixture::Fresh;
use super::given::{self, unit};
use super::stored;
use crate::samples;

cases! {
    $ domain_diagnosis
    d65_a_diagnosis_reads_back_as_it_was_written
    d65_a_schedule_is_read_as_it_is_stored
    recording_an_observation_keeps_plan_and_claim
    observations_of_another_accounts_domain_are_not_recorded
    a_check_records_its_observations
    observations_are_written_only_under_a_valid_claim
}

/// An observation of one record at an instant.
fn observation(millis: i64, status: RecordStatus, values: &[&str]) -> DnsObservation {
    let finding = RecordFinding::new(status, values);
    let record = SeenRecord { record_type: DnsRecordType::Txt, value: "expected".to_owned(), finding };
    DnsObservation { checked_at: samples::at(millis), records: vec![record] }
}

/// After insertions and updates, through each read method, including the largest and strangest values.
pub(super) async fn d65_a_diagnosis_reads_back_as_it_was_written(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let strange = ["\0\n\u{202e}", "'); DROP TABLE custom_domains; --", "{\"a\": [\\]}", "\u{fffd}"];
    let large = "🦀".repeat(300);
    let observations = [
        None,
        Some(DnsObservation { checked_at: Timestamp::EPOCH, records: vec![] }),
        Some(DnsObservation { checked_at: Timestamp::LAST, records: vec![] }),
        Some(observation(0, RecordStatus::Missing, &[])),
        Some(observation(1, RecordStatus::Wrong, &strange)),
        Some(observation(2, RecordStatus::Found, &[large.as_str(); 9])),
    ];
    let reasons = [
        "deadline_passed",
        "proved_by_another_account",
        "points_elsewhere",
        "no_certificate",
        "of_a_newer_version",
    ];
    let reasons = reasons.map(FailureReason::parse).into_iter().chain([None]);
    let mut first = None;
    for (number, (failure_reason, observation)) in reasons.zip(observations).enumerate() {
        let sample = samples::custom_domain(account, &format!("{number}.example.net"));
        let status = CustomDomainStatus::Failed;
        let failed = CustomDomain { status, failure_reason, observation, ..sample };
        domain_steps::insert(&store, &failed, given::PLENTY).await.unwrap();
        let first = first.get_or_insert_with(|| failed.clone());
        let CustomDomain { failure_reason, observation, .. } = failed.clone();
        let updated = CustomDomain { failure_reason, observation, ..first.clone() };
        domain_steps::update(&store, &updated, status, NO_CHECKS).await.unwrap();
        for domain in [failed, updated] {
            let (id, names) = (domain.id, std::slice::from_ref(&domain.hostname));
            assert_eq!(stored::custom_domain(&store, account, id).await.as_ref(), Some(&domain));
            assert!(stored::custom_domains(&store, account).await.contains(&domain));
            assert_eq!(
                store.custom_domains_named(account, names).await.unwrap(),
                std::slice::from_ref(&domain)
            );
            let claims = domain_steps::claims(&store, account, &domain.hostname).await;
            assert_eq!(claims.own.map(|own| own.domain), Some(domain));
        }
    }
    // A domain that returned has no reason of a failure.
    let first = first.unwrap();
    let back = CustomDomain { status: ACTIVE, failure_reason: None, ..first };
    domain_steps::update(&store, &back, ACTIVE, NO_CHECKS).await.unwrap();
    assert_eq!(stored::custom_domain(&store, account, back.id).await, Some(back));
}

/// A domain without files, as calls for one domain read it.
fn with_files(domain: ScheduledDomain) -> ScheduledDomain {
    ScheduledDomain { files: Some(DomainFiles::default()), ..domain }
}

/// Through each read method, including the claims of the check.
pub(super) async fn d65_a_schedule_is_read_as_it_is_stored(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domain = planned(&store, account, "a.example.net", checked_at(10)).await;
    let reads = async |millis: Option<i64>, claims| {
        let schedule = CheckSchedule { next_check_at: millis.map(samples::at), claims };
        let expected = ScheduledDomain { domain: domain.clone(), schedule, certificate: None, files: None };
        let whole = store.custom_domain(account, domain.id).await.unwrap();
        assert_eq!(whole, Some(with_files(expected.clone())));
        let page = store.custom_domains(account, given::limit(1), None).await.unwrap();
        assert_eq!(page.items, std::slice::from_ref(&expected));
        assert_eq!(domain_steps::claims(&store, account, &domain.hostname).await.own, Some(expected));
    };
    reads(Some(10), 0).await;
    for (now, until, claims) in [(10, 20, 1), (20, 30, 2)] {
        assert_eq!(claim(&store, samples::at(now), samples::at(until), 9).await.len(), 1);
        reads(Some(until), claims).await;
    }
    domain_steps::plan(&store, samples::at(30), &[(domain.id, checked_at(50))]).await;
    reads(Some(50), 0).await;
    domain_steps::update(&store, &domain, domain.status, NO_CHECKS).await.unwrap();
    reads(None, 0).await;
}

/// It is not an entry of the change log.
pub(super) async fn recording_an_observation_keeps_plan_and_claim(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domain = planned(&store, account, "a.example.net", checked_at(0)).await;
    assert_eq!(claim(&store, samples::at(0), samples::at(60), 9).await.len(), 1);
    let mut reader = Reader::at_the_end(&store).await;
    let seen = observation(5, RecordStatus::Wrong, &["other"]);
    let recorded = unit!(&store, async |work| {
        work.lock_claims(account, &domain.hostname).await?;
        Ok(work.record_observation(account, domain.id, &seen).await?)
    });
    recorded.await.unwrap();
    let observed = CustomDomain { observation: Some(seen), ..domain };
    let schedule = CheckSchedule { next_check_at: Some(samples::at(60)), claims: 1 };
    let expected = ScheduledDomain { domain: observed.clone(), schedule, certificate: None, files: None };
    assert_eq!(store.custom_domain(account, observed.id).await.unwrap(), Some(with_files(expected)));
    assert_eq!(reader.news(&store).await, []);
    // The claimant can still conclude the check.
    domain_steps::plan(&store, samples::at(60), &[(observed.id, checked_at(90))]).await;
    let expected = ScheduledDomain::planned(observed, checked_at(90));
    assert_eq!(store.custom_domain(account, expected.domain.id).await.unwrap(), Some(with_files(expected)));
}

pub(super) async fn observations_of_another_accounts_domain_are_not_recorded(fresh: Fresh) {
    let (store, [owner, stranger]) = fresh.store_with_accounts().await;
    let domain = domain_steps::domain(&store, owner, "a.example.net", ACTIVE).await;
    let mut work = store.begin().await.unwrap();
    let seen = observation(5, RecordStatus::Wrong, &["secret"]);
    work.record_observation(stranger, domain.id, &seen).await.unwrap_err();
    drop(work);
    assert_eq!(stored::custom_domain(&store, owner, domain.id).await, Some(domain));
}

/// An unanswered check keeps the earlier observations.
pub(super) async fn a_check_records_its_observations(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut domains = Vec::new();
    for number in 0..3 {
        domains.push(planned(&store, account, &format!("{number}.example.net"), checked_at(0)).await);
    }
    for (round, statuses) in [
        [Some(RecordStatus::Missing), Some(RecordStatus::Wrong), None],
        [None, Some(RecordStatus::Found), None],
    ]
    .into_iter()
    .enumerate()
    {
        let now = 100 * i64::try_from(round).unwrap();
        let until = samples::at(now + 60);
        assert_eq!(claim(&store, samples::at(now), until, 9).await.len(), 3);
        let seen = statuses.map(|status| status.map(|status| observation(now, status, &["a 'b'", "c"])));
        let checks: Vec<ConcludedCheck> = domains
            .iter()
            .zip(&seen)
            .map(|(domain, seen)| ConcludedCheck {
                id: domain.id,
                plan: checked_at(now + 100),
                observation: seen.clone(),
            })
            .collect();
        conclude(&store, until, &checks).await;
        for (domain, seen) in domains.iter_mut().zip(seen) {
            domain.observation = seen.or(domain.observation.take());
        }
        assert_eq!(stored::custom_domains(&store, account).await, domains, "{round}");
    }
}

/// A late claimant would overwrite the observations of a later look-up.
pub(super) async fn observations_are_written_only_under_a_valid_claim(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domain = planned(&store, account, "a.example.net", checked_at(0)).await;
    let (first, second) = (samples::at(60), samples::at(120));
    assert_eq!(claim(&store, samples::at(0), first, 9).await.len(), 1);
    assert_eq!(claim(&store, first, second, 9).await.len(), 1);
    let check = |millis, status| ConcludedCheck {
        id: domain.id,
        plan: checked_at(500),
        observation: Some(observation(millis, status, &[])),
    };
    conclude(&store, second, &[check(70, RecordStatus::Found)]).await;
    conclude(&store, first, &[check(10, RecordStatus::Missing)]).await;
    conclude(&store, second, &[check(80, RecordStatus::Wrong)]).await;
    let observation = Some(observation(70, RecordStatus::Found, &[]));
    let expected = CustomDomain { observation, ..domain };
    assert_eq!(stored::custom_domains(&store, account).await, [expected]);
}
