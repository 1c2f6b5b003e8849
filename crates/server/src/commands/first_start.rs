//! The first account, and what the first start prints about it (D62).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::Result;
use serde_json::json;
use signpost_app::Application;
use signpost_app::accounts::{self, CreateAccount, FirstStart};
use signpost_domain::{Email, PageLimit, PlanName, Plans, RequestBudget};

use super::account::created;
use super::output::Output;

/// The owner of the first account. The operator has given no address yet, and mail to this one never leaves the
/// machine.
const OWNER: &str = "owner@localhost";

/// The plan of the first account (D62).
const PLAN: &str = "agency";

/// Creates the first account with a key if no account exists, and prints them with a curl line to try.
pub(super) async fn run(
    app: &Application,
    api: SocketAddr,
    links_open_at: &str,
    output: &mut Output<'_>,
) -> Result<()> {
    let command = CreateAccount { email: Email::parse(OWNER)?, name: None, plan: PlanName::parse(PLAN)? };
    let Some(FirstStart { account, key, secret }) = accounts::first_start(app, command).await? else {
        return Ok(());
    };
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
",
        id = account.id,
        plan = account.plan,
    );
    Ok(output.result(&json, text)?)
}

/// Prints the commands that create an account if none exists. On PostgreSQL several nodes may start at once, so
/// no node creates an account itself.
pub(super) async fn suggest_commands(app: &Application, output: &mut Output<'_>) -> Result<()> {
    let accounts = app.store.accounts(PageLimit::default(), None).await?;
    if !accounts.items.is_empty() || accounts.left_out > 0 {
        return Ok(());
    }
    let commands = ["signpost account create --email you@example.com", "signpost key issue --account acc_…"];
    let json = json!({ "event": "no_account", "commands": commands });
    let text = format!(
        "\
No account exists yet. With the same settings, these commands create one and issue its key:

  {}
  {}
",
        commands[0], commands[1]
    );
    Ok(output.result(&json, text)?)
}

/// A curl line that creates a link, ready to paste.
fn curl(api: SocketAddr, secret: &str) -> String {
    format!(
        "curl -X POST http://{}/v1/redirects -H 'Authorization: Bearer {secret}' -H 'Content-Type: application/json' \
         -d '{{\"name\": \"My first link\", \"target_url\": \"https://example.com/\"}}'",
        reachable(api)
    )
}

/// The address at which this machine reaches a listener. Clients cannot connect to the unspecified address.
fn reachable(listener: SocketAddr) -> SocketAddr {
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
}
