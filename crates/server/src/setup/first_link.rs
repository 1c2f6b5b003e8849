//! The first account, its key, and the first link.

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::{Request, StatusCode};
use serde_json::json;
use signpost_app::Application;
use signpost_app::accounts::{self, CreateAccount, FirstStart};
use signpost_domain::{Email, PlanName};

use crate::commands::FIRST_PLAN;
use crate::local_api::LocalApi;

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

/// Creates the first account with a key, as a first start does; `None` if there is an account.
pub(super) async fn create_account(app: &Application, email: &Email) -> Result<Option<FirstAccount>> {
    let command = CreateAccount { email: email.clone(), name: None, plan: PlanName::parse(FIRST_PLAN)? };
    let first = accounts::first_start(app, command).await?;
    Ok(first.map(|FirstStart { account, key: _, secret }| FirstAccount {
        id: account.id.to_string(),
        key: secret.expose().to_owned(),
    }))
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
