//! The numbers of the guide, with their places in the code.

use super::Place::{Behind, Const, Default};
use super::Relation::{In, Is, Multiple, OneMore, Product, Sum, Times, Within};
use super::{Fact, Place};

const CHECKS: &str = "crates/app/src/background/domain_checks.rs";
const SCHEDULE: &str = "crates/domain/src/check_schedule.rs";
const STATES: &str = "crates/domain/src/custom_domain_status.rs";
const HANDOVER: &str = "crates/app/src/domains/handover.rs";
const LEASES: &str = "crates/app/src/background/job_runner.rs";
const DOMAIN_PORT: &str = "crates/app/src/ports/domain_schedule.rs";
const FALLBACK: &str = "crates/quota-fallback/src/store.rs";
const POSTGRES: &str = "crates/postgres/src/options.rs";
const MIGRATIONS: &str = "crates/postgres/src/migrations.rs";
const SQLITE: &str = "crates/sqlite/src/options.rs";
const DNS: &str = "crates/dns/src/options.rs";
const TLS_ALLOWED: &str = "crates/http/src/tls_allowed.rs";
const LINK_MEMORY: &str = "crates/app/src/visits/link_memory.rs";
const HOST_LOG: &str = "crates/app/src/visits/host_log.rs";
const STOPPING: &str = "crates/server/src/shutdown.rs";
const SPOOL: &str = "crates/click-recorder/src/spool/backlog.rs";
const PLANS: &str = "crates/domain/src/plan.rs";
const UNIT: &str = "packaging/signpost.service";
const BUDGET: &str = "crates/domain/src/certificate/budget.rs";
const AUTHORITY_CLOCK: &str = "crates/acme/src/clock_comparison.rs";
const CONTAINERFILE: &str = "Containerfile";

/// How many links a check of a domain takes the addresses of.
const TAKEN_BY_A_CHECK: (Place, Place) = (Const(HANDOVER, "AT_ONCE"), Const(HANDOVER, "STEPS"));

const fn fact(says: &'static str, holds: super::Relation) -> Fact {
    Fact { says, holds }
}

