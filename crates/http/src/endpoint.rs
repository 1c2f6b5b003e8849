//! What each endpoint is declared with: its method, and who may call it.

use actix_web::http::Method;
use signpost_domain::LinkId;

/// The method of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RouteMethod {
    /// Reads; so does `HEAD` on the same path.
    Get,
    /// Creates.
    Post,
    /// Creates or changes.
    Put,
    /// Changes.
    Patch,
    /// Deletes.
    Delete,
}

impl RouteMethod {
    /// The name in a request.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether it takes requests with this method.
    pub(crate) fn takes(self, method: &Method) -> bool {
        self.allowed().contains(&method.as_str())
    }

    /// The methods that it adds to `Allow`.
    pub(crate) const fn allowed(self) -> &'static [&'static str] {
        match self {
            Self::Get => &["GET", "HEAD"],
            Self::Post => &["POST"],
            Self::Put => &["PUT"],
            Self::Patch => &["PATCH"],
            Self::Delete => &["DELETE"],
        }
    }
}

/// Reads the `{id}` of a path as that of a link, which admission then reads together with the key (ADR 56).
pub(crate) type ReadAhead = fn(&str) -> Option<LinkId>;

/// Who may call an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Admitted callers: with a valid key, a plan with the API, and quota left (D7). All paths under `/v1`, and only those.
    Admitted,
    /// Anyone, without a key.
    Open,
}
