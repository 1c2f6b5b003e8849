//! Admission of requests (D7): authentication, entitlement and quota.

use std::net::IpAddr;
use std::rc::Rc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{AUTHORIZATION, FORWARDED, HeaderMap, HeaderName};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};
use signpost_app::Application;
use signpost_app::admission::{NotAdmitted, Reason, Sender, admit};
use signpost_domain::ApiKeySecret;

use super::envelope::facts_of;
use crate::api_error::ApiError;
use crate::extract::Admitted;
use crate::routes::{is_under_v1, link_to_read, scope_of};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Admits every request under `/v1`, also to unknown paths. Other requests pass without a key (D7).
///
/// The check uses the same percent-decoded path as routing, so no spelling of a path can bypass it.
pub(crate) async fn admission(
    app: web::Data<Application>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    if is_under_v1(request.match_info().as_str()) {
        let facts = match facts_of(&request) {
            Ok(facts) => facts,
            Err(error) => return Ok(request.error_response(error)),
        };
        let key = bearer_key(request.headers());
        let link = link_to_read(request.method(), facts.route.get(), request.match_info().as_str());
        match admit(&app, key.as_ref(), client_address(&request, &app), link).await {
            Ok(admitted) => {
                facts.actor.set(Some((admitted.caller.account_id(), admitted.caller.actor())));
                facts.own.set(Some(admitted.rate_limits));
                // Before anything of the request is read or looked up, so that a key without the scope learns nothing (D80).
                if let Some(scope) = scope_of(request.method(), facts.route.get())
                    && let Err(refusal) = admitted.caller.require(scope)
                {
                    return Ok(request.error_response(ApiError::App(refusal.into())));
                }
                request.extensions_mut().insert(Admitted(Rc::new(admitted)));
            }
            Err(NotAdmitted { mut reason, rate_limits }) => {
                if let Reason::Exhausted { way_out, .. } = &mut reason
                    && !is_of_this_machine(&request)
                {
                    *way_out = None;
                }
                facts.own.set(rate_limits);
                return Ok(request.error_response(ApiError::NotAdmitted(reason)));
            }
        }
    }
    next.call(request).await.map(ServiceResponse::map_into_boxed_body)
}

/// The key in the `Authorization` header: the scheme `Bearer` in any case, spaces, the key (D14). `None` if the header is
/// missing, repeated, or has another form.
fn bearer_key(headers: &HeaderMap) -> Option<ApiKeySecret> {
    let mut values = headers.get_all(AUTHORIZATION);
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    ApiKeySecret::parse(key.trim_matches(' ')).ok()
}

/// Whether the sender runs on this machine. Integrators can do nothing with commands of the operator.
fn is_of_this_machine(request: &ServiceRequest) -> bool {
    let peer = request.peer_addr().map(|peer| peer.ip());
    Sender::is_this_machine(peer, |header| request.headers().contains_key(header))
}

fn client_address(request: &ServiceRequest, app: &Application) -> IpAddr {
    let forwarded_for = request.headers().get_all(X_FORWARDED_FOR);
    let sender = Sender {
        peer: request.peer_addr().map(|peer| peer.ip()),
        // A header that is not text counts as an unreadable hop.
        forwarded_for: forwarded_for.map(|value| value.to_str().unwrap_or("?")).collect(),
        has_forwarded: request.headers().contains_key(FORWARDED),
    };
    app.client_addresses.of(&sender, app.clock.now())
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn key_in(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        bearer_key(&headers).map(|key| key.expose().to_owned())
    }

    #[test]
    fn d14_the_scheme_is_case_insensitive() {
        let key = ApiKeySecret::from_random([5; 32]).expose().to_owned();
        for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
            assert_eq!(key_in(&[&format!("{scheme} {key}")]), Some(key.clone()), "{scheme}");
        }
        assert_eq!(key_in(&[&format!("Bearer   {key} ")]), Some(key));
    }

    #[test]
    fn d14_other_schemes_and_repeated_headers_give_no_key() {
        let key = ApiKeySecret::from_random([5; 32]).expose().to_owned();
        let bearer = format!("Bearer {key}");
        for refused in [
            &[][..],
            &[""],
            &["Bearer"],
            &["Bearer "],
            &[&key],
            &[&format!("Basic {key}")],
            &[&format!("Token {key}")],
            &[&format!("Bearer\t{key}")],
            &[&format!("Bearer{key}")],
            &[&format!("Bearer {key}, Bearer {key}")],
            &[&format!("Bearer \"{key}\"")],
            &[&bearer[..bearer.len() - 1]],
            &[&bearer, &bearer],
            &[&bearer, "Basic x"],
        ] {
            assert_eq!(key_in(refused), None, "{refused:?}");
        }
    }
}
