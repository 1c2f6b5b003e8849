//! Sign-in elsewhere in English.

use super::{ErrorWords, SignInElsewhereTexts};

pub(super) static SIGN_IN_ELSEWHERE: SignInElsewhereTexts = SignInElsewhereTexts {
    email_fixed: "The proxy signs you in by this address, so it cannot be changed here.",
    email_is_the_proxys: "The proxy signs you in by this address.",
    invited_other: |a, b| {
        format!(
            "This invitation is for {a}, but the proxy says that you are {b}. Sign in at the proxy with the invited address."
        )
    },
    unnamed_advice: "Sign in at the proxy, and try again. If you are signed in there, tell the operator of this server that the proxy does not pass on your e-mail address.",
    unnamed_text: |a| {
        format!(
            "A proxy in front of Signpost signs people in by the header {a}. In this request the header is missing, empty, repeated or not an e-mail address."
        )
    },
    unnamed_title: "The proxy sent no name",
    password_none: "A proxy in front of Signpost signs you in, so you have no password here.",
    signed_out_advice: "To sign out for good, sign out at the proxy.",
    signed_out_link: "Sign in again",
    signed_out_text: "Your session in this browser has ended. The proxy in front of Signpost still knows you, and signs you in with the next page that you open.",
    signed_out_title: "You are signed out here, but not at the proxy",
    try_again: "Try again",
    unknown_advice: "Ask an owner of the account, or the operator of this server, to invite this address.",
    unknown_text: |a| {
        format!(
            "The proxy says that you are {a}. No user of Signpost has this address, or the user is disabled."
        )
    },
    unknown_title: "You have no access yet",
};

pub(super) const NOT_THE_PROXY: ErrorWords = ErrorWords {
    heading: "Open the dashboard through its proxy",
    text: "People sign in to this dashboard at a proxy. This request did not come from it.",
    advice: "Use the address that the operator of this server gave you. If you are the operator, add the network of the proxy to the setting sign-in-proxies.",
    link: "Try again",
};

pub(super) const PASSWORDS_OFF: ErrorWords = ErrorWords {
    heading: "Passwords are off",
    text: "A proxy in front of Signpost signs people in, so there are no passwords here. Nothing was changed.",
    advice: "Sign in at the proxy, and change your password there.",
    link: "Open the dashboard",
};
