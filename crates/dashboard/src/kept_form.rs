//! Forms that did not count when they were sent: the answer has what was typed, so that sending it again takes one press.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::body::BoxBody;
use actix_web::dev::{Payload, ServiceResponse};
use actix_web::http::header::{CONTENT_TYPE, RETRY_AFTER};
use actix_web::web::{Bytes, BytesMut};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, HttpResponseBuilder, ResponseError as _};
use askama::Template as _;
use futures_util::{StreamExt as _, stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::Failure;
use crate::form_body::{LARGEST_BYTES, MAX_BYTES, is_form, pairs};
use crate::frame;
use crate::pages::second_factor::PATH as SECOND_FACTOR;
use crate::texts::KeptTexts;
use crate::views::{ErrorKind, Field, KeptFormPage};

const WORDS: &KeptTexts = frame::TEXTS.kept;

/// How many forms of more than [`MAX_BYTES`] a node keeps at once for senders that it has not admitted. Anybody can send one, so
/// their memory is bounded; such a form is lost while others are kept.
const LARGE_AT_ONCE: usize = 2;

/// The part of a large page that is sent at once.
const PART_BYTES: usize = 64 * 1024;

/// The room of a node for large forms of senders that it has not admitted.
#[derive(Debug, Clone)]
pub(crate) struct KeptFormRoom(Arc<Semaphore>);

impl Default for KeptFormRoom {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LARGE_AT_ONCE)))
    }
}

/// The fields of the form that a request has sent, for a page that sends them once more.
#[derive(Clone)]
pub(crate) struct SentFields {
    fields: Rc<[(String, String)]>,
    /// The room that a large form of a sender takes who was not admitted, until the answer is sent.
    room: Option<Rc<OwnedSemaphorePermit>>,
}

impl SentFields {
    /// The fields of a form that was read for an admitted sender, or of a small one.
    pub(crate) const fn of(fields: Rc<[(String, String)]>) -> Self {
        Self { fields, room: None }
    }
}

/// Reads the form of a sender who was not admitted, so that the answer can keep it. Nothing is kept of one that is too large, or
/// for which there is no room.
pub(crate) async fn read_to_keep(request: &HttpRequest, mut payload: Payload, room: &KeptFormRoom) {
    if !is_form(request) {
        return;
    }
    let (mut body, mut taken) = (BytesMut::new(), None);
    while let Some(chunk) = payload.next().await {
        let Ok(chunk) = chunk else { return };
        let length = body.len() + chunk.len();
        if length > LARGEST_BYTES {
            return;
        }
        if length > MAX_BYTES && taken.is_none() {
            let Ok(permit) = Arc::clone(&room.0).try_acquire_owned() else { return };
            taken = Some(Rc::new(permit));
        }
        body.extend_from_slice(&chunk);
    }
    request.extensions_mut().insert(SentFields { fields: pairs(&body).into(), room: taken });
}

/// A form that did not count when it was sent.
pub(crate) struct KeptForm {
    why: WhyKept,
    /// Where the form goes, with its query.
    path: String,
    sent: SentFields,
}

impl fmt::Debug for KeptForm {
    /// Leaves out what a person has typed, which does not belong in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptForm").finish_non_exhaustive()
    }
}

/// Why a form did not count.
#[derive(Debug)]
pub(crate) enum WhyKept {
    /// The session has ended. The person signs in at this path.
    SessionEnded {
        /// The path.
        sign_in: String,
    },
    /// The account requires a second factor, and the person has none.
    SecondFactorNeeded,
    /// The role does not allow it, such as one that was lowered after the form was shown.
    Forbidden,
    /// A rule forbids it, in these words, such as that of a suspended account.
    Refused(String),
    /// The request may succeed after this many seconds.
    Later {
        /// What happened.
        kind: ErrorKind,
        /// When to try again.
        seconds: u32,
    },
    /// Something broke.
    Failed,
    /// What the form is about does not exist any more, so sending it again is no use.
    Gone,
}

impl WhyKept {
    /// Why the form of a failed request is kept; `None` if the page of the failure says all.
    fn of(failure: &Failure) -> Option<Self> {
        match failure {
            Failure::Later { kind, seconds } => Some(Self::Later { kind: *kind, seconds: *seconds }),
            Failure::Refused(refusal) => Some(Self::Refused(refusal.to_string())),
            Failure::Page(ErrorKind::Forbidden) => Some(Self::Forbidden),
            Failure::Page(ErrorKind::NotFound) => Some(Self::Gone),
            Failure::Broken(_) => Some(Self::Failed),
            Failure::Page(_) | Failure::Redirected(_) | Failure::FormKept(_) | Failure::TooLarge { .. } => {
                None
            }
        }
    }

