//! Requests that are carried out once, however often they are sent (D12).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::account::Account;
use super::answer::Answer;

/// How many links a bulk request creates.
const BATCH: usize = 4;

/// A `POST` with an `Idempotency-Key`. It creates resources that are named like the key.
#[derive(Debug, Clone)]
pub struct Once {
    pub key: String,
    pub path: &'static str,
    pub body: Value,
    /// The list of the resources that it creates.
    list: &'static str,
    /// How many resources it creates.
    makes: usize,
}

impl Once {
    /// One request to each endpoint that creates resources, with keys that begin with `begin`.
    pub fn of_each_kind(begin: &str) -> [Self; 5] {
        let target = "https://example.com/";
        let once = |kind: &str, path, list, makes, body: &dyn Fn(&str) -> Value| {
            let key = format!("{begin} {kind}").replace(' ', "-");
            Self { body: body(&key), key, path, list, makes }
        };
        [
            once(
                "redirect",
                "/v1/redirects",
                "/v1/redirects",
                1,
                &|name| json!({"name": name, "target_url": target}),
            ),
            once(
                "batch",
                "/v1/redirects/bulk",
                "/v1/redirects",
                BATCH,
                &|name| json!({"redirects": vec![json!({"name": name, "target_url": target}); BATCH]}),
            ),
            once(
                "landing",
                "/v1/landings",
                "/v1/landings",
                1,
                &|name| json!({"title": name, "widgets": [{"type": "heading", "text": "Today"}]}),
            ),
            once("group", "/v1/groups", "/v1/groups", 1, &|name| json!({"name": name})),
            once(
                "pixel",
                "/v1/pixels",
                "/v1/pixels",
                1,
                &|name| json!({"pixel_type": "meta", "pixel_id": "123456789012345", "name": name}),
            ),
        ]
    }

    /// Sends the request.
    pub fn send(&self, account: &Account) -> Answer {
        self.try_send(account).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// Like [`Self::send`], but allows for no answer because the program is gone.
    pub fn try_send(&self, account: &Account) -> Result<Answer, ureq::Error> {
        account.try_post_once(&self.key, self.path, &self.body)
    }

    /// Whether this is the answer to a request that was carried out.
    pub fn succeeded(&self, answer: &Answer) -> bool {
        answer.status == if self.makes == 1 { 201 } else { 200 }
    }
}

/// Asserts that these requests created all resources of the account, and that each was carried out once.
#[track_caller]
pub fn assert_each_carried_out_once<'a>(account: &Account, requests: impl IntoIterator<Item = &'a Once>) {
    let mut expected = BTreeMap::new();
    for Once { key, list, makes, .. } in requests {
        expected.insert((*list, key.clone()), *makes);
    }
    let mut made = BTreeMap::new();
    for (list, name) in
        [("/v1/redirects", "name"), ("/v1/landings", "title"), ("/v1/groups", "name"), ("/v1/pixels", "name")]
    {
        for item in account.walk(list, "?limit=100") {
            *made.entry((list, item[name].as_str().unwrap().to_owned())).or_insert(0) += 1;
        }
    }
    assert_eq!(made, expected);
    let count = |lists: &[&str]| -> usize {
        expected.iter().filter(|((list, _), _)| lists.contains(list)).map(|(_, makes)| makes).sum()
    };
    let usage = &account.get("/v1/account").expect_status(200).body["usage"];
    assert_eq!(usage["links"], count(&["/v1/redirects", "/v1/landings"]));
    assert_eq!(usage["groups"], count(&["/v1/groups"]));
    assert_eq!(usage["pixels"], count(&["/v1/pixels"]));
}

/// Asserts that two answers to one request are equal but for the headers that each answer has of its own (D12).
#[track_caller]
pub fn assert_alike(one: &Answer, other: &Answer) {
    let comparable = |answer: &Answer| {
        let header = |name| answer.header(name).map(str::to_owned);
        // With the length, because equal answers are the same text.
        let headers = ["location", "content-type", "content-length"].map(header);
        (answer.status, headers, answer.without_request_id())
    };
    assert_eq!(comparable(one), comparable(other));
    assert_ne!(one.header("x-request-id"), other.header("x-request-id"), "each has its own id");
}

/// Asserts that answers to one request, sent several times at once, are alike, and that exactly one is not
/// replayed.
#[track_caller]
pub fn assert_one_was_first(answers: &[Answer]) {
    let [first, others @ ..] = answers else { panic!("no answers") };
    for other in others {
        assert_alike(first, other);
    }
    let firsts = answers.iter().filter(|answer| !answer.is_replayed()).count();
    assert_eq!(firsts, 1, "{answers:#?}");
}
