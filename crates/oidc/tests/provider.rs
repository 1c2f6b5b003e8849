//! The client against a strict provider, and against one that misbehaves in every way that the standards forbid.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod steps;

use std::time::{Duration, Instant};

use signpost_app::ports::{IdentityProvider as _, ProviderError, TokenFault};
use signpost_test_servers::identity_provider::{
    Endpoint, Misbehaviour, Person, ProfileIn, SecretIn, Signing,
};
use steps::{REDIRECT_URI, World, parameter};

const UNREACHABLE: &str = "cannot be reached";
const UNUSABLE: &str = "cannot be used";

#[tokio::test]
async fn d77_a_strict_provider_finds_nothing_to_refuse() {
    let world = World::new();
    let person = Person::named("subject-1").with_email("Ada@example.com", true).with_name("Ada Lovelace");
    world.server.sign_in(person);
    for _ in 0..2 {
        let claims = world.sign_in().await.unwrap();
        assert_eq!(claims.identity.issuer.as_str(), world.server.issuer());
        assert_eq!(claims.identity.subject.as_str(), "subject-1");
        assert_eq!(claims.email.unwrap().as_str(), "Ada@example.com");
        assert!(claims.is_email_verified);
        assert_eq!(claims.name.unwrap().as_str(), "Ada Lovelace");
        assert!(claims.authenticated_at.is_some());
    }
    assert_eq!(world.server.refusals(), Vec::<String>::new());
    let requests = [Endpoint::Configuration, Endpoint::Keys, Endpoint::Token, Endpoint::UserInfo];
    assert_eq!(requests.map(|endpoint| world.server.requests(endpoint)), [1, 1, 2, 0]);
}

#[tokio::test]
async fn d77_a_secret_with_any_characters_is_sent_as_the_provider_wants_it() {
    for place in [SecretIn::Header, SecretIn::Form] {
        let world = World::with_secret("client id/:%", "s:e+c r%e&t=\u{e9}");
        world.server.take_secret_in(place);
        world.sign_in().await.unwrap();
        assert_eq!(world.server.refusals(), Vec::<String>::new());
    }
    let world = World::new();
    world.server.alter_configuration(|document| {
        document["token_endpoint_auth_methods_supported"] = vec!["private_key_jwt"].into();
    });
    world.assert_refused(UNUSABLE).await;
}

#[tokio::test]
async fn d77_the_browser_is_sent_with_what_the_flow_needs() {
    let world = World::new();
    world.sign_in().await.unwrap();
    let plain = world.url(false, None).await;
    assert_eq!(parameter(&plain, "redirect_uri").as_deref(), Some(REDIRECT_URI));
    assert_eq!(parameter(&plain, "scope").as_deref(), Some("openid email profile"));
    assert_eq!(parameter(&plain, "realm").as_deref(), Some("1"), "the endpoint keeps its own query");
    assert_eq!((parameter(&plain, "max_age"), parameter(&plain, "login_hint")), (None, None));
    let email = signpost_domain::Email::parse("a+b@example.com").unwrap();
    let again = world.url(true, Some(&email)).await;
    assert_eq!(parameter(&again, "max_age").as_deref(), Some("0"));
    assert_eq!(parameter(&again, "login_hint").as_deref(), Some("a+b@example.com"));
}

#[tokio::test]
async fn d77_signatures_of_each_good_kind_are_accepted() {
    for signing in [Signing::Rs256, Signing::Ps256, Signing::Es256, Signing::EdDsa] {
        let world = World::new();
        world.server.sign_with(signing);
        world.sign_in().await.unwrap_or_else(|error| panic!("{signing:?}: {error}"));
    }
    // With one RSA key for signatures there is no doubt.
    let world = World::new();
    world.server.sign_with(Signing::WithoutKeyId);
    world.sign_in().await.unwrap();
}

