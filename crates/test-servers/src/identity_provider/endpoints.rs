//! What the endpoints answer.

use std::collections::HashMap;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD as BASE64URL};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use url::form_urlencoded::{byte_serialize, parse};

use super::connection::{Request, Response};
use super::{Endpoint, Grant, Person, ProfileIn, SecretIn, Shared, State, now};

/// How long tokens are valid, in seconds.
const VALID: i64 = 300;

const PATHS: [(Endpoint, &str, &str); 5] = [
    (Endpoint::Configuration, "GET", "/realm/.well-known/openid-configuration"),
    (Endpoint::Keys, "GET", "/realm/keys"),
    (Endpoint::Authorize, "GET", "/realm/authorize"),
    (Endpoint::Token, "POST", "/realm/token"),
    (Endpoint::UserInfo, "GET", "/realm/userinfo"),
];

/// The endpoint at a path.
pub(super) fn of(path: &str) -> Option<Endpoint> {
    PATHS.into_iter().find(|(_, _, known)| *known == path).map(|(endpoint, ..)| endpoint)
}

pub(super) fn answer(shared: &Shared, request: &Request) -> Response {
    let found = PATHS.into_iter().find(|(_, _, path)| *path == request.path);
    let Some((endpoint, method, _)) = found else { return Response::page(404, "no such page") };
    if method != request.method {
        return refuse(shared, Response::page(405, "wrong method"), "a request with the wrong method");
    }
    let answered = match endpoint {
        Endpoint::Configuration => Ok(configuration(shared)),
        Endpoint::Keys => Ok(Response::json(200, &shared.keys.published(shared.state().is_rotated))),
        Endpoint::Authorize => authorize(shared, request),
        Endpoint::Token => token(shared, request),
        Endpoint::UserInfo => user_info(shared, request),
    };
    answered.unwrap_or_else(|(response, reason)| refuse(shared, response, &reason))
}

fn refuse(shared: &Shared, response: Response, reason: &str) -> Response {
    shared.state().refusals.push(reason.to_owned());
    response
}

fn configuration(shared: &Shared) -> Response {
    let issuer = &shared.issuer;
    let state = shared.state();
    let methods = if state.secret_in == SecretIn::Form {
        json!(["client_secret_post"])
    } else {
        json!(["client_secret_basic"])
    };
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize?realm=1"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "userinfo_endpoint": format!("{issuer}/userinfo"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "token_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": state.names_issuer,
    });
    if let Some(alter) = &state.configuration {
        alter(&mut document);
    }
    Response::json(200, &document)
}

type Refused = (Response, String);

/// The parameters of a request, none of which may occur twice.
fn parameters(text: &str) -> Result<HashMap<String, String>, String> {
    let mut found = HashMap::new();
    for (name, value) in parse(text.as_bytes()) {
        if found.insert(name.to_string(), value.into_owned()).is_some() {
            return Err(format!("the parameter {name} occurs twice"));
        }
    }
    Ok(found)
}

