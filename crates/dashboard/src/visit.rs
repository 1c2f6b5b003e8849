//! One request of a browser.

use std::future::{Ready, ready};
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::header::{
    ACCEPT_LANGUAGE, COOKIE, FORWARDED, HeaderName, HeaderValue, REFERER, USER_AGENT,
};
use actix_web::{FromRequest, HttpMessage as _, HttpRequest, web};
use signpost_app::admission::{
    NamedRequest, NotEntered, Sender, SignedIn, enter, enter_named, recognise, recognise_named,
};
use signpost_app::people::Client;
use signpost_app::people::profile::accounts_of;
use signpost_app::{Application, Caller};
use signpost_domain::{
    Account, AccountId, AgentName, Email, IdKind, IdReference, LanguageTag, Permission, Role, SecretToken,
};
use signpost_request_layer::RequestFacts;

use crate::answer::SESSION;
use crate::failure::Failure;
use crate::form_body::{FormBody, LARGEST_BYTES, pairs};
use crate::frame::account_ref;
use crate::kept_form::{KeptFormRoom, WhyKept, kept_form, read_to_keep};
use crate::origin::DashboardOrigin;
use crate::paths;
use crate::query::Query;
use crate::views::AccountRef;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) app: Arc<Application>,
    pub(crate) origin: Arc<DashboardOrigin>,
    /// The origin of the API, for examples.
    pub(crate) api_url: Arc<str>,
    pub(crate) kept_forms: KeptFormRoom,
}

/// A request, and what it says about its sender.
pub(crate) struct Visit {
    request: HttpRequest,
    shared: web::Data<Shared>,
}

/// The token of a session that a request has opened, until its answer gives it to the browser (D77).
#[derive(Clone)]
pub(crate) struct NewSession(pub(crate) SecretToken);

/// The account of a malformed id (D2).
const NO_ACCOUNT: AccountId = AccountId::from_bytes([0; 16]);

/// The accounts that a page without an account leads to.
struct OwnAccounts(Vec<AccountRef>);

/// How many accounts such a page lists. The page "All accounts" has the others.
const MOST_ACCOUNTS: usize = 10;

/// A person in an account.
pub(crate) struct Member {
    /// The person.
    pub(crate) signed_in: SignedIn,
    /// The person as somebody who acts for the account.
    pub(crate) caller: Caller,
}

impl Visit {
    pub(crate) fn app(&self) -> &Application {
        &self.shared.app
    }

    /// The use cases, for an answer that outlives the handler.
    pub(crate) fn shared_app(&self) -> Arc<Application> {
        Arc::clone(&self.shared.app)
    }

    pub(crate) fn origin(&self) -> &DashboardOrigin {
        &self.shared.origin
    }

    pub(crate) fn api_url(&self) -> &str {
        &self.shared.api_url
    }

    /// A new key for a form.
    pub(crate) fn new_key(&self) -> String {
        let bits = u128::from_be_bytes(self.app().ids.next_bits());
        format!("form-{bits:032x}")
    }

    /// The value of a placeholder of the path.
    pub(crate) fn part(&self, name: &str) -> &str {
        self.request.match_info().get(name).unwrap_or_default()
    }

    /// The id in the path. A malformed one matches nothing (D2).
    pub(crate) fn id<K: IdKind>(&self) -> IdReference<K> {
        IdReference::parse(self.part(paths::ID))
    }

    /// The token of the ticket in the path.
    pub(crate) fn ticket(&self) -> Option<SecretToken> {
        SecretToken::parse(self.part(paths::TOKEN)).ok()
    }

    /// The query as it was sent, without a question mark.
    pub(crate) fn raw_query(&self) -> &str {
        self.request.query_string()
    }

    /// The parameters of the query.
    pub(crate) fn query(&self) -> Query {
        Query::of(pairs(self.request.query_string().as_bytes()))
    }

