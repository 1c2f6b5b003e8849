//! The certificate of a domain, on the domain's page (D194).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::background::{Job as _, ObtainCertificates};
use signpost_app::ports::{AuthorityError, WaitScope};
use signpost_domain::{CertificateFailure, CertificateFailureReason, CertificateStatus, Hostname, Role};
use signpost_memory::{AuthorityCall, FakeCertificateAuthority};

use crate::harness::{Browser, Dashboard, PASSWORD, texts_of};

const HOST: &str = "go.customer.com";
const EMAIL: &str = "editor@example.com";
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);

/// What an authority says about a closed port. It must not become a part of the page.
const DETAILS: &str = "203.0.113.9: <b>Connection</b> refused";
const SHOWN_DETAILS: &str = "203.0.113.9: &#60;b&#62;Connection&#60;/b&#62; refused";

/// A dashboard that gets certificates from a fake authority, and a domain.
struct Scene {
    /// The dashboard on the same store without certificates of its own.
    plain: Dashboard,
    dashboard: Dashboard,
    authority: Arc<FakeCertificateAuthority>,
    path: String,
}

impl Scene {
    /// The domain is connected, and its records are missing.
    async fn pending() -> Self {
        let plain = Dashboard::start().await;
        let authority = Arc::new(FakeCertificateAuthority::new(Arc::clone(&plain.app.clock)));
        let dashboard = plain.with_authority(&authority).await;
        let editor = dashboard.member(EMAIL, Role::Editor).await;
        let connected = editor.post(&dashboard.path("domains"), &[("hostname", HOST)]).await;
        let path = dashboard.path(&format!("domains/{}", connected.followed_id()));
        Self { plain, dashboard, authority, path }
    }

    /// The domain is proven, and waits for its first certificate.
    async fn proven() -> Self {
        let scene = Self::pending().await;
        let page = scene.page_of(&scene.dashboard).await;
        let (_, proof) = page.split_once("signpost-verification=").unwrap();
        let proof = format!("signpost-verification={}", proof.split('<').next().unwrap());
        let dns = &scene.dashboard.memory.dns;
        dns.set_texts(&format!("_signpost.{HOST}"), [proof]);
        dns.set_alias(HOST, "edge.example.net");
        let checked = browser_of(&scene.dashboard).await.post(&format!("{}/verify", scene.path), &[]).await;
        assert_eq!(checked.status, 303, "{}", checked.body);
        scene
    }

    /// Works on the certificate once a second, this often.
    async fn work(&self, times: usize) {
        let job = ObtainCertificates::new(Arc::clone(&self.dashboard.app));
        for _ in 0..times {
            job.step().await.unwrap();
            self.pass(SECOND);
        }
    }

    fn pass(&self, time: Duration) {
        self.dashboard.memory.clock.advance(time);
    }

    fn fail_validation(&self, reason: CertificateFailureReason) {
        let failure = CertificateFailure::new(reason, DETAILS);
        self.authority.set_validation(&Hostname::parse(HOST).unwrap(), Some(failure));
    }

    async fn page_of(&self, dashboard: &Dashboard) -> String {
        let page = browser_of(dashboard).await.get(&self.path).await;
        assert_eq!(page.status, 200, "{}", page.body);
        page.body
    }

    /// The class of the state, and all that a person reads about the certificate; `None` if the page does not mention it.
    async fn certificate(&self) -> Option<(String, Vec<String>)> {
        let page = self.page_of(&self.dashboard).await;
        let (_, rest) = page.split_once("<h2>Certificate</h2>")?;
        let (section, _) = rest.split_once("</section>").unwrap();
        let (_, class) = section.split_once("<b class=\"").unwrap();
        Some((class.split('"').next().unwrap().to_owned(), texts_of(section)))
    }

    /// Asserts that the page shows the certificate in this state, with these further texts, and returns the state.
    async fn assert_shows(&self, status: CertificateStatus, further: &[&str]) -> CertificateStatus {
        let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect();
        let expected =
            expected(status).map(|(class, word)| (class.to_owned(), owned([&[word], further].concat())));
        assert_eq!(self.certificate().await, expected, "{status:?}");
        status
    }
}

