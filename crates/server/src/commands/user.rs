//! `signpost user` (D81).

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};
use signpost_app::accounts::{self, AccountReference};
use signpost_app::idempotency::Idempotency;
use signpost_app::people::users::{self, Invite, UserReference};
use signpost_app::{Application, Operator};
use signpost_dashboard::DashboardOrigin;
use signpost_domain::{Email, Name, PageLimit, Role, User};

use super::UsageError;
use super::first_start::url_of;
use super::output::{Output, unless_reader_left};

/// The subcommands of `signpost user`.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Make a link by which somebody joins an account, or becomes an operator. Signpost sends no mail: pass the link on.
    Invite {
        /// E-mail address of the person. Nobody else can use the link.
        #[arg(long, value_parser = Email::parse)]
        email: Email,
        /// Account to join: its id or its contact address.
        #[arg(long)]
        account: Option<AccountReference>,
        /// Role in the account: viewer, editor or owner [default: editor].
        #[arg(long, value_parser = role, requires = "account")]
        role: Option<Role>,
        /// Make the person an operator, who administers this installation.
        #[arg(long)]
        operator: bool,
    },
    /// List all users, newest first.
    List,
    /// End all sessions of a user, and refuse its sign-ins.
    Disable {
        /// User: its id or its e-mail address.
        user: UserReference,
    },
    /// Let a disabled user sign in again.
    Enable {
        /// User: its id or its e-mail address.
        user: UserReference,
    },
    /// Make a link by which a user sets a new password.
    Reset {
        /// User: its id or its e-mail address.
        user: UserReference,
    },
    /// Disconnect a user from the identity provider, so that nobody can sign in through it as this user. The user can connect
    /// again.
    Disconnect {
        /// User: its id or its e-mail address.
        user: UserReference,
    },
    /// Remove the second factor of a user who has lost the app and the recovery codes.
    RemoveSecondFactor {
        /// User: its id or its e-mail address.
        user: UserReference,
    },
    /// End all sessions of a user.
    SignOut {
        /// User: its id or its e-mail address.
        user: UserReference,
    },
}

fn role(text: &str) -> Result<Role, String> {
    Role::from_name(text).ok_or_else(|| "must be viewer, editor or owner".to_owned())
}

/// Runs the subcommand. Links begin with `dashboard`.
pub(super) async fn run(
    app: &Application,
    command: UserCommand,
    dashboard: &DashboardOrigin,
    output: &mut Output<'_>,
) -> Result<()> {
    match command {
        UserCommand::Invite { email, account, role, operator } => {
            let joins = match &account {
                Some(account) => Some((accounts::find(app, account).await?, role.unwrap_or(Role::Editor))),
                None => None,
            };
            if joins.is_none() && !operator {
                let message = "an invitation needs `--account`, or `--operator`, or both";
                return Err(UsageError(message.to_owned()).into());
            }
            let url =
                invite(app, Invite { email: email.clone(), joins, is_operator: operator }, dashboard).await?;
            let json = json!({
                "email": email.as_str(),
                "account_id": joins.map(|(account, _)| account.to_string()),
                "role": joins.map(|(_, role)| role.as_str()),
                "operator": operator,
                "invite_url": url,
            });
            Ok(output.result(&json, invitation_text(&email, &url))?)
        }
        UserCommand::List => unless_reader_left(list(app, output).await),
        UserCommand::Disable { user } => {
            let user = users::disable(app, &Operator::COMMAND, &user).await?;
            let text =
                format!("Disabled {}: all its sessions have ended, and it cannot sign in.", named(&user));
            Ok(output.result(&shown(&user), text)?)
        }
        UserCommand::Enable { user } => {
            let user = users::enable(app, &Operator::COMMAND, &user).await?;
            Ok(output.result(&shown(&user), format!("Enabled {}: it can sign in.", named(&user)))?)
        }
        UserCommand::Reset { user } => {
            let (user, token) = users::reset(app, &Operator::COMMAND, &user, Idempotency::disabled()).await?;
            let url = url_of(dashboard, "reset", &token);
            let json = json!({ "id": user.id.to_string(), "email": user.email.as_str(), "reset_url": url });
            let text = format!(
                "Send this to {}. The link works once, within 24 hours:\n\n  To set a new password for Signpost, open\n  {url}\n\n\
                 The present password stays valid until then.",
                user.email
            );
            Ok(output.result(&json, text)?)
        }
        UserCommand::Disconnect { user } => {
            let user = users::disconnect(app, &Operator::COMMAND, &user).await?;
            let text = format!("Unbound {} from the identity provider.", named(&user));
            Ok(output.result(&shown(&user), text)?)
        }
        UserCommand::RemoveSecondFactor { user } => {
            let user = users::remove_second_factor(app, &Operator::COMMAND, &user).await?;
            let text = format!("Removed the second factor of {}: the password suffices now.", named(&user));
            Ok(output.result(&shown(&user), text)?)
        }
        UserCommand::SignOut { user } => {
            let user = users::sign_out(app, &Operator::COMMAND, &user).await?;
            Ok(output.result(&shown(&user), format!("Ended all sessions of {}.", named(&user)))?)
        }
    }
}

/// Makes an invitation, and returns its address.
pub(super) async fn invite(app: &Application, invite: Invite, dashboard: &DashboardOrigin) -> Result<String> {
    let token = users::invite(app, &Operator::COMMAND, invite, Idempotency::disabled()).await?;
    Ok(url_of(dashboard, "invitation", &token))
}

/// A text to send to an invited person.
pub(super) fn invitation_text(email: &Email, url: &str) -> String {
    format!(
        "Send this to {email}. The link works once, within 7 days:\n\n  You are invited to Signpost. To join, open\n  {url}"
    )
}

async fn list(app: &Application, output: &mut Output<'_>) -> Result<()> {
    let mut list = output.list(format!("{:36}  {:24}  {:8}  E-MAIL", "ID", "CREATED", "STATE"))?;
    let mut after = None;
    loop {
        let limit = PageLimit::new(100).unwrap_or_default();
        let page = users::list(app, limit, after).await?;
        for user in &page.items {
            let state = match (user.disabled_at, user.is_operator) {
                (Some(_), _) => "disabled",
                (None, true) => "operator",
                (None, false) => "active",
            };
            let line = format!(
                "{:36}  {:24}  {state:8}  {}",
                user.id.to_string(),
                user.created_at.to_string(),
                user.email
            );
            list.item(&shown(user), &line)?;
        }
        after = page.next;
        if after.is_none() {
            return Ok(list.finish()?);
        }
    }
}

fn named(user: &User) -> String {
    format!("user {} ({})", user.id, user.email)
}

fn shown(user: &User) -> Value {
    json!({
        "id": user.id.to_string(),
        "email": user.email.as_str(),
        "name": user.name.as_ref().map(Name::as_str),
        "operator": user.is_operator,
        "second_factor": user.second_factor.is_some(),
        "disabled_at": user.disabled_at.map(|at| at.to_string()),
        "created_at": user.created_at.to_string(),
    })
}
