//! A corrupt row is reported with its table, column and key, and without its content (ADR 35), by stores whose rows a test
//! can corrupt with SQL.
//!
//! The runtime of a case that reads the log must have one thread.

use signpost_app::ports::{
    ANSWERS_KEPT, DueCheck, MAX_CLAIMS_OF_A_CHECK, RememberedAnswer, RememberedRequest, RequestFingerprint,
    Store, StoreError,
};
use signpost_domain::{AccountId, CustomDomain, FailureReason, IdempotencyKey, PlanResource};

use super::domain_steps::{ACTIVE, checked_at};
use super::given::PLENTY;
use super::resources::{Resource, ResourceKind, insert_one};
use super::unreadable_rows::{LEFT_OUT, RunSql, insert_account};
use crate::logs::Log;
use crate::samples;

/// The SQL literals of a database.
#[derive(Debug)]
pub struct Literals {
    /// An instant, and its milliseconds since 1970.
    pub instant: (&'static str, i64),
    /// Instants that no timestamp may have.
    pub no_instants: &'static [&'static str],
    /// The bytes `c0ffee`.
    pub coffee: &'static str,
    /// Any 32 bytes.
    pub hash: &'static str,
    /// The ids of this many pixels.
    pub pixel_ids: fn(usize) -> String,
    /// Further rubbish in columns of links, and a value that can be read.
    pub of_links: &'static [(&'static str, &'static str, &'static str)],
}

/// A column, rubbish in it, and a value that can be read.
pub(super) type Rubbish = (String, String, String);

pub(super) fn rubbish<const N: usize>(texts: [(&str, &str, &str); N]) -> Vec<Rubbish> {
    texts
        .into_iter()
        .map(|(column, bad, fine)| (column.to_owned(), bad.to_owned(), fine.to_owned()))
        .collect()
}

impl Literals {
    /// Every impossible instant in each of these columns.
    pub(super) fn of_times(&self, columns: &[&'static str]) -> Vec<Rubbish> {
        let in_column = |column: &&'static str| {
            let column = *column;
            self.no_instants
                .iter()
                .map(move |bad| (column.to_owned(), (*bad).to_owned(), self.instant.0.to_owned()))
        };
        columns.iter().flat_map(in_column).collect()
    }
}

/// A store whose tables have no constraints.
#[derive(Clone, Copy)]
pub struct CorruptibleStore<'a> {
    /// The empty store.
    pub store: &'a dyn Store,
    /// Runs an SQL statement on its tables.
    pub run_sql: RunSql<'a>,
    /// The literals of its database.
    pub literals: &'a Literals,
}

/// The report of a corrupt row.
#[derive(Debug, PartialEq, Eq)]
pub struct CorruptRowReport {
    /// The table and the column.
    pub place: String,
    /// The key of the row.
    pub row: String,
    /// The problem.
    pub reason: String,
}

/// The report of a failed call.
pub fn report<T>(outcome: Result<T, StoreError>) -> CorruptRowReport {
    match outcome.map(drop) {
        Err(StoreError::Corrupt { table, column, row, reason }) => {
            CorruptRowReport { place: format!("{table}.{column}"), row, reason }
        }
        other => panic!("not corrupt: {other:?}"),
    }
}

pub(super) fn is_of(one: &CorruptRowReport, place: &str, row: &impl ToString) {
    assert_eq!((one.place.as_str(), one.row.clone()), (place, row.to_string()), "{one:?}");
    assert!(!one.reason.is_empty(), "{one:?}");
    assert!(!one.reason.contains("secret") && !one.reason.contains("c0ffee"), "{one:?}");
}

/// Writes rubbish into one column after the other. `read` calls every reader of the row, which must report the same.
pub(super) async fn each_is_reported(
    run_sql: RunSql<'_>,
    table: &str,
    row: impl ToString,
    rubbish: Vec<Rubbish>,
    read: impl AsyncFn() -> CorruptRowReport,
) {
    for (column, bad, fine) in rubbish {
        run_sql(&format!("UPDATE {table} SET {column} = {bad}"));
        is_of(&read().await, &format!("{table}.{column}"), &row);
        run_sql(&format!("UPDATE {table} SET {column} = {fine}"));
    }
}

