//! What a check finds.

use std::process::ExitCode;

use serde::Serialize;

/// How serious a finding is. The order is that of seriousness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    /// As it should be.
    Ok,
    /// It may be intended, or it limits the installation.
    Warn,
    /// Something does not work.
    Fail,
}

impl Severity {
    /// The word at the beginning of a line.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    /// The exit status of the command, if this is the most serious finding (D206).
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Ok => ExitCode::SUCCESS,
            Self::Warn => ExitCode::from(1),
            Self::Fail => ExitCode::from(2),
        }
    }
}

/// One finding, as a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    /// What was checked: `settings`, `ports`, `names`, …
    pub(crate) subject: &'static str,
    /// What was found, with the culprit.
    pub(crate) message: String,
    /// What to do, with one command where there is one. `None` if there is nothing to do.
    pub(crate) advice: Option<String>,
}

impl Finding {
    pub(crate) fn ok(subject: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Ok, subject, message: message.into(), advice: None }
    }

    pub(crate) fn warn(subject: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { severity: Severity::Warn, subject, message: message.into(), advice: Some(advice.into()) }
    }

    /// A warning that says itself what to do.
    pub(crate) fn remark(subject: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warn, subject, message: message.into(), advice: None }
    }

    /// A failure whose message says itself what to do.
    pub(crate) fn refusal(subject: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Fail, subject, message: message.into(), advice: None }
    }

    pub(crate) fn fail(subject: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { severity: Severity::Fail, subject, message: message.into(), advice: Some(advice.into()) }
    }

    /// For people, on one line.
    pub(crate) fn line(&self) -> String {
        let Self { severity, subject, message, advice } = self;
        let line = format!("{:<5} {subject:<9} {}", severity.as_str(), message.trim_end_matches('.'));
        match advice {
            Some(advice) => format!("{line}. {advice}"),
            None => line,
        }
    }
}

/// The most serious of all findings.
pub(crate) fn worst(findings: &[Finding]) -> Severity {
    findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d206_most_serious_finding_decides() {
        let ok = Finding::ok("names", "fine");
        let warn = Finding::warn("names", "odd", "Look.");
        let fail = Finding::fail("names", "broken", "Mend it.");
        assert_eq!(worst(&[]), Severity::Ok);
        assert_eq!(worst(&[ok.clone(), warn.clone()]), Severity::Warn);
        assert_eq!(worst(&[fail.clone(), warn, ok.clone()]), Severity::Fail);
        assert_eq!(fail.line(), "fail  names     broken. Mend it.");
        assert_eq!(ok.line(), "ok    names     fine");
    }
}