    const fn kind(&self) -> ErrorKind {
        match self {
            Self::SessionEnded { sign_in: _ } => ErrorKind::SessionEnded,
            Self::SecondFactorNeeded => ErrorKind::SecondFactorNeeded,
            Self::Forbidden => ErrorKind::Forbidden,
            Self::Refused(_) => ErrorKind::Refused,
            Self::Later { kind, seconds: _ } => *kind,
            Self::Failed => ErrorKind::Failed,
            Self::Gone => ErrorKind::NotFound,
        }
    }

    /// The path and the label of what has to be done first.
    fn first(&self) -> Option<(&str, &'static str)> {
        match self {
            Self::SessionEnded { sign_in } => Some((sign_in, frame::TEXTS.sign_in)),
            Self::SecondFactorNeeded => Some((SECOND_FACTOR, frame::TEXTS.second_factor.set_up)),
            Self::Forbidden | Self::Refused(_) | Self::Later { .. } | Self::Failed | Self::Gone => None,
        }
    }

    /// What happened, and what to do.
    fn sentences(&self) -> (String, String) {
        let words = (frame::TEXTS.error)(self.kind());
        match self {
            Self::SessionEnded { sign_in: _ } | Self::SecondFactorNeeded => {
                (words.text.to_owned(), words.advice.to_owned())
            }
            Self::Forbidden => (words.text.to_owned(), WORDS.with_role.to_owned()),
            Self::Refused(refusal) => (refusal.clone(), WORDS.when_possible.to_owned()),
            Self::Later { kind: _, seconds } => (words.text.to_owned(), (WORDS.after)(*seconds)),
            Self::Failed => (words.text.to_owned(), WORDS.once_more.to_owned()),
            Self::Gone => (words.text.to_owned(), WORDS.copy.to_owned()),
        }
    }

    /// Whether the page is worth it for a form in which nothing was typed, such as a button: if pressing it again may help.
    const fn keeps_buttons(&self) -> bool {
        match self {
            Self::SessionEnded { .. } | Self::SecondFactorNeeded | Self::Later { .. } | Self::Failed => true,
            Self::Forbidden | Self::Refused(_) | Self::Gone => false,
        }
    }
}

/// The form of this request on a page that keeps it, if it was read and may be shown.
pub(crate) fn kept_form(request: &HttpRequest, why: WhyKept) -> Option<Failure> {
    let sent = request.extensions().get::<SentFields>().cloned()?;
    let is_worth_it = why.keeps_buttons() || has_typed(&sent.fields);
    if !is_worth_it || !may_be_shown(&sent.fields) {
        return None;
    }
    let path = request.uri().path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
    Some(Failure::FormKept(Box::new(KeptForm { why, path, sent })))
}

/// The answer to a form that failed, with the form in it if it can be sent again.
pub(crate) fn with_kept_form(response: ServiceResponse<BoxBody>) -> ServiceResponse<BoxBody> {
    let failure = response.response().error().and_then(actix_web::Error::as_error::<Failure>);
    let why = failure.and_then(WhyKept::of);
    match why.and_then(|why| kept_form(response.request(), why)) {
        Some(kept) => response.into_response(kept.error_response()),
        None => response,
    }
}

/// The field with the password of a link (D131). The forms of links have much else in them, so the page keeps that, and asks for the
/// password again.
pub(crate) const LINK_PASSWORD: &str = "link_password";

/// Whether a page may repeat a form: it says something, and has no secret but the one that the page asks for again.
fn may_be_shown(fields: &[(String, String)]) -> bool {
    let secrets = ["password", "code", "token", "secret", "sealed", "identity"];
    let is_secret =
        |name: &str| !name.ends_with(LINK_PASSWORD) && secrets.iter().any(|word| name.contains(word));
    !fields.is_empty() && !fields.iter().any(|(name, _)| is_secret(name))
}

/// Whether a person has typed or chosen something, beside the button and what the page put into the form.
fn has_typed(fields: &[(String, String)]) -> bool {
    fields.iter().any(is_typed)
}

/// Whether a person has typed or chosen this field.
fn is_typed((name, value): &(String, String)) -> bool {
    const BY_THE_PAGE: [&str; 7] = ["idempotency_key", "revision", "conflict", "zone", "ids", "action", "do"];
    !value.is_empty() && !BY_THE_PAGE.contains(&name.as_str()) && !name.ends_with("_shown")
}

impl KeptForm {
    /// The kind of its page.
    pub(crate) const fn kind(&self) -> ErrorKind {
        self.why.kind()
    }

