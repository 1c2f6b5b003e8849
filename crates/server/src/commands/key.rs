//! `signpost key`.

use anyhow::Result;
use clap::Subcommand;
use serde_json::json;
use signpost_app::Application;
use signpost_app::accounts::{self, AccountReference};
use signpost_app::keys::{self, KeyReference, NewKey};
use signpost_domain::{AccountId, ApiKey, Name, Permission, PermissionSet, Timestamp};

use super::UsageError;
use super::output::{Output, unless_reader_left};
use super::secrets::KeyReferenceParser;

/// The subcommands of `signpost key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Issue a key. It is shown only once.
    Issue {
        /// Account of the key: its id or its contact address.
        #[arg(long)]
        account: AccountReference,
        /// Name of the key.
        #[arg(long, value_parser = Name::parse)]
        name: Option<Name>,
        /// Instant from which on the key is refused, such as 2027-01-31T00:00:00Z. Without it the key does not expire.
        #[arg(long, value_parser = Timestamp::parse)]
        expires: Option<Timestamp>,
        /// What the key may do: read, links, domains, analytics. A scope for writing includes no reading. Without it the key
        /// may do everything.
        #[arg(long, value_name = "SCOPE,...", value_delimiter = ',', value_parser = scope)]
        scopes: Option<Vec<Permission>>,
    },
    /// List the keys of an account, revoked ones included, newest first.
    List {
        /// Account: its id or its contact address.
        #[arg(long)]
        account: AccountReference,
    },
    /// Revoke a key for good, from the next request on.
    Revoke {
        /// Id of the key, as `key list` shows it, or the key itself (`sp_live_…`), which is never printed.
        #[arg(value_parser = KeyReferenceParser)]
        key: KeyReference,
    },
}

fn scope(text: &str) -> Result<Permission, String> {
    Permission::scope(text).ok_or_else(|| "must be read, links, domains or analytics".to_owned())
}

/// Runs the subcommand.
pub(super) async fn run(app: &Application, command: KeyCommand, output: &mut Output<'_>) -> Result<()> {
    match command {
        KeyCommand::Issue { account, name, expires, scopes } => {
            let account = accounts::find(app, &account).await?;
            if expires.is_some_and(|expires| expires <= app.clock.now()) {
                return Err(UsageError("`--expires` is in the past".to_owned()).into());
            }
            let scopes = scopes.map(PermissionSet::from_iter);
            let (key, secret) =
                keys::issue(app, account, NewKey { name, expires_at: expires, scopes }).await?;
            let json = json!({ "id": key.id.to_string(), "key": secret.expose() });
            let text = format!(
                "Issued key {} for account {account}:\n\n  {}\n\nIt is shown only once, because Signpost stores nothing but its hash.",
                key.id,
                secret.expose()
            );
            Ok(output.result(&json, text)?)
        }
        KeyCommand::List { account } => {
            let account = accounts::find(app, &account).await?;
            unless_reader_left(list(app, account, output).await)
        }
        KeyCommand::Revoke { key } => {
            let key = keys::revoke(app, key).await?;
            let ApiKey { id, account_id, name, last_four, revoked_at, .. } = key;
            let revoked_at = revoked_at.map(|at| at.to_string());
            let json = json!({
                "id": id.to_string(),
                "account_id": account_id.to_string(),
                "revoked": true,
                "revoked_at": revoked_at,
            });
            let name = name.map(|name| format!(" \"{name}\"")).unwrap_or_default();
            let when = revoked_at.map(|at| format!(" at {at}")).unwrap_or_default();
            let text = format!("Key {id}{name} (…{last_four}) of account {account_id} was revoked{when}.");
            Ok(output.result(&json, text)?)
        }
    }
}

async fn list(app: &Application, account: AccountId, output: &mut Output<'_>) -> Result<()> {
    let keys = keys::list(app, account).await?;
    let mut list = output.list(format!("{:36}  {:24}  {:7}  {:8}  NAME", "ID", "CREATED", "STATE", "KEY"))?;
    for key in keys {
        let is_accepted = key.is_accepted(app.clock.now());
        let ApiKey {
            id,
            account_id,
            name,
            hash: _,
            last_four,
            created_at,
            revoked_at,
            created_by,
            last_used_at,
            expires_at,
            scopes,
        } = key;
        let name = name.as_ref().map(Name::as_str);
        let json = json!({
            "id": id.to_string(),
            "account_id": account_id.to_string(),
            "name": name,
            "last_four": last_four,
            "created_at": created_at.to_string(),
            "revoked_at": revoked_at.map(|at| at.to_string()),
            "created_by": created_by.map(|user| user.to_string()),
            "last_used_at": last_used_at.map(|at| at.to_string()),
            "expires_at": expires_at.map(|at| at.to_string()),
            "scopes": scopes.map(|scopes| scopes.iter().map(Permission::as_str).collect::<Vec<_>>()),
        });
        let state = match (revoked_at, is_accepted) {
            (Some(_), _) => "revoked",
            (None, true) => "active",
            (None, false) => "expired",
        };
        let name = name.unwrap_or_default();
        let line = format!("{id:36}  {:24}  {state:7}  …{last_four:7}  {name}", created_at.to_string());
        list.item(&json, line.trim_end())?;
    }
    Ok(list.finish()?)
}
