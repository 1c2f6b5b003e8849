//! Pages for operators, and the settings of an account, in English.

use signpost_app::node_health::Part;

use super::OperatorTexts;

pub(super) static OPERATOR: OperatorTexts = OperatorTexts {
    account_created: |a, b| format!("Account of {a} on plan {b}"),
    account_id: "Account id",
    account_of_invitation: "Account to join (optional)",
    account_of_invitation_hint: "The id or the e-mail address of the account.",
    accounts: "Accounts",
    accounts_lead: "Every account of this installation, newest first. You see the links of an account only as its member.",
    active: "Active",
    all_works: "Everything that this node depends on works.",
    back_to_account: "Back to the account",
    change_plan: "Change plan",
    change_plan_text: "The plan holds from the next request on. Links above the limit of a smaller plan stay.",
    command_certificates: "List certificates with their last failures",
    command_check: "Check the machine and the settings",
    command_create: "Create an account and invite its owner",
    command_delete: "Delete the account",
    command_disable: "Disable the user",
    command_enable: "Enable the user",
    command_health: "Ask this node whether it is ready",
    command_hint: "On the machine of the service, with its settings:",
    command_invite: "Invite somebody",
    command_list_accounts: "List all accounts",
    command_list_users: "List all users",
    command_plan: "Change the plan",
    command_reset: "Make a link to set a new password",
    command_resume: "Resume the account",
    command_sign_out: "End all sessions of the user",
    command_summary: "Do this on the command line",
    command_suspend: "Suspend the account",
    content_needs_membership: "You see the links and clicks of this account only if it has you as a member.",
    count_clicks: |n| counted(n, "recorded click"),
    count_domains: |n| counted(n, "custom domain"),
    count_groups: |n| counted(n, "group"),
    count_keys: |n| counted(n, "valid key"),
    count_links: |n| counted(n, "link"),
    count_members: |n| counted(n, "member"),
    count_pixels: |n| counted(n, "pixel"),
    create_account: "Create an account",
    create_account_button: "Create account",
    delete_account: "Delete account",
    delete_account_button: "Delete account for good",
    delete_account_more: "Members keep their users. The audit keeps its entries. Nothing else can be restored, except from a backup.",
    delete_account_text: |a, b| {
        format!("This deletes the account {a} with {b}. Its links stop opening at once.")
    },
    deletion_goes_on: "The account is large, so its deletion goes on. It is suspended meanwhile. If it is still listed in a while, delete it again.",
    disable: "Disable user",
    disable_text: "All sessions end at once, and sign-ins are refused. The keys that the user issued stay valid.",
    disabled_since: |a| format!("Disabled since {a}"),
    does_not_match: |a| format!("Must be {a}, the e-mail address of the account."),
    draining: "This node was asked to stop, and finishes what runs.",
    enable: "Enable user",
    enable_text: "The user can sign in again, with the same password and memberships.",
    fails: "Fails",
    failures: |n, a| format!("{} count, the last on {a}.", counted(n, "failed sign-in")),
    find: "Find",
    find_account: "Id or e-mail address of an account",
    find_user: "Id or e-mail address of a user",
    health: "Health",
    health_lead: "This node, and what it has noticed since it started. With several nodes, each has a page like this; which one answers is up to the balancer.",
    in_no_account: "Not a member of any account.",
    installation: "Installation",
    invitation_once: "It works once, within 7 days, for this e-mail address alone, and is shown only here. Signpost sends no mail.",
    invite: "Invite somebody",
    invite_button: "Make invitation",
    invite_member: "Invite a member",
    invite_needs_place: "Name an account, or make the person an operator, or both.",
    invited_operator: |a| format!("You are invited to administer Signpost. To join, open\n{a}"),
    ip_address: "IP address",
    ip_wrong: "must be an IP address, such as 203.0.113.9 or 2001:db8::1",
    jobs: "Background jobs",
    last: |a, b| format!("{a} and {b}"),
    last_error: |a| format!("Last error, {a}:"),
    limit_hashes: "Passwords checked at once, on this node",
    limit_hashes_is: "2, and 32 wait",
    limit_kept: "Failures are kept",
    limit_kept_is: |a| format!("24 hours, for at most {a} pairs of addresses"),
    limit_per_address: "Failures from an IP address, on this node",
    limit_per_address_is: "30 a minute",
    limit_per_pair: "Wait after the fifth failure and each further one, for an e-mail address from an IP address, on all nodes",
    limit_per_pair_is: |a| format!("{a}, and so on"),
    limit_session: "Requests of a session, on this node",
    limit_session_is: "600 a minute",
    limits: "Limits",
    limits_text: "The metric signpost_failed_sign_ins_total counts failures, and the log says once an hour that there are any.",
    look_again: "Look again",
    look_up: "Look up",
    may_sign_in: "Another attempt is allowed now.",
    memberships: "Accounts of the user",
    must_be_account: "Must be the id or the e-mail address of an account.",
    no_account_found: "No account has this id or e-mail address",
    no_accounts_text: "Create one, and send the link to its owner.",
    no_failures: "No failed sign-in counts for this e-mail address from this IP address.",
    no_jobs: "This node runs no background jobs.",
    no_user_found: "No user has this id or e-mail address",
    not_found_text: "Type the whole id or the whole address. Upper and lower case of an address make no difference.",
    not_yet: "No success noted yet.",
    now: "Time of this node",
    operator: "Operator",
    operator_hint: "Operators administer this installation: accounts, users and plans.",
    other_node: "On another node",
    other_secrets_key: "The account at the certificate authority was stored with another secrets-key, so this node orders and renews no certificate.",
    own_user: "This is your own user. Another operator can disable it.",
    owner_email: "E-mail address of the owner",
    owner_email_hint: "Also the contact address of the account.",
    part,
    parts: "Stores and services",
    plan: "Plan",
    plan_unknown: |a| {
        format!(
            "This node does not know the plan {a}, so requests of the account fail. Choose another plan, or add it to the setting plans."
        )
    },
    plan_wrong: "Must be one of the plans.",
    read_audit: "Audit of the account",
    requests_left: |a, b| format!("{a} of {b} requests left today"),
    reset: "Make reset link",
    reset_made: |a| format!("Link for {a} to set a new password"),
    reset_message: |a| format!("To set a new password for Signpost, open\n{a}"),
    reset_once: "It works once, within 24 hours, and is shown only here. The present password works until then.",
    reset_text: "Makes a link to set a new password, and voids older ones.",
    resume: "Resume account",
    resume_text: "Its links open and its requests are answered again, at once.",
    said_account_deleted: "The account is deleted.",
    said_account_resumed: "The account is resumed: its links open again.",
    said_account_suspended: "The account is suspended: its links do not open.",
    said_plan_changed: "The plan is changed.",
    said_user_disabled: "The user is disabled and signed out everywhere.",
    said_user_enabled: "The user is enabled and can sign in.",
    said_user_signed_out: "All sessions of the user have ended.",
    seconds: |n| if n < 60 { format!("{n} s") } else { format!("{} min", n / 60) },
    send_to: |a| format!("Send this link to {a}"),
    serves_nothing: "The database gives no answer, and links are no longer opened from memory.",
    show_all: "Show all",
    sign_ins: "Sign-ins",
    sign_ins_lead: "What slows down somebody who guesses passwords. Nobody is locked out: live sessions and reset links go on working.",
    sign_out_everywhere: "Sign out everywhere",
    sign_out_text: "All sessions of the user end at once. The password stays.",
    some_fail: |n| {
        if n == 1 { "One part fails at present.".to_owned() } else { format!("{n} parts fail at present.") }
    },
    state: "State",
    suspend: "Suspend account",
    suspend_text: "Its links stop opening and its API requests are refused, at once. Members can still read.",
    suspended: "Suspended",
    suspended_since: |a| format!("Suspended since {a}"),
    taken_account: "is that of another account",
    title_account_created: "Account created",
    title_reset: "Reset link",
    type_email: |a| format!("Type {a} to confirm"),
    unused: "Not used yet",
    user_id: "User id",
    users: "Users",
    users_lead: "Everybody who can sign in to this dashboard, newest first.",
    version: "Version",
    who_waits: "Who has to wait",
    who_waits_text: "Failures are stored by a hash of the e-mail address and the IP address, so they cannot be listed. Type both to look them up.",
    worked_at: |a| format!("Last worked: {a}."),
    works: "Works",
};

