//! `signpost account`.

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};
use signpost_app::Application;
use signpost_app::accounts::{self, AccountReference, CreateAccount};
use signpost_domain::{Account, Email, Name, PageLimit, PlanName};

use super::UsageError;
use super::output::{Output, unless_reader_left};

/// What can be done with accounts.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account.
    Create {
        /// The e-mail address of its owner.
        #[arg(long, value_parser = Email::parse)]
        email: Email,
        /// Its name.
        #[arg(long, value_parser = Name::parse)]
        name: Option<Name>,
        /// Its plan.
        #[arg(long, value_parser = PlanName::parse, default_value = "agency")]
        plan: PlanName,
    },
    /// List all accounts, newest first.
    List,
    /// Put an account on another plan. It holds for the very next request.
    SetPlan {
        /// The account: its id or its owner's e-mail address.
        account: AccountReference,
        /// The plan.
        #[arg(value_parser = PlanName::parse)]
        plan: PlanName,
    },
    /// Suspend an account: its requests are refused and its links stop opening, at once.
    Suspend {
        /// The account: its id or its owner's e-mail address.
        account: AccountReference,
    },
    /// Resume a suspended account.
    Resume {
        /// The account: its id or its owner's e-mail address.
        account: AccountReference,
    },
    /// Delete an account with all its links, groups and keys, for good.
    Delete {
        /// The account: its id or its owner's e-mail address.
        account: AccountReference,
        /// Really delete it.
        #[arg(long)]
        yes: bool,
    },
}

impl AccountCommand {
    /// Refuses what was said without the word that it is meant.
    ///
    /// # Errors
    /// That word is missing.
    pub(super) fn must_be_meant(&self) -> Result<(), UsageError> {
        match self {
            Self::Delete { account, yes: false } => Err(UsageError(format!(
                "this deletes account {account} with all its links, groups and keys, for good; say `--yes` if you mean it"
            ))),
            Self::Create { .. }
            | Self::List
            | Self::SetPlan { .. }
            | Self::Suspend { .. }
            | Self::Resume { .. }
            | Self::Delete { yes: true, .. } => Ok(()),
        }
    }
}

/// Runs one of them.
pub(super) async fn run(app: &Application, command: AccountCommand, output: &mut Output<'_>) -> Result<()> {
    match command {
        AccountCommand::Create { email, name, plan } => {
            create(app, CreateAccount { email, name, plan }, output).await
        }
        AccountCommand::List => unless_reader_left(list(app, output).await),
        AccountCommand::SetPlan { account, plan } => {
            let id = accounts::find(app, &account).await?;
            accounts::set_plan(app, id, &plan).await?;
            let json = json!({ "id": id.to_string(), "plan": plan.as_str() });
            Ok(output.result(&json, format_args!("Account {id} is on the plan {plan} now."))?)
        }
        AccountCommand::Suspend { account } => {
            let id = accounts::find(app, &account).await?;
            accounts::suspend(app, id).await?;
            let json = json!({ "id": id.to_string(), "suspended": true });
            Ok(output.result(
                &json,
                format_args!("Account {id} is suspended: no API, and its links do not open."),
            )?)
        }
        AccountCommand::Resume { account } => {
            let id = accounts::find(app, &account).await?;
            accounts::resume(app, id).await?;
            let json = json!({ "id": id.to_string(), "suspended": false });
            Ok(output.result(&json, format_args!("Account {id} is not suspended any more."))?)
        }
        AccountCommand::Delete { account, yes: _ } => {
            let id = accounts::find(app, &account).await?;
            accounts::delete(app, id).await?;
            let json = json!({ "id": id.to_string(), "deleted": true });
            Ok(output.result(
                &json,
                format_args!("Account {id} is deleted, with all its links, groups and keys."),
            )?)
        }
    }
}

async fn create(app: &Application, command: CreateAccount, output: &mut Output<'_>) -> Result<()> {
    let account = accounts::create(app, command).await?;
    let text = format!(
        "Created account {id} for {email}, on the plan {plan}.\nA key for it: signpost key issue --account {id}",
        id = account.id,
        email = account.email,
        plan = account.plan,
    );
    Ok(output.result(&created(&account), text)?)
}

/// A new account as D60 shows it.
pub(super) fn created(account: &Account) -> Value {
    let Account { id, email, name, plan, suspended_at: _, created_at: _ } = account;
    json!({
        "id": id.to_string(),
        "email": email.as_str(),
        "name": name.as_ref().map(Name::as_str),
        "plan": plan.as_str(),
    })
}

async fn list(app: &Application, output: &mut Output<'_>) -> Result<()> {
    let header = format!("{:36}  {:24}  {:9}  {:12}  E-MAIL, NAME", "ID", "CREATED", "STATE", "PLAN");
    let mut list = output.list(header)?;
    let limit = PageLimit::new(100)?;
    let mut after = None;
    loop {
        let page = accounts::list(app, limit, after).await?;
        for account in page.items {
            let Account { id, email, name, plan, suspended_at, created_at } = account;
            let name = name.as_ref().map(Name::as_str);
            let json = json!({
                "id": id.to_string(),
                "email": email.as_str(),
                "name": name,
                "plan": plan.as_str(),
                "suspended_at": suspended_at.map(|at| at.to_string()),
                "created_at": created_at.to_string(),
            });
            let state = if suspended_at.is_some() { "suspended" } else { "active" };
            let name = name.map(|name| format!(", {name}")).unwrap_or_default();
            let line = format!(
                "{id:36}  {:24}  {state:9}  {:12}  {email}{name}",
                created_at.to_string(),
                plan.as_str()
            );
            list.item(&json, line)?;
        }
        after = page.next;
        if after.is_none() {
            return Ok(list.finish()?);
        }
    }
}
