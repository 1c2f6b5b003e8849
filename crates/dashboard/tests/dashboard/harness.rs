//! A dashboard on fakes, and browsers that use it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use actix_http::body::{BoxBody, to_bytes};
use actix_http::{Request, Response};
use actix_service::{Service as _, ServiceFactory as _};
use actix_web::Error;
use actix_web::http::header::HeaderMap;
use actix_web::test::TestRequest;
use futures_util::future::LocalBoxFuture;
use signpost_app::accounts::{self, CreateAccount};
use signpost_app::admission::ProxySignIn;
use signpost_app::certificates::Issuance;
use signpost_app::idempotency::Idempotency;
use signpost_app::people::identity::ProviderSignIn;
use signpost_app::people::tickets;
use signpost_app::people::users::{self, Invite};
use signpost_app::ports::{RefusalCounts, ReportText};
use signpost_app::{Application, Operator, keys};
use signpost_dashboard::{DashboardOrigin, dashboard_service};
use signpost_domain::{AccountId, Email, EmailDomain, PlanName, Role, SecretToken, TrustedProxies};
use signpost_memory::{FakeCertificateAuthority, FakeIdentityProvider, InMemory, MarkingSealer};

/// The directory of the authority.
pub const DIRECTORY: &str = "https://fake.example.net/directory";

fn issuance(authority: &Arc<FakeCertificateAuthority>) -> Issuance {
    Issuance {
        authority: Arc::<FakeCertificateAuthority>::clone(authority),
        directory: DIRECTORY.to_owned(),
        contact: Email::parse("ada@example.com").unwrap(),
        sealer: Arc::new(MarkingSealer::default()),
        own_names: Vec::new(),
    }
}

type Send = Box<dyn Fn(Request) -> LocalBoxFuture<'static, Result<Response<BoxBody>, Error>>>;

/// A password that is strong enough.
pub const PASSWORD: &str = "plover egg tin";

/// The origin of the dashboard, and its host.
pub const ORIGIN: &str = "https://dash.example.com";
pub const HOST: &str = "dash.example.com";

/// The address of the proxy that signs people in.
pub const PROXY: &str = "10.0.0.5";

/// The name of the session's cookie at [`ORIGIN`].
pub const COOKIE: &str = "__Host-signpost";

/// A dashboard on fakes, with one account on the agency plan.
#[derive(Clone)]
pub struct Dashboard {
    pub memory: InMemory,
    pub app: Arc<Application>,
    pub account: AccountId,
    send: Rc<Send>,
}

impl Dashboard {
    pub async fn start() -> Self {
        Self::at(ORIGIN).await
    }

    pub async fn at(origin: &str) -> Self {
        Self::with(origin, |_| {}).await
    }

    /// A dashboard behind a proxy that signs people in by the header `Remote-Email` (D77).
    pub async fn behind_proxy() -> Self {
        Self::with(ORIGIN, sign_in_at_proxy).await
    }

    /// The same dashboard after the operator has put such a proxy in front of it.
    pub async fn also_behind_proxy(&self) -> Self {
        Self::on(self.memory.clone(), self.account, ORIGIN, sign_in_at_proxy).await
    }

    /// The same dashboard without a secrets key.
    pub async fn without_sealer(&self) -> Self {
        Self::on(self.memory.clone(), self.account, ORIGIN, |app| app.sealer = None).await
    }

    /// The same dashboard with the secrets key of this number; 0 is the usual one.
    pub async fn with_sealer(&self, number: u8) -> Self {
        let sealer = Arc::new(MarkingSealer::of(number));
        Self::on(self.memory.clone(), self.account, ORIGIN, |app| app.sealer = Some(sealer)).await
    }

    /// The same dashboard on a node that counts refusals.
    pub async fn with_refusals(&self, refusals: Arc<dyn RefusalCounts>) -> Self {
        Self::on(self.memory.clone(), self.account, ORIGIN, |app| app.refusals = Some(refusals)).await
    }

    /// The same dashboard on one of the nodes that share the store, on a machine of this name.
    pub async fn on_node(&self, host: &str) -> Self {
        self.on_node_with(host, |_| {}).await
    }

    /// The same on a node that gets certificates, and has the secrets key of this number.
    pub async fn on_node_with_key(&self, host: &str, key: u8) -> Self {
        let authority = Arc::new(FakeCertificateAuthority::new(Arc::clone(&self.app.clock)));
        let issuance = Issuance { sealer: Arc::new(MarkingSealer::of(key)), ..issuance(&authority) };
        self.on_node_with(host, |app| app.issuance = Some(issuance)).await
    }

