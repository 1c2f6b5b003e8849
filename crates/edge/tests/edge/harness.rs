//! A running edge, and a client that sends raw bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::Application;
use signpost_app::changes::Origin;
use signpost_app::ports::{Asker, Insertion, Store, UnitOfWork};
use signpost_domain::{
    AccountId, CheckPlan, Content, CustomDomain, CustomDomainStatus, Landing, Link, PageContent, Password,
    PasswordHash, Redirect,
};
use signpost_edge::{EdgeOptions, EdgeServer, SystemUrls};
use signpost_listener::Times;
use signpost_memory::{InMemory, KeptClick};
use signpost_pages::SecurityContact;
use signpost_port_contracts::samples;
use tokio::net::TcpSocket;

/// The hostname of the fakes' system domain.
pub(crate) const HOST: &str = "go.example.com";

/// The fakes' contact for security reports.
pub(crate) const SECURITY_CONTACT: &str = "security@example.com";

/// The status of a domain that serves its links.
pub(crate) const ACTIVE: CustomDomainStatus = CustomDomainStatus::Active { misdirected_since: None };

/// A plan without any due check.
pub(crate) const UNCHECKED: CheckPlan = CheckPlan { next_check_at: None, checks_made: 0 };

/// Longer than a busy machine pauses a client.
const LONG: Duration = Duration::from_mins(1);

/// Deadlines that a client meets even if a busy machine pauses it. Lingering takes as long as a graceful stop.
fn times() -> Times {
    let lingering = Duration::from_secs(30);
    Times { head: LONG, body: LONG, stalled: LONG, lingering, ..Times::default() }
}

/// A limit of links that no test reaches.
const PLENTY: u64 = 1_000_000;

/// Enough for all links of a test.
const CACHE_BYTES: u64 = 8 * 1024 * 1024;

/// Two threads, and this many misses per address and minute; 0 turns the limit off.
pub(crate) fn options(miss_throttle_per_minute: u32) -> EdgeOptions {
    EdgeOptions {
        miss_throttle_per_minute,
        workers: NonZeroUsize::new(2).unwrap(),
        connections: 1_000,
        cache_bytes: CACHE_BYTES,
        country_header: None,
        security_contact: SecurityContact::parse(SECURITY_CONTACT),
        plain_http: None,
        reads_proxy_protocol: false,
        system_urls: SystemUrls::default(),
    }
}

/// A redirect on the system domain to a target.
pub(crate) fn redirect_to(slug: &str, target: &str) -> Redirect {
    samples::redirect(slug).with(|content| content.target_url = samples::target(target))
}

pub(crate) struct Edge {
    pub(crate) memory: InMemory,
    pub(crate) app: Arc<Application>,
    pub(crate) account: AccountId,
    pub(crate) server: EdgeServer,
    pub(crate) address: SocketAddr,
    /// Keeps the port bound after a stop, so that no other program can listen there.
    _port: TcpSocket,
}

impl Edge {
    pub(crate) async fn start() -> Self {
        Self::start_with(InMemory::default(), options(0), |_| {}).await
    }

    pub(crate) async fn start_with(
        memory: InMemory,
        options: EdgeOptions,
        change: impl FnOnce(&mut Application),
    ) -> Self {
        let account = samples::account();
        let mut work = memory.store.begin().await.unwrap();
        work.insert_account(&account).await.unwrap();
        work.commit().await.unwrap();
        let mut app = memory.application();
        change(&mut app);
        let app = Arc::new(app);
        let port = TcpSocket::new_v4().unwrap();
        // Two sockets share a port only if both allow it. The standard library sets this for listeners.
        port.set_reuseaddr(true).unwrap();
        port.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let address = port.local_addr().unwrap();
        let listener = TcpListener::bind(address).unwrap();
        let server = EdgeServer::start_with_times(listener, Arc::clone(&app), options, times()).unwrap();
        Self { memory, app, account: account.id, server, address, _port: port }
    }

    /// Makes the node assume that it read the change log a moment ago, however long the test takes.
    pub(crate) fn stay_in_sync(&self) {
        self.app.link_memory.synced(Instant::now() + Duration::from_hours(1));
    }

    /// Commits a change as the use cases do: this node knows of it before the caller continues.
    pub(crate) async fn commit(&self, work: Box<dyn UnitOfWork>) {
        let changes = work.changes();
        work.commit().await.unwrap();
        for change in &changes {
            self.app.changes.publish(change, Origin::ThisNode);
        }
    }

    pub(crate) async fn add(&self, link: &(impl Clone + Into<Link>)) {
        let mut work = self.memory.store.begin().await.unwrap();
        let inserted = work.insert_links(self.account, &[link.clone().into()], PLENTY).await.unwrap();
        assert_eq!(inserted, [Insertion::Done]);
        self.commit(work).await;
    }

