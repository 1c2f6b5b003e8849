//! The operations on tags of the random sequences.

use std::collections::BTreeMap;

use signpost_app::ports::{NeededTags, RenameTagError, UnitOfWork};
use signpost_domain::{AccountId, Link, LinkFilter, LinkId, TagFilter, TagId, TagName, Tags};

use super::fixture::StoreUnderTest;
use super::given::{self, Decision, KINDS};
use super::model::{Answer, Model};
use super::random_sequences::answer;
use super::stored;
use super::tags::name;
use crate::pseudorandom::Pseudorandom;
use crate::samples;

const TAGS_LIMIT: u64 = 3;

/// The names of all tags, two of them of one tag.
const NAMES: [&str; 5] = ["a", "A", "b", "c", "d"];

/// The tags of accounts, by their keys.
pub(super) type TagsOfAccounts = BTreeMap<(AccountId, String), TagName>;

pub(super) enum TagOperation {
    /// Gives a link these tags.
    Retag(AccountId, LinkId, Tags),
    /// Renames a tag, or merges it with the one that has the name.
    Rename(AccountId, TagName, TagName),
    Delete(AccountId, TagName),
}

pub(super) fn any(model: &Model, random: &mut Pseudorandom, account: AccountId) -> TagOperation {
    let some_name = |random: &mut Pseudorandom| name(random.pick(&NAMES).unwrap());
    match random.below(8) {
        0 => TagOperation::Delete(account, some_name(random)),
        1 => TagOperation::Rename(account, some_name(random), some_name(random)),
        _ => {
            let links: Vec<LinkId> = model.links.keys().copied().collect();
            let link = random.pick(&links).copied().unwrap_or_else(|| LinkId::Redirect(samples::id()));
            let names: Vec<TagName> = (0..random.below(4)).map(|_| some_name(random)).collect();
            TagOperation::Retag(account, link, Tags::new(names).unwrap())
        }
    }
}

/// The id of the account's tag of this name.
async fn find(
    work: &mut dyn UnitOfWork,
    account: AccountId,
    name: &TagName,
) -> Result<Option<TagId>, Decision> {
    // With a limit of zero, none is created.
    let needed = [vec![(samples::id(), name.clone())]];
    let found = work.provide_tags(account, &needed, 0, samples::at(0)).await?;
    Ok(found.first().map(|(id, _)| *id))
}

/// Runs the operation on the store and returns its answer.
pub(super) async fn carry_out(
    work: &mut dyn UnitOfWork,
    operation: &TagOperation,
) -> Result<Answer, Decision> {
    match operation {
        TagOperation::Retag(account, id, tags) => {
            let Some(before) = work.lock_link(*account, *id).await? else { return Ok(Answer::NotThere) };
            let needed: NeededTags = tags.iter().map(|name| (samples::id(), name.clone())).collect();
            let provided = work.provide_tags(*account, &[needed], TAGS_LIMIT, samples::at(0)).await?;
            let tags_of_link = tags.spelt_as(provided.iter().map(|(_, name)| name));
            if tags_of_link.len() < tags.len() {
                return Ok(Answer::Refused(Decision::LimitReached));
            }
            let after = Link { tags: tags_of_link, ..before.clone() };
            Ok(answer(work.update_link(*account, &before, &after).await.map_err(Decision::from)))
        }
        TagOperation::Rename(account, from, to) => {
            let Some(id) = find(work, *account, from).await? else { return Ok(Answer::NotThere) };
            work.lock_tag(*account, id).await?.expect("the tag was found");
            match work.rename_tag(*account, id, to).await {
                Ok(()) => {}
                Err(RenameTagError::NameTaken(other)) => {
                    work.lock_tag(*account, other).await?.expect("the tag has the name");
                    while work.move_tagged_links(*account, id, other, 2).await? == 2 {}
                    assert!(work.delete_tag(*account, id).await?);
                }
                Err(RenameTagError::Store(error)) => return Err(error.into()),
            }
            Ok(Answer::Done)
        }
        TagOperation::Delete(account, name) => {
            let Some(id) = find(work, *account, name).await? else { return Ok(Answer::NotThere) };
            work.lock_tag(*account, id).await?.expect("the tag was found");
            while work.untag_links(*account, id, 2).await? == 2 {}
            assert!(work.delete_tag(*account, id).await?);
            Ok(Answer::Done)
        }
    }
}

