//! `signpost certificate`.

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::{Value, json};
use signpost_app::Application;
use signpost_app::certificates::{self, Issuance, ShownCertificate};
use signpost_app::ports::StoredCertificate;
use signpost_domain::{Hostname, Timestamp};

use super::UsageError;
use super::output::{Output, unless_reader_left};

/// The subcommands of `signpost certificate`.
#[derive(Debug, Subcommand)]
pub(crate) enum CertificateCommand {
    /// List the hostnames that have or want a certificate, with the state of each.
    List,
    /// Show the certificate of a hostname, and why the last order failed.
    Show {
        /// The hostname.
        #[arg(value_parser = hostname)]
        hostname: Hostname,
    },
    /// Order the certificate of a hostname anew, even if the present one is still good. A running server does it within seconds.
    Renew {
        /// The hostname.
        #[arg(value_parser = hostname)]
        hostname: Hostname,
    },
    /// Remove the certificate of a hostname and its key. If the hostname still wants one, a running server orders another one.
    Forget {
        /// The hostname.
        #[arg(value_parser = hostname)]
        hostname: Hostname,
        /// Revoke the certificate first, because its key may be known to others.
        #[arg(long)]
        compromised: bool,
    },
    /// Remove all certificates and the account at the authority, after the secrets key was lost. A running server orders
    /// everything anew, within the limits of the authority.
    Reset {
        /// Confirm it.
        #[arg(long)]
        yes: bool,
    },
}

fn hostname(text: &str) -> Result<Hostname, String> {
    Hostname::parse(text).map_err(|error| error.message().to_owned())
}

impl CertificateCommand {
    /// Whether the command speaks to the authority, or names it.
    pub(super) const fn needs_issuance(&self) -> bool {
        match self {
            Self::List | Self::Show { .. } | Self::Renew { .. } | Self::Forget { compromised: false, .. } => {
                false
            }
            Self::Forget { compromised: true, .. } | Self::Reset { .. } => true,
        }
    }

    /// Refuses a command that destroys much without its confirmation.
    pub(super) fn require_confirmation(&self) -> Result<(), UsageError> {
        match self {
            Self::Reset { yes: false } => Err(UsageError(
                "all certificates are removed and ordered anew: confirm with --yes".to_owned(),
            )),
            Self::Reset { yes: true }
            | Self::List
            | Self::Show { .. }
            | Self::Renew { .. }
            | Self::Forget { .. } => Ok(()),
        }
    }
}

/// Runs the subcommand.
pub(super) async fn run(
    app: &Application,
    command: CertificateCommand,
    output: &mut Output<'_>,
) -> Result<()> {
    let now = app.clock.now();
    match command {
        CertificateCommand::List => unless_reader_left(list(app, now, output).await),
        CertificateCommand::Show { hostname } => {
            let stored = certificates::find(app, &hostname).await?.with_context(|| unknown(&hostname))?;
            Ok(output.result(&json_of(&stored, now), text_of(&stored, now))?)
        }
        CertificateCommand::Renew { hostname } => {
            if !certificates::renew(app, &hostname).await? {
                if certificates::find(app, &hostname).await?.is_none() {
                    bail!(unknown(&hostname));
                }
                bail!(
                    "a server is working on the certificate of {hostname} at the moment: try again in two minutes"
                );
            }
            let json = json!({ "hostname": hostname.as_str(), "due": true });
            Ok(output.result(
                &json,
                format!(
                    "The certificate of {hostname} is due: a running server orders it within seconds, unless a limit or the authority makes \
                     it wait. `signpost certificate show {hostname}` tells."
                ),
            )?)
        }
        CertificateCommand::Forget { hostname, compromised } => {
            if compromised {
                let issuance = issuance(app)?;
                certificates::revoke(app, issuance, &hostname).await?;
            }
            if !certificates::forget(app, &hostname).await? {
                bail!(unknown(&hostname));
            }
            let json = json!({ "hostname": hostname.as_str(), "forgotten": true, "revoked": compromised });
            let revoked = if compromised { "revoked and removed" } else { "removed" };
            Ok(output.result(&json, format!("The certificate of {hostname} was {revoked}."))?)
        }
        CertificateCommand::Reset { yes: _ } => {
            let removed = certificates::reset(app, &issuance(app)?.directory).await?;
            let text = format!(
                "Removed the account at the authority and what was stored about {removed} hostnames."
            );
            Ok(output.result(&json!({ "removed": removed }), text)?)
        }
    }
}

