//! `signpost key`.

use anyhow::Result;
use clap::Subcommand;
use serde_json::json;
use signpost_app::Application;
use signpost_app::accounts::{self, AccountReference};
use signpost_app::keys::{self, KeyReference};
use signpost_domain::{AccountId, ApiKey, Name};

use super::output::{Output, unless_reader_left};
use super::secrets::KeyReferenceParser;

/// The subcommands of `signpost key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Issue a key. It is shown only once.
    Issue {
        /// Account of the key: its id or its owner's e-mail address.
        #[arg(long)]
        account: AccountReference,
        /// Name of the key.
        #[arg(long, value_parser = Name::parse)]
        name: Option<Name>,
    },
    /// List the keys of an account, revoked ones included, newest first.
    List {
        /// Account: its id or its owner's e-mail address.
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

/// Runs the subcommand.
pub(super) async fn run(app: &Application, command: KeyCommand, output: &mut Output<'_>) -> Result<()> {
    match command {
        KeyCommand::Issue { account, name } => {
            let account = accounts::find(app, &account).await?;
            let (key, secret) = keys::issue(app, account, name).await?;
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
            let ApiKey { id, account_id, name, hash: _, last_four, created_at: _, revoked_at } = key;
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
        let ApiKey { id, account_id, name, hash: _, last_four, created_at, revoked_at } = key;
        let name = name.as_ref().map(Name::as_str);
        let json = json!({
            "id": id.to_string(),
            "account_id": account_id.to_string(),
            "name": name,
            "last_four": last_four,
            "created_at": created_at.to_string(),
            "revoked_at": revoked_at.map(|at| at.to_string()),
        });
        let state = if revoked_at.is_some() { "revoked" } else { "active" };
        let name = name.unwrap_or_default();
        let line = format!("{id:36}  {:24}  {state:7}  …{last_four:7}  {name}", created_at.to_string());
        list.item(&json, line.trim_end())?;
    }
    Ok(list.finish()?)
}
