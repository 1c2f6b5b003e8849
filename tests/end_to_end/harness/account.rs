//! A client of the API with a key.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::http::Request;

use super::answer::{Answer, DOCUMENT};

/// How long to wait for a state that a health check shows.
const PATIENCE: Duration = Duration::from_mins(1);

/// An integrator's client: a base address and a key.
#[derive(Clone)]
pub struct Account {
    agent: ureq::Agent,
    base: String,
    /// The key.
    pub key: String,
    id: Option<String>,
}

impl Account {
    pub fn new(api: &str, key: String, id: Option<String>) -> Self {
        Self { agent: agent(), base: format!("http://{api}"), key, id }
    }

    /// The account's id.
    pub fn id(&self) -> &str {
        self.id.as_deref().expect("made by `Program::account`")
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None)
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None)
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, Some(body))
    }

    pub fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send("PATCH", path, Some(body))
    }

    /// Sends a request with the key and, if given, a JSON body.
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let answer = self.try_send(method, path, body);
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends a request with the key, this content type and these bytes.
    pub fn send_bytes(&self, method: &str, path: &str, content_type: &str, body: &[u8]) -> Answer {
        let answer = self.try_send_bytes(method, path, content_type, body);
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Like [`Self::send_bytes`], but allows for no answer because the program closed the connection.
    pub fn try_send_bytes(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: &[u8],
    ) -> Result<Answer, ureq::Error> {
        let authorization = format!("Bearer {}", self.key);
        let headers = [("Authorization", authorization.as_str()), ("Content-Type", content_type)];
        self.try_send_with(method, path, &headers, Some(body))
    }

    /// Asks a health check, without the key, until its answer is the expected one. A check counts as failed when a busy
    /// machine delays it for a tenth of a second.
    #[track_caller]
    pub fn await_health(&self, path: &str, is_expected: impl Fn(&Answer) -> bool) -> Answer {
        let since = Instant::now();
        loop {
            let answer = self.send_with("GET", path, &[], None);
            if is_expected(&answer) {
                return answer;
            }
            assert!(since.elapsed() < PATIENCE, "{path}: {answer:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a request with exactly these headers; the key is sent only if it is among them.
    pub fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Answer {
        let sent = self.try_send_with(method, path, headers, body);
        sent.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends a body with this condition, `If-Match` or `If-None-Match` (D120).
    pub fn send_if(&self, header: &str, condition: &str, method: &str, path: &str, body: &Value) -> Answer {
        let authorization = format!("Bearer {}", self.key);
        let headers = [
            ("Authorization", authorization.as_str()),
            ("Content-Type", "application/json"),
            (header, condition),
        ];
        self.send_with(method, path, &headers, Some(body.to_string().as_bytes()))
    }

    /// Like [`Self::send`], but allows for no answer because the program is gone.
    pub fn try_send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer, ureq::Error> {
        let authorization = format!("Bearer {}", self.key);
        let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
        let body = body.map(Value::to_string);
        let headers = if body.is_some() { headers.as_slice() } else { &headers[..1] };
        self.try_send_with(method, path, headers, body.as_deref().map(str::as_bytes))
    }

    /// Sends a body with this `Idempotency-Key` (D12).
    pub fn post_once(&self, key: &str, path: &str, body: &Value) -> Answer {
        let answer = self.try_post_once(key, path, body);
        answer.unwrap_or_else(|error| panic!("POST {path} with {key}: {error}"))
    }

    /// Like [`Self::post_once`], but allows for no answer because the program is gone.
    pub fn try_post_once(&self, key: &str, path: &str, body: &Value) -> Result<Answer, ureq::Error> {
        let authorization = format!("Bearer {}", self.key);
        let headers = [
            ("Authorization", authorization.as_str()),
            ("Content-Type", "application/json"),
            ("Idempotency-Key", key),
        ];
        self.try_send_with("POST", path, &headers, Some(body.to_string().as_bytes()))
    }

    fn try_send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Result<Answer, ureq::Error> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = match body {
            Some(body) => self.agent.run(request.body(body.to_vec()).unwrap()),
            None => self.agent.run(request.body(()).unwrap()),
        };
        Answer::try_read(method, path, response?)
    }

    /// Creates a redirect on the system domain with a generated slug.
    pub fn new_redirect(&self) -> Value {
        self.create_redirect(&json!({"name": "A link", "target_url": "https://example.com/"}))
    }

    /// Creates a redirect; it must succeed.
    pub fn create_redirect(&self, body: &Value) -> Value {
        self.post("/v1/redirects", body).expect_status(201).body
    }

    /// Creates a resource whose ids have this prefix, by the document's example for this number, and gives its id.
    pub fn create_by_example(&self, prefix: &str, number: usize) -> String {
        let creation = DOCUMENT.creation(prefix);
        let created = self.post(&creation.template, &creation.fresh_body(number).unwrap());
        let created = created.expect_status(201).body;
        let resource = match creation.created_in() {
            None => created,
            Some(list) => self.get(list).expect_status(200).body["data"][0].take(),
        };
        resource["id"].as_str().unwrap().to_owned()
    }

    /// Creates a group; it must succeed.
    pub fn create_group(&self, name: &str) -> Value {
        self.post("/v1/groups", &json!({"name": name})).expect_status(201).body
    }

    /// All items of a list, page by page. `query` begins with `?` or is empty.
    pub fn walk(&self, path: &str, query: &str) -> Vec<Value> {
        let (mut items, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let separator = if query.is_empty() { "?" } else { "&" };
            let page = match &cursor {
                None => format!("{path}{query}"),
                Some(cursor) => format!("{path}{query}{separator}cursor={cursor}"),
            };
            let page = self.get(&page).expect_status(200).body;
            items.extend(page["data"].as_array().unwrap().iter().cloned());
            match page["pagination"]["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return items,
            }
        }
    }
}

/// The body that creates a plain redirect, with these fields added or replaced.
pub fn redirect_body(fields: Value) -> Value {
    body_with(json!({"name": "x", "target_url": "https://example.com"}), fields)
}

/// The body with these fields added or replaced.
pub fn body_with(mut body: Value, fields: Value) -> Value {
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

/// A client that accepts every status, follows no redirects, and sends any method.
pub(super) fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .allow_non_standard_methods(true)
        .timeout_global(Some(Duration::from_mins(1)))
        .build()
        .into()
}
