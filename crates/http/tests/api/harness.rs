//! An API on in-memory fakes. Every answer is checked before a test sees it.

use std::io::Read as _;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix_http::body::{BoxBody, to_bytes};
use actix_http::{Request, Response};
use actix_service::{Service as _, ServiceFactory as _};
use actix_web::Error;
use actix_web::http::header::HeaderMap;
use actix_web::test::TestRequest;
use actix_web::web::Bytes;
use futures_util::future::LocalBoxFuture;
use serde_json::{Value, json};
use signpost_api_conformance::{Exchange, IdOfEach, Sample};
use signpost_app::accounts::{self, CreateAccount};
use signpost_app::ports::UnitOfWork;
use signpost_app::{Application, Operator, keys};
use signpost_domain::{AccountId, Email, ErrorCode, Plan, PlanName};
use signpost_http::api_service;
use signpost_memory::InMemory;

use crate::openapi::{DOCUMENT, DOCUMENT_3_0};

type Send = Box<dyn Fn(Request) -> LocalBoxFuture<'static, Result<Response<BoxBody>, Error>>>;

/// The API on fakes, with one account on the agency plan.
pub struct Api {
    pub memory: InMemory,
    pub app: Arc<Application>,
    /// A key of the account.
    pub key: String,
    pub account: AccountId,
    send: Send,
}

impl Api {
    pub async fn start() -> Self {
        Self::on(InMemory::default(), |_| {}).await
    }

    /// The API on these fakes, with a changed application.
    pub async fn on(memory: InMemory, change: impl FnOnce(&mut Application)) -> Self {
        let mut app = memory.application();
        change(&mut app);
        let app = Arc::new(app);
        let service = Rc::new(api_service(Arc::clone(&app)).new_service(()).await.unwrap());
        let send: Send = Box::new(move |request| {
            let service = Rc::clone(&service);
            Box::pin(async move { service.call(request).await })
        });
        let (account, key) = account(&app, "ada@example.com", "agency").await;
        Self { memory, app, key, account, send }
    }

    /// One more account on a plan, and its key.
    pub async fn account(&self, email: &str, plan: &str) -> (AccountId, String) {
        account(&self.app, email, plan).await
    }

    /// Sends a request unchanged.
    pub async fn send(&self, request: TestRequest) -> Answer {
        let request = request.peer_addr("203.0.113.9:4711".parse().unwrap()).to_request();
        let (method, path) = (request.method().to_string(), request.path().to_owned());
        Answer::read((self.send)(request).await.unwrap(), &method, &path).await
    }

    /// Sends a request with the account's key.
    pub async fn call(&self, method: &str, uri: &str) -> Answer {
        self.send(request(method, uri, &self.key)).await
    }

    /// Sends a request with the account's key and a body.
    pub async fn call_with(&self, method: &str, uri: &str, body: Value) -> Answer {
        self.send(request(method, uri, &self.key).set_json(body)).await
    }

    /// Creates a redirect on a slug and gives its id.
    pub async fn redirect(&self, slug: &str) -> String {
        let body = json!({"name": slug, "target_url": "https://example.com/", "slug": slug});
        self.call_with("POST", "/v1/redirects", body).await.id(201)
    }

    /// Creates a landing page on a slug and gives its id.
    pub async fn landing(&self, slug: &str) -> String {
        let body = json!({"title": slug, "slug": slug});
        self.call_with("POST", "/v1/landings", body).await.id(201)
    }

    /// Creates a group and gives its id.
    pub async fn group(&self, name: &str) -> String {
        self.call_with("POST", "/v1/groups", json!({ "name": name })).await.id(201)
    }

    /// Connects a hostname and gives the domain, which is pending.
    pub async fn domain(&self, hostname: &str) -> Value {
        let connected = self.call_with("POST", "/v1/domains", json!({ "hostname": hostname })).await;
        assert_eq!((connected.status, &connected.body["status"]), (201, &json!("pending")), "{connected:?}");
        connected.body
    }

    /// Adds the records of a domain's instructions to DNS.
    pub fn follow_instructions(&self, domain: &Value) {
        let mut addresses = Vec::new();
        for record in domain["dns_instructions"].as_array().unwrap() {
            let [name, value] = ["name", "value"].map(|field| record[field].as_str().unwrap());
            match record["type"].as_str().unwrap() {
                "CNAME" => self.memory.dns.set_alias(name, value),
                "TXT" => self.memory.dns.set_texts(name, [value]),
                "A" | "AAAA" => {
                    addresses.push(value.parse().unwrap());
                    self.memory.dns.set_addresses(name, addresses.iter().copied());
                }
                other => panic!("the harness has no record of type {other}"),
            }
        }
    }

    /// Connects a hostname, follows the instructions, and gives the id of the domain, which is active.
    pub async fn active_domain(&self, hostname: &str) -> String {
        let domain = self.domain(hostname).await;
        self.follow_instructions(&domain);
        let path = format!("/v1/domains/{}", domain["id"].as_str().unwrap());
        let verified = self.call("POST", &format!("{path}/verify")).await;
        assert_eq!(verified.body["status"], json!("active"), "{verified:?}");
        verified.id(200)
    }

