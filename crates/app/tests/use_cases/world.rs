//! An application on fakes with one account, and the operations that many tests need.

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::{Arc, Barrier};

use signpost_app::accounts::{self, CreateAccount};
use signpost_app::admission::{self, AdmittedRequest, NotAdmitted, Reason};
use signpost_app::idempotency::Idempotency;
use signpost_app::links::{self, ListLinks};
use signpost_app::ports::Insertion;
use signpost_app::{AppError, Application, Caller, Operator, groups, keys};
use signpost_domain::{
    Account, ApiKeySecret, Change, ErrorCode, Feature, Group, IdReference, LandingId, LandingPage,
    LandingRequest, Link, LinkId, LinkKind, Page, PageContent, Plan, PlanLimits, Precondition, Redirect,
    RedirectContent, RedirectId, RedirectRequest, Refusal, RequestBudget, Slug, Submitted, SystemDomain,
    Usage, ViolationCode, Violations,
};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

/// The default client address of requests.
pub(crate) const HOME: &str = "203.0.113.9";

pub(crate) struct World {
    pub(crate) memory: InMemory,
    pub(crate) app: Arc<Application>,
    pub(crate) account: Account,
    pub(crate) secret: ApiKeySecret,
}

impl World {
    /// An account on the `agency` plan.
    pub(crate) async fn new() -> Self {
        Self::on(InMemory::default(), "agency").await
    }

    /// An account on this plan.
    pub(crate) async fn with_plan(plan: Plan) -> Self {
        let name = plan.name.clone();
        let mut memory = InMemory::default();
        memory.plans = memory.plans.with(plan);
        Self::on(memory, name.as_str()).await
    }

    pub(crate) async fn on(memory: InMemory, plan: &str) -> Self {
        memory.store.refuse_reads_beside_work();
        let app = Arc::new(memory.application());
        let (account, secret) = account_of(&app, plan).await;
        Self { memory, app, account, secret }
    }

    /// One more account with a key.
    pub(crate) async fn another_account(&self, plan: &str) -> (Account, ApiKeySecret) {
        account_of(&self.app, plan).await
    }

    /// The caller of the next request.
    pub(crate) async fn caller(&self) -> Caller {
        self.admit(Some(&self.secret)).await.unwrap().caller
    }

    /// A caller of another account.
    pub(crate) async fn stranger(&self) -> Caller {
        let (_, secret) = self.another_account("agency").await;
        self.admit(Some(&secret)).await.unwrap().caller
    }

    pub(crate) async fn admit(&self, key: Option<&ApiKeySecret>) -> Result<AdmittedRequest, NotAdmitted> {
        self.admit_from(key, HOME).await
    }

    /// A request about this link.
    pub(crate) async fn request_about(&self, link: LinkId) -> AdmittedRequest {
        let address: IpAddr = HOME.parse().unwrap();
        admission::admit(&self.app, Some(&self.secret), address, Some(link)).await.unwrap()
    }

    pub(crate) async fn admit_from(
        &self,
        key: Option<&ApiKeySecret>,
        address: &str,
    ) -> Result<AdmittedRequest, NotAdmitted> {
        let address: IpAddr = address.parse().unwrap();
        admission::admit(&self.app, key, address, None).await
    }

    pub(crate) async fn create(&self, request: RedirectRequest) -> Result<Redirect, AppError> {
        self.create_submitted(Submitted::valid(request)).await
    }

    pub(crate) async fn create_submitted(
        &self,
        request: Submitted<RedirectRequest>,
    ) -> Result<Redirect, AppError> {
        create_submitted_as(&self.app, &self.caller().await, request).await
    }

    /// [`links::create`] for a landing page.
    pub(crate) async fn create_page(&self, draft: LandingRequest) -> Result<LandingPage, AppError> {
        let (caller, request) = (self.caller().await, Submitted::valid(draft));
        links::create::<PageContent>(&self.app, &caller, request, Idempotency::disabled()).await
    }

