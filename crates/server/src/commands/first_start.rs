//! The first account and the first user, and what the start prints about them (D62, D79).

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::json;
use signpost_app::Application;
use signpost_app::accounts::{self, CreateAccount, FirstStart};
use signpost_app::people::tickets;
use signpost_dashboard::DashboardOrigin;
use signpost_domain::{Email, PageLimit, PlanName, Plans, RequestBudget, SecretToken};

use super::account::created;
use super::output::Output;

/// The owner of the first account. The operator has given no address yet, and mail to this one never leaves the
/// machine.
const OWNER: &str = "owner@localhost";

/// The plan of the first account (D62).
pub(crate) const FIRST_PLAN: &str = "agency";

/// The file for secrets of the first start, in `data-dir`.
pub(crate) const FIRST_START_FILE: &str = "signpost-first-start.txt";

/// Where the listeners of the program are reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'a> {
    /// The API.
    pub(super) api: SocketAddr,
    /// The origin at which links open.
    pub(super) links_open_at: &'a str,
    /// The origin of the dashboard, unless it is off.
    pub(super) dashboard: Option<&'a DashboardOrigin>,
    /// Where secrets go instead of standard output, because that is a log that others read.
    pub(super) secrets_file: Option<&'a Path>,
}

/// The file for what the first start prints, if a service manager runs the program: its journal keeps standard output (D79).
pub(super) fn secrets_file(data_dir: &Path) -> Option<PathBuf> {
    is_read_by_a_journal().then(|| data_dir.join(FIRST_START_FILE))
}

/// Whether standard output goes to systemd's journal. It names its stream by device and inode, because children of a service
/// inherit the variable but not always the stream.
fn is_read_by_a_journal() -> bool {
    #[cfg(unix)]
    {
        let Some(stream) = std::env::var_os("JOURNAL_STREAM") else { return false };
        let own = rustix::fs::fstat(std::io::stdout()).map(|stat| format!("{}:{}", stat.st_dev, stat.st_ino));
        own.is_ok_and(|own| stream.to_str() == Some(own.as_str()))
    }
    #[cfg(not(unix))]
    {
        false
    }
}

