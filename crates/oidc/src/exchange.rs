//! Requests to the provider.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use serde::de::DeserializeOwned;
use signpost_app::ports::ProviderError;
use signpost_https_client::{Answer, HttpsClient};

/// A `GET` request for JSON.
pub(crate) async fn get<T: DeserializeOwned>(
    https: &HttpsClient,
    what: &'static str,
    url: &str,
    bearer: Option<&str>,
) -> Result<T, ProviderError> {
    let mut request = request(what, url, Method::GET, Bytes::new())?;
    if let Some(token) = bearer {
        let value = HeaderValue::from_str(&format!("Bearer {token}"));
        let value = value.map_err(|_| unusable(what, "the access token cannot be sent"))?;
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    let answer = send(https, what, request).await?;
    if answer.parts.status != StatusCode::OK {
        // Redirects too: nothing of OpenID Connect needs them here, and following one could lead anywhere.
        return Err(unusable(what, &format!("it answered with status {}", answer.parts.status)));
    }
    read(what, &answer.body)
}

/// A `POST` request with a form.
pub(crate) async fn post(
    https: &HttpsClient,
    what: &'static str,
    url: &str,
    form: String,
    authorization: Option<HeaderValue>,
) -> Result<Answer, ProviderError> {
    let mut request = request(what, url, Method::POST, form.into())?;
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers_mut().insert(CONTENT_TYPE, kind);
    if let Some(value) = authorization {
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    send(https, what, request).await
}

/// A body as JSON. The error has nothing of the body.
pub(crate) fn read<T: DeserializeOwned>(what: &'static str, body: &[u8]) -> Result<T, ProviderError> {
    serde_json::from_slice(body).map_err(|error| {
        let problem =
            if error.is_data() { "lacks a field, or one has the wrong type" } else { "is not JSON" };
        unusable(what, &format!("its answer {problem} (line {}, column {})", error.line(), error.column()))
    })
}

pub(crate) fn unusable(what: &'static str, reason: &str) -> ProviderError {
    ProviderError::Unusable { what, reason: reason.to_owned() }
}

fn request(
    what: &'static str,
    url: &str,
    method: Method,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, ProviderError> {
    let uri: Uri = url.parse().map_err(|_| unusable(what, "its URL is malformed"))?;
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
    Ok(request)
}

async fn send(
    https: &HttpsClient,
    what: &'static str,
    request: Request<Full<Bytes>>,
) -> Result<Answer, ProviderError> {
    let sent = https.send(request).await;
    sent.map_err(|error| ProviderError::Unreachable { what, reason: error.to_string() })
}