    /// Creates each resource that a call of the document's examples names, and gives the ids by their prefix. DNS has
    /// the records of each domain.
    pub async fn create_all(&self, sample: &Sample) -> IdOfEach {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mut ids = IdOfEach::new();
        for prefix in sample.prefixes() {
            let creation = DOCUMENT.creation(&prefix);
            let body = creation.fresh_body(NEXT.fetch_add(1, Ordering::Relaxed)).unwrap();
            let created = self.call_with("POST", &creation.template, body).await;
            if created.body.get("dns_instructions").is_some() {
                self.follow_instructions(&created.body);
            }
            let id = match creation.created_in() {
                None => created.id(201),
                Some(list) => self.call("GET", list).await.body["data"][0]["id"].as_str().unwrap().to_owned(),
            };
            ids.insert(prefix, id);
        }
        ids
    }

    /// Creates a pixel and gives its id.
    pub async fn pixel(&self) -> String {
        let body = json!({"pixel_type": "meta", "pixel_id": "123456789012345"});
        self.call_with("POST", "/v1/pixels", body).await.id(201)
    }
}

async fn account(app: &Application, email: &str, plan: &str) -> (AccountId, String) {
    let (email, plan) = (Email::parse(email).unwrap(), PlanName::parse(plan).unwrap());
    let account =
        accounts::create(app, &Operator::COMMAND, CreateAccount { email, name: None, plan }).await.unwrap();
    let (_, secret) = keys::issue(app, account.id, None).await.unwrap();
    (account.id, secret.expose().to_owned())
}

/// Commits writes of a test that bypass the use cases.
#[expect(clippy::disallowed_methods, reason = "tests write before any subscriber reads")]
pub async fn commit(work: Box<dyn UnitOfWork>) {
    work.commit().await.unwrap();
}

/// A request with a key.
pub fn request(method: &str, uri: &str, key: &str) -> TestRequest {
    bare(method, uri).insert_header(("authorization", format!("Bearer {key}")))
}

/// A request without a key.
pub fn bare(method: &str, uri: &str) -> TestRequest {
    TestRequest::with_uri(uri).method(method.parse().unwrap())
}

/// An answer of the API.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    /// The body, if it is JSON; else null.
    pub body: Value,
    pub bytes: Bytes,
    /// The length of the body as it was sent, perhaps compressed.
    pub sent: usize,
    /// The body as text.
    pub text: String,
}

/// A body without its content encoding.
fn decoded(sent: &Bytes, encoding: Option<&str>) -> Bytes {
    let mut plain = Vec::new();
    match encoding {
        None => return sent.clone(),
        Some("gzip") => flate2::read::GzDecoder::new(&sent[..]).read_to_end(&mut plain).unwrap(),
        Some("br") => brotli::Decompressor::new(&sent[..], 4_096).read_to_end(&mut plain).unwrap(),
        Some(other) => panic!("{other} was not accepted"),
    };
    plain.into()
}

pub const RATE_LIMIT_HEADERS: [&str; 4] = [
    "ratelimit-limit-minute",
    "ratelimit-remaining-minute",
    "ratelimit-limit-day",
    "ratelimit-remaining-day",
];

