//! Changing what a domain gives its visitors besides links (D120, D127).

use std::time::Duration;

use signpost_app::AppError;
use signpost_app::domains::{self, DomainWithInstructions};
use signpost_domain::{
    AppFile, Change, DomainId, DomainRequest, HostBlocklist, Precondition, Refusal, Submitted,
};
use signpost_port_contracts::samples;

use crate::domain_owners::{HOST, Owner};
use crate::world::World;

impl Owner<'_> {
    pub(crate) async fn configure(
        &self,
        id: DomainId,
        request: DomainRequest,
        precondition: &Precondition,
    ) -> Result<DomainWithInstructions, AppError> {
        let request = Submitted::valid(request);
        domains::update(&self.world.app, &self.caller, id.into(), request, precondition).await
    }
}

/// A request with this `root_url`.
pub(crate) fn root(url: &str) -> DomainRequest {
    DomainRequest { root_url: Change::Set(samples::target(url)), ..DomainRequest::default() }
}

fn violations(outcome: Result<DomainWithInstructions, AppError>) -> Vec<String> {
    let Err(AppError::Invalid(violations)) = outcome else { panic!("{outcome:?}") };
    violations.iter().map(|violation| violation.field().to_owned()).collect()
}

#[tokio::test]
async fn d127_settings_are_kept_by_a_domain_that_fails_and_comes_back() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let id = owner.connect(HOST).await.id;
    let file = AppFile::parse("{ }").unwrap();
    let request = DomainRequest {
        apple_app_site_association: Change::Set(file.clone()),
        ..root("https://example.com/shop")
    };
    let configured = owner.configure(id, request.clone(), &Precondition::None).await.unwrap();
    assert_eq!(configured.domain.revision.get(), 2);
    assert_eq!(owner.configure(id, request, &Precondition::None).await.unwrap(), configured, "D33");
    // The failure at the deadline is a revision of its own, before and after a change of the failed domain.
    world.memory.clock.advance(Duration::from_hours(73));
    assert_eq!((owner.status(id).await, owner.get(id).await.revision.get()), ("failed", 3));
    let changed = owner.configure(id, root("https://example.com/new"), &Precondition::None).await.unwrap();
    assert_eq!((changed.domain.status.as_str(), changed.domain.revision.get()), ("failed", 4));
    let again = owner.try_to_connect(HOST).await.unwrap().domain;
    assert_eq!((again.domain.status.as_str(), again.domain.revision.get()), ("pending", 5));
    assert_eq!(again.domain.urls, changed.domain.urls);
    assert_eq!(again.files.unwrap().apple_app_site_association, Some(file));
}

#[tokio::test]
async fn d120_a_condition_comes_before_violations_and_after_absence() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let id = owner.connect(HOST).await.id;
    let own = root(&format!("https://{HOST}/sale"));
    let never = Precondition::RevisionIn(vec![]);
    let refused = owner.configure(id, own.clone(), &never).await;
    assert!(matches!(refused, Err(AppError::Refused(Refusal::PreconditionFailed(_)))), "{refused:?}");
    assert_eq!(violations(owner.configure(id, own.clone(), &Precondition::Exists).await), ["root_url"]);
    let unknown = owner.configure(samples::id(), own, &never).await;
    assert!(matches!(unknown, Err(AppError::Refused(Refusal::DomainNotFound))), "{unknown:?}");
    world.memory.target_blocklist.replace(HostBlocklist::parse("bad.example").unwrap());
    let listed = owner.configure(samples::id(), root("https://bad.example"), &never).await;
    assert_eq!(violations(listed), ["root_url"]);
    let stranger = Owner::another(&world).await;
    let unseen = stranger.configure(id, root("https://example.com"), &Precondition::None).await;
    assert!(matches!(unseen, Err(AppError::Refused(Refusal::DomainNotFound))), "{unseen:?}");
    assert_eq!(owner.get(id).await.revision.get(), 1);
    let removed = domains::delete(&world.app, &owner.caller, id.into(), &never).await;
    assert!(matches!(removed, Err(AppError::Refused(Refusal::PreconditionFailed(_)))), "{removed:?}");
    let removed = domains::delete(&world.app, &owner.caller, id.into(), &Precondition::Exists).await;
    assert_eq!(removed.unwrap(), id);
}
