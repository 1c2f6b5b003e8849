//! Signing in at an identity provider, in English.

use signpost_app::people::identity::{IdentityError, Shown};

use super::{ProviderTexts, ProviderWords};

pub(super) static PROVIDER: ProviderTexts = ProviderTexts {
    accept_lead: |a, b| {
        format!(
            "You are {a} at {b}. Accept the invitation if that is you: from then on you sign in there, and need no password here."
        )
    },
    accept_with: |a| format!("Accept with {a}"),
    bind_button: "Connect",
    bind_lead: |a| {
        format!(
            "You are signed in there as {a}. Connect if that is you. From then on you can sign in there instead of typing your password."
        )
    },
    bind_title: |a| format!("Connect your sign-in at {a}?"),
    confirm_title: "Sign in again, please",
    confirm_why: "This step can do lasting harm in the wrong hands, so sign in once more where you always sign in. It then counts for 15 minutes.",
    confirm_with: |a| format!("Sign in again with {a}"),
    connect: |a| format!("Connect {a}"),
    connect_now: "Your password is confirmed. Connect the provider now.",
    connected_at: |a| format!("connected since {a}"),
    connected: |a, b| {
        format!("Connected to {b} since {a}. You can sign in there instead of typing a password.")
    },
    disconnect: |a| format!("Disconnect {a}"),
    disconnect_hint: "Once it is disconnected, you sign in with your password only.",
    error: words,
    not_connected: |a| {
        format!("You can sign in at {a} instead of typing a password, once you have connected it.")
    },
    only_way: "You have no password, so you could not sign in any more. To disconnect it, set a password first.",
    operator_disconnect: "Disconnect from the provider",
    operator_disconnect_text: "The identity provider no longer signs anybody in as this user. The user can connect again. Without a password, make a reset link as well.",
    said_connected: "Connected. From now on you can sign in there.",
    said_disconnected: "Disconnected.",
    said_user_disconnected: "Disconnected. The identity provider no longer signs anybody in as this user.",
    person,
    section: "Sign-in elsewhere",
    sign_in_with: |a| format!("Sign in with {a}"),
    try_again: "Go back",
};

fn person(shown: &Shown) -> String {
    let Shown { email, is_email_verified: _, name, subject } = shown;
    match (name, email) {
        (Some(name), Some(email)) => format!("{} ({email})", name.as_str()),
        (Some(name), None) => name.as_str().to_owned(),
        (None, Some(email)) => email.as_str().to_owned(),
        (None, None) => format!("the person with the id {}", subject.as_str()),
    }
}

/// A further sentence about an e-mail address that the provider has not verified. Some providers never say that they have verified one.
fn unverified(shown: &Shown, provider: &str) -> String {
    if shown.email.is_none() || shown.is_email_verified {
        return String::new();
    }
    format!(" {provider} does not say that it has verified the e-mail address.")
}

fn words(error: &IdentityError, provider: &str) -> ProviderWords {
    let words = |heading: &str, text: String, advice: &str| ProviderWords {
        heading: heading.to_owned(),
        text,
        advice: advice.to_owned(),
    };
    match error {
        IdentityError::FlowLost => words(
            "This sign-in has come to an end",
            format!(
                "You were sent back from {provider}, but this browser did not begin this sign-in in the last ten minutes, or has finished it already."
            ),
            "Begin again. Your browser has to accept cookies of this site.",
        ),
        IdentityError::Denied(reason) => words(
            "You were not signed in",
            format!("{provider} did not say who you are. It answered: {reason}."),
            "Try again. If you did not cancel it yourself, tell the operator of this server what it answered.",
        ),
        IdentityError::Failed | IdentityError::NoProvider => words(
            "Signing in elsewhere failed",
            format!(
                "Signing in at {provider} failed: it gave no answer, or one that cannot be believed. The log of the server says why."
            ),
            "Try again in a minute. If it fails again, tell the operator of this server when it happened.",
        ),
        IdentityError::Unknown(shown) => words(
            "You have no access yet",
            format!(
                "{provider} says that you are {}. No user of Signpost is connected to this person there.{}",
                person(shown),
                unverified(shown, provider)
            ),
            "If you have a password here, sign in with it, and connect your sign-in in your settings, under “Sign-in elsewhere”. Otherwise ask an owner of the account, or the operator of this server, for an invitation.",
        ),
        IdentityError::NotBound => words(
            "Connect your sign-in first",
            format!(
                "A user of Signpost has your e-mail address, but is not connected to you at {provider}. An address alone is not enough."
            ),
            "Sign in with your password, and connect your sign-in in your settings, under “Sign-in elsewhere”. If you have no password, ask the operator of this server for a link that sets one.",
        ),
        IdentityError::NotSetUp => words(
            "Signpost is not set up yet",
            "There is no user here yet, and the first one comes in by a link.".to_owned(),
            "If you run this server, open the start URL that it printed, or make an invitation with `signpost user invite --operator`.",
        ),
        IdentityError::Disabled => words(
            "Your user is disabled",
            format!("You are signed in at {provider}, but your user of Signpost is disabled."),
            "Ask the operator of this server to enable it.",
        ),
        IdentityError::TakenByAnother => words(
            "Another user is connected to this sign-in",
            format!(
                "The person who is signed in at {provider} is connected to another user of Signpost. Nothing was changed."
            ),
            "Sign in there as yourself, or sign in here as the other user and disconnect it first.",
        ),
        IdentityError::HasAnother => words(
            "You are connected to another sign-in",
            format!("Your user is connected to another person at {provider}. Nothing was changed."),
            "Disconnect that one first, in your settings under “Sign-in elsewhere”.",
        ),
        IdentityError::OtherPerson => words(
            "That was somebody else",
            format!(
                "The person who signed in at {provider} is not the one that your user is connected to. Nothing was confirmed."
            ),
            "Try again, and sign in there as yourself.",
        ),
        IdentityError::NotFresh => words(
            "You were not asked to sign in again",
            format!(
                "{provider} did not say that you have just signed in there, so it does not count as a confirmation."
            ),
            "Confirm with your password. If you have none, ask the operator of this server whether the provider supports `max_age` and `auth_time`.",
        ),
        IdentityError::OnlyWay => words(
            "You could not sign in any more",
            PROVIDER.only_way.to_owned(),
            "Set a password in your settings, and try again.",
        ),
    }
}