    /// The path and the query.
    pub(crate) fn here(&self) -> String {
        self.request.uri().path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string)
    }

    /// The language that the browser prefers, as a tag.
    pub(crate) fn language(&self) -> Option<String> {
        let accepted = self.request.headers().get(ACCEPT_LANGUAGE)?.to_str().ok()?;
        let first = accepted.split([',', ';']).next()?.trim();
        LanguageTag::parse(first).ok().map(|tag| tag.as_str().to_owned())
    }

    /// Who sends the request.
    pub(crate) fn client(&self) -> Client {
        let headers = self.request.headers();
        let sender = Sender {
            peer: self.request.peer_addr().map(|peer| peer.ip()),
            // A header that is not text counts as an unreadable hop.
            forwarded_for: headers
                .get_all(X_FORWARDED_FOR)
                .map(|value| value.to_str().unwrap_or("?"))
                .collect(),
            has_forwarded: headers.contains_key(FORWARDED),
        };
        let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
        Client {
            address: self.app().client_addresses.of(&sender, self.app().clock.now()),
            agent: agent.and_then(AgentName::of),
        }
    }

    /// The person whom the proxy names, if a proxy signs people in (D77).
    pub(crate) fn named_email(&self) -> Option<Email> {
        let proxy = self.app().proxy_sign_in.as_ref()?;
        let values = self.request.headers().get_all(proxy.header()).map(HeaderValue::as_bytes);
        proxy.named(self.request.peer_addr().map(|peer| peer.ip()), values)
    }

    /// Whom the proxy names, with the session of the browser. `None` unless a proxy signs people in.
    fn named(&self) -> Option<NamedRequest> {
        self.app().proxy_sign_in.as_ref()?;
        // The request may have opened a session a moment ago.
        let opened = self.request.extensions().get::<NewSession>().map(|session| session.0.clone());
        Some(NamedRequest { email: self.named_email(), session: opened.or_else(|| self.token()) })
    }

    /// Keeps the token of a session that this request has opened, for its answer.
    fn keep(&self, signed_in: &SignedIn) {
        if let Some(token) = signed_in.new_token() {
            self.request.extensions_mut().insert(NewSession(token.clone()));
        }
    }

    /// The token in the session's cookie.
    fn token(&self) -> Option<SecretToken> {
        SecretToken::parse(self.cookie(SESSION)?).ok()
    }

    /// The value of a cookie. Two cookies of the name are none: one may have been planted.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        let name = self.origin().cookie_name(name);
        // As bytes: a cookie of another application that is not text must not hide the others.
        let headers = self.request.headers().get_all(COOKIE).map(HeaderValue::as_bytes);
        let pairs = headers.flat_map(|header| header.split(|byte| *byte == b';')).map(<[u8]>::trim_ascii);
        let mut values = pairs.filter_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
        match (values.next(), values.next()) {
            (Some(value), None) => std::str::from_utf8(value).ok(),
            _ => None,
        }
    }

    /// The person of the session, if there is a live one.
    pub(crate) async fn person(&self) -> Result<Option<SignedIn>, Failure> {
        let outcome = match self.named() {
            Some(named) => recognise_named(self.app(), &named, &self.client()).await,
            None => recognise(self.app(), self.token().as_ref()).await,
        };
        match outcome {
            Ok(signed_in) => {
                self.keep(&signed_in);
                Ok(Some(signed_in))
            }
            Err(NotEntered::NotSignedIn) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The person of the session.
    ///
    /// # Errors
    /// Leads to the sign-in.
    pub(crate) async fn signed_in(&self) -> Result<SignedIn, Failure> {
        self.person().await?.ok_or_else(|| self.sign_in_first())
    }

    /// The person of the session, whose pages lead to the accounts of this person.
    ///
    /// # Errors
    /// Leads to the sign-in.
    pub(crate) async fn signed_in_with_accounts(&self) -> Result<SignedIn, Failure> {
        let signed_in = self.signed_in().await?;
        self.read_accounts(&signed_in).await?;
        Ok(signed_in)
    }

    /// The accounts of the person, to which the pages of this request then lead.
    pub(crate) async fn read_accounts(&self, signed_in: &SignedIn) -> Result<Vec<(Account, Role)>, Failure> {
        let accounts = accounts_of(self.app(), signed_in).await?;
        let shown = accounts.iter().take(MOST_ACCOUNTS).map(|(account, _)| account_ref(account));
        self.request.extensions_mut().insert(OwnAccounts(shown.collect()));
        Ok(accounts)
    }

    /// The accounts that this page leads to.
    pub(crate) fn own_accounts(&self) -> Vec<AccountRef> {
        self.request.extensions().get::<OwnAccounts>().map(|own| own.0.clone()).unwrap_or_default()
    }

    /// The person of the session as a member of the account in the path.
    ///
    /// # Errors
    /// Leads to the sign-in or to the second factor, or is the page for what does not exist (D2).
    pub(crate) async fn member(&self) -> Result<Member, Failure> {
        self.entered().await.map_err(|refused| self.failure_of(refused))
    }

    /// The person of the session as a member who may change links, with a form that is too large to be read for everybody. Other
    /// senders get it back.
    pub(crate) async fn writer_with_large_form(
        &self,
        payload: Payload,
    ) -> Result<(Member, FormBody), Failure> {
        let refused = match self.entered().await {
            Ok(member) => match member.caller.require(Permission::WriteLinks) {
                Ok(()) => {
                    let form = FormBody::read(&self.request, payload, LARGEST_BYTES).await?;
                    return Ok((member, form));
                }
                Err(refusal) => return self.kept_large(payload, || refusal.into()).await,
            },
            Err(refused) => refused,
        };
        self.kept_large(payload, || self.failure_of(refused)).await
    }

    /// Fails a request after its large form was read, for a page that keeps it.
    async fn kept_large<T>(&self, payload: Payload, failure: impl FnOnce() -> Failure) -> Result<T, Failure> {
        read_to_keep(&self.request, payload, &self.shared.kept_forms).await;
        Err(failure())
    }

    async fn entered(&self) -> Result<Member, NotEntered> {
        let account = self.part(paths::ACCOUNT).parse::<AccountId>().unwrap_or(NO_ACCOUNT);
        let client = self.client();
        let outcome = match self.named() {
            Some(named) => enter_named(self.app(), &named, account, &client).await,
            None => enter(self.app(), self.token().as_ref(), account, client.address).await,
        };
        match &outcome {
            Ok((signed_in, caller)) => {
                self.keep(signed_in);
                if let Some(facts) = RequestFacts::<()>::of(&self.request) {
                    facts.actor.set(Some((caller.account_id(), caller.actor())));
                }
            }
            Err(NotEntered::NotAMember(signed_in) | NotEntered::SecondFactorRequired(signed_in)) => {
                self.keep(signed_in);
            }
            Err(
                NotEntered::NotSignedIn
                | NotEntered::TooManyRequests { retry_after_seconds: _ }
                | NotEntered::TooManyInFlight
                | NotEntered::UnknownPlan
                | NotEntered::Store(_)
                | NotEntered::Broken(_),
            ) => {}
        }
        outcome.map(|(signed_in, caller)| Member { signed_in, caller })
    }

    fn failure_of(&self, refused: NotEntered) -> Failure {
        match refused {
            NotEntered::NotSignedIn => self.sign_in_first(),
            NotEntered::SecondFactorRequired(_) => {
                let first = || Failure::second_factor_first(&self.way_back());
                self.kept_form(WhyKept::SecondFactorNeeded).unwrap_or_else(first)
            }
            NotEntered::NotAMember(_)
            | NotEntered::TooManyRequests { retry_after_seconds: _ }
            | NotEntered::TooManyInFlight
            | NotEntered::UnknownPlan
            | NotEntered::Store(_)
            | NotEntered::Broken(_) => refused.into(),
        }
    }

    /// After signing in, the browser gets this page again, or the page of the form that it sent. A form that was read is shown
    /// with a button that sends it again, so that nothing typed is lost.
    pub(crate) fn sign_in_first(&self) -> Failure {
        let next = self.way_back();
        if self.request.method().is_safe() {
            return Failure::sign_in_first(&next);
        }
        // Without a session of its own, a request behind a proxy waits for the proxy to name somebody.
        let kept = match self.app().proxy_sign_in {
            Some(_) => None,
            None => self.kept_form(WhyKept::SessionEnded { sign_in: Failure::sign_in_path(&next) }),
        };
        kept.unwrap_or_else(|| Failure::sign_in_first(&next))
    }

    /// The page to open again later: this one, or that of the form that was sent.
    fn way_back(&self) -> String {
        if self.request.method().is_safe() {
            return self.here();
        }
        let referer = self.request.headers().get(REFERER).and_then(|value| value.to_str().ok());
        referer.and_then(|referer| self.origin().own_page(referer)).unwrap_or("/").to_owned()
    }

    fn kept_form(&self, why: WhyKept) -> Option<Failure> {
        kept_form(&self.request, why)
    }
}

impl FromRequest for Visit {
    type Error = Failure;
    type Future = Ready<Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let shared = request.app_data::<web::Data<Shared>>().cloned();
        let shared = shared.ok_or_else(|| Failure::Broken("a request lacks what all share".to_owned()));
        ready(shared.map(|shared| Self { request: request.clone(), shared }))
    }
}

/// A path of the dashboard that a form or a query names; `/` for anything else, so that nobody is led to another site.
pub(crate) fn own_path(path: &str) -> &str {
    let is_own = path.starts_with('/')
        && !path.starts_with("//")
        && !path.contains('\\')
        && path.bytes().all(|byte| byte.is_ascii_graphic());
    if is_own { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_the_dashboard_are_followed() {
        for own in ["/", "/acc_1/links?q=a%20b", "/me#x"] {
            assert_eq!(own_path(own), own);
        }
        for foreign in
            ["", "x", "//evil.test", "/\\evil.test", "https://evil.test", "/a\r\nb", "/a b", "/\u{e9}"]
        {
            assert_eq!(own_path(foreign), "/", "{foreign:?}");
        }
    }
}