#[tokio::test]
async fn d77_signatures_of_any_other_kind_are_refused() {
    let algorithm = |name: &str| TokenFault::Algorithm(name.to_owned());
    for (signing, expected) in [
        (Signing::Unsigned, algorithm("none")),
        (Signing::HmacOfPublicKey, algorithm("HS256")),
        (Signing::HmacOfClientSecret, algorithm("HS256")),
        (Signing::WrongKey, TokenFault::Signature),
        (Signing::Damaged, TokenFault::Signature),
        (Signing::ClaimsPs256, TokenFault::Signature),
        (Signing::UnknownKey, TokenFault::UnknownKey),
        (Signing::KeyOfOtherAlgorithm, TokenFault::UnknownKey),
        (Signing::KeyForEncryption, TokenFault::UnknownKey),
        (Signing::Critical, TokenFault::Malformed("its header demands an extension")),
    ] {
        let world = World::new();
        world.server.sign_with(signing);
        assert_eq!(world.sign_in().await, Err(ProviderError::Token(expected)), "{signing:?}");
    }
}

#[tokio::test]
async fn d77_a_token_for_somebody_else_or_another_time_is_refused() {
    type Alteration = fn(&mut serde_json::Value);
    let world = World::new();
    let cases: [(Alteration, TokenFault); 16] = [
        (|claims| claims["nonce"] = "another".into(), TokenFault::Nonce),
        (|claims| drop(claims.as_object_mut().unwrap().remove("nonce")), TokenFault::Nonce),
        (|claims| claims["aud"] = "another".into(), TokenFault::Audience),
        (|claims| claims["aud"] = vec!["another", "client"].into(), TokenFault::Audience),
        (|claims| claims["azp"] = "another".into(), TokenFault::Audience),
        (|claims| claims["aud"] = Vec::<String>::new().into(), TokenFault::Audience),
        (|claims| claims["exp"] = (claims["iat"].as_i64().unwrap() - 61).into(), TokenFault::Expired),
        (|claims| claims["exp"] = 0.into(), TokenFault::Expired),
        (|claims| claims["iat"] = (claims["iat"].as_i64().unwrap() + 75).into(), TokenFault::NotYetValid),
        (|claims| claims["nbf"] = (claims["iat"].as_i64().unwrap() + 75).into(), TokenFault::NotYetValid),
        (|claims| claims["sub"] = "".into(), TokenFault::Subject),
        (|claims| claims["sub"] = "x".repeat(256).into(), TokenFault::Subject),
        (|claims| claims["sub"] = "a\nb".into(), TokenFault::Subject),
        (|claims| drop(claims.as_object_mut().unwrap().remove("sub")), wrong_type()),
        (|claims| drop(claims.as_object_mut().unwrap().remove("exp")), wrong_type()),
        (|claims| claims["exp"] = "tomorrow".into(), wrong_type()),
    ];
    for (number, (alteration, expected)) in cases.into_iter().enumerate() {
        world.server.alter_claims(alteration);
        assert_eq!(world.sign_in().await, Err(ProviderError::Token(expected)), "case {number}");
    }
    world.server.alter_claims(|claims| claims["iss"] = "https://evil.test".into());
    world
        .assert_refused("the ID token of the identity provider names the issuer \"https://evil.test\"")
        .await;
}

fn wrong_type() -> TokenFault {
    TokenFault::Malformed("a claim is missing or has the wrong type")
}

#[tokio::test]
async fn d77_what_the_standard_leaves_open_is_accepted() {
    type Alteration = fn(&mut serde_json::Value);
    let world = World::new();
    let cases: [Alteration; 5] = [
        |claims| claims["aud"] = vec!["client"].into(),
        |claims| {
            claims["aud"] = vec!["another", "client"].into();
            claims["azp"] = "client".into();
        },
        |claims| claims["exp"] = (claims["exp"].as_f64().unwrap() + 0.5).into(),
        |claims| claims["exp"] = (claims["iat"].as_i64().unwrap() - 30).into(),
        |claims| claims["iat"] = (claims["iat"].as_i64().unwrap() + 30).into(),
    ];
    for alteration in cases {
        world.server.alter_claims(alteration);
        world.sign_in().await.unwrap();
    }
    world.server.alter_claims(|claims| drop(claims.as_object_mut().unwrap().remove("auth_time")));
    assert_eq!(world.sign_in().await.unwrap().authenticated_at, None);
    for (verified, expected) in [("true", true), ("false", false), ("yes", false)] {
        world.server.alter_claims(move |claims| {
            claims["email"] = "ada@example.com".into();
            claims["email_verified"] = verified.into();
        });
        assert_eq!(world.sign_in().await.unwrap().is_email_verified, expected, "{verified}");
    }
    world.server.alter_claims(|claims| (claims["email"], claims["name"]) = ("no address".into(), 7.into()));
    let claims = world.sign_in().await.unwrap();
    assert_eq!((claims.email, claims.name), (None, None));
}