/// A browser in which the editor has just signed in: certificates live longer than sessions.
async fn browser_of(dashboard: &Dashboard) -> Browser {
    let browser = dashboard.browser();
    assert_eq!(browser.sign_in(EMAIL, PASSWORD).await.status, 303);
    browser
}

/// The class and the words of a state; `None` if the page does not mention the certificate.
const fn expected(status: CertificateStatus) -> Option<(&'static str, &'static str)> {
    match status {
        CertificateStatus::None => None,
        CertificateStatus::Ordering => Some(("tag", "Being ordered")),
        CertificateStatus::Active => Some(("tag on", "In use")),
        CertificateStatus::Renewing => Some(("tag on", "In use, being renewed")),
        CertificateStatus::Failing => Some(("tag del", "The last order failed")),
        CertificateStatus::Expired => Some(("tag del", "Expired")),
    }
}

#[actix_web::test]
async fn d194_the_page_shows_every_state_of_a_certificate() {
    let pending = Scene::pending().await;
    let mut seen = vec![pending.assert_shows(CertificateStatus::None, &[]).await];

    let scene = Scene::proven().await;
    let waiting = scene.page_of(&scene.dashboard).await;
    assert!(waiting.contains("Waiting for the certificate") && waiting.contains("less than a minute"));
    let now = ["Next attempt", "31 Jan 2026, 10:05"];
    seen.push(scene.assert_shows(CertificateStatus::Ordering, &now).await);

    scene.work(2).await;
    assert!(scene.page_of(&scene.dashboard).await.contains("Links on this domain open."));
    let served = [
        "Issued by",
        "Fake Authority",
        "Valid until",
        "1 May 2026, 11:05",
        "Renewed on",
        "1 Apr 2026, 11:05",
        "Last attempt",
    ];
    let first = [&served[..], &["31 Jan 2026, 10:05"]].concat();
    seen.push(scene.assert_shows(CertificateStatus::Active, &first).await);

    scene.authority.set_slow(2, 0, None);
    scene.pass(60 * DAY + MINUTE);
    scene.work(1).await;
    let renewing = [&served[..], &["1 Apr 2026, 11:06", "Next attempt", "1 Apr 2026, 11:06"]].concat();
    seen.push(scene.assert_shows(CertificateStatus::Renewing, &renewing).await);

    scene.fail_validation(CertificateFailureReason::Unreachable);
    scene.work(3).await;
    let unreachable =
        "The authority could not connect to this hostname on port 80. A firewall may be in the way.";
    let failed = ["1 Apr 2026, 11:06", "Next attempt", "1 Apr 2026, 11:07", unreachable, SHOWN_DETAILS];
    let failing = [&served[..], &failed].concat();
    seen.push(scene.assert_shows(CertificateStatus::Failing, &failing).await);

    scene.pass(31 * DAY);
    scene.work(4).await;
    let failed = ["2 May 2026, 11:06", "Next attempt", "2 May 2026, 11:16", unreachable, SHOWN_DETAILS];
    let expired = [&served[..], &failed].concat();
    seen.push(scene.assert_shows(CertificateStatus::Expired, &expired).await);
    assert_eq!(seen, CertificateStatus::ALL);
}

/// What a person reads about a reason.
const fn sentence(reason: &CertificateFailureReason) -> &'static str {
    match reason {
        CertificateFailureReason::CaaForbids => {
            "CAA records of this hostname do not allow the authority to issue a certificate. Allow it there, or remove them."
        }
        CertificateFailureReason::PointsElsewhere => "DNS leads this hostname elsewhere.",
        CertificateFailureReason::Unreachable => {
            "The authority could not connect to this hostname on port 80. A firewall may be in the way."
        }
        CertificateFailureReason::WrongAnswer => {
            "Another server answered the authority for this hostname. Remove address records that do not lead here."
        }
        CertificateFailureReason::RateLimited => "A limit on orders is used up for now.",
        CertificateFailureReason::NameRefused => "The authority issues no certificate for this name.",
        CertificateFailureReason::AuthorityUnavailable => "The authority does not answer at present.",
        CertificateFailureReason::DnsFailed => "The name servers of this hostname do not answer.",
        CertificateFailureReason::Other(_) => "The order failed.",
    }
}

