//! Pages for operators, and the settings of an account, in English.

use signpost_app::node_health::Part;

use super::OperatorTexts;

pub(super) static OPERATOR: OperatorTexts = OperatorTexts {
    account_has_email: "another account has this contact address",
    account_waits: "Not saved yet. Check the name and the contact address, and save.",
    account_name_hint: "What members and invitations call the account. Without a name it is called by its contact address.",
    contact_hint: "Where the operator of this server reaches you. It is not a sign-in.",
    account: "Account",
    account_created: |a, b| format!("The account of {a} is on plan {b}."),
    account_hint: "Contact address or id",
    account_of_invitation: "Account to join (optional)",
    account_of_invitation_hint: "The id or the contact address of the account.",
    accounts: "Accounts",
    accounts_lead: "Every account of this installation, newest first. You see the links of an account only as its member.",
    action_wrong: "must be one of the list",
    active: "Active",
    age: |seconds| {
        let count = |number: u64, noun| counted(usize::try_from(number).unwrap_or(usize::MAX), noun);
        match seconds {
            0..60 => count(seconds, "second"),
            60..3_600 => count(seconds / 60, "minute"),
            _ => count(seconds / 3_600, "hour"),
        }
    },
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
    command_disconnect: "Disconnect the user from the identity provider",
    command_remove_factor: "Remove the second factor of the user",
    command_sign_out: "End all sessions of the user",
    command_summary: "Do this on the command line",
    command_suspend: "Suspend the account",
    content_needs_membership: "You see the links and clicks of this account only if it has you as a member.",
    count_clicks: |n| format!("{} (without those of the last minute)", counted(n, "recorded click")),
    count_domains: |n| counted(n, "custom domain"),
    count_groups: |n| counted(n, "group"),
    count_keys: |n| counted(n, "valid key"),
    count_links: |n| counted(n, "link"),
    count_members: |n| counted(n, "member"),
    count_pixels: |n| counted(n, "pixel"),
    count_tags: |n| counted(n, "tag"),
    create_account: "Create an account",
    create_account_button: "Create account",
    created: |a| format!("Created {a}"),
    account_settings: "Settings",
    contact: "Contact address",
    delete_account: "Delete account",
    delete_own_account: "Delete this account…",
    delete_own_account_hint: "The next page counts what is lost and asks for the contact address of the account.",
    delete_owner_only: "Only owners can delete the account.",
    delete_suspended: "The account is suspended, so only an operator can delete it.",
    export_clicks: "Single clicks",
    export_clicks_hint: "Every click and visit of the time that your plan covers, in UTC, without addresses of visitors. Of this and “Everything”, one file a minute.",
    export_csv: "Save as CSV",
    export_everything: "Everything",
    export_everything_hint: "All that this account has, one thing a line: settings, members, keys without their secrets, domains, pixels, tags, groups, links, the content of pages, and clicks as below. It leaves out passwords of links, open invitations, the history of domains, and the audit, which the page Audit exports. “signpost import” reads the groups and links in it. Of this and “Single clicks”, one file a minute.",
    export_hint: "In a file that “signpost import” reads. It leaves out pixels, domains and keys.",
    export_json_lines: "Save as JSON lines",
    export_links: "Groups, redirects and landing pages",
    export_pages: "Content of landing pages",
    export_pages_hint: "Texts, looks and widgets, one page a line.",
    export_title: "Export",
    own_settings_lead: "What belongs to the account itself. Operators change its plan.",
    raw_clicks: "Raw clicks of the last 7 days",
    back_to_settings: "Settings",
    delete_account_button: "Delete account for good",
    delete_account_more: "Members keep their users. The audit keeps its entries. Nothing else can be restored, except from a backup.",
    delete_account_text: |a, b| {
        format!("This deletes the account {a} with {b}. Its links stop opening at once.")
    },
    deletion_goes_on: "The deletion takes longer, and goes on. The account is suspended meanwhile. If it is still listed in a while, an operator can delete it again.",
    disable: "Disable user",
    disable_text: "All sessions end at once, and sign-ins are refused. Reset links and invitations for the address of the user stop working for good. The keys that the user issued stay valid.",
    disabled_since: |a| format!("Disabled since {a}"),
    does_not_match: |a| format!("Must be {a}, the contact address of the account."),
    draining: "This node was asked to stop, and finishes what runs.",
    enable: "Enable user",
    enable_text: "The user can sign in again, with the same password and memberships. Reset links and invitations that were void stay void; make new ones.",
    fails: "Fails",
    failures: |n, a| format!("{} count, the last on {a}.", counted(n, "failed sign-in")),
    find: "Find",
    find_account: "Id or contact address of an account",
    find_account_hint: "Finds the account with exactly this id or contact address. Names and parts of addresses find nothing. The accounts of a person are on the page of the user.",
    find_user: "Id or e-mail address of a user",
    find_user_hint: "Finds the user with exactly this id or e-mail address. Names and parts of addresses find nothing.",
    health: "Health",
    health_lead: "This page is about this node alone, and what it has noticed since it started. It has its database to itself, so there are no other nodes.",
    health_lead_of_many: "Each node that uses this database tells every 10 seconds how it does. The list shows what it told last. The rest of the page is about the node that answered, and what it has noticed since it started; which one answers is up to the balancer.",
    in_no_account: "Not a member of any account.",
    installation: "Installation",
    invitation_makes_member: |a, b, c| format!("Whoever accepts the invitation joins {a} as {b}. {c}"),
    invitation_makes_operator: "Whoever accepts the invitation becomes an operator, who administers accounts, users and plans of this installation.",
    invitation_once: "It works once, within 7 days, for this e-mail address alone, and is shown only here. Signpost sends no mail.",
    invite: "Invite somebody",
    invite_button: "Make invitation",
    invite_member: "Invite a member",
    invite_needs_place: "Name an account, or make the person an operator, or both.",
    invited_operator: |a| format!("You are invited to administer Signpost. To join, open\n{a}"),
    ip_address: "IP address",
    ip_address_hint: "Needed for failed passwords. Wrong codes are found by the e-mail address alone.",
    ip_wrong: "must be an IP address, such as 203.0.113.9 or 2001:db8::1",
    jobs: "Background jobs",
    last: |a, b| format!("{a} and {b}"),
    last_error: |a| format!("Last error, {a}:"),
    limit_codes: "Wait after the fifth wrong code and each further one, for a user at sign-in and for a session at a confirmation, on all nodes",
    limit_hashes: "Passwords checked at once, on this node",
    limit_hashes_is: "2, and 32 wait",
    limit_kept: "Failures are kept",
    limit_kept_is: |a| format!("24 hours, and at most {a} counts of failed passwords and codes"),
    limit_per_address: "Failures from an IP address, on this node",
    limit_per_address_is: "30 a minute",
    limit_per_pair: "Wait after the fifth wrong password and each further one, for an e-mail address from an IP address, on all nodes",
    limit_per_pair_is: |a| format!("{a}, and so on"),
    limit_session: "Requests of a session, on this node",
    limit_session_is: "600 a minute",
    limits: "Limits",
    limits_text: "The metric signpost_failed_sign_ins_total counts failures, and the log says once an hour that there are any.",
    link_is_saved: "I have saved the link",
    look_again: "Look again",
    look_up: "Look up",
    has_to_wait_minutes: |n| {
        if n == 1 {
            "The person has to wait for one more minute.".to_owned()
        } else {
            format!("The person has to wait for {n} more minutes.")
        }
    },
    has_to_wait_seconds: |n| {
        if n == 1 {
            "The person has to wait for one more second.".to_owned()
        } else {
            format!("The person has to wait for {n} more seconds.")
        }
    },
    may_sign_in: "Another attempt is allowed now.",
    members_none: "No user is a member of this account.",
    memberships: "Accounts of the user",
    more_nodes: |a| format!("Nodes that were heard from longer ago, and are not shown: {a}."),
    must_be_account: "Must be the id or the contact address of an account.",
    no_account_found: "No account has this id or contact address",
    no_accounts_text: "Create one, and send the link to its owner.",
    no_entry_matches: "No entry matches",
    no_failures: "No failed sign-in counts for this e-mail address from this IP address.",
    code_failures: |n, a| {
        format!(
            "At sign-in, after the right password, {} of the second factor count, the last on {a}, from whatever IP addresses.",
            counted(n, "wrong code")
        )
    },
    no_code_failures: "At sign-in, no wrong code of the second factor counts, from whatever IP address.",
    no_codes: "No user with a second factor has this e-mail address.",
    no_codes_advice: "To look up failed passwords, type an IP address as well.",
    no_nodes: |a| format!("The database gave no list of nodes: {a}"),
    node_clicks: |a| format!("Clicks waiting for the click store: {a}."),
    node_error: |a, b| format!("{a}. Last error, {b}:"),
    node_facts: |a, b| format!("Version {a}, started {b}."),
    node_heard: |a| format!("Heard from {a} ago."),
    node_not_heard: |a| {
        format!("Not heard from for {a}. It hangs, was killed, or does not reach the database.")
    },
    node_replaced: |a| format!("Not heard from for {a}. Another one has started on this machine since."),
    nodes: "Nodes",
    nodes_fail: |n| {
        if n == 1 {
            format!("Parts of another node fail. {TRIED_AGAIN}")
        } else {
            format!("Parts of {n} other nodes fail. {TRIED_AGAIN}")
        }
    },
    nodes_silent: |n| {
        if n == 1 { "One node is silent.".to_owned() } else { format!("{n} nodes are silent.") }
    },
    no_refusals: "Nothing yet.",
    forget_failures: "Forget these failures",
    forget_failures_text: "Another attempt is allowed at once. Whoever guesses can go on as well, so make sure who asked you. The audit keeps that you did it.",
    refusals: "Refused",
    refusals_hint: "Requests, visits and sign-ins that this node has refused since it started. A request that your program did not expect to be refused is in the log with its reason.",
    refusals_off: "This node counts nothing that it refuses, because it records no metrics: set metrics-listen.",
    refused_visits,
    refused_api: |code| format!("Requests to the API: {code}"),
    refused_dashboard: "Requests to the dashboard, sign-ins among them, beyond a limit (429)",
    refused_sign_ins: "Sign-ins and confirmations with a wrong password or code",
    no_jobs: "This node runs no background jobs.",
    no_user_found: "No user has this id or e-mail address",
    no_waiting_clicks: "None",
    none_yet: "None of the 2,000 entries that this page looked at matches. “Older” looks at the next ones.",
    not_found_text: "Type the whole id or the whole address. Upper and lower case of an address make no difference.",
    not_yet: "No success noted yet.",
    now: "Time of this node",
    operator: "Operator",
    operator_hint: "Operators administer this installation: accounts, users and plans.",
    other_node: "Not on this node",
    own_user: "This is your own user. Another operator can disable it.",
    owner_email: "Contact address of the account",
    owner_email_hint: "The owner is invited by this e-mail address.",
    part,
    part_searched: "These are the matches among 2,000 entries. Older looks at the next ones.",
    parts: "Stores and services",
    plan: "Plan",
    plan_unknown: |a| {
        format!(
            "This node does not know the plan {a}, so requests of the account fail. Choose another plan, or add it to the setting plans."
        )
    },
    plan_without_api: "The plan has no API, so the keys of the account get 403.",
    plan_wrong: "Must be one of the plans.",
    read_audit: "Audit of the account",
    records_no_clicks: "This node records no clicks",
    replaced: "Replaced",
    reported_part: |name| {
        let service = Part::SERVICES.into_iter().find(|service| service.name() == name);
        service.map_or_else(|| name.to_owned(), |service| part(service).0.to_owned())
    },
    reset: "Make reset link",
    reset_made: |a| format!("Link for {a} to set a new password"),
    reset_message: |a| format!("To set a new password for Signpost, open\n{a}"),
    reset_once: "It works once, within 24 hours, and is shown only here. The present password works until then.",
    reset_shown_once: |a| {
        format!(
            "The link for {a} to set a new password was made and shown once. Make another one on the page of the user; the old one then stops working."
        )
    },
    reset_text: "Makes a link to set a new password, and voids older ones.",
    resume: "Resume account",
    resume_text: "Its links open and its requests are answered again, at once.",
    said_account_deleted: "The account is deleted.",
    said_account_resumed: "The account is resumed: its links open again.",
    said_account_suspended: "The account is suspended: its links do not open.",
    said_failures_forgotten: "The failures are forgotten. Another attempt is allowed now.",
    said_plan_changed: "The plan is changed.",
    said_user_disabled: "The user is disabled and signed out everywhere. Reset links and invitations for the address are void.",
    said_user_enabled: "The user is enabled and can sign in.",
    said_user_signed_out: "All sessions of the user have ended.",
    search_audit: "Search in what was changed: an id or a name",
    seconds: |n| if n < 60 { format!("{n} s") } else { format!("{} min", n / 60) },
    send_to: |a| format!("Send this link to {a}"),
    serves_nothing: "The database gives no answer, and links are no longer opened from memory.",
    show_all: "Show all",
    sign_ins: "Sign-ins",
    sign_ins_lead: "What slows down somebody who guesses passwords. Nobody is locked out: live sessions and reset links go on working.",
    sign_out_everywhere: "Sign out everywhere",
    sign_out_text: "All sessions of the user end at once. The password stays.",
    silent: "Silent",
    some_fail: |n| {
        if n == 1 {
            format!("One part fails at present. {TRIED_AGAIN}")
        } else {
            format!("{n} parts fail at present. {TRIED_AGAIN}")
        }
    },
    state: "State",
    suspend: "Suspend account",
    suspend_text: "Its links stop opening and its API requests are refused, at once. Members can still read.",
    suspended: "Suspended",
    suspended_since: |a| format!("Suspended since {a}"),
    taken_account: "is that of another account",
    this_node: "This node",
    title_account_created: "Account created",
    title_reset: "Reset link",
    type_email: |a| format!("Type {a} to confirm"),
    unused: "Not used yet",
    users: "Users",
    users_lead: "Everybody who can sign in to this dashboard, newest first.",
    version: "Version",
    waiting_clicks: "Clicks waiting on this node for the click store",
    waiting_clicks_of: |a, b| format!("{a} ({b})"),
    waiting_since: |a| format!("the oldest since {a}"),
    what: "What was done",
    who: "Who did it",
    who_hint: "E-mail or id",
    who_malformed: "must be an e-mail address, the id of a user (usr_…) or of a key (key_…), or the word “command”",
    who_waits: "Who has to wait",
    who_waits_text: "Failures are stored by a hash of the e-mail address and the IP address, so they cannot be listed. Type both to look them up. At sign-in, wrong codes of a second factor count for the user, from whatever IP address. Those typed to confirm count for the session, and are not shown here. A reset of the password, or removing the second factor, ends their wait, and so does forgetting the failures.",
    worked_at: |a| format!("Last worked: {a}."),
    works: "Works",
};

/// Why a part may be shown as failing long after its cause is gone.
const TRIED_AGAIN: &str = "A part counts as failing until it works again. A job is tried again within an hour; name servers and the certificate authority are tried when they are needed next.";

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
        Part::SecretsKey => ("Secrets key", "Opens the account at the certificate authority."),
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
        "report-node" => "Tells the other nodes how this one does.",
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

/// Why visits reached no link. Other reasons are shown by their names.
fn refused_visits(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "bot" => "Visits of bots, blocked by the link",
        "country" => "Visits from countries that the link blocks",
        "inactive" => "Visits to links that are turned off",
        "suspended" => "Visits to links of suspended accounts",
        "listed" => "Visits whose target is on the list of blocked hosts",
        "loop" => "Visits that would have gone in circles",
        "unknown" => "Visits to addresses without a link",
        "scheduled" => "Visits to links before their start",
        "expired" => "Visits to links after their end",
        "exhausted" => "Visits to links whose visits are used up",
        "throttled" => "Visits from networks with too many visits to addresses without a link",
        "unavailable" => "Visits to links that the database could not be asked for",
        "password_throttled" => "Passwords of links after too many wrong ones",
        "passwords_busy" => "Passwords of links while too many were checked at once",
        _ => return None,
    })
}