    /// [`links::update`] for a landing page.
    pub(crate) async fn update_page(
        &self,
        id: LandingId,
        patch: LandingRequest,
    ) -> Result<LandingPage, AppError> {
        let (caller, request) = (self.caller().await, Submitted::valid(patch));
        links::update::<PageContent>(&self.app, &caller, id.into(), request, &Precondition::None).await
    }

    /// Creates a redirect on the system domain.
    pub(crate) async fn redirect(&self, slug: &str) -> Redirect {
        self.create(draft(slug)).await.unwrap()
    }

    /// Creates a redirect on the system domain that leads to this target.
    pub(crate) async fn redirect_to(&self, slug: &str, target: &str) -> Redirect {
        let target_url = samples::target(target);
        self.create(draft(slug).with(|content| content.target_url = Some(target_url))).await.unwrap()
    }

    pub(crate) async fn group(&self, name: &str) -> Group {
        group_of(&self.app, &self.caller().await, name).await.unwrap()
    }

    pub(crate) async fn update(
        &self,
        id: impl Into<IdReference<signpost_domain::id::RedirectKind>>,
        patch: RedirectRequest,
    ) -> Result<Redirect, AppError> {
        update_as(&self.app, &self.caller().await, id, patch).await
    }

    /// The redirect as it is stored.
    pub(crate) async fn stored(&self, id: RedirectId) -> Option<Redirect> {
        self.app.store.link(self.account.id, id.into()).await.unwrap().map(into_redirect)
    }

    /// Stores a redirect without any use case, for states that no use case creates.
    pub(crate) async fn store_as_it_is(&self, redirect: Redirect) -> Redirect {
        let mut work = self.app.store.begin().await.unwrap();
        let inserted =
            work.insert_links(self.account.id, &[redirect.clone().into()], u64::MAX).await.unwrap();
        assert_eq!(inserted, [Insertion::Done]);
        work.commit().await.unwrap();
        redirect
    }

    pub(crate) async fn usage(&self) -> Usage {
        self.app.store.usage(self.account.id).await.unwrap().unwrap()
    }
}

/// The link, which must be a redirect.
pub(crate) fn into_redirect(link: Link) -> Redirect {
    link.into_redirect().expect("a redirect")
}

/// [`links::create`] for a redirect of this caller.
pub(crate) async fn create_as(
    app: &Application,
    caller: &Caller,
    draft: RedirectRequest,
) -> Result<Redirect, AppError> {
    create_submitted_as(app, caller, Submitted::valid(draft)).await
}

async fn create_submitted_as(
    app: &Application,
    caller: &Caller,
    request: Submitted<RedirectRequest>,
) -> Result<Redirect, AppError> {
    let created = links::create::<RedirectContent>(app, caller, request, Idempotency::disabled()).await?;
    Ok(created.redirect)
}

/// [`links::update`] for a redirect of this caller.
pub(crate) async fn update_as(
    app: &Application,
    caller: &Caller,
    id: impl Into<IdReference<signpost_domain::id::RedirectKind>>,
    patch: RedirectRequest,
) -> Result<Redirect, AppError> {
    let request = Submitted::valid(patch);
    Ok(links::update::<RedirectContent>(app, caller, id.into(), request, &Precondition::None).await?.redirect)
}

/// [`groups::create`] for this caller.
pub(crate) async fn group_of(app: &Application, caller: &Caller, name: &str) -> Result<Group, AppError> {
    groups::create(app, caller, samples::name(name), Idempotency::disabled()).await
}

/// [`links::get`] for a redirect.
pub(crate) async fn get_redirect(
    app: &Application,
    caller: &Caller,
    id: IdReference<signpost_domain::id::RedirectKind>,
) -> Result<Redirect, AppError> {
    links::get::<RedirectContent>(app, caller, id, None).await.map(|found| found.redirect)
}