/// Prints a text with secrets, or writes it to the file for them and logs its path.
fn print_secrets(
    json: &serde_json::Value,
    text: &str,
    secrets_file: Option<&Path>,
    output: &mut Output<'_>,
) -> Result<()> {
    let Some(path) = secrets_file else { return Ok(output.result(json, text)?) };
    write_private(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    tracing::info!(
        path = %path.display(),
        "what the first start shows once is in a file, because the journal is no place for secrets: read it and delete it"
    );
    Ok(())
}

/// Replaces a file by one that only its owner reads. It has the old or the new content at every moment.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Only its owner may read a temporary file, and it keeps these rights.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// What the file of secrets holds. A file that cannot be read must not be replaced either.
fn kept_secrets(path: &Path) -> Result<String> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// The content of the file of secrets with a new start URL. A start before anybody has read the file must not take the key out of it,
/// which is shown once.
fn with_start_url(content: &str, start_url: &str, otherwise: &str) -> String {
    let is_old_url = |line: &str| line.trim_start().starts_with("http") && line.contains("/start/");
    if content.lines().any(is_old_url) {
        let lines = content
            .lines()
            .map(|line| if is_old_url(line) { format!("  {start_url}\n") } else { format!("{line}\n") });
        lines.collect()
    } else if content.is_empty() {
        otherwise.to_owned()
    } else {
        format!("{content}\n{otherwise}")
    }
}

/// Creates the first account with a key if no account exists, and prints them with a curl line to try. While no user exists,
/// also prints a new address at which the first user is created (D79).
pub(super) async fn run(app: &Application, places: Places<'_>, output: &mut Output<'_>) -> Result<()> {
    let command =
        CreateAccount { email: Email::parse(OWNER)?, name: None, plan: PlanName::parse(FIRST_PLAN)? };
    let first = accounts::first_start(app, command).await?;
    let start_url = match places.dashboard {
        Some(origin) => tickets::first_start(app).await?.map(|token| url_of(origin, "start", &token)),
        None => None,
    };
    match (first, start_url) {
        (Some(first), start_url) => print_first(app, first, places, start_url.as_deref(), output),
        (None, Some(start_url)) => {
            let json = json!({ "event": "no_user", "start_url": start_url });
            let text = format!(
                "Nobody can sign in to the dashboard yet. Create the first user at\n\n  {start_url}\n"
            );
            let kept = places.secrets_file.map(kept_secrets).transpose()?.unwrap_or_default();
            let text = with_start_url(&kept, &start_url, &text);
            print_secrets(&json, &text, places.secrets_file, output)
        }
        (None, None) => Ok(()),
    }
}

fn print_first(
    app: &Application,
    first: FirstStart,
    places: Places<'_>,
    start_url: Option<&str>,
    output: &mut Output<'_>,
) -> Result<()> {
    let FirstStart { account, key, secret } = first;
    let Places { api, links_open_at, dashboard: _, secrets_file } = places;
    let secret = secret.expose();
    let curl = curl(api, secret);
    let docs = format!("http://{}/docs", reachable(api));
    let budget = app.plans.get(&account.plan).map(|plan| plan.budget);
    let limits = budget.map_or_else(String::new, |RequestBudget { per_minute, per_day }| {
        format!("{per_minute} requests a minute and {per_day} a day")
    });
    let lift_limits = format!("signpost account set-plan {} {}", account.id, Plans::UNLIMITED);
    let json = json!({
        "event": "first_start",
        "account": created(&account),
        "key": { "id": key.id.to_string(), "key": secret },
        "curl": curl,
        "docs": docs,
        "lift_limits": lift_limits,
        "start_url": start_url,
    });
    let dashboard = start_url.map_or_else(String::new, |start_url| {
        format!("\nOr do it in a browser: create your user within 24 hours at\n\n  {start_url}\n")
    });
    let text = format!(
        "\
Created your first account, {id} (plan: {plan}). API key, shown once:

  {secret}

Create a short link:

  {curl}

The link opens at {links_open_at}/ followed by the `slug` of the answer.
Try the rest of the API in a browser at {docs}
The plan allows {limits}. On a machine of your own, lift that:

  {lift_limits}
{dashboard}",
        id = account.id,
        plan = account.plan,
    );
    print_secrets(&json, &text, secrets_file, output).with_context(|| {
        format!(
            "the account {} exists now; issue another key: signpost key issue --account {}",
            account.id, account.id
        )
    })
}

/// The address of the dashboard at which a ticket is used.
pub(super) fn url_of(origin: &DashboardOrigin, kind: &str, token: &SecretToken) -> String {
    format!("{}/{kind}/{}", origin.as_str(), token.expose())
}

/// Prints the commands that create an account, or an operator's user, if there is none. On PostgreSQL several nodes may start
/// at once, so no node creates them itself.
pub(super) async fn suggest_commands(
    app: &Application,
    places: Places<'_>,
    output: &mut Output<'_>,
) -> Result<()> {
    let accounts = app.store.accounts(PageLimit::default(), None).await?;
    let mut commands = vec![];
    if accounts.items.is_empty() && accounts.left_out == 0 {
        commands.push("signpost account create --email you@example.com");
        commands.push("signpost key issue --account acc_…");
    }
    let lacks_users = places.dashboard.is_some() && !app.store.any_user().await?;
    if lacks_users {
        commands.push(
            "signpost user invite --operator --email you@example.com --account you@example.com --role owner",
        );
    }
    let (event, what) = match (commands.len(), lacks_users) {
        (0, _) => return Ok(()),
        (1, true) => (
            "no_user",
            "Nobody can sign in to the dashboard yet. With the same settings, this command invites you:",
        ),
        (_, true) => (
            "no_account",
            "No account exists yet. With the same settings, these commands create one, issue its key, and invite you to the dashboard:",
        ),
        (_, false) => (
            "no_account",
            "No account exists yet. With the same settings, these commands create one and issue its key:",
        ),
    };
    let json = json!({ "event": event, "commands": commands });
    let text = format!("{what}\n\n  {}\n", commands.join("\n  "));
    Ok(output.result(&json, text)?)
}

/// A curl line that creates a link, ready to paste.
pub(crate) fn curl(api: SocketAddr, secret: &str) -> String {
    format!(
        "curl -X POST http://{}/v1/redirects -H 'Authorization: Bearer {secret}' -H 'Content-Type: application/json' \
         -d '{{\"name\": \"My first link\", \"target_url\": \"https://example.com/\"}}'",
        reachable(api)
    )
}

/// The address at which this machine reaches a listener. Clients cannot connect to the unspecified address.
pub(crate) fn reachable(listener: SocketAddr) -> SocketAddr {
    let address = match listener.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        address => address,
    };
    SocketAddr::new(address, listener.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d62_the_curl_line_names_a_reachable_address() {
        for (listener, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080/v1/redirects"),
            ("0.0.0.0:9000", "http://127.0.0.1:9000/v1/redirects"),
            ("[::]:9000", "http://[::1]:9000/v1/redirects"),
            ("192.0.2.1:80", "http://192.0.2.1:80/v1/redirects"),
        ] {
            let line = curl(listener.parse().unwrap(), "sp_live_x");
            assert!(
                line.starts_with(&format!("curl -X POST {url} -H 'Authorization: Bearer sp_live_x' ")),
                "{line}"
            );
        }
    }

    #[test]
    fn d62_the_curl_line_sends_a_valid_body() {
        let line = curl("127.0.0.1:1".parse().unwrap(), "sp_live_x");
        let (_, body) = line.split_once(" -d '").unwrap();
        let body: serde_json::Value = serde_json::from_str(body.strip_suffix('\'').unwrap()).unwrap();
        assert_eq!(body, json!({ "name": "My first link", "target_url": "https://example.com/" }));
    }

    #[test]
    fn d79_later_start_keeps_the_key_in_the_file_and_replaces_the_start_url() {
        let url = "http://localhost:8082/start/new";
        let with = |content: &str| with_start_url(content, url, "first user at new\n");
        assert_eq!(with(""), "first user at new\n");
        let first = "key sp_live_1\n\n  http://localhost:8082/start/old\n";
        assert_eq!(with(first), "key sp_live_1\n\n  http://localhost:8082/start/new\n");
        assert_eq!(with("key sp_live_1\n"), "key sp_live_1\n\nfirst user at new\n");
    }
}
