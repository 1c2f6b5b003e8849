//! The page in place of the sign-in while a proxy signs people in (D77).

use askama::Template;

use super::shell::Card;

/// What `GET /sign-in` shows while a proxy signs people in, unless the request has a user.
#[derive(Debug, Clone, Template)]
#[template(path = "sign-in-elsewhere.html")]
pub struct SignInElsewherePage {
    /// The frame.
    pub card: Card,
    /// Why the page is shown.
    pub reason: NotSignedIn,
    /// The path of the one link.
    pub next: String,
}

/// Why a request has no user, although a proxy signs people in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotSignedIn {
    /// The proxy sent no name.
    Unnamed {
        /// The name of its header.
        header: String,
    },
    /// No enabled user has the address that the proxy named.
    Unknown {
        /// The address.
        email: String,
    },
    /// The person has signed out here.
    SignedOut,
}

impl SignInElsewherePage {
    const fn heading(&self) -> &'static str {
        let t = self.card.t.sign_in_elsewhere;
        match &self.reason {
            NotSignedIn::Unnamed { header: _ } => t.unnamed_title,
            NotSignedIn::Unknown { email: _ } => t.unknown_title,
            NotSignedIn::SignedOut => t.signed_out_title,
        }
    }

    fn text(&self) -> String {
        let t = self.card.t.sign_in_elsewhere;
        match &self.reason {
            NotSignedIn::Unnamed { header } => (t.unnamed_text)(header),
            NotSignedIn::Unknown { email } => (t.unknown_text)(email),
            NotSignedIn::SignedOut => t.signed_out_text.to_owned(),
        }
    }

    const fn advice(&self) -> &'static str {
        let t = self.card.t.sign_in_elsewhere;
        match &self.reason {
            NotSignedIn::Unnamed { header: _ } => t.unnamed_advice,
            NotSignedIn::Unknown { email: _ } => t.unknown_advice,
            NotSignedIn::SignedOut => t.signed_out_advice,
        }
    }

    const fn link(&self) -> &'static str {
        let t = self.card.t.sign_in_elsewhere;
        match &self.reason {
            NotSignedIn::Unnamed { header: _ } | NotSignedIn::Unknown { email: _ } => t.try_again,
            NotSignedIn::SignedOut => t.signed_out_link,
        }
    }
}