impl Model {
    /// The expected answer of the operation, which is carried out unless it is refused.
    pub(super) fn apply_to_tags(&mut self, operation: &TagOperation) -> Answer {
        let key = |account: &AccountId, name: &TagName| (*account, name.key().to_owned());
        match operation {
            TagOperation::Retag(account, id, tags) => {
                if self.links.get(id).is_none_or(|(owner, _)| owner != account) {
                    return Answer::NotThere;
                }
                let mut known = self.tags.clone();
                for name in tags {
                    known.entry(key(account, name)).or_insert_with(|| name.clone());
                }
                let own = known.keys().filter(|(owner, _)| owner == account).count();
                if known.len() > self.tags.len() && own > usize::try_from(TAGS_LIMIT).unwrap() {
                    return Answer::Refused(Decision::LimitReached);
                }
                let spelt = tags.spelt_as(tags.iter().filter_map(|name| known.get(&key(account, name))));
                self.tags = known;
                self.links.get_mut(id).expect("the link is there").1.tags = spelt;
                Answer::Done
            }
            TagOperation::Rename(account, from, to) => {
                let Some(from) = self.tags.remove(&key(account, from)) else { return Answer::NotThere };
                let kept = self.tags.entry(key(account, to)).or_insert_with(|| to.clone()).clone();
                self.replace_tag(*account, &from, Some(&kept));
                Answer::Done
            }
            TagOperation::Delete(account, name) => {
                let Some(name) = self.tags.remove(&key(account, name)) else { return Answer::NotThere };
                self.replace_tag(*account, &name, None);
                Answer::Done
            }
        }
    }

    fn replace_tag(&mut self, account: AccountId, name: &TagName, by: Option<&TagName>) {
        for (_, link) in self.links.values_mut().filter(|(owner, _)| *owner == account) {
            link.tags = link.tags.replaced(name, by);
        }
    }

    /// Checks the tags of an account, and the lists of the links of each.
    pub(super) async fn has_the_stored_tags(
        &self,
        store: &StoreUnderTest,
        account: AccountId,
        links: &[Link],
    ) {
        let usage = store.usage(account).await.unwrap().unwrap();
        let page = async |after| store.tags(account, given::limit(2), after).await.unwrap();
        let stored = given::walk(page).await.0;
        assert_eq!(usize::try_from(usage.tags).unwrap(), stored.len());
        let own = self.tags.iter().filter(|((owner, _), _)| *owner == account).map(|(_, name)| name);
        let tagged = |name: &TagName| links.iter().filter(|link| link.tags.contains(name)).cloned().collect();
        let expected: Vec<(TagName, Vec<Link>)> = own.map(|name| (name.clone(), tagged(name))).collect();
        let mut counts: Vec<_> = stored.into_iter().map(|tag| (tag.name, tag.links_count)).collect();
        counts.sort();
        let count = |links: &Vec<Link>| u64::try_from(links.len()).unwrap();
        let expected_counts: Vec<_> =
            expected.iter().map(|(name, links)| (name.clone(), count(links))).collect();
        assert_eq!(counts, expected_counts);
        for (name, tagged) in expected {
            let tags = TagFilter { any: vec![name], ..TagFilter::default() };
            let filter = LinkFilter { tags, ..LinkFilter::default() };
            for kind in KINDS {
                let mut of_kind: Vec<Link> =
                    tagged.iter().filter(|link| link.kind() == kind).cloned().collect();
                of_kind.reverse();
                assert_eq!(stored::list(store, account, kind, &filter, 100).await, of_kind);
            }
        }
    }
}