/// A client with a wrong id or redirect URI gets a page, any other mistake goes back to the client.
fn authorize(shared: &Shared, request: &Request) -> Result<Response, Refused> {
    let page = |reason: String| (Response::page(400, &reason), reason);
    let query = parameters(&request.query).map_err(page)?;
    let get = |name: &str| query.get(name).map_or("", String::as_str);
    for (name, expected) in [
        ("client_id", shared.client_id.as_str()),
        ("redirect_uri", &shared.redirect_uri),
        ("realm", "1"),
        ("response_type", "code"),
        ("code_challenge_method", "S256"),
    ] {
        if get(name) != expected {
            return Err(page(format!("{name} is {:?} and not {expected:?}", get(name))));
        }
    }
    if !get("scope").split(' ').any(|scope| scope == "openid") {
        return Err(page("the scope has no openid".to_owned()));
    }
    let has_secrets = BASE64URL.decode(get("code_challenge")).is_ok_and(|hash| hash.len() == 32)
        && get("nonce").len() >= 22
        && get("state").len() >= 22
        && get("nonce") != get("state");
    if !has_secrets {
        return Err(page("challenge, nonce or state is missing or short".to_owned()));
    }
    let mut state = shared.state();
    state.login_hint = query.get("login_hint").cloned();
    let issuer = if state.names_issuer { format!("&iss={}", encoded(&shared.issuer)) } else { String::new() };
    let back = |answer: String| {
        let separator = if shared.redirect_uri.contains('?') { '&' } else { '?' };
        let (uri, returned) = (&shared.redirect_uri, encoded(get("state")));
        Response::redirect(&format!("{uri}{separator}{answer}&state={returned}{issuer}"))
    };
    let Some(person) = state.person.clone() else {
        return Ok(back("error=access_denied&error_description=nobody+is+signed+in".to_owned()));
    };
    let must_sign_in = query.get("max_age").is_some_and(|age| age == "0") || get("prompt") == "login";
    if must_sign_in && !state.must_stay_signed_in {
        state.authenticated_at = now();
    }
    let code = state.fresh("code");
    let grant = Grant {
        person,
        nonce: get("nonce").to_owned(),
        challenge: get("code_challenge").to_owned(),
        authenticated_at: state.authenticated_at,
    };
    state.codes.insert(code.clone(), grant);
    Ok(back(format!("code={}", encoded(&code))))
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

fn token(shared: &Shared, request: &Request) -> Result<Response, Refused> {
    let error = |status: u16, code: &str, reason: &str| {
        let body = json!({"error": code, "error_description": reason});
        (Response::json(status, &body), reason.to_owned())
    };
    let invalid = |reason: &str| error(400, "invalid_grant", reason);
    if request.content_type.as_deref() != Some("application/x-www-form-urlencoded") {
        return Err(error(400, "invalid_request", "the body is not a form"));
    }
    let form = parameters(&request.body).map_err(|reason| error(400, "invalid_request", &reason))?;
    let get = |name: &str| form.get(name).map_or("", String::as_str);
    let mut state = shared.state();
    if !is_client(shared, &state, request, &form) {
        return Err(error(401, "invalid_client", "the client does not prove itself"));
    }
    if get("grant_type") != "authorization_code" {
        return Err(error(400, "unsupported_grant_type", "not a code"));
    }
    let grant = state.codes.remove(get("code")).ok_or_else(|| invalid("unknown or used code"))?;
    if get("redirect_uri") != shared.redirect_uri {
        return Err(invalid("another redirect URI"));
    }
    let verifier = get("code_verifier");
    let is_long = (43..=128).contains(&verifier.len());
    if !is_long || BASE64URL.encode(digest(&SHA256, verifier.as_bytes())) != grant.challenge {
        return Err(invalid("the verifier does not fit the challenge"));
    }
    let access_token = state.fresh("access");
    state.access_tokens.insert(access_token.clone(), grant.person.clone());
    let id_token = id_token(shared, &state, &grant);
    let body = json!({
        "access_token": access_token,
        "token_type": "Bearer",
        "expires_in": VALID,
        "id_token": id_token,
    });
    Ok(Response::json(200, &body))
}

/// Whether the request has the client's id and secret in the one place where they belong.
fn is_client(shared: &Shared, state: &State, request: &Request, form: &HashMap<String, String>) -> bool {
    let (id, secret) = (&shared.client_id, &shared.client_secret);
    if state.secret_in == SecretIn::Form {
        return request.authorization.is_none()
            && form.get("client_id") == Some(id)
            && form.get("client_secret") == Some(secret);
    }
    let expected = BASE64_STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
    request.authorization.as_deref() == Some(&format!("Basic {expected}"))
        && !form.contains_key("client_secret")
}

fn id_token(shared: &Shared, state: &State, grant: &Grant) -> String {
    let now = now();
    let mut claims = json!({
        "iss": shared.issuer,
        "sub": grant.person.subject,
        "aud": shared.client_id,
        "exp": now + VALID,
        "iat": now,
        "auth_time": grant.authenticated_at,
        "nonce": grant.nonce,
    });
    if state.profile_in == ProfileIn::Token {
        tell(&mut claims, &grant.person);
    }
    if let Some(alter) = &state.claims {
        alter(&mut claims);
    }
    shared.keys.token(state.signing, state.is_rotated, &shared.client_secret, &claims)
}

fn tell(document: &mut Value, person: &Person) {
    if let Some((email, is_verified)) = &person.email {
        document["email"] = email.as_str().into();
        document["email_verified"] = (*is_verified).into();
    }
    if let Some(name) = &person.name {
        document["name"] = name.as_str().into();
    }
}

fn user_info(shared: &Shared, request: &Request) -> Result<Response, Refused> {
    let state = shared.state();
    let bearer = request.authorization.as_deref().and_then(|value| value.strip_prefix("Bearer "));
    let person = bearer.and_then(|token| state.access_tokens.get(token));
    let Some(person) = person else {
        let reason = "no such access token".to_owned();
        return Err((Response::json(401, &json!({"error": "invalid_token"})), reason));
    };
    let mut document = json!({"sub": person.subject});
    tell(&mut document, person);
    if let Some(alter) = &state.user_info {
        alter(&mut document);
    }
    Ok(Response::json(200, &document))
}
