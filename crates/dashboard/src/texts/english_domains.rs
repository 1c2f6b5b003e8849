//! Custom domains in English.

use signpost_domain::{CertificateFailureReason, CertificateStatus, FailureReason, RecordStatus, StatusKind};

use super::DomainTexts;

pub(super) static DOMAINS: DomainTexts = DomainTexts {
    certificate_failure,
    certificate_status,
    failure,
    state,
    verdict,
    check_again: "Try again",
    check_now: "Check now",
    certificate: "Certificate",
    certificate_attempt: "Last attempt",
    certificate_elsewhere: "Signpost obtains no certificates here, so HTTPS on this domain is up to the server in front of Signpost.",
    certificate_ends: "Valid until",
    certificate_issuer: "Issued by",
    certificate_next: "Next attempt",
    certificate_renews: "Renewed on",
    changed_meanwhile: |a, b, c| {
        format!(
            "Somebody changed this domain after the page was shown. Stored now: root: {a}; not found: {b}; ended links: {c}. What you typed is below, and saving puts it in their place."
        )
    },
    connect: "Connect domain",
    connected: "Connected",
    copy_name: |a| format!("Copy the name {a}"),
    copy_value: |a| format!("Copy the value {a}"),
    curl_connect: "Connect a domain",
    curl_delete: "Delete this domain",
    curl_list: "List domains",
    curl_read: "Read this domain",
    curl_verify: "Check this domain now",
    delete: "Delete this domain…",
    delete_text: |n| {
        match n {
        0 => "No link has an address on this domain. The hostname is free for others at once.".to_owned(),
        1 => "One link loses its address and opens nowhere until you give it another one. The hostname is free for others at once."
            .to_owned(),
        _ => format!(
            "{n} links lose their addresses and open nowhere until you give them others. The hostname is free for others at once."
        ),
    }
    },
    delete_text_many: |a| {
        format!(
            "More than {a} links lose their addresses and open nowhere until you give them others. The hostname is free for others at once."
        )
    },
    expected: "Value",
    expired_url: "Ended links",
    expired_url_hint: "Where links lead that have ended and name no address of their own. Empty: a page that says so.",
    failed_next: "To start over, correct the records and try again.",
    history: "History",
    history_changed: |a, b| format!("{a}: {b}"),
    hostname: "Hostname",
    hostname_hint: "A name of yours, such as go.example.com. After connecting, you get the DNS records to add.",
    is_active: "Links on this domain open.",
    is_misdirected: |a| {
        format!(
            "DNS has led this hostname elsewhere since {a}. If that lasts for 72 hours, its links stop opening and the domain fails."
        )
    },
    is_pending: |a| {
        format!(
            "Add the records below at your DNS provider. Signpost looks for them by itself until {a}, and takes the domain into service when it has found them."
        )
    },
    is_ssl_hindered: |a| {
        format!(
            "The records are right, but there is no certificate yet. Without one by {a}, the domain fails."
        )
    },
    is_ssl_pending: |a| {
        format!(
            "The records are right. The certificate is being ordered, which usually takes less than a minute. Without one by {a}, the domain fails."
        )
    },
    last_check: "Last check",
    lead: "Put your links on a name of your own. Each domain needs one DNS record that leads visitors here, and one that proves it is yours.",
    leads_elsewhere: "Leads elsewhere",
    links: "Links",
    links_many: |a| format!("more than {a}"),
    nav: "Domains",
    never: "Not yet",
    next_check: "Next check",
    none: "No domains yet",
    none_text: "With a domain of your own, visitors see your name in every link.",
    not_found_url: "Not found",
    not_found_url_hint: "Where every address leads at which no link opens. Empty: a page that says so.",
    nothing_seen: "Nothing",
    nowhere: "nowhere",
    plan_without: "Your plan has no custom domains. Domains that you have already connected go on working.",
    record_name: "Name",
    records: "DNS records",
    records_of: "The records stay the same in every state. A name is written in full: if your provider adds the zone, enter only the part before it.",
    records_found: |a, b| format!("{a} of {b} records found"),
    root_url: "Root",
    root_url_hint: "Where the hostname alone leads. A link at the root comes first.",
    said_checked: "Checked just now.",
    said_checked_missing: |a, b| format!("Checked: {a} of {b} records are missing or wrong."),
    said_deleted: "The domain is deleted.",
    said_saved: "Saved.",
    seen: "Found in DNS",
    seen_addresses: "The DNS provider answers with addresses instead of the name. All of them lead here, so they count as well.",
    seen_some: "At most five values are shown, so there may be more.",
    show_links: |n| if n == 1 { "1 link".to_owned() } else { format!("{n} links") },
    taken: "Another account has connected this hostname.",
    taken_check: "If it is yours, add the TXT record below, and connect the hostname again on the page Domains.",
    taken_prove: "If the hostname is yours, add this record at your DNS provider, and connect it again. That outdoes a claim that was never proven.",
    txt_only_once: "Needed only to connect the domain. You may keep it for the next time.",
    visitors: "Visitors without a link",
    visitors_text: "All of them are redirects, and none counts as a click.",
    wrong_text: "None of the values found is the expected one. Add this record beside the others, which may stay.",
};

