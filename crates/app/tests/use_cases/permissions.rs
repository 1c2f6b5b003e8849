//! What each use case asks of its caller.

use signpost_app::analytics::{self, LinkChoice};
use signpost_app::idempotency::Idempotency;
use signpost_app::links::{self, ListLinks};
use signpost_app::pixels::NewPixel;
use signpost_app::{AppError, Caller, domains, groups, pixels};
use signpost_domain::id::{DomainKind, GroupKind, LandingKind, PixelKind, RedirectKind};
use signpost_domain::{
    Batch, IdReference, LinkKind, PageContent, PageLimit, Permission, PermissionSet, PixelCode, PixelType,
    RedirectContent, Refusal, Submitted,
};
use signpost_port_contracts::samples;

use crate::analytics::{clicks_behind, first_day, question, soon};
use crate::world::{World, draft};

/// Runs every use case for this caller. Returns the permission for whose lack each was refused.
async fn refusals(world: &World, caller: &Caller) -> Vec<(&'static str, Option<Permission>)> {
    fn lacking<T>(outcome: &Result<T, AppError>) -> Option<Permission> {
        match outcome {
            Err(AppError::Refused(Refusal::NotPermitted(permission))) => Some(*permission),
            Ok(_) | Err(_) => None,
        }
    }
    let (app, none) = (&world.app, "unknown");
    let (group, pixel) = (IdReference::<GroupKind>::parse(none), IdReference::<PixelKind>::parse(none));
    let (redirect, landing) =
        (IdReference::<RedirectKind>::parse(none), IdReference::<LandingKind>::parse(none));
    let domain = IdReference::<DomainKind>::parse(none);
    let ids = Batch::new(vec![none.to_owned()]).unwrap();
    let limit = PageLimit::default();
    let (period, zone) = first_day();
    let asked = || question(period, &zone);
    let clicks = || clicks_behind(None, period, &zone);
    let new_pixel =
        || NewPixel { code: PixelCode::parse(PixelType::GoogleTag, "G-1A2BCD345E").unwrap(), name: None };
    macro_rules! table {
        ($($call:expr,)+) => { vec![$((stringify!($call), lacking(&$call.await)),)+] };
    }
    table![
        links::list(app, caller, LinkKind::Redirect, ListLinks::default()),
        links::get::<RedirectContent>(app, caller, redirect, None),
        links::get::<PageContent>(app, caller, landing, None),
        groups::list(app, caller, limit, None),
        groups::get(app, caller, group),
        pixels::list(app, caller, limit, None),
        pixels::get(app, caller, pixel),
        domains::list(app, caller, limit, None),
        domains::get(app, caller, domain),
        links::create::<RedirectContent>(app, caller, Submitted::valid(draft("a")), Idempotency::disabled()),
        links::create_many::<RedirectContent>(
            app,
            caller,
            Batch::new(vec![Ok(Submitted::valid(draft("b")))]).unwrap(),
            Idempotency::disabled()
        ),
        links::update::<RedirectContent>(app, caller, redirect, Submitted::default()),
        links::delete(app, caller, redirect),
        links::delete_many::<LandingKind>(app, caller, &ids, Idempotency::disabled()),
        groups::create(app, caller, samples::name("Spring"), Idempotency::disabled()),
        groups::rename(app, caller, group, samples::name("Autumn")),
        groups::assign(app, caller, group, &ids, Idempotency::disabled()),
        groups::unassign(app, caller, group, &ids, Idempotency::disabled()),
        groups::delete(app, caller, group),
        pixels::create(app, caller, new_pixel(), Idempotency::disabled()),
        pixels::delete(app, caller, pixel),
        domains::connect(app, caller, "links.example.net", Idempotency::disabled()),
        domains::verify(app, caller, domain, Idempotency::disabled()),
        domains::delete(app, caller, domain),
        analytics::of_link(app, caller, redirect, asked(), soon()),
        analytics::of_account(app, caller, LinkChoice::default(), asked(), soon()),
        analytics::export_of_link(app, caller, redirect, clicks()),
        analytics::export_of_account(app, caller, LinkChoice::default(), clicks()),
        analytics::check_export_of_link(app, caller, redirect, &clicks()),
        analytics::check_export_of_account(app, caller, LinkChoice::default(), &clicks()),
        analytics::recent_clicks(app, caller, &[]),
    ]
}

#[tokio::test]
async fn every_use_case_asks_for_exactly_one_permission() {
    let world = World::new().await;
    let needed = refusals(&world, &world.caller().await.limited_to(PermissionSet::default())).await;
    let counts = Permission::ALL
        .map(|permission| needed.iter().filter(|(_, needed)| *needed == Some(permission)).count());
    assert_eq!(counts, [9, 12, 3, 7], "{needed:#?}");
    for lacking in Permission::ALL {
        let others = Permission::ALL.into_iter().filter(|other| *other != lacking).collect();
        let refused = refusals(&world, &world.caller().await.limited_to(others)).await;
        for ((call, refused), (_, needed)) in refused.into_iter().zip(&needed) {
            assert_eq!(refused, needed.filter(|needed| *needed == lacking), "{call} without {lacking:?}");
        }
    }
    let refused = refusals(&world, &world.caller().await).await;
    assert!(refused.iter().all(|(_, refused)| refused.is_none()), "a key may do everything: {refused:#?}");
}
