//! Checks of domains that never conclude (D42, R21).

use std::sync::Arc;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusBuilder;
use signpost_app::background::{Job as _, MaintainDomains, Progress};
use signpost_app::ports::{CHECKS_LEFT_ALONE_FOR, MAX_CLAIMS_OF_A_CHECK};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::logs::Log;

use crate::domain_checks::{MINUTE, SOON, check, checks, pass};
use crate::domain_owners::{HOST, Owner};
use crate::world::World;

const GIVEN_UP: &str = "the check of this domain was never concluded; it is left alone for a day";

/// Runs the job that one node does for all.
async fn maintain(world: &World) {
    let job = MaintainDomains::new(Arc::clone(&world.app.store), world.memory.clock.clone());
    assert_eq!(job.step().await.unwrap(), Progress::Done);
}

/// R21: it is suspended after five attempts, and the operator is informed.
#[tokio::test]
async fn r21_a_panicking_check_is_isolated_and_suspended_for_a_day() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let (metrics, log) = (recorder.handle(), Log::begin());
    let _guard = metrics::set_default_local_recorder(&recorder);
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let bad = owner.connect(HOST).await;
    let mut others = vec![];
    for number in 0..5 {
        let host = format!("links{number}.shop.com");
        others.push(owner.connect(&host).await);
        owner.publish_proof(&host);
        world.point_here(&host);
    }
    world.memory.dns.set_panicking(HOST, true);
    world.memory.clock.advance(SOON);
    check(&world).await;
    for domain in &others {
        assert_eq!(owner.status(domain.id).await, "active");
    }
    pass(&world, MINUTE * 3).await;
    assert_eq!((world.memory.dns.lookups(HOST), log.count(GIVEN_UP)), (4, 0));
    pass(&world, MINUTE).await;
    assert_eq!((world.memory.dns.lookups(HOST), log.count(GIVEN_UP)), (5, 1));
    assert!(log.lines(GIVEN_UP)[0].contains(HOST), "{:?}", log.lines(GIVEN_UP));
    assert!(metrics.render().contains("\nsignpost_domain_checks_given_up_total 1\n"), "{}", metrics.render());

    // The last claim ends after a minute, and the day of suspension begins.
    for _ in 0..24 * 60 {
        pass(&world, MINUTE).await;
        maintain(&world).await;
    }
    assert_eq!(world.memory.dns.lookups(HOST), 5);
    pass(&world, MINUTE).await;
    maintain(&world).await;
    pass(&world, MINUTE * 10).await;
    assert_eq!(
        (world.memory.dns.lookups(HOST), log.count(GIVEN_UP)),
        (10, 2),
        "it is tried five times again"
    );

    world.memory.dns.set_panicking(HOST, false);
    owner.publish_proof(HOST);
    world.point_here(HOST);
    pass(&world, CHECKS_LEFT_ALONE_FOR).await;
    maintain(&world).await;
    check(&world).await;
    assert_eq!(owner.status(bad.id).await, "active");
    world.point_elsewhere(HOST);
    pass(&world, Duration::from_hours(2)).await;
    assert_eq!(world.memory.dns.lookups(HOST), 13, "checks continue as planned");
}

/// A check that succeeds in its last attempt is not given up.
#[tokio::test]
async fn d42_a_check_that_cannot_be_stored_is_given_up() {
    for last_one_ends in [true, false] {
        let log = Log::begin();
        let world = World::new().await;
        let owner = Owner::first(&world).await;
        owner.connect(HOST).await;
        world.memory.clock.advance(SOON);
        for claim in 1..=MAX_CLAIMS_OF_A_CHECK {
            let held = world.memory.dns.hold(HOST);
            let (job, fails) = (checks(&world), claim < MAX_CLAIMS_OF_A_CHECK || !last_one_ends);
            let (progress, ()) = tokio::join!(job.step(), async {
                world.memory.dns.looked_up(HOST, u64::from(claim).try_into().unwrap()).await;
                if fails {
                    world.memory.store.faults().fail_next(Step::Write, Fault::Unavailable, 1);
                }
                drop(held);
            });
            assert_eq!(progress.is_err(), fails, "{claim}");
            world.memory.clock.advance(MINUTE);
        }
        assert_eq!(log.count(GIVEN_UP), usize::from(!last_one_ends));
        world.memory.clock.advance(MINUTE);
        let before = world.memory.dns.lookups(HOST);
        check(&world).await;
        assert_eq!(world.memory.dns.lookups(HOST) > before, last_one_ends);
    }
}
