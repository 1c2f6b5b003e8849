//! The cost of whole requests that change many links (D123), from the use case down.

use signpost_app::links::{self, LinkUpdate, NamedLink};
use signpost_app::{Application, Caller};
use signpost_domain::id::RedirectKind;
use signpost_domain::{
    Batch, Change, ExternalId, GroupId, HostReference, Link, RedirectContent, RedirectRequest, Submitted,
    TagName, Tags,
};
use signpost_port_contracts::samples;

use super::recorder;

/// D123: the maximum number of statements for changes of one kind, without BEGIN and COMMIT.
const MOST: usize = 12;

/// Several changes of each link, by kind.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Fields,
    Addresses,
    Groups,
    Tags,
    ExternalIds,
    Everything,
}

const KINDS: [Kind; 6] =
    [Kind::Fields, Kind::Addresses, Kind::Groups, Kind::Tags, Kind::ExternalIds, Kind::Everything];

/// The number of statements does not depend on the number of links, and is at most 12 for changes of one kind.
pub(crate) async fn cost_few_statements(app: &Application, caller: &Caller, group: GroupId, host: &str) {
    for kind in KINDS {
        let [two, hundred] = [
            cost_of(app, caller, kind, group, host, 2).await,
            cost_of(app, caller, kind, group, host, 100).await,
        ];
        assert_eq!(two, hundred, "{kind:?}: a batch of 2 and one of 100");
        assert!(two <= MOST || matches!(kind, Kind::Everything), "{kind:?}: {two} statements");
    }
}

async fn cost_of(
    app: &Application,
    caller: &Caller,
    kind: Kind,
    group: GroupId,
    host: &str,
    size: usize,
) -> usize {
    let links = given(app, caller, host, size).await;
    let item = |link: &Link| {
        let link_id = link.clone().into_redirect().unwrap().id;
        let by_external_id = || NamedLink::ExternalId(link.external_id.clone().unwrap());
        let text = samples::id::<RedirectKind>().to_string();
        let names = [samples::id::<RedirectKind>().to_string(), "known".to_owned()];
        let patch = RedirectRequest::default();
        let (link, value) = match kind {
            Kind::Fields => (None, RedirectRequest { is_active: Some(false), ..patch }),
            Kind::Addresses => (None, RedirectRequest { slug: Change::Set(samples::slug(&text)), ..patch }),
            Kind::Groups => (None, RedirectRequest { group: Change::Set(group.into()), ..patch }),
            Kind::Tags => (None, RedirectRequest { tags: Some(tags(&names)), ..patch }),
            Kind::ExternalIds => {
                (Some(by_external_id()), RedirectRequest { external_id: external_id(&text), ..patch })
            }
            Kind::Everything => (
                Some(by_external_id()),
                RedirectRequest {
                    slug: Change::Set(samples::slug(&text)),
                    group: Change::Set(group.into()),
                    tags: Some(tags(&names)),
                    external_id: external_id(&text),
                    ..patch
                },
            ),
        };
        let link = link.unwrap_or(NamedLink::Id(link_id.into()));
        Ok(LinkUpdate::<RedirectContent> { link, request: Submitted::valid(value), if_revision: None })
    };
    let batch = Batch::new(links.iter().map(item).collect()).unwrap();
    let (statements, outcomes) = recorder::recorded(links::update_many(app, caller, batch)).await;
    assert!(outcomes.unwrap().iter().all(Result::is_ok));
    let own: Vec<_> = statements.iter().filter(|statement| !recorder::is_steering(statement)).collect();
    own.len()
}

/// New redirects on a custom domain, with external ids.
async fn given(app: &Application, caller: &Caller, host: &str, size: usize) -> Vec<Link> {
    let draft = |_| {
        let text = samples::id::<RedirectKind>().to_string();
        let request = RedirectRequest {
            domain: Change::Set(HostReference::parse(host)),
            external_id: external_id(&text),
            ..RedirectRequest::new(samples::name("x"), samples::target("https://example.com/"))
        };
        Ok(Submitted::valid(request))
    };
    let batch = Batch::new((0..size).map(draft).collect()).unwrap();
    let idempotency = signpost_app::idempotency::Idempotency::disabled();
    let created = links::create_many::<RedirectContent>(app, caller, batch, idempotency).await.unwrap();
    created.into_iter().map(|redirect| redirect.unwrap().into()).collect()
}

fn external_id(text: &str) -> Change<ExternalId> {
    Change::Set(ExternalId::parse(text).unwrap())
}

fn tags(names: &[String]) -> Tags {
    Tags::new(names.iter().map(|name| TagName::parse(name).unwrap())).unwrap()
}