/// Every number that the code has as well.
pub(super) const FACTS: &[Fact] = &[
    // Files and exit codes.
    fact("The copies of the last {two} upgrades", Is(Const("crates/sqlite/src/upgrade_copies.rs", "KEPT"))),
    fact(
        "The file itself is made with mode {0600}",
        Is(Behind("crates/sqlite/src/database_file.rs", "&mut options, 0o")),
    ),
    fact(
        "only when it is whole, with mode {0600}",
        Is(Behind("crates/sqlite/src/database_file.rs", "&mut options, 0o")),
    ),
    fact("the program's own, mode {0700}", Is(Behind(UNIT, "StateDirectoryMode="))),
    fact("`--keep {14}` deletes", Is(Behind("packaging/signpost-backup.service", "--keep "))),
    fact("so that {14} are left", Is(Behind("packaging/signpost-backup.service", "--keep "))),
    fact("do not count among the {14}", Is(Behind("packaging/signpost-backup.service", "--keep "))),
    fact("once the leftover is {six hours} old", Is(Const("crates/sqlite/src/backup.rs", "LEFTOVER_AGE"))),
    // The first account.
    fact("with {120} requests a minute", Is(Behind(PLANS, "plan(\"agency\", true, ("))),
    fact("and {10,000} a day", Is(Behind(PLANS, "plan(\"agency\", true, (120, "))),
    fact(
        "the log says so once {an hour} with",
        Is(Const("crates/app/src/admission.rs", "EXHAUSTED_INTERVAL")),
    ),
    fact(
        "It logs a warning with the number if that is below {1,000}",
        Is(Const("crates/server/src/commands/serve.rs", "ENOUGH")),
    ),
    fact(
        "The log says so once {an hour} if the visit",
        Is(Const("crates/edge/src/own_visits.rs", "INTERVAL")),
    ),
    fact("does not start: exit code {2}", Is(Behind("crates/server/src/main.rs", "ExitCode::from("))),
    // HTTPS.
    fact(
        "Signpost asks again every {five minutes}",
        Is(Const("crates/app/src/certificates/order.rs", "DNS_PAUSE")),
    ),
    fact(
        "With more than `certificates-in-memory` ({20,000})",
        Is(Behind(
            "crates/server/src/settings/https_catalog.rs",
            "key: \"certificates-in-memory\", value_name: \"NUMBER\", default: Some(\"",
        )),
    ),
    fact("{200} orders for new names in three hours", Is(Behind(BUDGET, "Self::NewOrders => "))),
    fact("{40} certificates in seven days under one", Is(Behind(BUDGET, "Self::RegisteredDomain => "))),
    fact(
        "{3} failed orders of a name in an hour",
        Is(Behind(BUDGET, "Self::Name | Self::HourlyFailures => ")),
    ),
    fact("and {10} in a day. After a failure", Is(Behind(BUDGET, "Self::DailyFailures => "))),
    fact("but at most {three} in seven days", Is(Behind(BUDGET, "Self::Name | Self::HourlyFailures => "))),
    fact("With more than {40} domains under one", Is(Behind(BUDGET, "Self::RegisteredDomain => "))),
    fact("or more than {200} in all", Is(Behind(BUDGET, "Self::NewOrders => "))),
    fact(
        "the log says why, at most once {a minute}",
        Is(Const("crates/app/src/people/identity/mod.rs", "FAILURES_INTERVAL")),
    ),
    fact(
        "of this machine and of the provider may differ by {a minute}",
        Is(Const("crates/oidc/src/token.rs", "LEEWAY")),
    ),
    fact("logs a warning once {an hour} if they", Is(Const(AUTHORITY_CLOCK, "LOGGED_EVERY"))),
    fact("differ by more than {a minute}", Is(Const(AUTHORITY_CLOCK, "TOLERATED"))),
    // PostgreSQL.
    fact("for requests, {four} for each of its cores", Is(Const(POSTGRES, "FOUR"))),
    fact("and at least {eight} if not set", Is(Const(POSTGRES, "EIGHT"))),
    fact(
        "finding that out takes {5 seconds}",
        Is(Const("crates/postgres/src/server_address.rs", "CONNECT_LIMIT")),
    ),
    fact("takes {5 seconds}, which is the whole `store-timeout`", Is(Default("store-timeout"))),
    fact("a migration waits {two seconds} for a table", Is(Const(MIGRATIONS, "LOCK_LIMIT"))),
    fact("lets requests pass for {a second}", Is(Const(MIGRATIONS, "LOCK_PAUSE"))),
    fact("and tries again for {two minutes}", Is(Const(MIGRATIONS, "LOCK_PATIENCE"))),
    // Clicks on their way.
    fact("It holds at most {1} GiB", Is(Const(SPOOL, "ON_DISK_GIB"))),
    fact("wait in memory, {64} MiB at most", Is(Const(SPOOL, "IN_MEMORY_MIB"))),
    fact(
        "what the node wrote in the last {second}",
        Is(Const("crates/click-recorder/src/recorder.rs", "SYNCED_EVERY")),
    ),
    // Counting requests.
    fact(
        "expire on their own, within {three days}",
        In("seconds", Const("crates/redis/src/quota.rs", "KEPT")),
    ),
    fact(
        "differ by more than {a second}",
        In("ms", Const("crates/redis/src/clock_comparison.rs", "MOST_MILLIS")),
    ),
    fact("after at most {50 ms} a node counts in its own memory", Is(Const(FALLBACK, "PATIENCE"))),
    fact("goes on after {50 ms}; budgets", Is(Const(FALLBACK, "PATIENCE"))),
    fact(
        "It looks once {a second} whether Redis is back",
        Is(Behind(FALLBACK, "            retry_interval: ")),
    ),
    fact(
        "log once {a minute} `the quota store fails`",
        Is(Const("crates/quota-fallback/src/report.rs", "INTERVAL")),
    ),
    // Several nodes.
    fact(
        "each node reads {four times a second} which links",
        Is(Const("crates/server/src/background.rs", "FOLLOWED_EVERY")),
    ),
    fact("and keeps its last {hour}", Is(Const("crates/app/src/changes.rs", "CHANGES_KEPT"))),
    fact("another takes over within {a second} or so", Is(Const("crates/server/src/background.rs", "TICK"))),
    fact("if it dies, within some {ten seconds}", Is(Const(LEASES, "TERM"))),
    fact("clocks that are each wrong by {two seconds}", Times(2, Const(LEASES, "MARGIN"))),
    fact("the node warns once {an hour} with both names", Is(Const(HOST_LOG, "WARNING_INTERVAL"))),
    fact("and once {an hour} the log names one", Is(Const(HOST_LOG, "WARNING_INTERVAL"))),
    fact("log once {an hour} `a visit named the host`", Is(Const(HOST_LOG, "WARNING_INTERVAL"))),
    fact(
        "The node then logs a warning, once {an hour}",
        Is(Const("crates/app/src/admission/client_addresses.rs", "WARNING_INTERVAL")),
    ),
    fact("the first that sends {thirty} bad keys", Is(Default("throttle-per-minute"))),
    fact(
        "answer within {a tenth of a second}, even if a store hangs",
        Within(Const("crates/http/src/health/probe.rs", "PATIENCE")),
    ),
    fact(
        "answer within {a tenth of a second}, even if a store hangs",
        Is(Const("tests/end_to_end/faults/health.rs", "ANSWERED_WITHIN")),
    ),
    fact(
        "normal within {5 seconds}, without a restart",
        Is(Const("tests/end_to_end/faults/load.rs", "NORMAL_AGAIN")),
    ),
    // Custom domains.
    fact("leads elsewhere for {72 hours} fails", Is(Const(STATES, "MISDIRECTION_PERIOD"))),
    fact("the {72 hours} of an active domain that leads elsewhere", Is(Const(STATES, "MISDIRECTION_PERIOD"))),
    fact("until it is proven or its {72 hours} have passed", Is(Const(STATES, "VERIFICATION_PERIOD"))),
    fact("at most {four seconds} for each look-up", Is(Const(DNS, "DEFAULT_TIME_LIMIT"))),
    fact("or is silent for {half a second}", Is(Const(DNS, "MAX_PATIENCE"))),
    fact("after {eight seconds} at most", Multiple(2, Const(DNS, "DEFAULT_TIME_LIMIT"))),
    fact("Each takes up to {64} domains that are due", Is(Const(CHECKS, "AT_ONCE"))),
    fact(
        "a domain is claimed for {a minute} by one node",
        Is(Const("crates/app/src/ports/domain_schedule.rs", "CLAIM_OF_A_CHECK")),
    ),
    fact(
        "`late` (longer than {a minute})",
        Is(Const("crates/app/src/ports/domain_schedule.rs", "CLAIM_OF_A_CHECK")),
    ),
    fact(
        "because their clocks are {a minute} apart",
        Is(Const("crates/app/src/ports/domain_schedule.rs", "CLAIM_OF_A_CHECK")),
    ),
    fact("A new domain is checked after {5} to 15 seconds", In("seconds", Const(SCHEDULE, "FIRST_PAUSE"))),
    fact(
        "checked after 5 to {15 seconds}",
        Sum(Const(SCHEDULE, "FIRST_PAUSE"), Const(SCHEDULE, "FIRST_PAUSE_SPREAD")),
    ),
    fact("pauses that grow from {one minute} to an hour", Is(Const(SCHEDULE, "SHORTEST_PAUSE"))),
    fact("pauses that grow from one minute to {an hour}", Is(Const(SCHEDULE, "LONGEST_PAUSE"))),
    fact("an active one about once {an hour}", Is(Const(SCHEDULE, "LONGEST_PAUSE"))),
    fact("more than {ten thousand} links of former holders", Product(TAKEN_BY_A_CHECK.0, TAKEN_BY_A_CHECK.1)),
    fact("takes the addresses of {ten thousand}", Product(TAKEN_BY_A_CHECK.0, TAKEN_BY_A_CHECK.1)),
    fact("check did not finish {five} times in a row", Is(Const(DOMAIN_PORT, "MAX_CLAIMS_OF_A_CHECK"))),
    fact(
        "did not finish {five} times in a row, so that this node",
        Is(Const(DOMAIN_PORT, "MAX_CLAIMS_OF_A_CHECK")),
    ),
    fact("is left alone for {a day} and then tried again", Is(Const(DOMAIN_PORT, "CHECKS_LEFT_ALONE_FOR"))),
    fact("left the domain alone for {a day}", Is(Const(DOMAIN_PORT, "CHECKS_LEFT_ALONE_FOR"))),
    fact("A node asks the database {two} such questions at once", Is(Const(TLS_ALLOWED, "AT_ONCE"))),
    fact("more wait for their turn, up to {half a second}", Is(Const(TLS_ALLOWED, "PATIENCE"))),
    // Stopping, and what starts it.
    fact(
        "running requests have up to {30 seconds}",
        In("seconds", Behind("crates/listener/src/options.rs", "stopping: Duration::from_secs(")),
    ),
    fact(
        "running requests have up to {30 seconds}",
        In("seconds", Behind("crates/listener/src/options.rs", "stopping: Duration::from_secs(")),
    ),
    fact(
        "the client took nothing of its answer for {ten seconds}",
        In("seconds", Behind("crates/listener/src/options.rs", "stalled: Duration::from_secs(")),
    ),
    fact("must exceed `drain-delay` and {32 seconds}", Is(Const(STOPPING, "STOPPED_WITHIN"))),
    fact("a termination grace period of {35 seconds} more", Within(Const(STOPPING, "STOPPED_WITHIN"))),
    fact("systemd tries again every {two seconds}", Is(Behind(UNIT, "RestartSec="))),
    fact("the unit allows {65,536}", Is(Behind(UNIT, "LimitNOFILE="))),
    fact("runs as the user {10001}", Is(Behind(CONTAINERFILE, "USER "))),
    fact("on port {8080}", Is(Behind(CONTAINERFILE, "SIGNPOST_API_LISTEN=0.0.0.0:"))),
    // Links in memory.
    fact("and on all nodes within {a second}, as do", Is(Const(LINK_MEMORY, "FRESH_FOR"))),
    fact("from memory that is older than {a second}", Is(Const(LINK_MEMORY, "FRESH_FOR"))),
    // What is kept, and how much.
    fact("kept for {24 hours}", Is(Const("crates/app/src/ports/remembered_answers.rs", "ANSWERS_KEPT"))),
    fact(
        "up to {16,000} kB of cache",
        Is(Behind("crates/sqlite/src/connection.rs", "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -")),
    ),
    fact(
        "and {2,000} kB for each of eleven",
        Is(Behind("crates/sqlite/src/connection.rs", "PRAGMA secure_delete = ON; PRAGMA cache_size = -")),
    ),
    fact("for each of its {five} connections", OneMore(Const(SQLITE, "FOUR"))),
    fact(
        "Until a day is sealed, {48 hours} after its end",
        Is(Const("crates/click-store/src/policy.rs", "SEAL_AFTER")),
    ),
];

