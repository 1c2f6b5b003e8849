//! Classifies rows: their objects exist, may be created, or are refused.

use std::collections::BTreeSet;
use std::slice;

use signpost_domain::{
    ExternalId, Group, GroupId, Link, LinkContext, LinkId, NamedDomains, PlanLimits, PlanResource, Refusal,
};

use super::entry::{LinkToCreate, Refused, Run};
use super::existing_links::{ExistingLinks, Occupant, find, links_at};
use super::fingerprint::SLUG_ATTEMPTS;
use super::group_entry::GroupEntry;
use super::insertion::{GroupInsertion, Names, insert_groups};
use super::named_groups::{NamedGroups, NotCreated};
use super::outcome::Imported;
use super::pending::Pending;
use super::rehearsal::{Rehearsal, Stored};
use super::results::Results;
use crate::app_error::OperatorError;
use crate::links::LinkRules;
use crate::ports::StoreError;

/// Classifies rows, with the state that changes from row to row.
pub(super) struct Classifier {
    pub(super) limits: PlanLimits,
    pub(super) named_groups: NamedGroups,
    pub(super) rehearsal: Option<Rehearsal>,
}

impl Classifier {
    /// Classifies the links of a run. Creates its groups, including those that only links name.
    pub(super) async fn classify(
        &mut self,
        rules: &LinkRules<'_>,
        named_domains: &NamedDomains,
        run: Run,
    ) -> Result<Pending, OperatorError> {
        let Run { groups, links, mut results, .. } = run;
        let context = &rules.context(named_domains);
        self.groups(rules, context, groups, &mut results).await?;
        let (new, refused) = self.links(rules, context, links, &mut results).await?;
        Ok(Pending::new(results, named_domains.clone(), new, refused))
    }

    async fn groups(
        &mut self,
        rules: &LinkRules<'_>,
        context: &LinkContext<'_>,
        entries: Vec<(usize, GroupEntry)>,
        results: &mut Results,
    ) -> Result<(), OperatorError> {
        let mut new = vec![];
        for (index, entry) in entries {
            match self.group(rules, entry.id).await? {
                Some(group) => {
                    results.group(index, Imported::compared(entry.differences(&group)), entry.id);
                }
                None => new.push((index, entry)),
            }
        }
        let groups: Vec<Group> = new.iter().map(|(_, entry)| entry.create(context.now)).collect();
        if let Some(rehearsal) = &mut self.rehearsal {
            let ids: Vec<GroupId> = groups.iter().map(|group| group.id).collect();
            let taken: BTreeSet<GroupId> = rules.app.store.taken_group_ids(&ids).await?.into_iter().collect();
            for ((index, entry), group) in new.into_iter().zip(groups) {
                let outcome = rehearsal.create_group(group, taken.contains(&entry.id));
                if outcome.code().is_some() {
                    results.refuse(index, outcome);
                } else {
                    results.group(index, outcome, entry.id);
                }
            }
            return Ok(());
        }
        let limit = self.limits.of(PlanResource::Groups);
        let insertions = insert_groups(rules.app, rules.account, &groups, limit, Names::Any).await?;
        for (((index, entry), group), insertion) in new.into_iter().zip(groups).zip(insertions) {
            match insertion {
                Some(GroupInsertion::Done) => {
                    self.named_groups.add(&group);
                    results.group(index, Imported::Created, group.id);
                }
                Some(GroupInsertion::LimitReached) => {
                    results.refuse(index, Imported::groups_limit_reached(limit));
                }
                Some(GroupInsertion::IdTaken) => match self.group(rules, group.id).await? {
                    // Another import has just created it, or this one did and the answer of the store was lost.
                    Some(group) => {
                        self.named_groups.add(&group);
                        results.group(index, Imported::compared(entry.differences(&group)), group.id);
                    }
                    None => results.refuse(index, Imported::group_id_taken(group.id)),
                },
                Some(GroupInsertion::NameTaken(..)) | None => results.refuse(index, Imported::not_storable()),
            }
        }
        Ok(())
    }

