//! Samples of the pages about custom domains.

use signpost_dashboard::texts::{DomainTexts, ENGLISH};
use signpost_dashboard::views::{
    CertificateFacts, DomainPage, DomainRow, DomainsPage, Field, Form, Label, NavItem, Pager, ProofRecord,
    RecordRow, Tone, VisitorsForm,
};

use crate::samples::{Maker, form, key};

const D: &DomainTexts = ENGLISH.domains;

const LONG_NAME: &str =
    "an-unusually-long-label-that-somebody-chose-for-a-campaign.in-a-zone-with-a-long-name.example";

pub(crate) fn add(m: &Maker) {
    list(m);
    single(m);
}

fn label(m: &Maker, text: &str, tone: Tone) -> Label {
    Label { text: m.w(text), tone }
}

fn list(m: &Maker) {
    let row = |number: usize, hostname: &str, state: &str, tone| DomainRow {
        id: format!("dom_019b5a3b11aa7c3e8899aabbccdd{number:04}"),
        hostname: m.w(hostname),
        state: label(m, state, tone),
        summary: m.w("1 of 2 records found · Connected 26 Nov 2026 · Next check 26 Nov 2026, 20:47"),
        is_active: tone == Tone::Good,
    };
    let full = DomainsPage {
        shell: m.shell(D.nav, NavItem::Domains),
        can_write: true,
        unavailable: None,
        rows: vec![
            row(1, "go.example.com", "Active", Tone::Good),
            row(2, LONG_NAME, "Waiting for the certificate", Tone::Neutral),
            row(3, "links.example.org", "Failed", Tone::Bad),
        ],
        pager: Pager { newest: m.some("domains"), older: m.some("?after=x") },
        form: form(400),
        hostname: Field::default(),
        proof: None,
    };
    m.add("domains", &full);
    m.add("domains-empty", &DomainsPage { rows: Vec::new(), pager: Pager::default(), ..full.clone() });
    let unavailable = m.some(D.plan_without);
    m.add("domains-unavailable", &DomainsPage { unavailable, ..full.clone() });
    let hostname = m.bad("localhost", "Must have at least two labels.");
    m.add("domains-error", &DomainsPage { hostname, form: m.refused(400), ..full.clone() });
    let proof = ProofRecord {
        record_type: "TXT",
        name: m.w("_signpost.go.example.com"),
        value: m.w("signpost-verification=3f0c2a4e9b7d5f1133557799bbddff00"),
    };
    let taken = m.bad("go.example.com", D.taken);
    let form = m.refused(400);
    m.add("domains-taken", &DomainsPage { hostname: taken, form, proof: Some(proof), ..full.clone() });
    let shell = m.loud_shell(D.nav, NavItem::Domains);
    m.add("domains-viewer", &DomainsPage { shell, can_write: false, ..full });
}

#[allow(clippy::too_many_lines, reason = "samples are long")]
fn single(m: &Maker) {
    let record = |record_type, name: &str, value: &str, verdict: &str, tone| RecordRow {
        record_type,
        name: m.w(name),
        value: m.w(value),
        purpose: m
            .w("Sends the visitors of this hostname to your links. Remove other records of the same name."),
        verdict: label(m, verdict, tone),
        is_known: tone != Tone::Neutral,
        seen: Vec::new(),
        seen_note: None,
        hint: String::new(),
    };
    let proof = record(
        "TXT",
        "_signpost.go.example.com",
        "signpost-verification=3f0c2a4e9b7d5f1133557799bbddff00aa22446688cceef0",
        "Missing",
        Tone::Bad,
    );
    let alias = record("CNAME", "go.example.com", "edge.example.net", "Wrong", Tone::Bad);
    let mistaken = vec![
        RecordRow {
            seen_note: Some(D.seen_some),
            seen: vec![m.w("203.0.113.9"), m.w("2001:db8:1234:5678:9abc:def0:1234:5678")],
            hint: m.w(
                "`go.example.com` leads to another server. Delete its own A and AAAA records, except those with an address that you were asked to add.",
            ),
            ..alias.clone()
        },
        proof.clone(),
    ];
    let facts = || {
        vec![
            (D.connected, m.w("26 Nov 2026")),
            (D.last_check, m.w("26 Nov 2026, 20:47")),
            (D.next_check, m.w("26 Nov 2026, 20:52")),
        ]
    };
    let failing = DomainPage {
        shell: m.shell("go.example.com", NavItem::Domains),
        id: "dom_019b5a3b11aa7c3e8899aabbccdd0001".to_owned(),
        can_write: true,
        state: label(m, "Failed", Tone::Bad),
        explanation: m.w("The records were not found in time."),
        is_failed: true,
        problem: m.some("DNS gave no answer about this hostname, and nothing was changed; try again later."),
        visitors: VisitorsForm {
            form: Form { revision: Some("3".to_owned()), ..form(412) },
            opened_with: vec![("root_url_shown", m.w("https://example.com/"))],
            root_url: Field::of(m.w("https://example.com/")),
            not_found_url: Field {
                value: m.w("https://go.example.com/x"),
                error: m.some("Must not be an address of the domain itself."),
                existing: None,
            },
            expired_url: m.bad("ftp://example.com", "Must begin with http:// or https://."),
        },
        check: form(410),
        records: mistaken,
        facts: facts(),
        links: Some((
            m.w("1,204 links"),
            "/acc_019b5a3b11aa7c3e8899aabbccddee01/links?domain=go.example.com".to_owned(),
        )),
        certificate: Some(CertificateFacts {
            state: label(m, "The last order failed", Tone::Bad),
            facts: vec![(D.certificate_attempt, m.w("26 Nov 2026, 20:47"))],
            problem: m.some("The authority could not connect to this hostname on port 80."),
            details: m
                .some("203.0.113.9: Fetching http://go.example.com/.well-known/acme-challenge/[…]: Timeout"),
        }),
        certificate_elsewhere: None,
        history: vec![
            (m.w("29 Nov 2026, 20:47"), m.w("Failed: The records were not found in time.")),
            (m.w("26 Nov 2026, 20:47"), m.w("Waiting for DNS")),
        ],
        is_deleting: true,
        delete_key: key(411),
        delete_text: m.w(&(D.delete_text)(1_204)),
    };
    m.add("domain-failed", &failing);
    let found = |row: RecordRow, seen: &str| RecordRow {
        verdict: label(m, "Found", Tone::Good),
        seen: vec![m.w(seen)],
        ..row
    };
    let serving = DomainPage {
        shell: m.shell(LONG_NAME, NavItem::Domains),
        state: label(m, "Active", Tone::Good),
        is_failed: false,
        is_deleting: false,
        problem: None,
        visitors: VisitorsForm { form: form(412), ..VisitorsForm::default() },
        records: vec![found(alias.clone(), "edge.example.net"), found(proof.clone(), LONG_NAME)],
        certificate: None,
        certificate_elsewhere: Some(D.certificate_elsewhere),
        ..failing.clone()
    };
    m.add("domain-active", &serving);
    let unknown = |row: RecordRow| RecordRow {
        verdict: label(m, "Not checked yet", Tone::Neutral),
        is_known: false,
        ..row
    };
    let records = vec![unknown(alias), unknown(proof)];
    m.add("domain-new", &DomainPage { records, links: None, history: Vec::new(), ..serving });
    let shell = m.loud_shell("go.example.com", NavItem::Domains);
    m.add("domain-viewer", &DomainPage { shell, can_write: false, ..failing });
}