/// A number with its noun.
fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", crate::local_time::number(u64::try_from(number).unwrap_or(u64::MAX)))
}

/// The name of a part, and what it is for.
fn part(part: Part) -> (&'static str, &'static str) {
    match part {
        Part::Database => ("Database, reading", "Asked when this page opened."),
        Part::DatabaseWrites => ("Database, writing", "Asked when this page opened."),
        Part::QuotaStore => {
            ("Redis", "Counts the requests of all nodes. Without it, each node counts alone.")
        }
        Part::ChangeLog => ("Change log", "Tells this node what other nodes and commands have changed."),
        Part::ClickStore => {
            ("Click store", "Takes recorded clicks. While it is away, they wait in the spool.")
        }
        Part::ClickSpool => ("Spool of clicks", "The folder in which clicks wait for the click store."),
        Part::Dns => ("Name servers", "Asked about custom domains and before certificates are ordered."),
        Part::Certificates => ("Certificates", "Orders and renewals by this node."),
        Part::Job(name) => (name, job(name)),
    }
}

/// What a background job does.
fn job(name: &str) -> &'static str {
    match name {
        "check-domains" => "Asks DNS about custom domains that are due.",
        "maintain-domains" => "Ends custom domains whose deadline has passed.",
        "delete-expired-people" => {
            "Deletes expired sessions, tickets, failures and old entries of the audit."
        }
        "note-uses" => "Writes when sessions and keys were last used.",
        "forget-answers" => "Deletes remembered answers after 24 hours.",
        "forget-changes" => "Deletes old entries of the change log.",
        "forget-clicks" => "Deletes clicks that are older than their plan keeps.",
        "forget-visitor-keys" => "Destroys the keys of visitors of past days.",
        "index-links" => "Writes the index of searches.",
        "pack-clicks" => "Makes larger segments of recorded clicks.",
        "digest-clicks" => "Sums up days that have ended.",
        "seal-clicks" => "Destroys the hashes of visitors of days that have ended.",
        "obtain-certificates" => "Orders and renews certificates.",
        "keep-certificates" => "Finds hostnames that want a certificate.",
        _ => "",
    }
}