    async fn on_node_with(&self, host: &str, prepare: impl FnOnce(&mut Application)) -> Self {
        let reports = Arc::new(self.memory.store.clone());
        let prepare = |app: &mut Application| {
            app.node_reports = Some(reports);
            app.node.host = ReportText::cut(host);
            prepare(app);
        };
        Self::on(self.memory.clone(), self.account, ORIGIN, prepare).await
    }

    /// The same dashboard on a program that gets certificates from this authority.
    pub async fn with_authority(&self, authority: &Arc<FakeCertificateAuthority>) -> Self {
        let issuance = issuance(authority);
        Self::on(self.memory.clone(), self.account, ORIGIN, |app| app.issuance = Some(issuance)).await
    }

    /// A dashboard with an identity provider, whose domain `staff.example` needs no invitation (D77).
    pub async fn with_provider(origin: &str) -> (Self, Arc<FakeIdentityProvider>) {
        let provider = Arc::new(FakeIdentityProvider::new());
        let domains = vec![EmailDomain::parse("staff.example").unwrap()];
        let sign_in = ProviderSignIn::new(Arc::<FakeIdentityProvider>::clone(&provider), domains);
        (Self::with(origin, |app| app.provider_sign_in = Some(sign_in)).await, provider)
    }

    async fn with(origin: &str, prepare: impl FnOnce(&mut Application)) -> Self {
        let memory = InMemory::default();
        let account = account(&memory.application(), "team@example.com", "agency").await;
        Self::on(memory, account, origin, prepare).await
    }

    async fn on(
        memory: InMemory,
        account: AccountId,
        origin: &str,
        prepare: impl FnOnce(&mut Application),
    ) -> Self {
        let mut app = memory.application();
        prepare(&mut app);
        let app = Arc::new(app);
        let origin = DashboardOrigin::parse(origin).unwrap();
        let service = dashboard_service(Arc::clone(&app), origin, "https://api.example.com");
        let service = Rc::new(service.new_service(()).await.unwrap());
        let send: Send = Box::new(move |request| {
            let service = Rc::clone(&service);
            Box::pin(async move { service.call(request).await })
        });
        Self { memory, app, account, send: Rc::new(send) }
    }

    /// One more account.
    pub async fn account(&self, email: &str, plan: &str) -> AccountId {
        account(&self.app, email, plan).await
    }

    /// A browser without a session.
    pub fn browser(&self) -> Browser {
        Browser {
            dashboard: self.clone(),
            cookies: RefCell::default(),
            address: "203.0.113.9".to_owned(),
            site: Some("same-origin"),
            named: None,
        }
    }

    /// A browser of the person whom the proxy names.
    pub fn named(&self, email: &str) -> Browser {
        Browser { address: PROXY.to_owned(), named: Some(email.to_owned()), ..self.browser() }
    }

    /// A browser of a new user whom the proxy names, with this role in the account.
    pub async fn named_member(&self, email: &str, role: Role) -> Browser {
        let browser = self.named(email);
        let email = Email::parse(email).unwrap();
        let joins = Some((self.account, role));
        let token = users::invite(
            &self.app,
            &Operator::COMMAND,
            Invite { email, joins, is_operator: false },
            Idempotency::disabled(),
        )
        .await
        .unwrap();
        let form = [("name", "Ada"), ("time_zone", "Europe/Berlin")];
        let joined = browser.post(&format!("/invitation/{}", token.expose()), &form).await;
        assert_eq!(joined.status, 303, "{}", joined.body);
        browser
    }

    /// A browser of a new user with this role in the account.
    pub async fn member(&self, email: &str, role: Role) -> Browser {
        self.invited(email, Some((self.account, role)), false).await
    }

    /// A browser of a new user.
    pub async fn invited(&self, email: &str, joins: Option<(AccountId, Role)>, is_operator: bool) -> Browser {
        let email = Email::parse(email).unwrap();
        let token = users::invite(
            &self.app,
            &Operator::COMMAND,
            Invite { email, joins, is_operator },
            Idempotency::disabled(),
        )
        .await
        .unwrap();
        let browser = self.browser();
        let form = [("name", "Ada"), ("password", PASSWORD), ("time_zone", "Europe/Berlin")];
        let joined = browser.post(&format!("/invitation/{}", token.expose()), &form).await;
        assert_eq!(joined.status, 303, "{}", joined.body);
        browser
    }

