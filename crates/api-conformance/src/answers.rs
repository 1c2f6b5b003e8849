//! Compares answers with the OpenAPI document. It uses only the document and the answer.

use serde_json::{Value, json};

use crate::document::Document;

/// The parts of a request and its answer that a document describes.
pub struct Exchange<'a> {
    /// The method, as sent.
    pub method: &'a str,
    /// The path, as sent, without the query.
    pub path: &'a str,
    /// The status of the answer.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: &'a [(String, String)],
    /// The body, if it is JSON.
    pub json: Option<&'a Value>,
}

/// The statuses for operations that the document does not describe. The body must be the error envelope.
const OF_WHAT_IS_NOT_THERE: [u16; 6] = [401, 403, 404, 405, 429, 500];

impl Document {
    /// Every difference between an answer and the document.
    #[must_use]
    pub fn differences(&self, exchange: &Exchange<'_>) -> Vec<String> {
        // HEAD is GET without the body.
        let (method, has_body) = if exchange.method == "HEAD" {
            ("get".to_owned(), false)
        } else {
            (exchange.method.to_lowercase(), true)
        };
        let known = exchange.method.bytes().all(|byte| byte.is_ascii_uppercase());
        let path = self.path_of(exchange.path).filter(|_| known);
        let operation = path.and_then(|path| self["paths"][path].get(&method));
        let Some(operation) = operation else { return unknown_operation(self, exchange) };
        let status = exchange.status.to_string();
        let Some(response) = operation["responses"].get(&status) else {
            return vec![format!("status {status} is not described")];
        };
        let response = self.resolve(response);
        let mut differences = headers(self, response, exchange.headers);
        let content_type = header(exchange.headers, "content-type").unwrap_or_default();
        match response["content"].get(content_type) {
            None => differences.push(format!("content type `{content_type}` is not described")),
            Some(content) if has_body && content_type == "application/json" => match exchange.json {
                None => differences.push("the body is no JSON".to_owned()),
                Some(body) => {
                    differences.extend(self.mismatches(&content["schema"], body));
                }
            },
            Some(_) => {}
        }
        differences
    }

    /// The path template of the document that matches this path; of several, the one with the fewest parameters.
    #[must_use]
    pub fn path_of(&self, path: &str) -> Option<&str> {
        let segments: Vec<String> = path.split('/').map(decoded).collect();
        let fits = |template: &&str| {
            let ours: Vec<_> = template.split('/').collect();
            ours.len() == segments.len()
                && ours.iter().zip(&segments).all(|(ours, theirs)| {
                    if ours.starts_with('{') { !theirs.is_empty() } else { ours == theirs }
                })
        };
        let templates = self["paths"].as_object()?.keys().map(String::as_str).filter(fits);
        templates.min_by_key(|template| template.matches('{').count())
    }
}

/// A percent-decoded path segment.
fn decoded(segment: &str) -> String {
    let mut parts = segment.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        bytes.extend_from_slice(&part.as_bytes()[if byte.is_some() { 2 } else { 0 }..]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn unknown_operation(document: &Document, exchange: &Exchange<'_>) -> Vec<String> {
    let mut differences = vec![];
    if !OF_WHAT_IS_NOT_THERE.contains(&exchange.status) {
        differences.push(format!("an operation that is not described was answered with {}", exchange.status));
    }
    if let (Some(body), false) = (exchange.json, exchange.method == "HEAD") {
        let error = json!({"$ref": "#/components/schemas/ErrorEnvelope"});
        differences.extend(document.mismatches(&error, body));
    }
    differences
}

fn headers(document: &Document, response: &Value, given: &[(String, String)]) -> Vec<String> {
    let mut differences = vec![];
    let described = response.get("headers").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, described) in &described {
        let described = document.resolve(described);
        match header(given, &name.to_lowercase()) {
            None if described.get("required") == Some(&json!(true)) => {
                differences.push(format!("the header {name} is missing"));
            }
            None => {}
            Some(text) => {
                // A header is text; its schema decides how to parse it.
                let is_integer = described["schema"]["type"] == "integer";
                let value =
                    if is_integer { text.parse::<i64>().map(Value::from).ok() } else { Some(json!(text)) };
                let value = value.unwrap_or(Value::Null);
                let found = document.mismatches(&described["schema"], &value);
                differences.extend(found.into_iter().map(|found| format!("the header {name}: {found}")));
            }
        }
    }
    // A header that the document describes for other responses must not occur in this one.
    for (name, _) in given {
        let is_ours = ["ratelimit-", "retry-after", "location", "www-authenticate", "idempotent-replayed"];
        let is_ours = is_ours.iter().any(|ours| name.starts_with(ours));
        if is_ours && !described.keys().any(|described| described.eq_ignore_ascii_case(name)) {
            differences.push(format!("the header {name} is not described"));
        }
    }
    differences
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}
