//! The fields of a form, as browsers send them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::BytesMut;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};
use futures_util::StreamExt as _;
use signpost_app::idempotency::KeyedRequest;
use signpost_app::ports::RequestFingerprint;
use signpost_domain::{IdempotencyKey, Revision};

use crate::failure::Failure;
use crate::kept_form::SentFields;
use crate::views::ErrorKind;

/// The maximum size of the largest form, the editor of landing pages. A hundred widgets with the longest texts and addresses fit, even
/// if each character takes twelve bytes.
pub(crate) const LARGEST_BYTES: usize = 6 * 1024 * 1024;

/// The maximum size of most forms. The largest of them, that of a redirect with a note of 256 characters, three addresses of 2048,
/// twenty tags of 50, a password of 128, five parameters of 255, a title of 200 and a description of 500, has some four fifths of it,
/// even if each character takes twelve bytes.
pub(crate) const MAX_BYTES: usize = 160 * 1024;

/// A submitted form: names and values, in the order of the page.
#[derive(Debug)]
pub(crate) struct FormBody {
    fields: Rc<[(String, String)]>,
    fingerprint: RequestFingerprint,
}

impl FormBody {
    /// The value of a field; empty if the form lacks it.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.given(name).unwrap_or_default()
    }

    /// The value of a field, if the form has it.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// The value of each field, of the first one if several have its name.
    pub(crate) fn first_values(&self) -> HashMap<&str, &str> {
        // Later entries win, so the first fields come last.
        self.fields.iter().rev().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// The values of all fields with this name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Whether a checkbox is checked.
    pub(crate) fn is_checked(&self, name: &str) -> bool {
        self.given(name).is_some()
    }

    /// The text of a field that may be left empty.
    pub(crate) fn non_empty(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.trim().is_empty())
    }

    /// The revision that the form showed (D120). A form without one is a conflict, because it cannot be told from a stale form.
    pub(crate) fn shown_revision(&self) -> Result<Revision, Failure> {
        let number = self.text("revision").parse().ok();
        let revision = number.and_then(|number| Revision::from_stored(number).ok());
        revision.ok_or(Failure::Page(ErrorKind::Conflict))
    }

    /// The key of the form, with which it takes effect once however often it is sent (D12).
    pub(crate) fn key(&self) -> Option<KeyedRequest> {
        let key = IdempotencyKey::parse(self.text("idempotency_key")).ok()?;
        // A refused form is shown again with its fields, so that the person can correct it.
        Some(KeyedRequest { key, fingerprint: self.fingerprint, answer_to_refusal: |_| None })
    }
}

/// The pairs of a query or a form.
pub(crate) fn pairs(text: &[u8]) -> Vec<(String, String)> {
    url::form_urlencoded::parse(text).map(|(name, value)| (name.into_owned(), owned(value))).collect()
}

fn owned(value: Cow<'_, str>) -> String {
    if value.contains('\r') { with_line_feeds(&value) } else { value.into_owned() }
}

/// A text with line feeds as line ends, as this dashboard stores them. Browsers send CR LF.
pub(crate) fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Whether a request says that its body is a form.
pub(crate) fn is_form(request: &HttpRequest) -> bool {
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|content_type| {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")
    })
}

impl FormBody {
    /// Reads a form of at most `max_bytes`.
    ///
    /// # Errors
    /// The page for something that is no form, or for one that is too large.
    pub(crate) fn read(
        request: &HttpRequest,
        mut payload: Payload,
        max_bytes: usize,
    ) -> impl Future<Output = Result<Self, Failure>> + use<> {
        let is_form = is_form(request);
        let request = request.clone();
        async move {
            if !is_form {
                return Err(Failure::Page(ErrorKind::MethodNotAllowed));
            }
            let mut body = BytesMut::new();
            while let Some(chunk) = payload.next().await {
                let chunk = chunk.map_err(|_| Failure::TooLarge { max_bytes })?;
                if body.len() + chunk.len() > max_bytes {
                    return Err(Failure::TooLarge { max_bytes });
                }
                body.extend_from_slice(&chunk);
            }
            let fingerprint = RequestFingerprint::of("POST", request.path(), &body);
            let fields: Rc<[_]> = pairs(&body).into();
            request.extensions_mut().insert(SentFields::of(Rc::clone(&fields)));
            Ok(Self { fields, fingerprint })
        }
    }
}

impl FromRequest for FormBody {
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Failure>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        Box::pin(Self::read(request, payload.take(), MAX_BYTES))
    }
}
