//! The listener of HTTPS: links, the API and the dashboard behind one port, told apart by their hosts (D181).

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;

use actix_http::body::BoxBody;
use actix_http::header::HeaderValue;
use actix_http::{Request, Response};
use actix_service::{Service, ServiceFactory, always_ready};
use futures_util::FutureExt as _;
use futures_util::future::{Either, LocalBoxFuture, Map};
use signpost_app::Application;
use signpost_dashboard::DashboardWorkers;
use signpost_edge::LinkWorkers;
use signpost_http::{ApiWorkers, TLS_ALLOWED_PATH};
use signpost_listener::{
    Listener, ListenerOptions, ListenerRefusal, ListenerRefusals, Proxies, Reply, TlsChallenges, TlsOptions,
    host_of,
};

use crate::https_wiring::Certificates;

/// The services behind the listener.
pub(crate) struct HttpsServices {
    pub(crate) links: LinkWorkers,
    pub(crate) link_refusals: Arc<dyn ListenerRefusals>,
    pub(crate) api: ApiWorkers,
    pub(crate) dashboard: Option<DashboardWorkers>,
    pub(crate) hosts: Hosts,
}

/// The hosts that do not open links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hosts {
    pub(crate) api: Vec<String>,
    pub(crate) dashboard: Option<String>,
}

/// What a host serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Links,
    Api,
    Dashboard,
}

impl Hosts {
    /// What a host serves. Any host without another role may open links.
    fn role(&self, host: &str) -> Role {
        let host = host.strip_suffix('.').unwrap_or(host);
        if self.api.iter().any(|api| api.eq_ignore_ascii_case(host)) {
            Role::Api
        } else if self.dashboard.as_ref().is_some_and(|dashboard| dashboard.eq_ignore_ascii_case(host)) {
            Role::Dashboard
        } else {
            Role::Links
        }
    }
}

/// The running listener of HTTPS.
#[derive(Debug)]
pub(crate) struct HttpsServer(Listener);

/// How the listener runs.
pub(crate) struct HttpsOptions {
    pub(crate) certificates: Certificates,
    pub(crate) challenges: Option<Arc<dyn TlsChallenges>>,
    /// For how many seconds browsers use only HTTPS after a visit.
    pub(crate) hsts: Option<u32>,
    pub(crate) connections: usize,
    pub(crate) reads_proxy_protocol: bool,
}

impl HttpsServer {
    /// Starts to accept on `socket`.
    ///
    /// # Errors
    /// The socket cannot be used, or a thread cannot be started.
    pub(crate) fn start(
        socket: TcpListener,
        app: Arc<Application>,
        services: HttpsServices,
        options: HttpsOptions,
    ) -> io::Result<Self> {
        let HttpsOptions { certificates, challenges, hsts, connections, reads_proxy_protocol } = options;
        let hsts = hsts.map(|seconds| HeaderValue::try_from(format!("max-age={seconds}")));
        let hsts = hsts.transpose().map_err(io::Error::other)?;
        let options = ListenerOptions {
            connections,
            proxies: Proxies::new(move |peer| app.client_addresses.trusts(peer)),
            // As for links: people paste them into all kinds of programs.
            encodes_targets: true,
            reads_proxy_protocol,
            tls: Some(TlsOptions { sites: certificates.sites, challenges, strict_transport_security: hsts }),
            ..ListenerOptions::new("tls", crate::listeners::workers())
        };
        let HttpsServices { links, link_refusals, api, dashboard, hosts } = services;
        let refusals: Arc<dyn ListenerRefusals> =
            Arc::new(RefusalsByHost { links: link_refusals, api: api.refusals(), hosts: hosts.clone() });
        let factory = move || ByHost {
            links: links.service(),
            api: api.service(),
            dashboard: dashboard.as_ref().map(DashboardWorkers::service),
            hosts: Rc::new(hosts.clone()),
        };
        Listener::start(socket, &options, &refusals, factory).map(Self)
    }

    /// Waits until the listener fails.
    pub(crate) async fn ended(&mut self) -> io::Result<()> {
        self.0.ended().await
    }

    /// Stops accepting, and returns when running requests are answered or their time is up.
    pub(crate) async fn stop(self) -> io::Result<()> {
        self.0.stop(true).await
    }
}

/// The answers to requests that reach no service. The host of such a request may be unknown, so that of the handshake chooses:
/// every error of the API has a body of JSON.
struct RefusalsByHost {
    links: Arc<dyn ListenerRefusals>,
    api: Arc<dyn ListenerRefusals>,
    hosts: Hosts,
}

impl ListenerRefusals for RefusalsByHost {
    fn answer(&self, refusal: ListenerRefusal) -> Response<BoxBody> {
        self.links.answer(refusal)
    }

    fn answer_at(&self, refusal: ListenerRefusal, server_name: Option<&str>) -> Response<BoxBody> {
        match server_name.map_or(Role::Links, |host| self.hosts.role(host)) {
            Role::Api => self.api.answer(refusal),
            Role::Links | Role::Dashboard => self.links.answer(refusal),
        }
    }
}