/// Checks that the account or its usage cannot be read.
pub async fn corrupt_account_is_reported_with_column_and_id(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let mut columns =
        rubbish([("email", "''", "'a@example.com'"), ("name", "''", "NULL"), ("plan", "''", "'agency'")]);
    for counter in PlanResource::ALL {
        columns.push((format!("{}_count", counter.as_str()), "-5".to_owned(), "0".to_owned()));
    }
    columns.extend(literals.of_times(&["suspended_at", "created_at"]));
    let read = async || match store.account(account).await {
        Ok(_) => report(store.usage(account).await),
        error => report(error),
    };
    each_is_reported(run_sql, "accounts", account, columns, read).await;
}

/// Checks that a list omits the key, and that the log names it without its hash.
pub async fn corrupt_key_is_reported_with_column_and_without_hash(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let (key, _) = samples::key(account);
    let mut work = store.begin().await.unwrap();
    assert!(work.insert_key(&key).await.unwrap());
    work.commit().await.unwrap();
    let mut columns = rubbish([
        ("name", "''", "NULL"),
        ("hash", literals.coffee, literals.hash),
        ("scopes", "-1", "NULL"),
        ("scopes", "256", "NULL"),
    ]);
    columns.extend(literals.of_times(&["created_at", "revoked_at", "last_used_at", "expires_at"]));
    for (column, bad, fine) in columns {
        run_sql(&format!("UPDATE api_keys SET {column} = {bad}"));
        let log = Log::begin();
        assert_eq!(store.keys(account).await.unwrap(), []);
        let logged = log.lines(LEFT_OUT);
        let [line] = logged.as_slice() else { panic!("{logged:?}") };
        assert!(line.contains(&format!("api_keys.{column}")) && line.contains(&key.id.to_string()), "{line}");
        assert!(!line.contains("c0ffee"), "{line}");
        run_sql(&format!("UPDATE api_keys SET {column} = {fine}"));
    }
    assert_eq!(store.keys(account).await.unwrap().len(), 1);
}

/// Checks that a resource whose row has rubbish in a column cannot be read.
pub async fn corrupt_resource_is_reported_with_column_and_id(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    for kind in ResourceKind::ALL {
        let resource = kind.sample(account, "corrupt");
        insert_one(store, account, &resource).await;
        let read = async || report(resource.read(store, account).await);
        each_is_reported(run_sql, kind.table(), resource.id_text(), kind.rubbish(literals), read).await;
        assert!(resource.stored(store, account).await.is_some(), "{kind:?}");
    }
}

/// Checks that every method that reads a pixel reports the same, and that a corrupt pixel can be deleted.
pub async fn corrupt_pixel_is_reported_to_each_reader_and_can_be_deleted(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let pixel = samples::pixel("A pixel");
    insert_one(store, account, &Resource::Pixel(pixel.clone())).await;
    run_sql("UPDATE pixels SET code = '</script>secret'");
    let one = report(store.pixel(account, pixel.id).await);
    is_of(&one, "pixels.code", &pixel.id);
    assert_eq!(report(store.pixels_with_ids(account, &[pixel.id]).await), one);
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_pixel(account, pixel.id).await.unwrap());
}

