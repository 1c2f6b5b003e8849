//! Provides the tags that new or changed links need (D122).

use std::collections::{BTreeMap, BTreeSet};

use signpost_domain::{AccountId, PlanLimits, PlanResource, Refusal, TagId, TagName, Tags};

use crate::application::Application;
use crate::ports::{NeededTags, StoreError, UnitOfWork};

/// The tags that a unit of work has provided for links.
#[derive(Debug, Default)]
pub(crate) struct ProvidedTags {
    limit: u64,
    /// By their keys.
    names: BTreeMap<String, TagName>,
    /// Those that did not exist before.
    created: BTreeMap<TagId, TagName>,
}

impl ProvidedTags {
    /// Provides the tags of links, in order. Runs a statement only if there are some.
    pub(crate) async fn of_links(
        app: &Application,
        work: &mut dyn UnitOfWork,
        account: AccountId,
        limits: &PlanLimits,
        links: impl Iterator<Item = &Tags>,
    ) -> Result<Self, StoreError> {
        let limit = limits.of(PlanResource::Tags);
        let new = |name: &TagName| (app.ids.next(), name.clone());
        let needs: Vec<NeededTags> =
            links.filter(|tags| !tags.is_empty()).map(|tags| tags.iter().map(new).collect()).collect();
        if needs.is_empty() {
            return Ok(Self { limit, ..Self::default() });
        }
        let provided = work.provide_tags(account, &needs, limit, app.clock.now()).await?;
        let offered: BTreeSet<TagId> = needs.iter().flatten().map(|(id, _)| *id).collect();
        let names = provided.iter().map(|(_, name)| (name.key().to_owned(), name.clone())).collect();
        let created = provided.into_iter().filter(|(id, _)| offered.contains(id)).collect();
        Ok(Self { limit, names, created })
    }

    /// The tags of a link, as the account spells them.
    ///
    /// # Errors
    /// [`Refusal::PlanLimitReached`] if the plan has no room for all of them.
    pub(crate) fn spell(&self, tags: &Tags) -> Result<Tags, Refusal> {
        let spelt = tags.spelt_as(tags.iter().filter_map(|name| self.names.get(name.key())));
        if spelt.len() < tags.len() {
            return Err(Refusal::PlanLimitReached { resource: PlanResource::Tags, limit: self.limit });
        }
        Ok(spelt)
    }

    /// Deletes the tags that were created for links which were then refused. Runs a statement only if there are some.
    pub(crate) async fn withdraw_unused(
        self,
        work: &mut dyn UnitOfWork,
        account: AccountId,
        kept: impl Iterator<Item = &Tags>,
    ) -> Result<(), StoreError> {
        let used: BTreeSet<&str> = kept.flat_map(Tags::iter).map(TagName::key).collect();
        let is_used = |name: &TagName| used.contains(name.key());
        let unused: Vec<TagId> =
            self.created.iter().filter(|(_, name)| !is_used(name)).map(|(id, _)| *id).collect();
        if unused.is_empty() { Ok(()) } else { work.delete_unused_tags(account, &unused).await }
    }
}
