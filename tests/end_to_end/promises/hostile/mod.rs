//! R26: hostile bodies, on every route that takes one. Each is a documented 4xx in the envelope, within bounded time,
//! and changes nothing. (That no answer is a 5xx, and that each has the envelope, the harness checks for every answer.)

mod bodies;
mod framing;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_api_conformance::{IdOfEach, Sample};

use crate::harness::{Account, Answer, DOCUMENT, Program};

/// Far more than any refusal takes, also on a busy machine, and far less than what a mistake that grows with the
/// square of the body would.
const BOUNDED: Duration = Duration::from_secs(10);

/// A route that takes a body.
struct BodyRoute {
    method: String,
    pattern: String,
    path: String,
    /// A body that would change something, and the status that answers it.
    valid: String,
    status: u16,
    /// Bodies with a `@` to be replaced by something hostile. Only a valid value there changes anything.
    templates: Vec<String>,
}

/// A program, an account with a few things in it, and every route that takes a body.
struct Scene {
    program: Program,
    account: Account,
    routes: Vec<BodyRoute>,
}

impl Scene {
    fn new() -> Self {
        let program = Program::builder().with_edge().start();
        let account = program.first_account();
        let samples: Vec<_> = DOCUMENT.samples().into_iter().filter(|sample| sample.body.is_some()).collect();
        let prefixes: BTreeSet<String> = samples.iter().flat_map(Sample::prefixes).collect();
        let created = prefixes.into_iter().map(|prefix| {
            let creation = DOCUMENT.creation(&prefix);
            let body = creation.fresh_body(0).unwrap();
            let id = account.post(&creation.template, &body).expect_status(201).body["id"].clone();
            (prefix, id.as_str().unwrap().to_owned())
        });
        let ids: IdOfEach = created.collect();
        let routes: Vec<_> = samples
            .into_iter()
            .map(|sample| {
                let valid = sample.body_with(&ids).unwrap().to_string();
                let id = sample.id_prefix.as_ref().map_or("", |prefix| &ids[prefix]);
                let templates = DOCUMENT.holes(&sample, &hostile_values());
                assert!(!templates.is_empty(), "the document bounds nothing in the body of {sample:?}");
                let path = sample.path(id);
                let (method, pattern) = (sample.method, sample.template);
                BodyRoute { method, pattern, path, valid, status: sample.status, templates }
            })
            .collect();
        assert!(routes.len() >= 11, "{}", routes.len());
        Self { program, account, routes }
    }

    /// Every route with each of its templates.
    fn templates(&self) -> impl Iterator<Item = (&BodyRoute, &str)> {
        self.routes.iter().flat_map(|route| route.templates.iter().map(move |body| (route, body.as_str())))
    }

    fn send(&self, route: &BodyRoute, body: &[u8]) -> Answer {
        let begun = Instant::now();
        let answer = self.account.send_bytes(&route.method, &route.path, "application/json", body);
        assert!(begun.elapsed() < BOUNDED, "{} {} took {:?}", route.method, route.path, begun.elapsed());
        answer
    }

    /// All that the account has.
    fn everything(&self) -> Vec<Vec<Value>> {
        DOCUMENT.collections().into_iter().map(|path| self.account.walk(path, "")).collect()
    }
}

/// Short forms of the values that `bodies` sends: a field that takes one of them gets no template.
fn hostile_values() -> Vec<Value> {
    let long = "x".repeat(3_000);
    vec![
        json!(""),
        json!("\0"),
        json!("\u{1b}[31m"),
        json!(long),
        json!(true),
        json!(1e308),
        json!([]),
        json!({}),
    ]
}
