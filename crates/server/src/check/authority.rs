//! Whether the certificate authority can be reached, agrees about the time, and may issue for a name.

use signpost_acme::{AcmeAuthority, ClockDifference};
use signpost_app::certificates::{CaaRefusal, caa_refusal};
use signpost_app::ports::{CertificateAuthority as _, Clock, DnsProvider};
use signpost_domain::{CaaIssuer, Hostname, ValidationMethod};

use super::finding::Finding;

/// Asks the authority for its directory. Returns the domains by which records name it, unless it gave no answer.
pub(super) async fn check(authority: &AcmeAuthority, directory: &str) -> (Option<Vec<String>>, Vec<Finding>) {
    let host = directory.trim_start_matches("https://").split('/').next().unwrap_or(directory);
    match authority.issuer_domains().await {
        Ok(domains) => {
            let reached = Finding::ok("authority", format!("the certificate authority at {host} answers"));
            (Some(domains), vec![reached, clock(authority.clock_difference())])
        }
        Err(error) => {
            let unreachable = Finding::fail(
                "authority",
                format!("the certificate authority at {host} cannot be asked: {error}"),
                format!("Let this machine connect to it: curl -v {directory}"),
            );
            (None, vec![unreachable])
        }
    }
}

fn clock(difference: Option<ClockDifference>) -> Finding {
    match difference {
        None => Finding::ok("clock", "this machine's clock agrees with the authority's"),
        Some(ClockDifference { by, is_ahead }) => Finding::fail(
            "clock",
            format!(
                "this machine's clock is {} s {} that of the authority",
                by.as_secs(),
                if is_ahead { "ahead of" } else { "behind" }
            ),
            "Correct it: timedatectl set-ntp true",
        ),
    }
}

/// Whether the records of a name let the authority issue. The account at the authority is not known here, so records that
/// name one are not judged.
pub(super) async fn check_caa(
    dns: &dyn DnsProvider,
    clock: &dyn Clock,
    name: &Hostname,
    issuer_domains: &[String],
) -> Finding {
    let issuer =
        CaaIssuer { domains: issuer_domains, account_uri: "", method: ValidationMethod::Http.as_str() };
    match caa_refusal(dns, clock, name, &issuer).await {
        Ok(None) => Finding::ok("caa", format!("the CAA records of {name} allow the authority")),
        Ok(Some(CaaRefusal::OtherTerms { problem })) => Finding::warn(
            "caa",
            problem,
            "That is right if the record names this installation's account at the authority",
        ),
        Ok(Some(CaaRefusal::Forbidden { problem, record })) => {
            let advice = record.map_or_else(
                || "Remove the CAA record with the unknown tag at your DNS provider".to_owned(),
                |record| format!("Add this record at your DNS provider: {record}"),
            );
            Finding::fail("caa", problem, advice)
        }
        Err(error) => Finding::warn(
            "caa",
            format!("the CAA records of {name} cannot be looked up: {error}"),
            format!("Certificates wait until they can: dig CAA {name}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::finding::Severity;
    use super::*;

    #[test]
    fn d206_clock_that_is_off_by_ten_minutes_fails() {
        let by = Duration::from_mins(10);
        let found = clock(Some(ClockDifference { by, is_ahead: true }));
        assert!(found.severity == Severity::Fail && found.line().contains("600 s ahead"), "{}", found.line());
        assert!(found.line().contains("timedatectl set-ntp true"), "{}", found.line());
        assert_eq!(clock(None).severity, Severity::Ok);
    }
}
