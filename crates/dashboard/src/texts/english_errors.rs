//! The error pages in English.

use super::english_sign_in_elsewhere::{NOT_THE_PROXY, PASSWORDS_OFF};
use super::{ErrorWords, KeptTexts};
use crate::views::ErrorKind;

pub(super) const KEPT: KeptTexts = KeptTexts {
    after: |seconds| match seconds {
        0 | 1 => "Send the form again in a second.".to_owned(),
        2..=99 => format!("Send the form again in {seconds} seconds."),
        _ => format!("Send the form again in {} minutes.", seconds.div_ceil(60)),
    },
    copy: "Copy what you still need.",
    group_renamed: |a| {
        format!(
            "This group was renamed after the page was shown: its name is “{a}” now. What you typed is below, and renaming puts it in its place."
        )
    },
    invitation: "This invitation is not made yet. Check what it says, and press “Make invitation”.",
    kept: "This page keeps what you typed.",
    once_more: "Send the form again. If it fails again, tell the operator of this server when it happened.",
    send_again: "Send again",
    sent_before: "This form was sent before with other content. Nothing was saved this time: look at what was saved before, then send the form again.",
    too_large: |bytes| {
        const MEGABYTE: usize = 1024 * 1024;
        let (number, unit) = if bytes < MEGABYTE { (bytes / 1024, "KB") } else { (bytes / MEGABYTE, "MB") };
        format!("The form takes at most {number} {unit}, so nothing was saved.")
    },
    when_possible: "Once this is possible again, come back to this page, and send the form.",
    with_role: "Ask an owner of the account for the role. Then come back to this page, and send the form again.",
};

const fn words(
    heading: &'static str,
    text: &'static str,
    advice: &'static str,
    link: &'static str,
) -> ErrorWords {
    ErrorWords { heading, text, advice, link }
}

const SENT_BEFORE: ErrorWords = words(
    "This form was sent before",
    "It was sent before with other content. Nothing was saved this time.",
    "Load the page of the form again, look at what was saved before, and send the form from there.",
    "Go back",
);

const READ_ONLY: ErrorWords = words(
    "Nothing can be changed right now",
    "The database can be read, but it stores no changes, so nothing was changed. Links keep working for visitors.",
    "Try again later. If you run this server, look at the free space of its disk, and at its log.",
    "Try again",
);

const TOO_MANY_EXPORTS: ErrorWords = words(
    "The last file is too recent",
    "Of the files with clicks, “Everything” and “Single clicks”, an account gets one file a minute. The last one began less than a minute ago, or is not complete yet.",
    "Wait a minute, and save the file then.",
    "Go back",
);

pub(super) const fn error(kind: ErrorKind) -> ErrorWords {
    match kind {
        ErrorKind::Forbidden => words(
            "Your role does not allow this",
            "You can look at this account, but this page or change needs another role.",
            "Ask an owner of the account to do it, or to give you the role.",
            "Go back",
        ),
        ErrorKind::SessionEnded => words(
            "Your session has ended",
            "Nothing is saved yet, but this page keeps what you typed.",
            "Sign in in a new tab. Then come back to this one, and send the form again.",
            "Send again",
        ),
        ErrorKind::SecondFactorNeeded => words(
            "This account now requires a second factor",
            "Nothing is saved yet, but this page keeps what you typed.",
            "Set up your second factor in a new tab. Then come back to this one, and send the form again.",
            "Send again",
        ),
        ErrorKind::CrossSite => words(
            "This form came from another site",
            "To protect your account, Signpost accepts forms only from its own pages. Nothing was changed.",
            "Open the dashboard in this browser and send the form from there.",
            "Open the dashboard",
        ),
        ErrorKind::NotTheProxy => NOT_THE_PROXY,
        ErrorKind::PasswordsOff => PASSWORDS_OFF,
        ErrorKind::NotFound => words(
            "There is nothing here",
            "The page does not exist, was deleted, or belongs to an account that you are not a member of.",
            "Check the address, or go back to your links.",
            "Go to your links",
        ),
        ErrorKind::MethodNotAllowed => words(
            "This page cannot be opened like that",
            "The address belongs to a form, and a form has to be filled in first.",
            "Go back and send the form again.",
            "Go back",
        ),
        ErrorKind::Conflict => words(
            "This was changed in the meantime",
            "Somebody saved another version after you opened the form. Nothing of yours was saved.",
            "Open it again, compare, and make your change once more.",
            "Open it again",
        ),
        ErrorKind::SentBefore => SENT_BEFORE,
        ErrorKind::Refused => words(
            "This is not possible",
            "Nothing was changed.",
            "Nothing was changed. Go back to see what is possible now.",
            "Go back",
        ),
        ErrorKind::TicketUsed => words(
            "This link has done its work",
            "It was used already, has expired, or a newer one replaced it.",
            "If you have a password, sign in. Otherwise ask the person who gave you the link for a new one.",
            "Sign in",
        ),
        ErrorKind::StartUsed => words(
            "This link has done its work",
            "It was used already, has expired, or a newer one replaced it.",
            "If you have a password, sign in. Otherwise start Signpost again: while it has no user, each start makes a new link, and shows it or names its file.",
            "Sign in",
        ),
        ErrorKind::TooLarge => words(
            "That is more than the form takes",
            "The form is too large, so nothing was saved.",
            "Load the page of the form again, and send it with a shorter text. This page does not have what you typed, because a form of this size is not read.",
            "Go back",
        ),
        ErrorKind::WrongHost => words(
            "This is not the dashboard’s address",
            "The address in your browser differs from the setting dashboard-url, so Signpost does not answer here.",
            "If you run this server, set dashboard-url to the address that people use. Otherwise ask its operator.",
            "Open the dashboard",
        ),
        ErrorKind::TooManyRequests => words(
            "That was a bit fast",
            "This browser sent more requests in a minute than the dashboard answers.",
            "Wait a minute and load the page again.",
            "Try again",
        ),
        ErrorKind::TooManyExports => TOO_MANY_EXPORTS,
        ErrorKind::Failed => words(
            "Something went wrong on our side",
            "The request failed, and the log of the server says why.",
            "Try again. If it fails again, tell the operator of this server when it happened.",
            "Go back",
        ),
        ErrorKind::Unavailable => words(
            "We cannot reach the database",
            "The dashboard needs the database, and it does not answer right now. Links that visitors opened lately keep working.",
            "Try again in a few seconds.",
            "Try again",
        ),
        ErrorKind::ReadOnly => READ_ONLY,
    }
}
