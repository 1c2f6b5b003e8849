//! From an address on a custom domain to where it leads (D24, D44).

use signpost_app::visits::Resolution;
use signpost_app::{Operator, accounts};
use signpost_domain::{Change, HostReference, LandingRequest, RedirectRequest};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::given_domains::{ACTIVE, becomes, draft_on, given_domain, not_active, removed};
use crate::world::{World, create_as, draft, page_draft};

const HOST: &str = "links.example.net";
const OTHER: &str = "other.example.org";
const END: &str = "https://target.example/end/of?it";

async fn visit(world: &World, host: &str, slug: Option<&str>) -> Resolution {
    world.resolved(host, slug).await.resolution
}

fn leads_to(target: &str) -> Resolution {
    Resolution::Redirect(samples::target(target))
}

/// A redirect to `target` on `host`: a domain's, or the system's.
async fn link(world: &World, host: &str, slug: Option<&str>, target: &str) -> signpost_domain::Redirect {
    let target_url = samples::target(target);
    world.create(draft_on(host, slug).with(|content| content.target_url = Some(target_url))).await.unwrap()
}

#[tokio::test]
async fn d44_a_link_resolves_only_while_its_domain_is_active() {
    let world = World::new().await;
    let domain = world.active_domain(HOST).await;
    link(&world, HOST, Some("sale"), END).await;
    link(&world, HOST, None, "https://example.org/root").await;
    let expect = async |is_there: bool| {
        for (host, slug, target) in [
            (HOST, Some("sale"), END),
            ("Links.Example.NET.", Some("sale"), END),
            (HOST, None, "https://example.org/root"),
        ] {
            let expected = if is_there { leads_to(target) } else { Resolution::NotThere };
            assert_eq!(visit(&world, host, slug).await, expected, "{host} {slug:?}");
        }
        for (host, slug) in [
            (HOST, Some("Sale")),
            ("go.example.com", Some("sale")),
            ("go.example.com", None),
            ("www.links.example.net", None),
        ] {
            assert_eq!(visit(&world, host, slug).await, Resolution::NotThere, "{host} {slug:?}");
        }
    };
    expect(true).await;
    for status in not_active(&world.app) {
        becomes(&world.app, &domain, status).await;
        expect(false).await;
        becomes(&world.app, &domain, ACTIVE).await;
        expect(true).await;
    }
    removed(&world.app, &domain).await;
    expect(false).await;
    world.active_domain(HOST).await;
    expect(false).await;
}

