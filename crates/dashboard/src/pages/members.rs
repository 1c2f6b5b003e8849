//! Members of an account (D68, D69, D73).

use actix_web::HttpResponse;
use signpost_app::AppError;
use signpost_app::idempotency::Idempotency;
use signpost_app::people::{PersonError, members};
use signpost_app::ports::{AccountMember, INVITATIONS_LISTED};
use signpost_domain::{
    Email, FieldError, Invitation, PageLimit, Permission, Preferences, Role, UserId, ViolationCode,
    Violations,
};

use super::settings::confirmed_for;
use super::{field, general_message, message_at, pager, position_of, remembered_without_secret};
use crate::answer::{page, refused, see_other};
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, account_name, invitation_gives, role_name, shell};
use crate::local_time::{date, date_and_time};
use crate::paths::with_query;
use crate::views::{
    Choice, Form, InvitationRow, InvitedPage, MemberRow, MembersPage, NavItem, OpenInvitations, Select,
};
use crate::visit::{Member, Visit};

/// What the form of an invitation says.
#[derive(Debug, Default)]
struct Typed {
    email: String,
    role: String,
}

/// `GET /{account}/members`. The query may have what was typed before the password was confirmed.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let query = visit.query();
    let typed = Typed { email: query.text("email").to_owned(), role: query.text("role").to_owned() };
    page(&members_page(&visit, &member, &typed, &Violations::new()).await?)
}

/// `POST /{account}/members`: makes an invitation, and shows its link once.
pub(crate) async fn invite(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::ManageMembers)?;
    let typed = Typed { email: form.text("email").trim().to_owned(), role: form.text("role").to_owned() };
    let mut violations = Violations::new();
    let email = Email::parse(&typed.email).map_err(|error| violations.push(error.at("email"))).ok();
    let role = role_of(&typed.role, &mut violations);
    let (Some(email), Some(role)) = (email, role) else {
        return refused(&members_page(&visit, &member, &typed, &violations).await?);
    };
    let request = form.key();
    let idempotency =
        Idempotency::of_request(request.as_ref(), |(): &()| Some(remembered_without_secret(String::new())));
    let (caller, signed_in) = (&member.caller, &member.signed_in);
    let url = match members::invite(visit.app(), caller, signed_in, &email, role, idempotency).await {
        Ok(token) => Some(format!("{}/invitation/{}", visit.origin().as_str(), token.expose())),
        Err(PersonError::NotConfirmed) => {
            let own = [("email", typed.email.as_str()), ("role", &typed.role)];
            return Err(Failure::confirm_first(&with_query(&path(&member), own)));
        }
        Err(PersonError::Broken(AppError::AnsweredBefore(_))) => None,
        Err(PersonError::Broken(AppError::Invalid(violations))) => {
            return refused(&members_page(&visit, &member, &typed, &violations).await?);
        }
        Err(error) => return Err(error.into()),
    };
    let text = url.as_deref().map(|url| (TEXTS.invited_text)(account_name(member.caller.account()), url));
    page(&InvitedPage {
        email: email.as_str().to_owned(),
        message: text.unwrap_or_default(),
        gives: invitation_gives(Some((member.caller.account(), role)), false),
        url,
        shell: shell(&visit, &member, NavItem::Members, TEXTS.title_invited, vec![]),
    })
}

/// `POST /{account}/members/{id}`
pub(crate) async fn change_role(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let user = user_in(&visit)?;
    let Some(role) = Role::from_name(form.text("role")) else { return Err(Failure::NOT_FOUND) };
    let (caller, signed_in) = (&member.caller, &member.signed_in);
    let outcome = members::change_role(visit.app(), caller, signed_in, user, role).await;
    changed(&visit, &member, outcome, &format!("{}?said=role-changed", path(&member))).await
}

/// `POST /{account}/members/{id}/remove`
pub(crate) async fn remove(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let user = user_in(&visit)?;
    let outcome = members::remove(visit.app(), &member.caller, &member.signed_in, user).await;
    changed(&visit, &member, outcome, &format!("{}?said=member-removed", path(&member))).await
}

/// `POST /{account}/members/withdraw`
pub(crate) async fn withdraw(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let email = invited_in(&form)?;
    let Member { signed_in, caller } = &member;
    match members::withdraw(visit.app(), caller, signed_in, &email, &visit.client()).await {
        Ok(()) => Ok(see_other(&format!("{}?said=invitation-withdrawn", path(&member)))),
        Err(error) => Err(confirmed_for(error, &path(&member))),
    }
}

