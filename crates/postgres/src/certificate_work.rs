//! The work on certificates: what is due, which node has claimed it, and how far it is (D186).

use async_trait::async_trait;
use diesel::SelectableHelper;
use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::query_builder::{AsChangeset, QueryFragment};
use diesel::sql_types::{Array, BigInt, Binary, Bool, Nullable, Text};
use diesel_async::RunQueryDsl;
use signpost_app::ports::{
    CERTIFICATES_LEFT_ALONE_FOR, CertificateClaim, CertificateWork, KeepOrder, MAX_CLAIMS_OF_A_CERTIFICATE,
    RunningOrder, StoreError, StoredAuthorityAccount, StoredCertificate, StoredChallenge, WorkPlan,
};
use signpost_domain::{BudgetDecision, Hostname, OrderKind, Timestamp};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::order_events::{self, ForgetChallenges, ForgetEvents, NoteFailure};
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::certificate::{CertificateRow, OrderColumns, PlanColumns, readable};
use signpost_sql_rows::certificate_order::{AuthorityRow, failed_order_event, order_event};
use signpost_sql_rows::columns::{Instant, StoredId};

/// The statements here and the indexes `certificates_due` and `certificates_given_up` contain this number.
const _: () = assert!(MAX_CLAIMS_OF_A_CERTIFICATE == 5);

statement! {
    /// The hostnames without a row: of these names, and of some proven domains. Locks and writes nothing.
    Missing -> (Text, Nullable<Identifier>) {
        own: Vec<String> => Array<Text>,
        at_most: u16,
    } =
    "SELECT o.hostname, NULL::uuid FROM unnest($1) AS o (hostname) WHERE NOT EXISTS (SELECT FROM certificates AS c \
     WHERE c.hostname = o.hostname) UNION ALL (SELECT d.hostname, d.account_id FROM custom_domains AS d WHERE d.status \
     IN ('ssl_pending', 'active') AND NOT EXISTS (SELECT FROM certificates AS c WHERE c.hostname = d.hostname) ORDER BY \
     d.hostname LIMIT $2)"
}

statement! {
    /// Inserts rows for these names and for the domains with these hostnames that are proven, as far as they have none. Counts
    /// the inserted rows. It locks the domains first, so that none is deleted or fails before its row is there to be deleted.
    InsertMissing -> BigInt {
        own: Vec<String> => Array<Text>,
        proven: Vec<String> => Array<Text>,
        now: Instant => Moment,
    } =
    "WITH held AS MATERIALIZED (SELECT d.hostname, d.account_id FROM custom_domains AS d WHERE d.hostname = ANY ($2) AND \
     d.hostname <> ALL ($1) AND d.status IN ('ssl_pending', 'active') ORDER BY d.hostname, d.id FOR SHARE), wanted AS \
     (SELECT h.hostname, h.account_id FROM held AS h UNION SELECT o.hostname, NULL FROM unnest($1) AS o (hostname)), \
     inserted AS (INSERT INTO certificates (hostname, account_id, next_attempt_at) SELECT w.hostname, w.account_id, $3 \
     FROM wanted AS w ORDER BY w.hostname ON CONFLICT (hostname) DO NOTHING RETURNING 1) SELECT count(*) FROM inserted"
}

