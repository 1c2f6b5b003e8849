//! A client that sends requests and records the answers.

use std::time::Instant;

use serde_json::{Value, json};

use super::ledger::State;
use super::load::Load;
use super::outcome::Sample;
use super::waiting::create;

/// How many links a bulk request has.
const BATCH: usize = 20;

/// A client that creates, changes and deletes links, alone and in batches, each time at the next node.
pub struct Writer<'a> {
    load: &'a Load<'a>,
    number: usize,
    /// The number in the names of its links.
    signature: usize,
    turn: usize,
    /// Its own group.
    group: String,
    /// Slugs of links whose creation was answered, and which stay.
    slugs: Vec<String>,
}

impl<'a> Writer<'a> {
    /// A client with its own group. It must start before the fault.
    pub fn new(load: &'a Load<'a>, number: usize) -> Self {
        let signature = load.ledger.next_writer();
        let (account, name) = (load.balancer.pick(number).account, format!("group-of-client-{signature}"));
        let group = create(&account, &name, "/v1/groups", &json!({"name": name}));
        let group = group["id"].as_str().unwrap().to_owned();
        Self { load, number, signature, turn: number, group, slugs: Vec::new() }
    }

    /// Writes until the load is over.
    pub fn write(mut self) {
        while !self.load.is_over() {
            self.batch();
            self.single();
            self.ask("list", "GET", &format!("/v1/redirects?limit=5&group_id={}", self.group), None);
            self.visit();
        }
    }

    /// Creates a batch, and then removes it from the group, deletes it, or keeps it.
    fn batch(&mut self) {
        let key = format!("batch {} {}", self.signature, self.turn);
        let body = json!({"redirects": vec![self.link(&key); BATCH]});
        let made = self.ask("bulk create", "POST", "/v1/redirects/bulk", Some(&body));
        self.promise(&key, BATCH, there(&key, true), made.is_some());
        let Some(made) = made else { return };
        assert_eq!(made["created_count"], BATCH, "{made}");
        let ids: Vec<&Value> =
            made["created"].as_array().unwrap().iter().map(|item| &item["data"]["id"]).collect();
        match self.turn % 3 {
            0 => {
                let path = format!("/v1/groups/{}/unassign", self.group);
                let moved = self.ask("unassign", "POST", &path, Some(&json!({"link_ids": ids})));
                self.promise(&key, BATCH, there(&key, false), moved.is_some());
                assert!(moved.is_none_or(|moved| moved["unassigned_count"] == BATCH));
            }
            1 => {
                let body = json!({"redirect_ids": ids});
                let gone = self.ask("bulk delete", "POST", "/v1/redirects/bulk/delete", Some(&body));
                self.promise(&key, BATCH, State::Gone, gone.is_some());
                assert!(gone.is_none_or(|gone| gone["deleted_count"] == BATCH));
            }
            _ => {}
        }
    }

    /// Creates a link, renames it, and remembers its slug.
    fn single(&mut self) {
        let key = format!("single {} {}", self.signature, self.turn);
        let slug = key.replace(' ', "-");
        let mut body = self.link(&key);
        body["slug"] = json!(slug);
        let made = self.ask("create", "POST", "/v1/redirects", Some(&body));
        self.promise(&key, 1, there(&key, true), made.is_some());
        let Some(made) = made else { return };
        self.slugs.push(slug);
        let (path, name) =
            (format!("/v1/redirects/{}", made["id"].as_str().unwrap()), format!("{key}, renamed"));
        let renamed = self.ask("update", "PATCH", &path, Some(&json!({"name": name})));
        self.promise(&key, 1, there(&name, true), renamed.is_some());
    }

    /// Opens an answered link. It redirects, or answers 503 with `Retry-After`, but never 404 (D58).
    fn visit(&mut self) {
        let Some(slug) = self.slugs.get(self.turn % self.slugs.len().max(1)) else { return };
        let (backend, started) = (self.load.balancer.pick(self.turn), Instant::now());
        let visit =
            backend.visitor.try_request("GET", &format!("/{slug}"), &[("Host", "localhost:8081")]).ok();
        let took = started.elapsed();
        if let Some(visit) = &visit {
            match visit.status {
                302 => {}
                503 => assert!(visit.header("retry-after").is_some(), "{visit:?}"),
                _ => panic!("{slug} exists: {visit:?}"),
            }
        }
        self.turn += 1;
        let status = visit.map(|visit| visit.status);
        self.load.note(self.number, Sample { what: "visit", node: backend.node, started, took, status });
    }

    /// Sends a request, and returns the body if it succeeded.
    fn ask(&mut self, what: &'static str, method: &str, path: &str, body: Option<&Value>) -> Option<Value> {
        let (backend, started) = (self.load.balancer.pick(self.turn), Instant::now());
        let answer = backend.account.try_send(method, path, body).ok();
        let took = started.elapsed();
        if let Some(answer) = answer.as_ref().filter(|answer| answer.status >= 400) {
            assert!(matches!(answer.status, 500 | 503), "{what}: {answer:?}");
            assert_eq!(answer.code(), "internal_error", "{what}: {answer:?}");
        }
        self.turn += 1;
        let status = answer.as_ref().map(|answer| answer.status);
        self.load.note(self.number, Sample { what, node: backend.node, started, took, status });
        answer.filter(|answer| answer.status < 400).map(|answer| answer.body)
    }

    fn promise(&self, key: &str, links: usize, outcome: State, is_answered: bool) {
        self.load.ledger.note(key, links, outcome, is_answered);
    }

    fn link(&self, key: &str) -> Value {
        json!({"name": key, "note": key, "target_url": "https://example.com/", "group_id": self.group})
    }
}

fn there(name: &str, is_grouped: bool) -> State {
    State::There { name: name.to_owned(), is_grouped }
}
