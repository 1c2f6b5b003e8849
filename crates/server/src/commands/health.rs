//! `signpost health`: the health of the node on this machine, for service managers and containers (D208).

use std::io;
use std::time::Duration;

use anyhow::{Result, bail};
use bytes::Bytes;
use clap::{Args, ValueEnum};
use http_body_util::Full;
use hyper::{Request, StatusCode};
use serde_json::Value;

use super::output::Output;
use crate::local_api::LocalApi;
use crate::settings::HealthSettings;

/// Less than the limit of the image's health check (5 s), so that this command says what is wrong.
const TIME_LIMIT: Duration = Duration::from_secs(4);

/// How much of an unexpected answer is shown.
const SHOWN: usize = 200;

/// The arguments of `signpost health`.
#[derive(Debug, Args)]
pub(crate) struct HealthArguments {
    /// Question: whether the node can serve every request (ready), whether it can serve visitors (links), or whether the process
    /// answers at all (live).
    #[arg(value_enum, default_value_t = Question::Ready)]
    question: Question,
}

/// What is asked (D63).
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Question {
    Ready,
    Links,
    Live,
}

impl Question {
    const fn path(self) -> &'static str {
        match self {
            Self::Ready => "/health/ready",
            Self::Links => "/health/links",
            Self::Live => "/health/live",
        }
    }
}

/// Asks the node on this machine, and fails unless it answers 200.
pub(super) async fn run(
    settings: HealthSettings,
    arguments: HealthArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let answer = ask(LocalApi::of(settings)?, arguments.question).await?;
    let shown = String::from_utf8_lossy(&answer).into_owned();
    let json = serde_json::from_slice(&answer).unwrap_or(Value::Null);
    Ok(output.result(&json, shown)?)
}

/// The answer, if it is 200.
///
/// # Errors
/// The node gives no answer, or another one.
pub(crate) async fn ask(api: LocalApi, question: Question) -> Result<Bytes> {
    let (address, path) = (api.address, question.path());
    let request = Request::get(path).body(Full::new(Bytes::new()))?;
    let Ok(answer) = tokio::time::timeout(TIME_LIMIT, api.send(request)).await else {
        bail!("http://{address}{path} does not answer within {} s", TIME_LIMIT.as_secs());
    };
    let (status, body) = answer.map_err(|error| {
        let is_refused = error
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        let advice = if is_refused {
            "nothing listens there; is `signpost serve` running?"
        } else {
            "another program may listen there"
        };
        anyhow::anyhow!("cannot ask http://{address}{path}: {error}; {advice}")
    })?;
    let has_status = serde_json::from_slice(&body)
        .is_ok_and(|body: Value| body.get("status").is_some_and(Value::is_string));
    if status != StatusCode::OK || !has_status {
        let shown: String = String::from_utf8_lossy(&body).chars().take(SHOWN).collect();
        bail!("http://{address}{path} answers {}: {}", status.as_u16(), shown.escape_debug());
    }
    Ok(body)
}