#[tokio::test]
async fn d77_the_user_information_must_be_about_the_same_person() {
    let world = World::new();
    let person = Person::named("subject-1").with_email("ada@example.com", true).with_name("Ada");
    world.server.sign_in(person);
    world.server.tell_profile_in(ProfileIn::UserInfo);
    let claims = world.sign_in().await.unwrap();
    assert_eq!(claims.email.unwrap().as_str(), "ada@example.com");
    assert!(claims.is_email_verified && claims.name.is_some());
    world.server.alter_user_info(|document| document["sub"] = "subject-2".into());
    assert_eq!(world.sign_in().await, Err(ProviderError::Token(TokenFault::OtherSubject)));
    world.server.behave();
    // Its verification of another address says nothing about the token's.
    world.server.alter_claims(|claims| claims["email"] = "else@example.com".into());
    let claims = world.sign_in().await.unwrap();
    assert_eq!((claims.email.unwrap().as_str(), claims.is_email_verified), ("else@example.com", false));
    // Who it is does not depend on it.
    world.server.behave();
    world.server.misbehave(Endpoint::UserInfo, Misbehaviour::Answer(500, String::new()));
    assert_eq!(world.sign_in().await.unwrap().email, None);
}

#[tokio::test]
async fn d77_another_issuer_is_refused_wherever_it_is_named() {
    let world = World::new();
    world.server.alter_configuration(|document| {
        document["issuer"] = format!("{}/", document["issuer"].as_str().unwrap()).into();
    });
    world.assert_refused("the configuration of the identity provider names the issuer").await;
    let world = World::new();
    world.server.name_issuer(true);
    world.sign_in().await.unwrap();
    let (code, sent) = world.code().await;
    for named in [Some("https://evil.test"), Some(""), None] {
        let refused = world.provider.redeem(sent.redemption(&code, named)).await;
        assert!(matches!(refused, Err(ProviderError::IssuerDiffers { what: "callback", .. })), "{refused:?}");
    }
    world.provider.redeem(sent.redemption(&code, Some(world.server.issuer()))).await.unwrap();
}

#[tokio::test]
async fn d77_a_code_is_redeemed_once_by_who_began() {
    let world = World::new();
    let (code, sent) = world.code().await;
    world.provider.redeem(sent.redemption(&code, None)).await.unwrap();
    let again = world.provider.redeem(sent.redemption(&code, None)).await.unwrap_err();
    assert!(
        matches!(&again, ProviderError::Refused { reason } if reason.contains("invalid_grant")),
        "{again}"
    );
    let (code, _) = world.code().await;
    let (_, other) = world.code().await;
    let stolen = world.provider.redeem(other.redemption(&code, None)).await.unwrap_err();
    assert!(matches!(stolen, ProviderError::Refused { .. }), "{stolen}");
}

#[tokio::test]
async fn d77_endpoints_on_plain_http_of_another_machine_are_refused() {
    for endpoint in ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"] {
        for url in
            ["http://login.example.com/x", "ftp://localhost/x", "//localhost/x", "https://a.example/#x", ""]
        {
            let world = World::new();
            world.server.alter_configuration(move |document| document[endpoint] = url.into());
            let message =
                world.provider.redeem(steps::Sent::new().redemption("code", None)).await.unwrap_err();
            assert!(message.to_string().contains(&format!("`{endpoint}` must be an https URL")), "{message}");
        }
    }
}

