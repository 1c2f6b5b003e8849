//! What goes wrong, and where.

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// The list of the other endpoints.
    Directory,
    /// A nonce for the next signed request.
    NewNonce,
    /// A new account.
    NewAccount,
    /// A new order.
    NewOrder,
    /// The state of an order.
    Order,
    /// The state of an authorization.
    Authorization,
    /// The beginning of a validation.
    Challenge,
    /// The request for the certificate.
    Finalize,
    /// The certificate.
    Certificate,
    /// When to renew a certificate.
    RenewalInfo,
    /// A revocation.
    Revoke,
}

impl Endpoint {
    pub(super) const ALL: [(Self, &'static str); 11] = [
        (Self::Directory, "directory"),
        (Self::NewNonce, "nonce"),
        (Self::NewAccount, "new-account"),
        (Self::NewOrder, "new-order"),
        (Self::Order, "order"),
        (Self::Authorization, "authorization"),
        (Self::Challenge, "challenge"),
        (Self::Finalize, "finalize"),
        (Self::Certificate, "certificate"),
        (Self::RenewalInfo, "renewal-info"),
        (Self::Revoke, "revoke"),
    ];
}

/// What the authority does in place of its work.
#[derive(Debug, Clone)]
pub struct Misbehaviour(pub(super) Kind);

#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// Answers with this status, header and body.
    Answer { status: u16, retry_after: Option<String>, kind: Option<String>, body: String },
    /// Answers nothing, and keeps the connection open.
    Silence,
    /// Does what is asked, answers nothing, and keeps the connection open.
    LostAnswer,
    /// Sends the head of an answer, and then a byte now and then.
    SlowBytes,
    /// Sends a body of this many bytes.
    HugeBody(usize),
    /// Closes the connection without an answer.
    Close,
}

impl Misbehaviour {
    /// Answers with this status and without a body.
    #[must_use]
    pub const fn status(status: u16) -> Self {
        Self(Kind::Answer { status, retry_after: None, kind: None, body: String::new() })
    }

    /// Answers with this status and an error of this type, such as `rateLimited`.
    #[must_use]
    pub fn problem(status: u16, kind: &str) -> Self {
        Self::problem_saying(status, kind, &format!("because of {kind}"))
    }

    /// Like [`problem`](Self::problem), with these words.
    #[must_use]
    pub fn problem_saying(status: u16, kind: &str, detail: &str) -> Self {
        let detail = detail.replace('"', "\\\"");
        let body = format!(r#"{{"type":"urn:ietf:params:acme:error:{kind}","detail":"{detail}"}}"#);
        Self(Kind::Answer { status, retry_after: None, kind: Some(kind.to_owned()), body })
    }

    /// Answers with this status and a page, like a proxy in front of an authority that is down.
    #[must_use]
    pub fn page(status: u16) -> Self {
        let body = "<html><body>Something went wrong</body></html>".to_owned();
        Self(Kind::Answer { status, retry_after: None, kind: None, body })
    }

    /// Answers nothing, and keeps the connection open.
    #[must_use]
    pub const fn silence() -> Self {
        Self(Kind::Silence)
    }

    /// Does what is asked, but answers nothing, and keeps the connection open.
    #[must_use]
    pub const fn lost_answer() -> Self {
        Self(Kind::LostAnswer)
    }

    /// Sends an answer that begins well and never ends, a byte now and then.
    #[must_use]
    pub const fn slow_bytes() -> Self {
        Self(Kind::SlowBytes)
    }

    /// Sends a body of this many bytes.
    #[must_use]
    pub const fn huge_body(bytes: usize) -> Self {
        Self(Kind::HugeBody(bytes))
    }

    /// Closes the connection without an answer.
    #[must_use]
    pub const fn close() -> Self {
        Self(Kind::Close)
    }

    /// Adds a `Retry-After` header with this value to an answer.
    #[must_use]
    pub fn retry_after(mut self, value: &str) -> Self {
        if let Kind::Answer { retry_after, .. } = &mut self.0 {
            *retry_after = Some(value.to_owned());
        }
        self
    }
}
