//! A visitor who opens links.

use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Request};

use super::account::agent;

/// The user agent of a browser.
pub const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// The headers of a browser that opens a link on the system domain.
pub const OPENING: [(&str, &str); 2] = [("Host", "localhost:8081"), ("User-Agent", BROWSER)];

/// A browser that follows no redirects.
#[derive(Clone)]
pub struct Visitor {
    agent: ureq::Agent,
    base: String,
}

/// The answer to a visitor.
#[derive(Debug, Clone)]
pub struct Visit {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Visitor {
    pub fn new(links: &str) -> Self {
        Self { agent: agent(), base: format!("http://{links}") }
    }

    /// Opens a path on the system domain.
    pub fn open(&self, path: &str) -> Visit {
        self.request("GET", path, &OPENING)
    }

    /// Opens a path on the system domain until it answers with this status: a change by another program shows a
    /// moment later (D58). `faults/nodes/freshness.rs`, which has the machine to itself, measures how soon.
    #[track_caller]
    pub fn open_until(&self, path: &str, status: u16) -> Visit {
        self.request_until(path, &OPENING, status, Duration::from_secs(20))
    }

    /// Sends a request until it is answered with this status.
    #[track_caller]
    pub fn request_until(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        status: u16,
        within: Duration,
    ) -> Visit {
        let since = Instant::now();
        loop {
            let visit = self.request("GET", path, headers);
            if visit.status == status {
                return visit;
            }
            assert!(since.elapsed() < within, "{path} is not {status} but {visit:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends any request. Without a `Host` header the host is that of the listener.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Visit {
        self.try_request(method, path, headers).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends any request with a body.
    pub fn request_with(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Visit {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = self.agent.run(request.body(body).unwrap());
        let (parts, mut body) =
            answer.unwrap_or_else(|error| panic!("{method} {path}: {error}")).into_parts();
        let body = body.read_to_string().unwrap();
        Visit { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// Like [`Self::request`], but allows for no answer because the program is gone.
    pub fn try_request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Visit, ureq::Error> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, mut body) = self.agent.run(request.body(()).unwrap())?.into_parts();
        Ok(Visit { status: parts.status.as_u16(), headers: parts.headers, body: body.read_to_string()? })
    }
}

impl Visit {
    /// The `Location` of a redirect.
    pub fn location(&self) -> Option<&str> {
        self.headers.get("location").map(|value| value.to_str().unwrap())
    }

    /// The value of a header, if the answer has it.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}