    async fn group(&self, rules: &LinkRules<'_>, id: GroupId) -> Result<Option<Group>, StoreError> {
        if let Some(group) = self.rehearsal.as_ref().and_then(|rehearsal| rehearsal.group(id)) {
            return Ok(Some(group.clone()));
        }
        rules.app.store.group(rules.account, id).await
    }

    /// Classifies links. Returns the new ones, whose groups exist now, and the refused ones.
    async fn links(
        &mut self,
        rules: &LinkRules<'_>,
        context: &LinkContext<'_>,
        entries: Vec<LinkToCreate>,
        results: &mut Results,
    ) -> Result<(Vec<(LinkToCreate, Link)>, Vec<Refused>), OperatorError> {
        let app = rules.app;
        // Links first: if another import has just created a link in a new group, the group is found too.
        let found = find(app, rules.account, &entries).await?;
        let rehearsed = self.rehearsal.iter().flat_map(Rehearsal::groups);
        let (entries, ambiguous) = self.named_groups.look_up(app, rehearsed, entries, context.now).await?;
        for (index, outcome) in ambiguous {
            results.refuse(index, outcome);
        }
        let (mut new, mut refused) = (Vec::with_capacity(entries.len()), vec![]);
        for entry in entries {
            let index = entry.index;
            let earlier = self.rehearsal.as_ref().and_then(|rehearsal| {
                entry.link.id.and_then(|id| rehearsal.compared_by_id(id, entry.fingerprint))
            });
            if let Some(outcome) = earlier {
                results.refuse(index, outcome);
                continue;
            }
            match classify_link(rules, context, entry, &found).await? {
                Class::Existing { link, outcome } => results.link(app, index, outcome, &link),
                Class::Refused(row) => refused.push(row),
                Class::New(entry, link) => new.push((*entry, *link)),
            }
        }
        if self.rehearsal.is_some() {
            self.rehearse(rules, new, refused, results).await?;
            return Ok((vec![], vec![]));
        }
        let new = self.with_groups(rules, new, &mut refused).await?;
        Ok((new, refused))
    }

    /// Creates the missing groups of new links. Refuses the links whose groups cannot be created.
    async fn with_groups(
        &mut self,
        rules: &LinkRules<'_>,
        new: Vec<(LinkToCreate, Link)>,
        refused: &mut Vec<Refused>,
    ) -> Result<Vec<(LinkToCreate, Link)>, OperatorError> {
        let limit = self.limits.of(PlanResource::Groups);
        let groups = new.iter().filter_map(|(_, link)| link.group_id).collect();
        let NotCreated { refused: without_group, existing } =
            self.named_groups.create_missing(rules.app, groups, limit).await?;
        let mut kept = Vec::with_capacity(new.len());
        for (mut entry, mut link) in new {
            if let Some(existing) = link.group_id.and_then(|id| existing.get(&id)) {
                link.group_id = Some(*existing);
                entry.link.group.set_id(*existing);
            }
            if let Some(outcome) = link.group_id.and_then(|id| without_group.get(&id)) {
                let address = link.placement.address();
                refused.push(Refused { entry, address, outcome: outcome.clone() });
            } else {
                kept.push((entry, link));
            }
        }
        Ok(kept)
    }

