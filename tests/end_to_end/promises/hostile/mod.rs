//! R26: hostile bodies, on every route that takes one. Each is a documented 4xx in the envelope, within bounded time,
//! and changes nothing. (That no answer is a 5xx, and that each has the envelope, the harness checks for every answer.)

mod bodies;
mod framing;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_api_conformance::{IdOfEach, Sample};

use crate::harness::{Account, Answer, DOCUMENT, Program, exchange};

/// Longer than a refusal takes on a free machine. One that takes longer is compared with a control.
const QUICK: Duration = Duration::from_secs(1);

/// How many times as long as its control, and [`QUICK`] more, a refusal may take. A mistake that grows with the square of the
/// body would take thousands of times as long.
const TIMES: u32 = 20;

/// How often a slow refusal is repeated, because the machine may have been busy with something else.
const REPEATED: usize = 5;

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
            let id = account.create_by_example(&prefix, 0);
            (prefix, id)
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

    /// Sends a body that must be refused in a time that does not grow faster than the body.
    fn send(&self, route: &BodyRoute, body: &[u8]) -> Answer {
        let mut slow = Vec::new();
        for _ in 0..REPEATED {
            let (answer, took) = self.timed(route, body);
            if took < QUICK {
                return answer;
            }
            let (_, control) = self.timed(route, &unfinished_array(body.len()));
            if took < control * TIMES + QUICK {
                return answer;
            }
            slow.push((took, control));
        }
        let BodyRoute { method, path, .. } = route;
        panic!("{method} {path} took too long for {} bytes, with the control: {slow:?}", body.len());
    }

    /// The answer to a body, and the time until then.
    fn timed(&self, route: &BodyRoute, body: &[u8]) -> (Answer, Duration) {
        let BodyRoute { method, path, .. } = route;
        let begun = Instant::now();
        let answer = self.account.try_send_bytes(method, path, "application/json", body);
        // The program may answer and close before the client has sent all of a large body, and its answer is still read.
        let answer =
            answer.unwrap_or_else(|_| Answer::of_exchange(method, path, &self.exchanged(route, body)));
        (answer, begun.elapsed())
    }

    /// What the program sends back to a body over a connection of its own.
    fn exchanged(&self, route: &BodyRoute, body: &[u8]) -> String {
        let BodyRoute { method, path, .. } = route;
        let (key, length) = (&self.account.key, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        exchange(&self.program.api, &[head.as_bytes(), body].concat())
    }

    /// All that the account has, without what the background finds out about domains meanwhile.
    fn everything(&self) -> Vec<Vec<Value>> {
        let mut lists: Vec<_> =
            DOCUMENT.lists().into_iter().map(|path| self.account.walk(path, "")).collect();
        for item in lists.iter_mut().flatten().filter_map(Value::as_object_mut) {
            item.retain(|name, _| {
                !["next_check_at", "checked_at", "dns_instructions"].contains(&name.as_str())
            });
        }
        lists
    }
}

/// A body of this many bytes that is not JSON, with as many parts as a body can have.
fn unfinished_array(bytes: usize) -> Vec<u8> {
    std::iter::once(b'[').chain(b"1,".iter().copied().cycle()).take(bytes).collect()
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
