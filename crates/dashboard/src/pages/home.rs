//! The way to an account.

use actix_web::HttpResponse;
use signpost_app::people::profile::accounts_of;
use signpost_domain::{Account, Role};

use crate::answer::{page, see_other};
use crate::failure::Failure;
use crate::frame::{account_name, card_of, notice_of, role_name, user_ref};
use crate::views::{Card, ChooserPage, Membership};
use crate::visit::Visit;

/// `GET /`: leads to the only account, or to the choice.
pub(crate) async fn home(visit: Visit) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    let accounts = accounts_of(visit.app(), &signed_in).await?;
    Ok(match accounts.as_slice() {
        [(account, _)] => see_other(&format!("/{}/links", account.id)),
        _ => see_other("/accounts"),
    })
}

/// `GET /first`: leads a new user to the first link.
pub(crate) async fn first(visit: Visit) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    let accounts = accounts_of(visit.app(), &signed_in).await?;
    Ok(match accounts.first() {
        Some((account, Role::Owner | Role::Editor)) => see_other(&format!("/{}/links/new", account.id)),
        Some((_, Role::Viewer)) | None => see_other("/"),
    })
}

/// `GET /accounts`: the choice of an account.
pub(crate) async fn accounts(visit: Visit) -> Result<HttpResponse, Failure> {
    let signed_in = visit.signed_in().await?;
    let accounts = accounts_of(visit.app(), &signed_in).await?;
    let membership = |(account, role): &(Account, Role)| Membership {
        account: account.id.to_string(),
        name: account_name(account).to_owned(),
        role: role_name(*role).to_owned(),
    };
    let user = signed_in.user();
    page(&ChooserPage {
        card: Card { notice: notice_of(&visit), ..card_of(user) },
        user: user_ref(user),
        memberships: accounts.iter().map(membership).collect(),
        sign_out_key: visit.new_key(),
    })
}

/// `GET /{account}`
pub(crate) async fn account(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    Ok(see_other(&format!("/{}/links", member.caller.account_id())))
}