statement! {
    /// Claims the work that has been due longest. Work that was given up is due a day after its last claim has ended. Skips rows
    /// that another transaction has locked to claim or to conclude them. Writes nothing if nothing is due. The rows are looked
    /// up again through an array, which PostgreSQL assumes to be short; for many rows it would scan the whole table.
    ClaimDue -> (BigInt, AsSelect<CertificateRow, Pg>) {
        now: Instant,
        given_up_until: Instant,
        until: Instant,
        at_most: u16,
        columns: AsSelect<CertificateRow, Pg>,
    } =
    "WITH due AS MATERIALIZED (SELECT c.hostname, c.next_attempt_at FROM certificates AS c WHERE c.next_attempt_at <= "
    { now: Moment } " AND c.claims < 5 ORDER BY c.next_attempt_at, c.hostname LIMIT "
    { at_most } " FOR NO KEY UPDATE SKIP LOCKED), given_up AS MATERIALIZED (SELECT c.hostname, c.next_attempt_at FROM \
     certificates AS c WHERE c.next_attempt_at <= "
    { given_up_until: Moment } " AND c.claims >= 5 ORDER BY c.next_attempt_at, c.hostname LIMIT "
    { at_most } " FOR NO KEY UPDATE SKIP LOCKED) UPDATE certificates SET next_attempt_at = "
    { until: Moment } ", claims = CASE WHEN certificates.claims < 5 THEN certificates.claims + 1 ELSE 1 END FROM \
     unnest(ARRAY(SELECT e.hostname FROM (SELECT hostname, next_attempt_at, 0 AS part FROM due UNION ALL SELECT hostname, \
     next_attempt_at, 1 FROM given_up) AS e ORDER BY e.part, e.next_attempt_at, e.hostname LIMIT "
    { at_most } ")) WITH ORDINALITY AS u (hostname, turn) WHERE certificates.hostname = u.hostname RETURNING u.turn, "
    { columns as QueryFragment::walk_ast } ""
}

statement! {
    /// Makes unclaimed work due, and moves a later renewal forward.
    Hasten<'a> -> Bool {
        hostname: &'a str => Text,
        now: Instant => Moment,
    } =
    "UPDATE certificates SET next_attempt_at = $2, claims = 0, renew_at = CASE WHEN renew_at > $2 THEN $2 ELSE renew_at \
     END WHERE hostname = $1 AND (claims = 0 OR next_attempt_at IS NULL OR next_attempt_at <= $2)"
}

statement! {
    /// Writes the columns of the running order under a claim that has not ended.
    WriteOrder<'a> -> Bool {
        order: <OrderColumns as AsChangeset>::Changeset,
        hostname: &'a str,
        until: Instant,
    } =
    "UPDATE certificates SET "
    { order as QueryFragment::walk_ast } " WHERE hostname = "
    { hostname: Text } " AND next_attempt_at = "
    { until: Moment } " AND claims > 0"
}

statement! {
    /// Writes a challenge under a claim that has not ended. The lock keeps others from ending the claim meanwhile.
    WriteChallenge<'a> -> Bool {
        hostname: &'a str => Text,
        until: Instant => Moment,
        token: &'a str => Text,
        challenged: &'a str => Text,
        key_authorization: &'a str => Text,
        expires_at: Instant => Moment,
    } =
    "WITH held AS MATERIALIZED (SELECT FROM certificates AS c WHERE c.hostname = $1 AND c.next_attempt_at = $2 AND \
     c.claims > 0 FOR NO KEY UPDATE) INSERT INTO certificate_challenges (token, hostname, key_authorization, expires_at) \
     SELECT $3, $4, $5, $6 FROM held ON CONFLICT (token) DO UPDATE SET hostname = excluded.hostname, key_authorization = \
     excluded.key_authorization, expires_at = excluded.expires_at"
}

statement! {
    /// Writes the plan under a claim that has not ended, and moves the renewal of a served certificate.
    Conclude<'a> -> Bool {
        plan: <PlanColumns as AsChangeset>::Changeset,
        renew_at: Option<Instant>,
        hostname: &'a str,
        until: Instant,
    } =
    "UPDATE certificates SET "
    { plan as QueryFragment::walk_ast } ", renew_at = CASE WHEN renew_at IS NOT NULL THEN coalesce("
    { renew_at: Nullable<Moment> } ", renew_at) END WHERE hostname = "
    { hostname: Text } " AND next_attempt_at = "
    { until: Moment } " AND claims > 0"
}

statement! {
    /// Does the same, and removes the running order with its challenges. Counts the rows.
    ConcludeOrder<'a> -> BigInt {
        plan: <PlanColumns as AsChangeset>::Changeset,
        order: <OrderColumns as AsChangeset>::Changeset,
        renew_at: Option<Instant>,
        hostname: &'a str,
        until: Instant,
    } =
    "WITH concluded AS (UPDATE certificates SET "
    { plan as QueryFragment::walk_ast } ", "
    { order as QueryFragment::walk_ast } ", renew_at = CASE WHEN renew_at IS NOT NULL THEN coalesce("
    { renew_at: Nullable<Moment> } ", renew_at) END WHERE hostname = "
    { hostname: Text } " AND next_attempt_at = "
    { until: Moment } " AND claims > 0 RETURNING 1), answered AS (DELETE FROM certificate_challenges WHERE hostname = "
    { hostname: Text } " AND EXISTS (SELECT FROM concluded)) SELECT count(*) FROM concluded"
}