/// `POST /{account}/members/leave`
pub(crate) async fn leave(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let account = member.caller.account_id();
    let outcome = members::leave(visit.app(), &member.signed_in, account, &visit.client()).await;
    changed(&visit, &member, outcome, "/accounts?said=left").await
}

/// The answer to a form that changes a member.
async fn changed(
    visit: &Visit,
    member: &Member,
    outcome: Result<(), PersonError>,
    next: &str,
) -> Result<HttpResponse, Failure> {
    match outcome {
        Ok(()) => Ok(see_other(next)),
        Err(PersonError::NotConfirmed) => Err(Failure::confirm_first(&path(member))),
        Err(PersonError::LastOwner) => {
            let view = members_page(visit, member, &Typed::default(), &Violations::new()).await?;
            let general_error = Some(TEXTS.last_owner.to_owned());
            refused(&MembersPage { form: Form { general_error, ..view.form }, ..view })
        }
        Err(error) => Err(error.into()),
    }
}

fn path(member: &Member) -> String {
    format!("/{}/members", member.caller.account_id())
}

fn user_in(visit: &Visit) -> Result<UserId, Failure> {
    visit.part("id").parse().map_err(|_| Failure::NOT_FOUND)
}

/// Whose invitation a form withdraws.
pub(super) fn invited_in(form: &FormBody) -> Result<Email, Failure> {
    Email::parse(form.text("email")).map_err(|_| Failure::NOT_FOUND)
}

pub(super) fn role_of(text: &str, violations: &mut Violations) -> Option<Role> {
    let role = Role::from_name(text);
    if role.is_none() {
        let error = FieldError::new(ViolationCode::InvalidValue, "must be one of the roles");
        violations.push(error.at("role"));
    }
    role
}

async fn members_page(
    visit: &Visit,
    member: &Member,
    typed: &Typed,
    violations: &Violations,
) -> Result<MembersPage, Failure> {
    let (caller, user) = (&member.caller, member.signed_in.user());
    let after = position_of(&visit.query());
    let list = members::list(visit.app(), caller, PageLimit::default(), after).await?;
    let row = |member: &AccountMember| MemberRow {
        id: member.user.id.to_string(),
        name: member.user.label().to_owned(),
        email: member.user.name.is_some().then(|| member.user.email.as_str().to_owned()),
        role: role_name(member.role).to_owned(),
        roles: roles(member.role),
        joined: date(member.joined_at, &user.preferences),
        is_self: member.user.id == user.id,
        is_disabled: member.user.disabled_at.is_some(),
        // The others would read who is easily taken over.
        has_second_factor: caller.may(Permission::ManageMembers) && member.user.second_factor.is_some(),
        idempotency_key: visit.new_key(),
    };
    let invitations = members::invitations(visit.app(), caller).await?;
    let chosen = Role::from_name(&typed.role).unwrap_or(Role::Editor);
    Ok(MembersPage {
        can_manage: caller.may(Permission::ManageMembers),
        rows: list.items.iter().map(row).collect(),
        pager: pager(&list, &path(member), &[], after.is_none()),
        invitations: OpenInvitations {
            action: format!("{}/withdraw", path(member)),
            ..open_invitations(visit, &invitations, &user.preferences)
        },
        form: Form {
            idempotency_key: visit.new_key(),
            general_error: general_message(violations, &["email", "role"]),
            ..Form::default()
        },
        email: field(&typed.email, violations, "email"),
        role: Select { options: roles(chosen), error: message_at(violations, "role") },
        shell: shell(visit, member, NavItem::Members, TEXTS.members, vec![]),
    })
}

/// The invitations of a page, without where its forms are sent.
pub(super) fn open_invitations(
    visit: &Visit,
    invitations: &[Invitation],
    preferences: &Preferences,
) -> OpenInvitations {
    let row = |invitation: &Invitation| {
        let role = invitation.joins.map(|(_, role)| role_name(role));
        let operator = invitation.is_operator.then_some(TEXTS.operator.operator);
        InvitationRow {
            email: invitation.email.as_str().to_owned(),
            gives: role.into_iter().chain(operator).collect::<Vec<_>>().join(", "),
            until: date_and_time(invitation.expires_at, preferences),
        }
    };
    OpenInvitations {
        rows: invitations.iter().map(row).collect(),
        is_cut: invitations.len() >= INVITATIONS_LISTED,
        idempotency_key: visit.new_key(),
        ..OpenInvitations::default()
    }
}

pub(super) fn roles(chosen: Role) -> Vec<Choice> {
    Role::ALL.map(|role| Choice::new(role.as_str(), role_name(role), role == chosen)).into()
}