fn issuance(app: &Application) -> Result<&Issuance> {
    app.issuance.as_ref().context(
        "`acme-email` is not set: this command needs the settings of `serve`, from the settings file or the environment",
    )
}

fn unknown(hostname: &Hostname) -> String {
    format!(
        "nothing is known of a certificate for {hostname}. A running server notes a name that wants one within half a minute: one of its own, or \
         a custom domain that is proven. Is `acme-email` set?"
    )
}

async fn list(app: &Application, now: Timestamp, output: &mut Output<'_>) -> Result<()> {
    let all = certificates::list(app).await?;
    let mut list =
        output.list(format!("{:40}  {:8}  {:24}  {:24}  REASON", "HOSTNAME", "STATE", "EXPIRES", "NEXT"))?;
    for stored in all {
        let shown = ShownCertificate::at(Some(&stored.summary()), now);
        let [expires, next] = [shown.not_after, shown.next_attempt_at]
            .map(|at| at.map_or_else(|| "-".to_owned(), |at| at.to_string()));
        let reason = shown.failure.as_ref().map(|failure| failure.reason.as_str()).unwrap_or_default();
        let line = format!(
            "{:40}  {:8}  {expires:24}  {next:24}  {reason}",
            stored.hostname.as_str(),
            shown.status.as_str()
        );
        list.item(&json_of(&stored, now), line.trim_end())?;
    }
    Ok(list.finish()?)
}

fn json_of(stored: &StoredCertificate, now: Timestamp) -> Value {
    let shown = ShownCertificate::at(Some(&stored.summary()), now);
    let ShownCertificate { status, issuer, not_after, renews_at, last_attempt_at, next_attempt_at, failure } =
        shown;
    let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "hostname": stored.hostname.as_str(),
        "account_id": stored.account.map(|account| account.to_string()),
        "status": status.as_str(),
        "issuer": issuer,
        "not_after": text(not_after),
        "renews_at": text(renews_at),
        "last_attempt_at": text(last_attempt_at),
        "next_attempt_at": text(next_attempt_at),
        "failures": stored.plan.failures,
        "failure_reason": failure.as_ref().map(|failure| failure.reason.as_str()),
        "message": failure.as_ref().and_then(|failure| failure.message.as_ref()).map(ToString::to_string),
    })
}

fn text_of(stored: &StoredCertificate, now: Timestamp) -> String {
    let shown = ShownCertificate::at(Some(&stored.summary()), now);
    let ShownCertificate { status, issuer, not_after, renews_at, last_attempt_at, next_attempt_at, failure } =
        shown;
    let at = |at: Option<Timestamp>| at.map(|at| at.to_string());
    let rows = [
        ("hostname", Some(stored.hostname.to_string())),
        ("account", stored.account.map(|account| account.to_string())),
        ("state", Some(status.as_str().to_owned())),
        ("issuer", issuer),
        ("expires", at(not_after)),
        ("renews", at(renews_at)),
        ("last attempt", at(last_attempt_at)),
        ("next attempt", at(next_attempt_at)),
        ("failures", (stored.plan.failures > 0).then(|| stored.plan.failures.to_string())),
        ("reason", failure.as_ref().map(|failure| failure.reason.as_str().to_owned())),
        ("message", failure.and_then(|failure| failure.message).map(|message| message.to_string())),
    ];
    let lines = rows.into_iter().filter_map(|(name, value)| Some(format!("{name:14}{}", value?)));
    lines.collect::<Vec<_>>().join("\n")
}