    /// The page. The room of a large form is taken until it is sent.
    pub(crate) fn page(&self, mut response: HttpResponseBuilder) -> HttpResponse {
        let Self { why, path, sent } = self;
        let (text, advice) = why.sentences();
        let is_kept = |(name, _): &&(String, String)| name != LINK_PASSWORD;
        let asks_again = sent.fields.iter().any(|field| !is_kept(&field) && is_typed(field));
        let view = KeptFormPage {
            card: frame::card(),
            heading: (frame::TEXTS.error)(why.kind()).heading,
            text,
            kept: (!matches!(why, WhyKept::SessionEnded { .. } | WhyKept::SecondFactorNeeded))
                .then_some(WORDS.kept),
            advice,
            path: (!matches!(why, WhyKept::Gone)).then_some(path),
            fields: sent.fields.iter().filter(is_kept).collect(),
            typed: sent.fields.iter().filter(is_kept).filter(|field| is_typed(field)).collect(),
            password: asks_again.then(Field::default),
            first: why.first(),
        };
        let Ok(page) = view.render() else {
            return Failure::Broken("a kept form was not rendered".to_owned()).error_response();
        };
        response.insert_header((CONTENT_TYPE, "text/html; charset=utf-8"));
        if let WhyKept::Later { kind: _, seconds } = why {
            response.insert_header((RETRY_AFTER, *seconds));
        }
        let Some(room) = sent.room.clone() else { return response.body(page) };
        let parts = stream::unfold((Bytes::from(page), room), async |(mut rest, room)| {
            if rest.is_empty() {
                return None;
            }
            let part = rest.split_to(rest.len().min(PART_BYTES));
            Some((Ok::<_, std::io::Error>(part), (rest, room)))
        });
        response.streaming(parts)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;
    use actix_web::test::TestRequest;

    use super::*;

    fn fields(names: &[&str]) -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect()
    }

    #[test]
    fn a_page_never_repeats_a_secret() {
        assert!(may_be_shown(&fields(&["name", "w0.text"])) && !may_be_shown(&[]));
        for secret in ["password", "code", "token", "client_secret", "sealed", "identity"] {
            assert!(!may_be_shown(&fields(&["name", secret])), "{secret}");
        }
        // The page leaves out the first.
        assert!(may_be_shown(&fields(&["name", LINK_PASSWORD, "remove_link_password"])));
    }

    #[test]
    fn a_button_is_kept_only_where_pressing_it_again_may_help() {
        let by_the_page = ["idempotency_key", "revision", "tags_shown", "zone", "ids", "action", "do"];
        assert!(!has_typed(&fields(&by_the_page)));
        assert!(
            has_typed(&fields(&["revision", "name"])) && !has_typed(&[("name".to_owned(), String::new())])
        );
        let busy = WhyKept::Later { kind: ErrorKind::Unavailable, seconds: 5 };
        assert!(
            busy.keeps_buttons() && WhyKept::Failed.keeps_buttons() && !WhyKept::Forbidden.keeps_buttons()
        );
    }

    /// A request that has sent a form of this length, after it was read to be kept.
    async fn read(length: usize, room: &KeptFormRoom) -> HttpRequest {
        let (request, payload) = TestRequest::post()
            .uri("/acc_1/links/pag_1/page")
            .insert_header((CONTENT_TYPE, "application/x-www-form-urlencoded"))
            .set_payload(format!("title={}", "x".repeat(length - 6)))
            .to_http_parts();
        read_to_keep(&request, payload, room).await;
        request
    }

    fn is_read(request: &HttpRequest) -> bool {
        request.extensions().contains::<SentFields>()
    }

    /// Beside these, a sender without a session takes what every form takes.
    #[actix_web::test]
    async fn large_forms_of_senders_who_are_not_admitted_take_12_mib_of_a_node() {
        assert_eq!(LARGE_AT_ONCE * LARGEST_BYTES, 12 * 1024 * 1024);
        let room = KeptFormRoom::default();
        assert!(
            !is_read(&read(LARGEST_BYTES + 1, &room).await),
            "a form that is too large gives its room back"
        );
        let (first, second) = (read(LARGEST_BYTES, &room).await, read(MAX_BYTES + 1, &room).await);
        assert!(is_read(&first) && is_read(&second));
        assert!(!is_read(&read(MAX_BYTES + 1, &room).await), "there is no room");
        assert!(is_read(&read(MAX_BYTES, &room).await), "a small form needs none");
        // The answer takes the room until it is sent, however slowly it is read.
        let answer = kept_form(&first, WhyKept::Failed).unwrap().error_response();
        drop(first);
        assert!(!is_read(&read(MAX_BYTES + 1, &room).await));
        let page = to_bytes(answer.into_body()).await.unwrap();
        assert!(page.len() > LARGEST_BYTES);
        assert!(is_read(&read(MAX_BYTES + 1, &room).await));
        drop(second);
    }
}