/// [`links::list`] for redirects.
pub(crate) async fn list_redirects(
    app: &Application,
    caller: &Caller,
    query: ListLinks,
) -> Result<Page<Redirect>, AppError> {
    Ok(links::list(app, caller, LinkKind::Redirect, query, app.clock.now()).await?.map(into_redirect))
}

async fn account_of(app: &Application, plan: &str) -> (Account, ApiKeySecret) {
    let email = samples::account().email;
    let command = CreateAccount { email, name: None, plan: samples::plan(plan) };
    let account = accounts::create(app, &Operator::COMMAND, command).await.unwrap();
    let (_, secret) = keys::issue(app, account.id, None).await.unwrap();
    (account, secret)
}

/// A system domain with an alias.
pub(crate) fn with_alias(alias: &str) -> InMemory {
    let aliases = vec![samples::hostname(alias)];
    InMemory::new(SystemDomain::new("https://go.example.com", aliases).unwrap())
}

/// A plan with the API and these features, with a budget that no test reaches by accident.
pub(crate) fn plan(features: &[Feature]) -> Plan {
    Plan {
        name: samples::plan("tailored"),
        api_access: true,
        budget: RequestBudget { per_minute: 10_000, per_day: 100_000 },
        limits: PlanLimits { links: 1_000, groups: 100, ..PlanLimits::FREE },
        features: features.iter().copied().collect(),
    }
}

/// A draft of a redirect on the system domain.
pub(crate) fn draft(slug: &str) -> RedirectRequest {
    RedirectRequest { slug: Change::Set(samples::slug(slug)), ..draft_without_slug() }
}

/// A draft of a redirect whose slug is to be generated.
pub(crate) fn draft_without_slug() -> RedirectRequest {
    RedirectRequest::new(samples::name("Autumn sale"), samples::target("https://example.com/sale"))
}

/// A draft of a landing page on the system domain.
pub(crate) fn page_draft(slug: &str) -> LandingRequest {
    LandingRequest { slug: Change::Set(samples::slug(slug)), ..LandingRequest::new(samples::name("Menu")) }
}

/// The slug generated from these random bytes.
pub(crate) fn generated(bytes: [u8; 16]) -> Slug {
    Slug::from_random(bytes)
}

/// The refusal of an outcome.
pub(crate) fn refusal<T: Debug>(outcome: Result<T, AppError>) -> Refusal {
    match outcome {
        Err(AppError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// The violations of an outcome, each as field and code.
pub(crate) fn violations<T: Debug>(outcome: Result<T, AppError>) -> Vec<(String, ViolationCode)> {
    match outcome {
        Err(AppError::Invalid(violations)) => fields(&violations),
        other => panic!("not invalid: {other:?}"),
    }
}

pub(crate) fn fields(violations: &Violations) -> Vec<(String, ViolationCode)> {
    violations.iter().map(|violation| (violation.field().to_owned(), violation.code())).collect()
}

/// One violation, as [`violations`] gives it.
pub(crate) fn violation(field: &str, code: ViolationCode) -> (String, ViolationCode) {
    (field.to_owned(), code)
}

/// The reason for refusing admission.
pub(crate) fn reason(outcome: Result<AdmittedRequest, NotAdmitted>) -> Reason {
    outcome.unwrap_err().reason
}

/// Asserts an internal error.
pub(crate) fn assert_internal<T: Debug>(outcome: Result<T, AppError>) {
    assert_eq!(outcome.unwrap_err().code(), ErrorCode::InternalError);
}

/// Runs `tasks` tasks concurrently, each on its own thread and with its number. Needs a multi-threaded test.
pub(crate) fn at_once<T: Send>(tasks: usize, task: impl AsyncFn(usize) -> T + Sync) -> Vec<T> {
    let runtime = tokio::runtime::Handle::current();
    let barrier = Barrier::new(tasks);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..tasks)
            .map(|number| {
                let (runtime, barrier, task) = (&runtime, &barrier, &task);
                scope.spawn(move || {
                    barrier.wait();
                    runtime.block_on(task(number))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
