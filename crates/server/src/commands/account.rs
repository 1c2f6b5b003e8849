//! `signpost account`.

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};
use signpost_app::accounts::{self, AccountReference, CreateAccount};
use signpost_app::people::users::Invite;
use signpost_app::{Application, Operator};
use signpost_dashboard::DashboardOrigin;
use signpost_domain::{Account, Email, Name, PageLimit, PlanName, Role};

use super::UsageError;
use super::output::{Output, unless_reader_left};
use super::user;

/// The subcommands of `signpost account`.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account.
    Create {
        /// Contact address of the account, an e-mail address.
        #[arg(long, value_parser = Email::parse)]
        email: Email,
        /// Name of the account.
        #[arg(long, value_parser = Name::parse)]
        name: Option<Name>,
        /// Plan of the account: free, pro, agency, unlimited (for accounts of your own), or one of the setting `plans`.
        #[arg(long, value_parser = PlanName::parse, default_value = "agency")]
        plan: PlanName,
        /// Also make a link by which the owner joins the account in the dashboard.
        #[arg(long)]
        invite: bool,
    },
    /// List all accounts, newest first.
    List,
    /// Move an account to another plan, from its next request on.
    SetPlan {
        /// Account: its id or its contact address.
        account: AccountReference,
        /// The new plan: free, pro, agency, unlimited (for accounts of your own), or one of the setting `plans`.
        #[arg(value_parser = PlanName::parse)]
        plan: PlanName,
    },
    /// Suspend an account: its API requests are refused and its links stop opening at once.
    Suspend {
        /// Account: its id or its contact address.
        account: AccountReference,
    },
    /// Resume a suspended account.
    Resume {
        /// Account: its id or its contact address.
        account: AccountReference,
    },
    /// Delete an account with all its links, groups and keys. This cannot be undone.
    Delete {
        /// Account: its id or its contact address.
        account: AccountReference,
        /// Confirm the deletion.
        #[arg(long)]
        yes: bool,
    },
}

impl AccountCommand {
    /// Refuses a deletion without `--yes`.
    ///
    /// # Errors
    /// `--yes` is missing.
    pub(super) fn require_confirmation(&self) -> Result<(), UsageError> {
        match self {
            Self::Delete { account, yes: false } => Err(UsageError(format!(
                "this deletes account {account} with all its links, groups and keys, and cannot be undone; add `--yes` to confirm"
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

/// Runs the subcommand.
pub(super) async fn run(
    app: &Application,
    command: AccountCommand,
    dashboard: &DashboardOrigin,
    output: &mut Output<'_>,
) -> Result<()> {
    match command {
        AccountCommand::Create { email, name, plan, invite } => {
            let command = CreateAccount { email, name, plan };
            create(app, command, invite.then_some(dashboard), output).await
        }
        AccountCommand::List => unless_reader_left(list(app, output).await),
        AccountCommand::SetPlan { account, plan } => {
            let id = accounts::find(app, &account).await?;
            accounts::set_plan(app, &Operator::COMMAND, id, &plan).await?;
            let json = json!({ "id": id.to_string(), "plan": plan.as_str() });
            Ok(output.result(&json, format_args!("Account {id} is now on plan {plan}."))?)
        }
        AccountCommand::Suspend { account } => {
            let id = accounts::find(app, &account).await?;
            accounts::suspend(app, &Operator::COMMAND, id).await?;
            let json = json!({ "id": id.to_string(), "suspended": true });
            Ok(output.result(
                &json,
                format_args!(
                    "Suspended account {id}: its API requests are refused and its links do not open."
                ),
            )?)
        }
        AccountCommand::Resume { account } => {
            let id = accounts::find(app, &account).await?;
            accounts::resume(app, &Operator::COMMAND, id).await?;
            let json = json!({ "id": id.to_string(), "suspended": false });
            Ok(output.result(&json, format_args!("Resumed account {id}."))?)
        }
        AccountCommand::Delete { account, yes: _ } => {
            let id = accounts::find(app, &account).await?;
            accounts::delete(app, &Operator::COMMAND, id).await?;
            let json = json!({ "id": id.to_string(), "deleted": true });
            Ok(output
                .result(&json, format_args!("Deleted account {id} with all its links, groups and keys."))?)
        }
    }
}

/// Creates an account. With the origin of the dashboard, also invites its owner.
async fn create(
    app: &Application,
    command: CreateAccount,
    dashboard: Option<&DashboardOrigin>,
    output: &mut Output<'_>,
) -> Result<()> {
    let account = accounts::create(app, &Operator::COMMAND, command).await?;
    let mut json = created(&account);
    let mut text = format!(
        "Created account {id} for {email} on plan {plan}.\nIssue a key for it: signpost key issue --account {id}",
        id = account.id,
        email = account.email,
        plan = account.plan,
    );
    if let Some(dashboard) = dashboard {
        let email = account.email.clone();
        let joins = Some((account.id, Role::Owner));
        let url = user::invite(app, Invite { email, joins, is_operator: false }, dashboard).await?;
        text = format!("{text}\n\n{}", user::invitation_text(&account.email, &url));
        if let Value::Object(fields) = &mut json {
            fields.insert("invite_url".to_owned(), url.into());
        }
    }
    Ok(output.result(&json, text)?)
}

/// The JSON of a new account (D60).
pub(super) fn created(account: &Account) -> Value {
    let Account { id, email, name, plan, suspended_at: _, requires_second_factor: _, created_at: _ } =
        account;
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
            let Account { id, email, name, plan, suspended_at, requires_second_factor: _, created_at } =
                account;
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