impl Answer {
    async fn read(response: Response<BoxBody>, method: &str, path: &str) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let sent = to_bytes(response.into_body()).await.unwrap();
        let bytes = decoded(&sent, headers.get("content-encoding").map(|value| value.to_str().unwrap()));
        let is_json = headers.get("content-type").is_some_and(|value| value == "application/json");
        let body =
            is_json.then(|| serde_json::from_slice(&bytes).expect("a body with a JSON content type is JSON"));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let answer = Self { status, headers, body: body.unwrap_or_default(), sent: sent.len(), bytes, text };
        answer.look_over(path);
        answer.look_up(method, path);
        answer
    }

    /// Checks the answer against the OpenAPI document.
    fn look_up(&self, method: &str, path: &str) {
        let headers = self.headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap().to_owned()))
            .collect();
        let json = Some(&self.body).filter(|body| !body.is_null());
        let exchange = Exchange { method, path, status: self.status, headers: &headers, json };
        for document in [&DOCUMENT, &DOCUMENT_3_0] {
            let differences = document.differences(&exchange);
            assert!(
                differences.is_empty(),
                "{method} {path} {}: {differences:#?}\n{}",
                self.status,
                self.text
            );
        }
    }

    /// Checks the rules for every answer.
    fn look_over(&self, path: &str) {
        let request_id = self.header("x-request-id").expect("contract D4");
        let tag = self.body.get("revision").map(|revision| format!("\"r{revision}\""));
        assert_eq!(self.header("etag"), tag.as_deref(), "contract D120: {self:?}");
        assert!(is_id(request_id, "req_"), "contract D4: {request_id}");
        // Exports have other content types, which the document lists.
        let is_export = path.ends_with("/analytics/clicks") && self.status == 200;
        if (!path.starts_with("/docs") && !is_export) || self.status >= 400 {
            assert_eq!(self.header("content-type"), Some("application/json"));
        }
        let is_vendored = path.starts_with("/docs/swagger-ui") || path.starts_with("/docs/favicon");
        let kept = if is_vendored && self.status == 200 { "public, max-age=3600" } else { "no-store" };
        assert_eq!(self.header("cache-control"), Some(kept));
        let cross_origin = |name: &str| name.starts_with("access-control-");
        assert!(!self.headers.keys().any(|name| cross_origin(name.as_str())), "contract D17");
        if self.status >= 400 && self.body.get("checks").is_none() {
            self.look_over_error(request_id);
        }
    }

    fn look_over_error(&self, request_id: &str) {
        let [(name, error)] = self.body.as_object().unwrap().iter().collect::<Vec<_>>()[..] else {
            panic!("more than an error: {self:?}")
        };
        assert_eq!(name, "error");
        let code = error["code"].as_str().unwrap();
        assert!(ErrorCode::ALL.iter().any(|known| known.as_str() == code), "contract D6: {code}");
        assert!(error["message"].as_str().is_some_and(|message| message.ends_with('.')), "{self:?}");
        assert_eq!(error["request_id"], request_id, "contract D4");
        let is_about_fields =
            (matches!(self.status, 400 | 412) && code == "invalid_request") || code == "slug_already_taken";
        match error.get("details") {
            None => assert!(!is_about_fields, "contract, Errors, D20: {self:?}"),
            Some(details) => {
                assert!(is_about_fields, "contract, Errors, D20: {self:?}");
                assert!(!details.as_array().unwrap().is_empty());
                for detail in details.as_array().unwrap() {
                    let mut names: Vec<_> = detail.as_object().unwrap().keys().collect();
                    names.sort();
                    names.retain(|name| *name != "existing_id" || detail["code"] != "already_taken");
                    assert_eq!(names, ["code", "field", "message"]);
                    assert!(detail.as_object().unwrap().values().all(Value::is_string));
                }
            }
        }
        let retry_after = self.header("retry-after").map(|seconds| seconds.parse::<u32>().unwrap());
        assert_eq!(
            matches!(self.status, 429 | 503),
            retry_after.is_some(),
            "contract, Request budget, D6: {self:?}"
        );
        assert_eq!(self.status == 401, self.header("www-authenticate") == Some("Bearer"), "contract D6");
        assert_eq!(self.status == 405, self.header("allow").is_some(), "contract D6");
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name);
        let value = values.next().map(|value| value.to_str().unwrap());
        assert!(values.next().is_none(), "{name} occurs twice");
        value
    }

    /// The status and the error's code.
    pub fn error(&self) -> (u16, &str) {
        (self.status, self.body["error"]["code"].as_str().unwrap_or("no error"))
    }

    /// Field and code of every violation, sorted.
    pub fn violations(&self) -> Vec<(&str, &str)> {
        assert_eq!(self.error(), (400, "invalid_request"), "{self:?}");
        let details = self.body["error"]["details"].as_array().unwrap();
        let mut found: Vec<_> = details
            .iter()
            .map(|detail| (detail["field"].as_str().unwrap(), detail["code"].as_str().unwrap()))
            .collect();
        found.sort_unstable();
        found
    }

    /// The id of the resource in the answer, which must have this status.
    pub fn id(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        self.body["id"].as_str().unwrap().to_owned()
    }

    /// The four `RateLimit-*` headers, or none of them.
    pub fn rate_limits(&self) -> Option<[u32; 4]> {
        let values = RATE_LIMIT_HEADERS.map(|name| self.header(name).map(|value| value.parse().unwrap()));
        match values {
            [Some(a), Some(b), Some(c), Some(d)] => Some([a, b, c, d]),
            [None, None, None, None] => None,
            _ => panic!("some of the four: {self:?}"),
        }
    }
}

/// Whether a text is an id with this prefix (contract D1).
pub fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|digits| {
        digits.len() == 32 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// A memory with a changed plan for the account.
pub fn memory_on_plan(changed: impl FnOnce(Plan) -> Plan) -> InMemory {
    let mut memory = InMemory::default();
    let agency = memory.plans.get(&PlanName::parse("agency").unwrap()).unwrap().clone();
    memory.plans = memory.plans.with(changed(agency));
    memory
}

/// The body of a creation in the collection of links at this path, with these fields added or replaced.
pub fn link_body(collection: &str, fields: Value) -> Value {
    let mut body = if collection.ends_with("redirects") {
        json!({"name": "First", "target_url": "https://example.com/"})
    } else {
        json!({"title": "First"})
    };
    let Value::Object(fields) = fields else { panic!("no object: {fields}") };
    body.as_object_mut().unwrap().extend(fields);
    body
}