    async fn rehearse(
        &mut self,
        rules: &LinkRules<'_>,
        new: Vec<(LinkToCreate, Link)>,
        mut refused: Vec<Refused>,
        results: &mut Results,
    ) -> Result<(), OperatorError> {
        if let Some(rehearsal) = &mut self.rehearsal
            && new.iter().any(|(_, link)| !link.tags.is_empty())
        {
            rehearsal.read_tags(rules.app, rules.account).await?;
        }
        let external_ids: Vec<ExternalId> =
            new.iter().filter_map(|(_, link)| link.external_id.clone()).collect();
        let taken = if external_ids.is_empty() {
            Vec::new()
        } else {
            rules.app.store.links_with_external_ids(rules.account, &external_ids).await?
        };
        let ids: Vec<LinkId> = new.iter().filter_map(|(entry, _)| entry.link.id).collect();
        let taken_ids: BTreeSet<LinkId> = rules.app.store.taken_link_ids(&ids).await?.into_iter().collect();
        for (entry, link) in new {
            let missing = link.group_id.and_then(|id| self.named_groups.missing(id)).cloned();
            let has_its_group = match link.group_id {
                Some(id) if missing.is_none() => self.group(rules, id).await?.is_some(),
                Some(_) | None => true,
            };
            let Some(rehearsal) = &mut self.rehearsal else { continue };
            let mut outcome = Imported::WouldCreate;
            if let Some(group) = missing {
                outcome = rehearsal.create_group(group.clone(), false);
                if outcome == Imported::WouldCreate {
                    self.named_groups.add(&group);
                }
            }
            if outcome == Imported::WouldCreate {
                let has_external_id = |(id, _): &(ExternalId, LinkId)| Some(id) == link.external_id.as_ref();
                let stored = Stored {
                    has_its_group,
                    is_external_id_taken: taken.iter().any(has_external_id),
                    is_id_taken: entry.link.id.is_some_and(|id| taken_ids.contains(&id)),
                };
                outcome = rehearsal.create_link(&link, entry.fingerprint, stored);
            }
            if outcome.code().is_some() {
                refused.push(Refused { entry, address: link.placement.address(), outcome });
            } else {
                results.rehearsed(rules.app, entry.index, outcome, entry.link.id, &link);
            }
        }
        for Refused { entry, address, outcome } in refused {
            let earlier = self.rehearsal.as_ref().and_then(|rehearsal| {
                address.and_then(|address| rehearsal.compared_by_address(&address, entry.fingerprint))
            });
            results.refuse(entry.index, earlier.unwrap_or(outcome));
        }
        Ok(())
    }
}

enum Class {
    Existing { link: Box<Link>, outcome: Imported },
    Refused(Refused),
    New(Box<LinkToCreate>, Box<Link>),
}

/// Finds the link that an entry describes, or builds the link to create.
async fn classify_link(
    rules: &LinkRules<'_>,
    context: &LinkContext<'_>,
    entry: LinkToCreate,
    found: &ExistingLinks,
) -> Result<Class, OperatorError> {
    let (app, account) = (rules.app, rules.account);
    let compared = |link: &Link| {
        let outcome = Imported::compared(entry.link.differences(link, context));
        Class::Existing { link: Box::new(link.clone()), outcome }
    };
    if let Some(link) = entry.link.id.and_then(|id| found.by_id.get(&id)) {
        return Ok(compared(link));
    }
    let mut slug = entry.first_slug(account);
    let mut address = entry.address.clone();
    let mut occupant = address.as_ref().and_then(|address| found.occupants.get(address)).cloned();
    let mut attempt = 0;
    let is_taken = loop {
        match occupant {
            None => break false,
            Some(Occupant::Own(link)) if !entry.link.needs_slug() => return Ok(compared(&link)),
            Some(Occupant::Own(link)) if entry.link.differences(&link, context).is_empty() => {
                return Ok(compared(&link));
            }
            Some(Occupant::Foreign) if !entry.link.needs_slug() => break true,
            // Another link has the derived slug, so the next one is tried.
            Some(Occupant::Own(_) | Occupant::Foreign) => {}
        }
        attempt += 1;
        if attempt == SLUG_ATTEMPTS {
            break true;
        }
        slug = Some(entry.fingerprint.slug(account, attempt));
        address = entry.link.address(slug.clone(), context);
        occupant = match &address {
            Some(address) => links_at(app, account, slice::from_ref(address)).await?.remove(address),
            None => None,
        };
    };
    let fresh = match entry.link.id {
        Some(id) => id.to_bytes(),
        None => entry.link.dated(app.ids.next_bits()),
    };
    let outcome = match entry.link.create(fresh, slug, context) {
        Err(rejection) => rejection.into(),
        Ok(_) if is_taken => Refusal::AddressTaken { existing: None }.into(),
        Ok(link) => return Ok(Class::New(Box::new(entry), Box::new(link))),
    };
    Ok(Class::Refused(Refused { entry, address, outcome }))
}
