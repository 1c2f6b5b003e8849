//! The directory of an authority: where it takes which request.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request, Uri};
use serde::Deserialize;
use serde_json::Value;
use signpost_app::ports::{AuthorityError, Clock};
use signpost_https_client::Answer;

use crate::clock_comparison::ComparingClient;
use crate::failure::{rejected, unavailable, unreachable};
use crate::transport::Rejection;

/// How long a directory is kept. Authorities announce changes long before.
const KEPT: Duration = Duration::from_hours(1);

/// The directory, as far as this crate reads it itself.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Directory {
    /// Where to ask when to renew certificates; `None` if the authority has no opinion.
    pub(crate) renewal_info: Option<String>,
    #[serde(default)]
    pub(crate) meta: Meta,
    /// The whole document, for `instant-acme`.
    #[serde(skip)]
    pub(crate) document: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Meta {
    #[serde(default)]
    pub(crate) caa_identities: Vec<String>,
}

/// The latest directory, fetched when it is needed.
#[derive(Debug, Default)]
pub(crate) struct DirectoryCache(Mutex<Option<(Instant, Arc<Directory>)>>);

impl DirectoryCache {
    /// The directory. Callers that come together may each fetch it: they must not wait for each other's time limits.
    pub(crate) async fn get(
        &self,
        url: &str,
        https: &ComparingClient,
        clock: &dyn Clock,
    ) -> Result<Arc<Directory>, AuthorityError> {
        let now = clock.instant();
        if let Some((fetched_at, directory)) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner)
            && now.saturating_duration_since(*fetched_at) < KEPT
        {
            return Ok(directory.clone());
        }
        let answer = get(url, https, clock).await?;
        let parsed = serde_json::from_slice::<Value>(&answer.body).and_then(|document| {
            Ok(Directory { document: document.clone(), ..Directory::deserialize(document)? })
        });
        let directory =
            Arc::new(parsed.map_err(|error| unavailable(format!("its directory cannot be read: {error}")))?);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, directory.clone()));
        Ok(directory)
    }
}

/// A `GET` request without a signature.
pub(crate) async fn get(
    url: &str,
    https: &ComparingClient,
    clock: &dyn Clock,
) -> Result<Answer, AuthorityError> {
    let uri: Uri = url.parse().map_err(|_| unavailable(format!("`{url}` is not a URL")))?;
    let mut request = Request::new(Full::new(Bytes::new()));
    *request.method_mut() = Method::GET;
    *request.uri_mut() = uri;
    let answer = https.send(request).await.map_err(|error| unreachable(&error))?;
    match Rejection::of(&answer, clock.now()) {
        Some(rejection) => Err(rejected(rejection, clock.now())),
        None => Ok(answer),
    }
}