/// Checks that a corrupt answer is neither returned nor taken for a free key (D12).
pub async fn d12_corrupt_answer_is_reported_with_column_account_and_key(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let (account, now): (AccountId, _) = (samples::id(), samples::at(0));
    let key = IdempotencyKey::parse("order-4711").unwrap();
    let answer = RememberedAnswer { status: 201, location: None, body: "secret".to_owned() };
    let request = RememberedRequest { fingerprint: RequestFingerprint::from_bytes([7; 32]), answer };
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.claim_key(account.into(), &key, now).await.unwrap(), None);
    work.remember_answer(account.into(), &key, &request, now).await.unwrap();
    work.commit().await.unwrap();
    let columns = rubbish([
        ("fingerprint", literals.coffee, literals.hash),
        ("status", "-1", "201"),
        ("status", "0", "201"),
        ("status", "1000", "201"),
        ("status", "65536", "201"),
    ]);
    let read = async || {
        let one = report(store.remembered_request(account.into(), &key, now).await);
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.claim_key(account.into(), &key, now).await), one);
        one
    };
    each_is_reported(run_sql, "remembered_answers", format!("{account} order-4711"), columns, read).await;
    assert!(store.remembered_request(account.into(), &key, now).await.unwrap().is_some());
    assert_eq!(store.forget_answers(now.plus(ANSWERS_KEPT), 1).await.unwrap(), 1);
}

const HOST: &str = "go.example.com";

/// A stored active domain, whose check is due.
async fn insert_domain(store: &dyn Store, account: AccountId, host: &str) -> CustomDomain {
    let domain = CustomDomain { status: ACTIVE, ..samples::custom_domain(account, host) };
    let mut work = store.begin().await.unwrap();
    work.insert_custom_domain(&domain, checked_at(0), PLENTY).await.unwrap();
    work.commit().await.unwrap();
    domain
}

/// Checks that every method that reads a domain reports the same, and that a domain with a corrupt hostname can be deleted.
pub async fn corrupt_domain_is_reported_with_column_and_id(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let domain = insert_domain(store, account, HOST).await;
    let names = std::slice::from_ref(&domain.hostname);
    let instant = literals.instant.0;
    let mut columns = vec![
        ("active", "status", "'secret'"),
        ("active", "deadline", instant),
        ("pending", "deadline", "NULL"),
        ("pending", "misdirected_since", instant),
        ("ssl_pending", "deadline", "NULL"),
        ("ssl_pending", "misdirected_since", instant),
        ("failed", "deadline", instant),
        ("failed", "misdirected_since", instant),
        ("active", "root_url", "'secret'"),
        ("active", "not_found_url", "'secret'"),
        ("active", "expired_url", "'secret'"),
    ];
    for (status, column) in [
        ("active", "misdirected_since"),
        ("active", "created_at"),
        ("active", "updated_at"),
        ("active", "checked_at"),
        ("pending", "deadline"),
        ("ssl_pending", "deadline"),
    ] {
        columns.extend(literals.no_instants.iter().map(|bad| (status, column, *bad)));
    }
    for (status, column, bad) in columns {
        let deadline = if status.contains("pending") { instant } else { "NULL" };
        let fine = format!(
            "status = '{status}', deadline = {deadline}, misdirected_since = NULL, checked_at = NULL, updated_at = NULL, \
             root_url = NULL, not_found_url = NULL, expired_url = NULL"
        );
        run_sql(&format!("UPDATE custom_domains SET created_at = {instant}, {fine}"));
        store.custom_domain(account, domain.id).await.unwrap().unwrap();
        run_sql(&format!("UPDATE custom_domains SET {column} = {bad}"));
        let one = report(store.custom_domain(account, domain.id).await);
        is_of(&one, &format!("custom_domains.{column}"), &domain.id);
        assert_eq!(report(store.custom_domains_named(account, names).await), one);
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.lock_custom_domain(account, domain.id).await), one);
        drop(work);
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.hold_custom_domains(account, names).await), one);
        drop(work);
        let mut asking = vec![account];
        if status != "failed" {
            assert_eq!(report(store.holder_of(&domain.hostname).await), one);
            asking.push(samples::id());
        }
        for account in asking {
            let mut work = store.begin().await.unwrap();
            assert_eq!(report(work.lock_claims(account, &domain.hostname).await), one);
        }
    }
    let fine = "status = 'active', deadline = NULL, misdirected_since = NULL, checked_at = NULL, updated_at = NULL, root_url = \
                NULL, not_found_url = NULL, expired_url = NULL";
    run_sql(&format!("UPDATE custom_domains SET {fine}, hostname = 'no secret'"));
    is_of(&report(store.custom_domain(account, domain.id).await), "custom_domains.hostname", &domain.id);
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_custom_domain(account, domain.id).await.unwrap());
    assert_eq!(work.changes(), []);
    work.commit().await.unwrap();
    assert_eq!(store.custom_domain(account, domain.id).await.unwrap(), None);
}