    /// The token of a new first start.
    pub async fn first_start(&self) -> Option<SecretToken> {
        tickets::first_start(&self.app).await.unwrap()
    }

    /// The path of a screen of the account.
    pub fn path(&self, screen: &str) -> String {
        format!("/{}/{screen}", self.account)
    }

    /// A key of the account in clear text.
    pub async fn key(&self) -> String {
        keys::issue(&self.app, self.account, None).await.unwrap().1.expose().to_owned()
    }
}

fn sign_in_at_proxy(app: &mut Application) {
    let proxies = TrustedProxies::new(vec![format!("{PROXY}/32").parse().unwrap()]);
    app.proxy_sign_in = Some(ProxySignIn::new("Remote-Email".to_owned(), proxies));
}

async fn account(app: &Application, email: &str, plan: &str) -> AccountId {
    let command = CreateAccount {
        email: Email::parse(email).unwrap(),
        name: None,
        plan: PlanName::parse(plan).unwrap(),
    };
    accounts::create(app, &Operator::COMMAND, command).await.unwrap().id
}

/// A browser with its cookies.
pub struct Browser {
    pub dashboard: Dashboard,
    pub cookies: RefCell<BTreeMap<String, String>>,
    pub address: String,
    /// The value of `Sec-Fetch-Site`.
    pub site: Option<&'static str>,
    /// Whom the proxy names.
    pub named: Option<String>,
}

impl Browser {
    pub async fn get(&self, path: &str) -> Answer {
        self.send(TestRequest::get().uri(path)).await
    }

    /// Sends a form of the dashboard's own.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = TestRequest::post()
            .uri(path)
            .insert_header(("content-type", "application/x-www-form-urlencoded"))
            .set_payload(body);
        self.send(request).await
    }

    pub async fn send(&self, mut request: TestRequest) -> Answer {
        request = request.insert_header(("host", HOST));
        if let Some(site) = self.site {
            request = request.insert_header(("sec-fetch-site", site));
        }
        if let Some(named) = &self.named {
            request = request.insert_header(("remote-email", named.as_str()));
        }
        self.send_raw(request).await
    }

    /// Sends a request with cookies, and without any other header.
    pub async fn send_raw(&self, mut request: TestRequest) -> Answer {
        let cookies: Vec<String> =
            self.cookies.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            request = request.insert_header(("cookie", cookies.join("; ")));
        }
        let peer = format!("{}:4711", self.address).parse().unwrap();
        let response = (self.dashboard.send)(request.peer_addr(peer).to_request()).await.unwrap();
        let answer = Answer::read(response).await;
        for cookie in answer.headers.get_all("set-cookie") {
            let (pair, attributes) = cookie.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if attributes.contains("Max-Age=0") {
                self.cookies.borrow_mut().remove(name);
            } else {
                self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    /// The token of the session.
    pub fn token(&self) -> String {
        self.cookies.borrow().get(COOKIE).cloned().unwrap_or_default()
    }

    pub async fn sign_in(&self, email: &str, password: &str) -> Answer {
        self.post("/sign-in", &[("email", email), ("password", password)]).await
    }

    /// Whether the session still opens its user's settings.
    pub async fn is_signed_in(&self) -> bool {
        self.get("/me").await.status == 200
    }
}

/// An answer whose headers were all checked.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    async fn read(response: Response<BoxBody>) -> Self {
        let (head, body) = response.into_parts();
        let body = to_bytes(body).await.unwrap();
        let answer = Self {
            status: head.status().as_u16(),
            headers: head.headers().clone(),
            body: String::from_utf8_lossy(&body).into_owned(),
        };
        crate::headers::check(&answer);
        answer
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn location(&self) -> &str {
        self.header("location")
    }

    /// The value of the first hidden input with this name.
    pub fn hidden(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let (_, rest) = self.body.split_once(&start).unwrap_or_else(|| panic!("no {name} in {}", self.body));
        rest.split('"').next().unwrap().to_owned()
    }

    /// The id in the address of the page that follows.
    pub fn followed_id(&self) -> String {
        assert_eq!(self.status, 303, "{}", self.body);
        // A new landing page is followed by its editor.
        let path = self.location().split('?').next().unwrap().trim_end_matches("/page");
        path.rsplit('/').next().unwrap().to_owned()
    }
}

/// What a person reads of a part of a page: the texts of its elements.
pub fn texts_of(html: &str) -> Vec<String> {
    let texts = html.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text.trim());
    texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
}