#[actix_web::test]
async fn d194_the_page_says_why_the_first_order_failed() {
    for word in [
        "caa_forbids",
        "points_elsewhere",
        "unreachable",
        "wrong_answer",
        "rate_limited",
        "name_refused",
        "authority_unavailable",
        "dns_failed",
        "a_reason_of_a_newer_version",
    ] {
        let scene = Scene::proven().await;
        let reason = CertificateFailureReason::parse(word).unwrap();
        scene.fail_validation(reason.clone());
        scene.work(2).await;
        let times = ["Last attempt", "31 Jan 2026, 10:05", "Next attempt", "31 Jan 2026, 10:06"];
        let further = [&times[..], &[sentence(&reason), SHOWN_DETAILS]].concat();
        scene.assert_shows(CertificateStatus::Failing, &further).await;
        // The domain waits on, and says until when.
        let page = scene.page_of(&scene.dashboard).await;
        assert!(page.contains("Without one by 3 Feb 2026, 10:05, the domain fails."), "{word}: {page}");
        assert!(!page.contains("less than a minute"), "{word}: {page}");
    }
}

/// Nothing has failed yet, so the state stays.
#[actix_web::test]
async fn d194_the_page_says_what_the_first_order_waits_for() {
    let scene = Scene::proven().await;
    let failure = CertificateFailure::new(CertificateFailureReason::RateLimited, "");
    let until = scene.dashboard.app.clock.now().plus(2 * DAY);
    let wait = AuthorityError::Wait { until, scope: WaitScope::Hostname, failure };
    scene.authority.fail_always(AuthorityCall::Order, Some(wait));
    scene.work(1).await;
    let further = [
        "Last attempt",
        "31 Jan 2026, 10:05",
        "Next attempt",
        "2 Feb 2026, 10:05",
        "A limit on orders is used up for now.",
    ];
    scene.assert_shows(CertificateStatus::Ordering, &further).await;
    let page = scene.page_of(&scene.dashboard).await;
    assert!(page.contains("there is no certificate yet.") && !page.contains("less than a minute"), "{page}");
}

#[actix_web::test]
async fn d194_a_domain_that_got_no_certificate_in_time_says_so() {
    let scene = Scene::proven().await;
    scene.fail_validation(CertificateFailureReason::WrongAnswer);
    scene.work(2).await;
    scene.pass(3 * DAY);
    let page = scene.page_of(&scene.dashboard).await;
    for text in [
        "No certificate could be obtained for 72 hours. To start over, correct the records and try again.",
        "<div>Failed: No certificate could be obtained for 72 hours.</div>",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

/// Another program ends TLS there, and what is stored from before says nothing about its certificates.
#[actix_web::test]
async fn d194_without_issuance_the_page_says_that_https_is_elsewhere() {
    let scene = Scene::proven().await;
    scene.work(2).await;
    let shown = scene.page_of(&scene.dashboard).await;
    let plain = scene.page_of(&scene.plain).await;
    assert!(plain.contains("Links on this domain open."), "{plain}");
    for text in ["Fake Authority", "Valid until"] {
        assert!(shown.contains(text) && !plain.contains(text), "{text}: {plain}");
    }
    let elsewhere = "<h2>Certificate</h2><p class=\"hint\">Signpost obtains no certificates here, so HTTPS on this domain is up to \
                     the server in front of Signpost.</p>";
    assert!(plain.contains(elsewhere) && !shown.contains("no certificates here"), "{plain}");
    let pending = Scene::pending().await;
    assert!(pending.page_of(&pending.plain).await.contains(elsewhere));
    let page = pending.page_of(&pending.dashboard).await;
    assert!(!page.contains("<h2>Certificate</h2>"), "{page}");
}
