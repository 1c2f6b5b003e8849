//! Second factors in English.

use super::SecondFactorTexts;

pub(super) static SECOND_FACTOR: SecondFactorTexts = SecondFactorTexts {
    account_lead: "Members who sign in with a password then need a code of an authenticator app as well. Members without one are led to set it up before they see this account. Who signs in elsewhere, without a password, is not affected.",
    account_optional: "This account does not require one. An owner can change that.",
    account_required: "Every member who signs in with a password needs a code of an authenticator app.",
    app_code: "Code",
    app_code_hint: "Six digits that your authenticator app shows for Signpost.",
    app_code_or_recovery: "Six digits of your authenticator app. Without the app, type one of your recovery codes.",
    cannot_no_key: "Second factors are encrypted with a secrets key, and this server has none. Ask its operator to set secrets-key.",
    cannot_no_password: "You have no password here. Whoever signs you in decides whether you need a second factor.",
    code_of_app: "Code of your app",
    code_title: "Your code",
    codes_hint: "Each code lets you in once, with your password, if you lose the app. Keep them where you do not keep the app. This page shows them once.",
    codes_left: |n| match n {
        0 => "No recovery code is left.".to_owned(),
        1 => "1 recovery code is left.".to_owned(),
        n => format!("{n} recovery codes are left."),
    },
    codes_saved: "I have saved them",
    codes_title: "Recovery codes",
    confirm_why: "What you are about to do needs your password and a code once more. They count for 15 minutes.",
    copy_codes: "Copy the recovery codes",
    has_factor: "Second factor",
    lost: "Lost the app and the codes? The operator of this server can remove your second factor.",
    make_optional: "Do not require it any more",
    make_required: "Require a second factor",
    manage: "Manage your second factor",
    needed_here: "This account requires a second factor. Set yours up, and you get to where you were going.",
    new_codes: "Make new recovery codes",
    new_codes_text: "The earlier ones stop working.",
    no_key_now: "This server has no secrets key now, so it can check no second factor. Its operator can restore the file of secrets-key, or remove your second factor.",
    off: "Off",
    off_text: "Your password alone lets you in. With a second factor you also need a code of an authenticator app on your phone, so a stolen password is not enough. Setting it up ends all your other sessions.",
    on_since: |a| format!("On since {a}."),
    operator_none: "none",
    operator_remove: "Remove the second factor",
    operator_remove_text: "For somebody who has lost the app and the recovery codes. The password suffices from then on. Accounts that require a second factor are closed to the user at once, until a new one is set up.",
    qr: "QR code for your authenticator app",
    remove: "Turn it off",
    remove_text: "Your password alone lets you in again.",
    required_here: "Required",
    not_required_here: "Not required",
    of_members: "Second factor of members",
    remove_closes: "These accounts require a second factor, and close to you at once until you set one up again:",
    remove_closes_nothing: "None of your accounts requires a second factor.",
    remove_closes_not_to_you: "No account closes to you.",
    remove_closes_unchecked: "Accounts beyond the first 100 are not checked.",
    missing_of,
    said_optional: "A second factor is not required any more.",
    said_own_first: "Set up your own second factor before you require one of others.",
    said_removed: "Your second factor is off.",
    said_required: "A second factor is required now.",
    said_user_removed: "The second factor is removed. The password suffices now.",
    said_too_late: "That took longer than twenty minutes, or your password has changed. Sign in again.",
    seed_lost: "This server cannot check codes of your app any more, because its secrets key was replaced. Use a recovery code, or ask the operator of the server to remove your second factor.",
    set_up: "Set up a second factor",
    set_up_again: "Set up another app",
    set_up_again_text: "The present app and the recovery codes stop working when the new app is set up.",
    signing_in_as: |a| format!("Signing in as {a}"),
    step_code: "2. Type the code that the app shows",
    step_scan: "1. Scan this with an authenticator app",
    title: "Second factor",
    title_set_up: "Set up a second factor",
    turn_on: "Turn it on",
    type_instead: "No camera? Type this key into the app instead:",
    uri_hint: |a, b| format!("The app lists it as {a}, {b}."),
    wrong_code: "The code is wrong or was used before. Type the next one that the app shows, or another recovery code. If the app's codes are refused again, check the clock of your phone.",
    wrong_first_code: "The code is wrong. Scan the QR code on this page if you have not yet, and type the code that the app shows now. If the app's codes are refused again, check the clock of your phone.",
    start_over: "Begin again",
};

const ONLY_MEMBER: &str = "You are the only member, and sign in with a password alone. Set up your own second factor before you require one.";

/// How many of these members would have to set up a second factor. Unless `is_all`, the account has more members.
///
/// Only owners read it, so the only member of an account is the reader.
fn missing_of(missing: usize, members: usize, is_all: bool) -> String {
    let plural = if members == 1 { "" } else { "s" };
    let checked = format!("{members} member{plural} checked");
    if missing == 0 && is_all {
        return "All members have a second factor or need none.".to_owned();
    }
    if missing == 0 {
        return format!("None of the {checked} signs in with a password alone. The others were not checked.");
    }
    if members == 1 && is_all {
        return ONLY_MEMBER.to_owned();
    }
    let verb = if missing == 1 { "signs" } else { "sign" };
    let who = if is_all {
        format!("{missing} of {members} members {verb}")
    } else {
        format!("Of the {checked}, {missing} {verb}")
    };
    let then = if missing == 1 {
        "this member has to set one up before seeing this account"
    } else {
        "they have to set one up before they see this account"
    };
    format!("{who} in with a password alone. Once you require a second factor, {then}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_without_a_second_factor_are_counted_in_words() {
        for (missing, members, is_all, words) in [
            (0, 1, true, "All members have a second factor or need none."),
            (0, 5, true, "All members have a second factor or need none."),
            (
                0,
                100,
                false,
                "None of the 100 members checked signs in with a password alone. The others were not checked.",
            ),
            (1, 1, true, ONLY_MEMBER),
            (
                1,
                5,
                true,
                "1 of 5 members signs in with a password alone. Once you require a second factor, this member has to set one up before seeing this account.",
            ),
            (
                2,
                5,
                true,
                "2 of 5 members sign in with a password alone. Once you require a second factor, they have to set one up before they see this account.",
            ),
            (
                1,
                1,
                false,
                "Of the 1 member checked, 1 signs in with a password alone. Once you require a second factor, this member has to set one up before seeing this account.",
            ),
            (
                3,
                100,
                false,
                "Of the 100 members checked, 3 sign in with a password alone. Once you require a second factor, they have to set one up before they see this account.",
            ),
        ] {
            assert_eq!(missing_of(missing, members, is_all), words);
        }
    }
}