/// The services of one worker, chosen by the host of each request.
struct ByHost<L, A, D> {
    links: L,
    api: A,
    dashboard: Option<D>,
    hosts: Rc<Hosts>,
}

impl<L, A, D> ServiceFactory<Request> for ByHost<L, A, D>
where
    L: ServiceFactory<Request, Config = (), Response = Reply<BoxBody>, Error = Infallible, InitError = ()>
        + 'static,
    A: ServiceFactory<Request, Config = (), Response = Response<BoxBody>, InitError = ()> + 'static,
    D: ServiceFactory<Request, Config = (), Response = Response<BoxBody>, InitError = ()> + 'static,
    A::Error: Into<Response<BoxBody>>,
    D::Error: Into<Response<BoxBody>>,
{
    type Response = Reply<BoxBody>;
    type Error = Infallible;
    type Config = ();
    type Service = ByHost<L::Service, A::Service, D::Service>;
    type InitError = ();
    type Future = LocalBoxFuture<'static, Result<Self::Service, ()>>;

    fn new_service(&self, (): ()) -> Self::Future {
        let (links, api) = (self.links.new_service(()), self.api.new_service(()));
        let dashboard = self.dashboard.as_ref().map(|dashboard| dashboard.new_service(()));
        let hosts = Rc::clone(&self.hosts);
        Box::pin(async move {
            let dashboard = match dashboard {
                Some(dashboard) => Some(dashboard.await?),
                None => None,
            };
            Ok(ByHost { links: links.await?, api: api.await?, dashboard, hosts })
        })
    }
}

/// The answer of a service in the form that all three share.
type Answer = Result<Reply<BoxBody>, Infallible>;
type Answered<F, E> = Map<F, fn(Result<Response<BoxBody>, E>) -> Answer>;

#[expect(clippy::unnecessary_wraps, reason = "the answers of all services have one type")]
fn answer<E: Into<Response<BoxBody>>>(answered: Result<Response<BoxBody>, E>) -> Answer {
    Ok(Reply::Response(answered.unwrap_or_else(Into::into)))
}

impl<L, A, D> Service<Request> for ByHost<L, A, D>
where
    L: Service<Request, Response = Reply<BoxBody>, Error = Infallible>,
    A: Service<Request, Response = Response<BoxBody>>,
    D: Service<Request, Response = Response<BoxBody>>,
    A::Error: Into<Response<BoxBody>>,
    D::Error: Into<Response<BoxBody>>,
{
    type Response = Reply<BoxBody>;
    type Error = Infallible;
    type Future = Either<L::Future, Either<Answered<A::Future, A::Error>, Answered<D::Future, D::Error>>>;

    always_ready!();

    fn call(&self, request: Request) -> Self::Future {
        let role = host_of(&request).map_or(Role::Links, |host| self.hosts.role(host));
        match (role, &self.dashboard) {
            // Only a proxy may ask, and there is none in front of this listener. As a link it is not found.
            (Role::Api, _) if request.path() == TLS_ALLOWED_PATH => Either::Left(self.links.call(request)),
            (Role::Api, _) => Either::Right(Either::Left(self.api.call(request).map(answer))),
            (Role::Dashboard, Some(dashboard)) => {
                Either::Right(Either::Right(dashboard.call(request).map(answer)))
            }
            (Role::Dashboard, None) | (Role::Links, _) => Either::Left(self.links.call(request)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d181_each_host_has_one_role() {
        let hosts =
            Hosts { api: vec!["api.example.com".to_owned()], dashboard: Some("dash.example.com".to_owned()) };
        for (host, role) in [
            ("api.example.com", Role::Api),
            ("API.example.com.", Role::Api),
            ("Dash.example.com", Role::Dashboard),
            ("go.example.com", Role::Links),
            ("a.api.example.com", Role::Links),
            ("", Role::Links),
        ] {
            assert_eq!(hosts.role(host), role, "{host}");
        }
        assert_eq!(Hosts::default().role("api.example.com"), Role::Links);
    }

    struct Named(&'static str);

    impl ListenerRefusals for Named {
        fn answer(&self, refusal: ListenerRefusal) -> Response<BoxBody> {
            Response::build(refusal.status()).body(self.0).map_into_boxed_body()
        }
    }

    #[tokio::test]
    async fn d181_a_refusal_has_the_form_of_the_api_if_the_handshake_named_it() {
        let refusals = RefusalsByHost {
            links: Arc::new(Named("links")),
            api: Arc::new(Named("api")),
            hosts: Hosts {
                api: vec!["api.example.com".to_owned()],
                dashboard: Some("dash.example.com".to_owned()),
            },
        };
        for (server_name, expected) in [
            (Some("api.example.com"), "api"),
            (Some("dash.example.com"), "links"),
            (Some("go.example.com"), "links"),
            (None, "links"),
        ] {
            let response = refusals.answer_at(ListenerRefusal::HeadTooLarge, server_name);
            assert_eq!(response.status().as_u16(), 431);
            let body = actix_http::body::to_bytes(response.into_body()).await.unwrap();
            assert_eq!(body, expected, "{server_name:?}");
        }
    }
}
