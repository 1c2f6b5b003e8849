//! The first account, its key, and the first link.

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::{Request, StatusCode};
use serde_json::json;
use signpost_app::Application;
use signpost_app::accounts::{self, CreateAccount};
use signpost_app::keys::{self, NewKey};
use signpost_domain::{Email, Name, PageLimit, PlanName};

use crate::local_api::LocalApi;

/// The plan of the first account (D62).
const PLAN: &str = "agency";

/// The name of its key.
const KEY_NAME: &str = "setup";

/// Where the first link opens, and where it leads.
pub(super) const PATH: &str = "/hello";
const SLUG: &str = "hello";
const TARGET: &str = "https://example.com/";

/// The first account and its key, which is shown once.
#[derive(Debug)]
pub(super) struct FirstAccount {
    pub(super) id: String,
    pub(super) key: String,
}

/// Creates the first account with a key; `None` if there is an account.
pub(super) async fn create_account(app: &Application, email: &Email) -> Result<Option<FirstAccount>> {
    if !app.store.accounts(PageLimit::default(), None).await?.items.is_empty() {
        return Ok(None);
    }
    let command = CreateAccount { email: email.clone(), name: None, plan: PlanName::parse(PLAN)? };
    let account = accounts::create(app, command).await?;
    let new_key = NewKey { name: Some(Name::parse(KEY_NAME)?), expires_at: None, scopes: None };
    let (_, secret) = keys::issue(app, account.id, new_key).await?;
    Ok(Some(FirstAccount { id: account.id.to_string(), key: secret.expose().to_owned() }))
}

/// Creates the first link. That it exists already is no error.
pub(super) async fn create_link(api: LocalApi, key: &str) -> Result<()> {
    let link = json!({ "name": "Hello", "slug": SLUG, "target_url": TARGET });
    let request = Request::post("/v1/redirects")
        .header(AUTHORIZATION, format!("Bearer {key}"))
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(link.to_string())))?;
    let (status, body) = api.send(request).await.context("cannot create the first link")?;
    match status {
        StatusCode::CREATED | StatusCode::CONFLICT => Ok(()),
        status => {
            bail!("the first link was refused with {}: {}", status.as_u16(), String::from_utf8_lossy(&body))
        }
    }
}