const fn state(status: StatusKind) -> &'static str {
    match status {
        StatusKind::Pending => "Waiting for DNS",
        StatusKind::SslPending => "Waiting for the certificate",
        StatusKind::Active => "Active",
        StatusKind::Failed => "Failed",
    }
}

const fn verdict(status: RecordStatus) -> &'static str {
    match status {
        RecordStatus::Unknown => "Not checked yet",
        RecordStatus::Found => "Found",
        RecordStatus::Missing => "Missing",
        RecordStatus::Wrong => "Wrong",
    }
}

const fn failure(reason: Option<&FailureReason>) -> &'static str {
    match reason {
        Some(FailureReason::DeadlinePassed) => "The records were not found in time.",
        Some(FailureReason::ProvedByAnotherAccount) => {
            "Another account has proved that this hostname is theirs."
        }
        Some(FailureReason::PointsElsewhere) => "DNS led this hostname elsewhere for 72 hours.",
        Some(FailureReason::NoCertificate) => "No certificate could be obtained for 72 hours.",
        Some(FailureReason::Other(_)) | None => "The domain is out of service.",
    }
}

const fn certificate_status(status: CertificateStatus) -> &'static str {
    match status {
        CertificateStatus::None => "None",
        CertificateStatus::Ordering => "Being ordered",
        CertificateStatus::Active => "In use",
        CertificateStatus::Renewing => "In use, being renewed",
        CertificateStatus::Failing => "The last order failed",
        CertificateStatus::Expired => "Expired",
    }
}

const fn certificate_failure(reason: &CertificateFailureReason) -> &'static str {
    match reason {
        CertificateFailureReason::CaaForbids => {
            "CAA records of this hostname do not allow the authority to issue a certificate. Allow it there, or remove them."
        }
        CertificateFailureReason::PointsElsewhere => "DNS leads this hostname elsewhere.",
        CertificateFailureReason::Unreachable => {
            "The authority could not connect to this hostname on port 80. A firewall may be in the way."
        }
        CertificateFailureReason::WrongAnswer => {
            "Another server answered the authority for this hostname. Remove address records that do not lead here."
        }
        CertificateFailureReason::RateLimited => "A limit on orders is used up for now.",
        CertificateFailureReason::NameRefused => "The authority issues no certificate for this name.",
        CertificateFailureReason::AuthorityUnavailable => "The authority does not answer at present.",
        CertificateFailureReason::DnsFailed => "The name servers of this hostname do not answer.",
        CertificateFailureReason::Other(_) => "The order failed.",
    }
}