    /// Adds a link that asks for this password.
    pub(crate) async fn add_protected<C: Content>(&self, link: &Link<C>, password: &str) -> Link<C> {
        let link = Link { has_password: true, ..link.clone() };
        let any = link.clone().into_any();
        let hash = self.hash(password).await;
        let mut work = self.memory.store.begin().await.unwrap();
        let inserted = work.insert_links(self.account, std::slice::from_ref(&any), PLENTY).await.unwrap();
        assert_eq!(inserted, [Insertion::Done]);
        work.write_link_passwords(self.account, &[(any.id(), Some(hash))]).await.unwrap();
        self.commit(work).await;
        link
    }

    /// A change of a link's password, before its commit. `None` removes it.
    pub(crate) async fn password_change<C: Content>(
        &self,
        link: &Link<C>,
        password: Option<&str>,
    ) -> Box<dyn UnitOfWork> {
        let hash = match password {
            Some(password) => Some(self.hash(password).await),
            None => None,
        };
        let before = link.clone().into_any();
        let mut after = Link { has_password: hash.is_some(), ..before.clone() };
        after.mark_changed(before.updated_at);
        let mut work = self.memory.store.begin().await.unwrap();
        work.lock_link(self.account, before.id()).await.unwrap().unwrap();
        work.update_link(self.account, &before, &after).await.unwrap();
        work.write_link_passwords(self.account, &[(before.id(), hash)]).await.unwrap();
        work
    }

    async fn hash(&self, password: &str) -> PasswordHash {
        let hasher = &self.app.link_passwords;
        hasher.hash(hasher.place(Asker::Known).unwrap(), Password::typed(password)).await.unwrap()
    }

    pub(crate) async fn update(&self, before: &(impl Clone + Into<Link>), after: &(impl Clone + Into<Link>)) {
        let mut work = self.memory.store.begin().await.unwrap();
        work.update_link(self.account, &before.clone().into(), &after.clone().into()).await.unwrap();
        self.commit(work).await;
    }

    /// Connects a hostname to the account, with this status.
    pub(crate) async fn connect_domain(&self, hostname: &str, status: CustomDomainStatus) -> CustomDomain {
        let hostname = samples::hostname(hostname);
        let connected = CustomDomain::connect(samples::id(), self.account, hostname, samples::at(1_000));
        let domain = CustomDomain { status, ..connected };
        let mut work = self.memory.store.begin().await.unwrap();
        work.insert_custom_domain(&domain, UNCHECKED, 10).await.unwrap();
        self.commit(work).await;
        domain
    }

    /// Replaces the content of a landing page.
    pub(crate) async fn write_page(&self, page: &Landing, content: &PageContent) {
        let mut work = self.memory.store.begin().await.unwrap();
        work.write_page_content(self.account, page.id, content).await.unwrap();
        self.commit(work).await;
    }

    /// Stops the edge, which passes queued clicks on, and gives all clicks.
    pub(crate) async fn clicks(self) -> Vec<KeptClick> {
        self.server.stop(true).await.unwrap();
        self.memory.clicks.all()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path)
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> Answer {
        self.request_with(method, path, &format!("Host: {HOST}\r\n"))
    }

    /// Sends a request with these header lines, each with its CR LF.
    pub(crate) fn request_with(&self, method: &str, path: &str, headers: &str) -> Answer {
        self.send(format!("{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").as_bytes())
    }

    /// Sends a form to the system domain, with these additional header lines.
    pub(crate) fn post_with(&self, path: &str, headers: &str, form: &str) -> Answer {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {HOST}\r\n{headers}Content-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            form.len()
        );
        self.send([head.as_str(), form].concat().as_bytes())
    }

    /// Sends this password, which must need no encoding.
    pub(crate) fn send_password(&self, path: &str, password: &str) -> Answer {
        self.post_with(path, "", &format!("password={password}"))
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// Sends these bytes, and reads until the server closes.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        Answer::parse(&answer)
    }
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// By lower-case name. It omits `date`, which differs from second to second.
    pub(crate) headers: BTreeMap<String, Vec<String>>,
    /// The body as text, with a replacement for invalid UTF-8.
    pub(crate) body: String,
    /// The raw body.
    pub(crate) content: Vec<u8>,
}

/// Omits the raw body, since the text shows it.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, headers, body, content: _ } = self;
        write!(f, "{status} {headers:?} {body}")
    }
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("not an answer: {:?}", String::from_utf8_lossy(bytes)));
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let content = bytes[end + 4..].to_vec();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = BTreeMap::<String, Vec<String>>::new();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            if !name.eq_ignore_ascii_case("date") {
                headers.entry(name.to_ascii_lowercase()).or_default().push(value.to_owned());
            }
        }
        Self { status, headers, body: String::from_utf8_lossy(&content).into_owned(), content }
    }

    /// The value of a header, if it occurs exactly once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        match self.headers.get(name)?.as_slice() {
            [value] => Some(value),
            values => panic!("{name}: {values:?}"),
        }
    }
}