#[tokio::test]
async fn d77_a_provider_that_misbehaves_is_an_error_in_time() {
    let elsewhere = "https://elsewhere.example/".to_owned();
    for (endpoint, what) in [
        (Endpoint::Configuration, "configuration"),
        (Endpoint::Keys, "key set"),
        (Endpoint::Token, "token endpoint"),
    ] {
        for (misbehaviour, expected) in [
            (Misbehaviour::Answer(500, "{}".to_owned()), UNUSABLE),
            (Misbehaviour::Answer(200, "<html>".to_owned()), UNUSABLE),
            (Misbehaviour::Answer(200, "{}".to_owned()), UNUSABLE),
            (Misbehaviour::Redirect(elsewhere.clone()), UNUSABLE),
            (Misbehaviour::Huge((256 << 10) + 1), UNREACHABLE),
            (Misbehaviour::Silence, UNREACHABLE),
        ] {
            let world = World::new();
            let (code, sent) = world.code_without_the_client();
            world.server.misbehave(endpoint, misbehaviour.clone());
            let begin = Instant::now();
            let error = world.provider.redeem(sent.redemption(&code, None)).await.unwrap_err().to_string();
            assert!(error.contains(what) && error.contains(expected), "{misbehaviour:?}: {error}");
            assert!(begin.elapsed() < Duration::from_secs(20));
        }
    }
}

#[tokio::test]
async fn d77_no_error_has_a_code_a_token_or_a_secret() {
    let world = World::new();
    let (code, sent) = world.code().await;
    for answer in [
        format!("{{\"error\": \"{code}\", \"error_description\": \"what about hush-hush?\"}}"),
        format!("{{\"error\": \"invalid_grant\", \"error_description\": \"{code}\"}}"),
        format!("{{\"id_token\": [\"{code}\"]}}"),
        format!("{{\"{code}\""),
    ] {
        for status in [200, 400] {
            world.server.misbehave(Endpoint::Token, Misbehaviour::Answer(status, answer.clone()));
            let error = world.provider.redeem(sent.redemption(&code, None)).await.unwrap_err();
            for text in [error.to_string(), format!("{error:?}")] {
                assert!(!text.contains(&code) && !text.contains("hush-hush"), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn d77_new_keys_are_fetched_at_most_once_a_minute() {
    let world = World::new();
    world.sign_in().await.unwrap();
    world.server.rotate_keys();
    world.clock.advance(Duration::from_secs(61));
    world.sign_in().await.unwrap();
    assert_eq!(world.server.requests(Endpoint::Keys), 2);
    world.server.sign_with(Signing::UnknownKey);
    for _ in 0..3 {
        assert_eq!(world.sign_in().await, Err(ProviderError::Token(TokenFault::UnknownKey)));
    }
    assert_eq!(world.server.requests(Endpoint::Keys), 2);
    world.clock.advance(Duration::from_secs(61));
    for _ in 0..3 {
        assert_eq!(world.sign_in().await, Err(ProviderError::Token(TokenFault::UnknownKey)));
    }
    assert_eq!(world.server.requests(Endpoint::Keys), 3);
}

#[tokio::test]
async fn d77_the_configuration_is_fetched_hourly_and_shared() {
    let world = World::new();
    let urls = (0..8).map(|_| world.url(false, None));
    for url in futures(urls).await {
        assert!(url.starts_with(world.server.issuer()));
    }
    assert_eq!(world.server.requests(Endpoint::Configuration), 1);
    world.clock.advance(Duration::from_mins(61));
    world.server.misbehave(Endpoint::Configuration, Misbehaviour::Answer(500, String::new()));
    for _ in 0..3 {
        world.url(false, None).await;
    }
    assert_eq!(world.server.requests(Endpoint::Configuration), 2, "the old one serves meanwhile");
    world.clock.advance(Duration::from_hours(24));
    let sent = steps::Sent::new();
    for _ in 0..3 {
        world.provider.authorization_url(sent.request(false, None)).await.unwrap_err();
    }
    assert_eq!(world.server.requests(Endpoint::Configuration), 3);
    world.server.behave();
    world.clock.advance(Duration::from_secs(4));
    world.url(false, None).await;
    assert_eq!(world.server.requests(Endpoint::Configuration), 4);
}

/// All of them at once.
async fn futures<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut pending: Vec<_> = all.map(Box::pin).collect();
    let mut done = Vec::new();
    std::future::poll_fn(|context| {
        pending.retain_mut(|future| match future.as_mut().poll(context) {
            std::task::Poll::Ready(value) => {
                done.push(value);
                false
            }
            std::task::Poll::Pending => true,
        });
        if pending.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done
}