/// Numbers that the code has nowhere: of other software, of measurements, advice, and counts of what the text itself names.
pub(super) const NOT_OURS: &[&str] = &[
    "Users with a [second factor]",
    "1. Register a confidential client",
    "2. Write the client's secret",
    "`install -m 600 -o signpost",
    "3. Set `oidc-issuer`",
    "4. Restart, open the sign-in page",
    "`auth_time` for `max_age=0`",
    "A plain redirect with a target of 60 characters takes some 160 bytes",
    "when the first expires (seconds since 1970)",
    // Versions, ports and settings of other software.
    "its exit status is 1 if that is anything",
    "its exit status is not 0",
    "it is 0 after a healthy start",
    "tried with Prometheus 2.42",
    "Debian 12 with PostgreSQL 15, Redis 7, nginx 1.22, HAProxy 2.6 and Caddy 2.6",
    "version 15 or later",
    "@host:5432/name",
    "@db1:5432,db2:5433/name",
    "%2Frun%2Fpostgresql",
    "`connect_timeout=1` in the URL makes it one second",
    "plain HTTP/1.1",
    "`cache-max-negative-ttl: 60`",
    "Ports 80 and 443",
    "delete old databases within 30 days of a new one",
    "under CC BY 4.0, which requires a link",
    "GeoLite2-Country takes some 10 MB",
    "which needs systemd 247 or later",
    "may not bind ports below 1024",
    "ports 80 and 443 on (see `proxy-protocol`)",
    "A day before, lower",
    "if 0.2.0 is the new version",
    "a second time, move",
    "a second run with",
    "--edge-addresses 198.51.100.7",
    "The exit status is 0 if the link opens, 1 if it does not open yet, and 2 if",
    "The exit status is 0 if all is well, 1 with warnings, and 2 if",
    "`--jobs=4`",
    "`scram-sha-256`",
    "NAT64 under `64:ff9b::/96`, and 6to4. IPv6 addresses go in brackets: `[2001:db8::1]`",
    // What was measured or tried, and when.
    "promoted two seconds after a crash, requests succeeded 0.3 seconds after that",
    "none of 266 was lost",
    "86 kB for an account and day",
    "below 1 kB if in less than 60 minutes",
    "A thousand accounts that never pause take some 350 MB",
    "two nodes restarted in turn under load",
    "Tried on 2026-11-21 with this file, Caddy 2.6.2 of Debian 12, two programs on one",
    "With one node of two stopped",
    "(`%2D`, `//`",
    "certificates of 30 seconds",
    "1,000,000 links with targets of some 65 characters, on a virtual machine with 2 cores and 24 GB, 2026-11-21",
    "383 MB | `signpost backup`, checks included: 33 s | copy, sync and start: 5 s",
    "289 MB of rows, 294 MB of indexes; a dump of 41 MB | `pg_dump`: 6 s | `pg_restore --jobs=2`: 21 s; `ANALYZE` and start: 4 s",
    "some 15 MB on PostgreSQL with eight connections",
    "takes about a minute for a million links and needs room for them twice",
    "builds four indexes, some 20 seconds for a million links",
    "take up to 5 seconds each for a million links",
    "some 380 bytes a link with short texts and 230 for the index",
    "and 80 to 170 for a redirect's host",
    "Add 60 to 150 bytes for a redirect's host",
    "some 300 bytes a link in the table and as many in its indexes when freshly loaded; allow twice that",
    // Advice.
    "a restart of a second does no harm",
    "A dump a day loses up to a day",
    "mode 0600, as a credential",
    "not 200 on a node for a minute",
    "`signpost_quota_store_up == 0` for ten minutes",
    "not 1 for five minutes",
    "for half an hour",
    // `file_watch.rs` looks four times a second, and acts when two looks agree.
    "the server notices within a second",
    "or one address with half of them",
    "a head of more than 4 KiB that arrives in parts gets 503 while others hold 32 MiB",
    "below a fifth",
    ") + 10.",
    // Examples, steps of a list, and states.
    "`signpost:quota:{acc_…}:2026-11-21`",
    "1. Take a backup. 2. With the new program",
    "3. Node by node",
    "Between 2 and 3 a node",
    "after step 2 there is no way back",
    "Before step 2, stopping",
    "nothing is half done",
    "of the service's user with mode 0600: `install -m 600",
    "exit code 1",
    "`signpost_quota_store_up` 0",
    "1 while Redis counts, or the embedded store; 0 while",
    "1 on the node that does",
    "`signpost_build_info` | version | 1",
    // What the sentence itself counts, or follows from another number.
    "a server | two servers",
    "but the two share no throttle",
    "Two roles",
    "one or two connections each",
    "nothing is merged twice",
    "At most four days at a time",
    "Two listeners",
    "for two hostnames",
    "All three are on the API listener",
    "for two nodes as follows",
    "its two companions",
    "Choose one of these",
    "who answers port 443 | | --- | --- | --- | | one machine",
    "Let the three names lead to the machine, and open ports 80 and 443",
    "A name has one role only; the start refuses two",
    "**Port 80** answers",
    "**A closed port 80**",
    "in a handshake at port 443",
    "sends the PROXY protocol, version 2",
    "cannot connect to the hostname: open ports 80 and 443",
    "answers at port 80 of the hostname",
    "of port 80 to `link-listen`",
    "above zero for an hour",
    "Both ports are below 1024",
    "to ports above 1024 and publish them as 80 and 443",
    "**HTTP/2** is not offered",
    "gets another within half a minute",
    "the former one is replaced within a day",
    // The rules of the domain, which its tests hold.
    "when a third of the life is left (half of a life below ten days)",
    "names in three hours (150 of them at most",
    "certificates in seven days under one registered domain",
    "failed orders of a name in an hour",
    "in seven days. - **A lost `secrets-key`**",
    "after 1, 10 and 100 minutes",
    "with less than a fifth of their life left",
    // A follower looks every second, and each file has its turn.
    "read again within two seconds of a change",
    "about 7 KiB each",
    // Shares of the pool, which a test beside them holds for this and other sizes.
    "Three quarters of these",
    "for visitors alone, an eighth of `database-connections`, at least one",
    "for short questions about clicks, another eighth, at least two, and for long ones as many",
    "five more: one for health checks, two for its own work",
    "With 16 for requests that is 27. With fewer than four, one more is opened",
    "(`database-connections` × 11/8 + 7, at least 18)",
    // Ten readers, which `clicks/store.rs` of the SQLite store computes, and a writer.
    "for each of eleven more for clicks",
    "A question about clicks takes up to 64 MiB",
    "without the last two statements",
    "Two at once are safe",
    "A second `serve`",
    "Beyond that two nodes",
];