statement! {
    /// Stores an account at an authority unless there is one, and returns the stored one. Of several callers, the second waits
    /// for the row of the first.
    KeepAccount<'a> -> AsSelect<AuthorityRow, Pg> {
        directory: &'a str,
        uri: &'a str,
        credentials: &'a [u8],
        columns: AsSelect<AuthorityRow, Pg>,
    } =
    "INSERT INTO certificate_authorities (directory, account_uri, credentials) VALUES ("
    { directory: Text } ", "
    { uri: Text } ", "
    { credentials: Binary } ") ON CONFLICT (directory) DO UPDATE SET account_uri = \
     coalesce(certificate_authorities.account_uri, excluded.account_uri), credentials = \
     coalesce(certificate_authorities.credentials, excluded.credentials) RETURNING "
    { columns as QueryFragment::walk_ast } ""
}

statement! {
    /// Removes an account at an authority.
    ForgetAccount<'a> -> Bool {
        directory: &'a str => Text,
        uri: &'a str => Text,
    } =
    "UPDATE certificate_authorities SET account_uri = NULL, credentials = NULL WHERE directory = $1 AND account_uri = $2"
}

statement! {
    /// Leaves an authority alone until then, unless it is left alone for longer already.
    SetWait<'a> -> Bool {
        directory: &'a str => Text,
        until: Instant => Moment,
    } =
    "INSERT INTO certificate_authorities AS a (directory, wait_until) VALUES ($1, $2) ON CONFLICT (directory) DO UPDATE \
     SET wait_until = excluded.wait_until WHERE a.wait_until IS NULL OR a.wait_until < excluded.wait_until"
}

#[async_trait]
impl CertificateWork for PostgresStore {
    async fn want_certificates(
        &self,
        own: &[Hostname],
        now: Timestamp,
        at_most: u16,
    ) -> Result<u16, StoreError> {
        let own: Vec<String> = own.iter().map(|hostname| hostname.as_str().to_owned()).collect();
        let find = Missing { own: own.clone(), at_most };
        let missing: Vec<(String, Option<StoredId>)> =
            self.change(async |connection| Ok(find.load(connection).await?)).await?;
        if missing.is_empty() {
            return Ok(0);
        }
        let proven = missing.into_iter().filter(|(_, account)| account.is_some()).map(|(name, _)| name);
        let insert = InsertMissing { own, proven: proven.collect(), now: now.into() };
        self.change(async |connection| {
            let inserted: i64 = insert.get_result(connection).await?;
            Ok(u16::try_from(inserted).unwrap_or(u16::MAX))
        })
        .await
    }

    async fn claim_due_certificates(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u16,
    ) -> Result<Vec<StoredCertificate>, StoreError> {
        let columns = CertificateRow::as_select();
        let (now, until) = (Instant::from(now), until.into());
        let given_up_until = now.minus(CERTIFICATES_LEFT_ALONE_FOR);
        let claim = ClaimDue { now, given_up_until, until, at_most, columns };
        self.change(async |connection| {
            let mut rows: Vec<(i64, CertificateRow)> = claim.load(connection).await?;
            rows.sort_by_key(|(turn, _)| *turn);
            // An unreadable row is claimed like the others, so it soon stops being due.
            Ok(rows.into_iter().filter_map(|(_, row)| readable(row)).collect())
        })
        .await
    }

    async fn hasten_certificate(&self, hostname: &Hostname, now: Timestamp) -> Result<bool, StoreError> {
        let hasten = Hasten { hostname: hostname.as_str(), now: now.into() };
        self.change(async |connection| Ok(hasten.execute(connection).await? > 0)).await
    }