/// Checks that an unreadable explanation hides no domain, whether an older program, a newer one or damage wrote it (D65).
pub async fn d65_unreadable_explanation_is_left_out_and_hides_no_domain(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let active = insert_domain(store, account, HOST).await;
    let read = async || store.custom_domain(account, active.id).await.unwrap().unwrap().domain;
    // A node of an older version has reactivated it and left the reason.
    run_sql("UPDATE custom_domains SET failure_reason = 'deadline_passed', observed = 'rubbish'");
    assert_eq!(read().await, active);
    let (instant, millis) = literals.instant;
    run_sql(&format!("UPDATE custom_domains SET checked_at = {instant}"));
    let observation = read().await.observation.unwrap();
    assert_eq!((observation.checked_at.unix_millis(), observation.records), (millis, vec![]));
    for (stored, shown) in [
        ("'points_elsewhere'", Some("points_elsewhere")),
        ("'of_tomorrow'", Some("of_tomorrow")),
        ("'\n'", None),
        ("NULL", None),
    ] {
        run_sql(&format!("UPDATE custom_domains SET status = 'failed', failure_reason = {stored}"));
        assert_eq!(read().await.failure_reason.as_ref().map(FailureReason::as_str), shown);
    }
}

/// Checks that corrupt domains block no check of another domain, even if no other is due, and finally rest (D42). The log
/// names each problem.
pub async fn d42_corrupt_domain_blocks_no_check_of_another(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    for (column, bad) in [("status", "'secret'"), ("checks_made", "-1"), ("checks_made", "5000000000")] {
        let log = Log::begin();
        let mut corrupt = Vec::new();
        for host in ["a.example.com", "b.example.com"] {
            corrupt.push(insert_domain(store, account, host).await.id);
        }
        let fine = insert_domain(store, account, "fine.example.com").await;
        run_sql(&format!("UPDATE custom_domains SET {column} = {bad} WHERE hostname <> 'fine.example.com'"));
        for turn in 0..i64::from(MAX_CLAIMS_OF_A_CHECK) + 2 {
            let claimed = store.claim_due_checks(samples::at(turn), samples::at(turn + 1), 9).await.unwrap();
            if turn > 1 {
                assert_eq!(claimed, [], "{column} = {bad}");
                continue;
            }
            let claims = u32::try_from(turn).unwrap() + 1;
            assert_eq!(
                claimed,
                [DueCheck { domain: fine.clone(), checks_made: 0, claims }],
                "{column} = {bad}"
            );
            if turn == 1 {
                run_sql("DELETE FROM custom_domains WHERE hostname = 'fine.example.com'");
            }
        }
        let errors = log.lines("cannot check a custom domain: its row is corrupt");
        for id in &corrupt {
            let (place, row) = (format!("custom_domains.{column}"), id.to_string());
            let logged = errors.iter().filter(|line| line.contains(&place) && line.contains(&row));
            assert_eq!(logged.count(), usize::try_from(MAX_CLAIMS_OF_A_CHECK).unwrap(), "{errors:#?}");
        }
        assert!(errors.iter().all(|line| !line.contains("secret")), "{errors:#?}");
        run_sql("UPDATE custom_domains SET status = 'active', checks_made = 0");
        for id in corrupt {
            let found = store.custom_domain(account, id).await.unwrap().unwrap();
            assert_eq!(found.schedule.claims, MAX_CLAIMS_OF_A_CHECK);
        }
        run_sql("DELETE FROM custom_domains");
    }
}
