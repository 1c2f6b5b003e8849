//! Passwords of links in English.

use super::LinkPasswordTexts;

pub(super) static LINK_PASSWORD: LinkPasswordTexts = LinkPasswordTexts {
    asked_for: "Visitors are asked for it",
    filter: "Password",
    hint: "Visitors have to type it before the link opens. 4 to 128 characters of any kind; case matters. It is not shown again, so keep it somewhere else. Empty: the link asks for none.",
    hint_kept: "Your plan has no passwords of links. This link keeps the one that it has; you can remove it, but not set another.",
    hint_missing: "Your plan has no passwords of links.",
    hint_set: "The link asks for a password. Type another one to replace it: 4 to 128 characters of any kind; case matters. It is not shown again. Empty: the password stays as it is.",
    label: "Password of the link",
    new: "A new one",
    not_kept: "This page does not keep the password of the link. Type it again.",
    remove: "Remove the password, so that the link opens for everybody",
    set: "Set",
    title: "Password",
    type_again: "Type the password again: it is not kept when something else is wrong.",
    with: "With a password",
    without: "Without a password",
};