/// The addresses of chains: on two custom domains, at a root of one, and on the system domain.
fn addresses() -> [(&'static str, Option<&'static str>, &'static str); 7] {
    [
        (HOST, Some("a"), "https://links.example.net/a"),
        ("go.example.com", Some("b"), "http://GO.example.com/b/"),
        (OTHER, None, "http://other.example.org"),
        (HOST, None, "https://LINKS.example.net.:443/?x#y"),
        (OTHER, Some("c"), "https://other.example.org/%63/?x"),
        (HOST, Some("d"), "http://links.example.net:80/d"),
        ("go.example.com", Some("e"), "https://go.example.com/e"),
    ]
}

async fn world_with_domains() -> World {
    let world = World::new().await;
    for host in [HOST, OTHER] {
        world.active_domain(host).await;
    }
    world
}

/// Links at the first `length` addresses, each pointing at the next, the last at `end`.
async fn chain(world: &World, length: usize, end: &str) {
    let addresses = addresses();
    for (number, (host, slug, _)) in addresses.iter().take(length).enumerate() {
        let next = addresses.get(number + 1).filter(|_| number + 1 < length);
        link(world, host, *slug, next.map_or(end, |(_, _, url)| *url)).await;
    }
}

/// R32: in any spelling. An end that only looks like an own address is followed no further.
#[tokio::test]
async fn d24_chains_across_domains_are_followed_five_deep() {
    for end in [END, "https://target.example/end", "https://target.example"] {
        for length in 1..=7 {
            let world = world_with_domains().await;
            chain(&world, length, end).await;
            let expected = if length <= 6 { leads_to(end) } else { Resolution::NotThere };
            assert_eq!(visit(&world, HOST, Some("a")).await, expected, "{length} links to {end}");
        }
    }
}

/// R32: from every entry, also when a later move closes the loop.
#[tokio::test]
async fn r32_loops_across_domains_lead_nowhere() {
    for length in 2..=7 {
        let world = world_with_domains().await;
        let (_, _, back) = addresses()[0];
        chain(&world, length, back).await;
        for (host, slug, _) in addresses().into_iter().take(length) {
            assert_eq!(visit(&world, host, slug).await, Resolution::NotThere, "{length}: {host} {slug:?}");
        }
    }
    let world = world_with_domains().await;
    link(&world, HOST, Some("a"), "https://other.example.org/b").await;
    let back = link(&world, HOST, Some("b"), "https://links.example.net/a").await;
    assert_eq!(visit(&world, HOST, Some("a")).await, leads_to("https://other.example.org/b"));
    let domain = signpost_domain::Change::Set(HostReference::parse(OTHER));
    world.update(back.id, RedirectRequest { domain, ..RedirectRequest::default() }).await.unwrap();
    assert_eq!(visit(&world, HOST, Some("a")).await, Resolution::NotThere);
}

/// Contract D44: any other target is an ordinary target.
#[tokio::test]
async fn d24_only_existing_addresses_are_followed() {
    let world = World::new().await;
    let (other, secret) = world.another_account("agency").await;
    let domain = given_domain(&world.app, other.id, OTHER, ACTIVE).await;
    let theirs = world.admit(Some(&secret)).await.unwrap().caller;
    let target_url = samples::target(END);
    let draft_of_theirs = draft_on(OTHER, Some("end")).with(|content| content.target_url = Some(target_url));
    create_as(&world.app, &theirs, draft_of_theirs).await.unwrap();
    let address = "https://other.example.org/end";
    link(&world, "go.example.com", Some("a"), address).await;
    let others = [
        "https://other.example.org/none",
        "https://other.example.org:8443/end",
        "https://other.example.org/end/more",
        "https://sub.other.example.org/end",
    ];
    for (number, target) in others.into_iter().enumerate() {
        let slug = format!("o{number}");
        link(&world, "go.example.com", Some(&slug), target).await;
        assert_eq!(visit(&world, "go.example.com", Some(&slug)).await, leads_to(target));
    }
    let from_a = async || visit(&world, "go.example.com", Some("a")).await;
    assert_eq!(from_a().await, leads_to(END));
    for status in not_active(&world.app) {
        becomes(&world.app, &domain, status).await;
        assert_eq!(from_a().await, leads_to(address));
    }
    becomes(&world.app, &domain, ACTIVE).await;
    let hosts = world.resolved("go.example.com", Some("a")).await.target_hosts;
    assert_eq!(hosts, [OTHER, "target.example"], "the blocklist is asked about both");
    accounts::suspend(&world.app, &Operator::COMMAND, other.id).await.unwrap();
    assert_eq!(from_a().await, Resolution::NotThere);
    assert_eq!(visit(&world, OTHER, Some("end")).await, Resolution::NotThere);
    accounts::resume(&world.app, &Operator::COMMAND, other.id).await.unwrap();
    assert_eq!(from_a().await, leads_to(END));
}

/// Contract D22: its address has the scheme of custom domains.
#[tokio::test]
async fn d24_a_landing_page_on_a_domain_ends_a_chain() {
    let memory =
        InMemory { custom_domain_scheme: signpost_domain::CustomDomainScheme::Http, ..InMemory::default() };
    let world = World::on(memory, "agency").await;
    world.active_domain(HOST).await;
    for (entry, slug, url) in [
        ("a", Change::Clear, "http://links.example.net/"),
        ("b", Change::Set(samples::slug("menu")), "http://links.example.net/menu"),
    ] {
        let domain = Change::Set(HostReference::parse(HOST));
        let page = world.create_page(LandingRequest { domain, slug, ..page_draft("x") }).await.unwrap();
        let slug = page.placement.slug().map(ToString::to_string);
        let shown = visit(&world, HOST, slug.as_deref()).await;
        assert!(
            matches!(
                &shown,
                Resolution::Landing { page, url: own } if page.title == samples::name("Menu") && own == url
            ),
            "{shown:?}"
        );
        let target_url = samples::target(&url.replace("http://", "https://"));
        world.create(draft(entry).with(|content| content.target_url = Some(target_url))).await.unwrap();
        let elsewhere = Resolution::LandingElsewhere { url: url.to_owned() };
        assert_eq!(visit(&world, "go.example.com", Some(entry)).await, elsewhere);
    }
}
