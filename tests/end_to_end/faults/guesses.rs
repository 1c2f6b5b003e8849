//! R30: the time of a 404 does not reveal its reason (D54).

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Account, Visitor, redirect_body};
use crate::scene::Scene;
use crate::size::{count, report};

const WHO: &str = "how long a 404 takes";

/// How many items a batch may have.
const BATCH: usize = 100;

/// Addresses that give a 404 for the same reason.
struct Guesses {
    reason: &'static str,
    host: &'static str,
    /// The total time of the answers.
    took: Duration,
}

impl Guesses {
    const fn new(reason: &'static str, host: &'static str) -> Self {
        Self { reason, host, took: Duration::ZERO }
    }

    fn guess(&mut self, visitor: &Visitor, number: usize, body: &str) {
        let path = format!("/{}-{number}", self.reason);
        let begin = Instant::now();
        let visit = visitor.request("GET", &path, &[("Host", self.host)]);
        self.took += begin.elapsed();
        assert_eq!((visit.status, visit.body.as_str()), (404, body), "{} {path}", self.host);
    }
}

/// Creates redirects whose slugs begin with the reason.
fn create(account: &Account, reason: &str, number: usize, fields: Value) {
    let items: Vec<Value> = (0..number)
        .map(|number| {
            let mut body = redirect_body(fields.clone());
            body["slug"] = json!(format!("{reason}-{number}"));
            body
        })
        .collect();
    for batch in items.chunks(BATCH) {
        let answer = account.post("/v1/redirects/bulk", &json!({"redirects": batch})).expect_status(200);
        assert_eq!(answer.body["created_count"], batch.len());
    }
}

#[test]
fn r30_a_404_takes_equally_long_for_every_reason() {
    const SYSTEM: &str = "localhost:8081";
    let Some(scene) = Scene::undisturbed(WHO, 1) else { return };
    let (account, visitor) = (&scene.account, scene.nodes[0].visitor());
    let number = count(10, 1_000);
    create(account, "inactive", number, json!({"is_active": false}));
    let domains = ["go.removed.com", "go.waiting.com"]
        .map(|host| account.post("/v1/domains", &json!({"hostname": host})).expect_status(201).body);
    account.delete(&format!("/v1/domains/{}", domains[0]["id"].as_str().unwrap())).expect_status(200);
    let mut guesses = [
        Guesses::new("missing", SYSTEM),
        Guesses::new("inactive", SYSTEM),
        Guesses::new("removed", "go.removed.com"),
        Guesses::new("waiting", "go.waiting.com"),
    ];
    // Opens the connection, and does the work of a first request.
    let body = visitor.open("/first").body;
    for round in ["looked up", "remembered"] {
        for number in 0..number {
            for place in 0..guesses.len() {
                // Each reason follows each other reason equally often.
                let place = (place + number) % guesses.len();
                guesses[place].guess(&visitor, number, &body);
            }
        }
        let mean = |took: Duration| took / u32::try_from(number).unwrap();
        let means = guesses.each_ref().map(|guesses| mean(guesses.took));
        let (least, most) = (means.iter().min().unwrap(), means.iter().max().unwrap());
        let spread = (most.as_secs_f64() / least.as_secs_f64() - 1.0) * 100.0;
        let all: Vec<String> =
            guesses.iter().zip(means).map(|(it, mean)| format!("{} {mean:.1?}", it.reason)).collect();
        report("R30", &format!("{round}: mean of {number}: {}; {spread:.1} % apart", all.join(", ")));
        for guesses in &mut guesses {
            guesses.took = Duration::ZERO;
        }
    }
}