    async fn write_order(
        &self,
        claim: &CertificateClaim,
        order: Option<&RunningOrder>,
    ) -> Result<bool, StoreError> {
        let order = OrderColumns::new(order).as_changeset();
        let write = WriteOrder { order, hostname: claim.hostname.as_str(), until: claim.until.into() };
        self.change(async |connection| Ok(write.execute(connection).await? > 0)).await
    }

    async fn write_challenge(
        &self,
        claim: &CertificateClaim,
        challenge: &StoredChallenge,
    ) -> Result<bool, StoreError> {
        let StoredChallenge { token, hostname, key_authorization, expires_at } = challenge;
        let write = WriteChallenge {
            hostname: claim.hostname.as_str(),
            until: claim.until.into(),
            token,
            challenged: hostname.as_str(),
            key_authorization,
            expires_at: (*expires_at).into(),
        };
        self.change(async |connection| Ok(write.execute(connection).await? > 0)).await
    }

    async fn conclude_certificate(
        &self,
        claim: &CertificateClaim,
        plan: &WorkPlan,
        renew_at: Option<Timestamp>,
        order: KeepOrder,
    ) -> Result<bool, StoreError> {
        let plan = PlanColumns::from(plan).as_changeset();
        let renew_at = renew_at.map(Instant::from);
        let (hostname, until) = (claim.hostname.as_str(), claim.until.into());
        match order {
            KeepOrder::Yes => {
                let conclude = Conclude { plan, renew_at, hostname, until };
                self.change(async |connection| Ok(conclude.execute(connection).await? > 0)).await
            }
            KeepOrder::No => {
                let order = OrderColumns::new(None).as_changeset();
                let conclude = ConcludeOrder { plan, order, renew_at, hostname, until };
                self.change(async |connection| {
                    let concluded: i64 = conclude.get_result(connection).await?;
                    Ok(concluded > 0)
                })
                .await
            }
        }
    }

    async fn spend_on_order(
        &self,
        hostname: &Hostname,
        registered_domain: &str,
        kind: OrderKind,
        now: Timestamp,
    ) -> Result<BudgetDecision, StoreError> {
        order_events::spend(self, hostname, registered_domain, kind, now).await
    }

    async fn note_failed_order(
        &self,
        hostname: &Hostname,
        registered_domain: &str,
        kind: OrderKind,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let hostname = hostname.as_str();
        let (order, failed_order) = (order_event(kind), failed_order_event(kind));
        let note = NoteFailure { at: now.into(), hostname, registered_domain, order, failed_order };
        self.change(async |connection| Ok(note.execute(connection).await.map(drop)?)).await
    }

    async fn keep_authority_account(
        &self,
        directory: &str,
        account: &StoredAuthorityAccount,
    ) -> Result<StoredAuthorityAccount, StoreError> {
        let StoredAuthorityAccount { uri, credentials } = account;
        let columns = AuthorityRow::as_select();
        let keep = KeepAccount { directory, uri, credentials: &credentials.0, columns };
        let stored = self.change(async |connection| {
            let stored: AuthorityRow = keep.get_result(connection).await?;
            Ok(stored.into_account())
        });
        // The statement has stored the given account if there was none.
        Ok(stored.await?.unwrap_or_else(|| account.clone()))
    }

    async fn forget_authority_account(&self, directory: &str, uri: &str) -> Result<(), StoreError> {
        let forget = ForgetAccount { directory, uri };
        self.change(async |connection| Ok(forget.execute(connection).await.map(drop)?)).await
    }

    async fn set_authority_wait(&self, directory: &str, until: Timestamp) -> Result<(), StoreError> {
        let set = SetWait { directory, until: until.into() };
        self.change(async |connection| Ok(set.execute(connection).await.map(drop)?)).await
    }

    async fn forget_order_events(&self, now: Timestamp, at_most: u16) -> Result<bool, StoreError> {
        let found = u32::from(at_most) + 1;
        let challenges = ForgetChallenges { now: now.into(), found, at_most };
        let events = ForgetEvents::older(now, found, at_most);
        self.change(async |connection| {
            let challenges: i64 = challenges.get_result(connection).await?;
            let events: i64 = events.get_result(connection).await?;
            Ok(challenges.max(events) > i64::from(at_most))
        })
        .await
    }
}
