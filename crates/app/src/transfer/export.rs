//! Export: reads every group and every link of an account, a page at a time.

use std::collections::HashSet;

use signpost_domain::{
    AccountId, AnyContent, GroupId, Link, LinkFilter, LinkId, LinkKind, Page, PageLimit, PagePosition,
    PixelId,
};

use super::left_out::LeftOut;
use super::record::Record;
use crate::app_error::OperatorError;
use crate::application::Application;
use crate::ports::StoreError;

/// How many groups or links are read at once.
const AT_ONCE: u64 = 100;

/// A running export. It holds one page and the ids of the groups, regardless of the number of links.
///
/// Groups come first, so that an import knows them before their links; then redirects, then landing pages, each newest
/// first. A concurrent change may or may not be included. Everything that exists throughout is included exactly once, and
/// no link names a group that is not included.
pub struct Export {
    account: AccountId,
    at_once: PageLimit,
    next: Option<Part>,
    groups: HashSet<GroupId>,
    expected: u64,
    left_out: LeftOut,
    /// The pixels of the last redirects.
    pixel_uses: Vec<(LinkId, Vec<PixelId>)>,
    /// Whether what is left out is counted, which takes as long as the export itself.
    counts: bool,
}

#[derive(Clone, Copy)]
enum Part {
    Groups(Option<PagePosition>),
    Links(LinkKind, Option<PagePosition>),
}

impl Export {
    /// Starts the export of an account.
    ///
    /// # Errors
    /// [`OperatorError::NoSuchAccount`]. Or the store broke.
    pub async fn start(app: &Application, account: AccountId) -> Result<Self, OperatorError> {
        let usage = app.store.usage(account).await?.ok_or(OperatorError::NoSuchAccount(account))?;
        // What has no records is counted by [`LeftOut`].
        let at_once = PageLimit::new(AT_ONCE).unwrap_or_default();
        Ok(Self {
            account,
            at_once,
            next: Some(Part::Groups(None)),
            groups: HashSet::new(),
            expected: usage.links.saturating_add(usage.groups),
            left_out: LeftOut::default(),
            pixel_uses: Vec::new(),
            counts: true,
        })
    }

    /// The same export, which does not count what it leaves out.
    #[must_use]
    pub fn without_counts(self) -> Self {
        Self { counts: false, ..self }
    }

    /// The ids of the pixels that the redirects among the last records name, which records do not have.
    pub(super) fn take_pixel_uses(&mut self) -> Vec<(LinkId, Vec<PixelId>)> {
        std::mem::take(&mut self.pixel_uses)
    }

    /// The number of records, if nothing changes during the export.
    #[must_use]
    pub const fn expected(&self) -> u64 {
        self.expected
    }

    /// What the records do not carry. It is complete after the last record.
    #[must_use]
    pub const fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// The next records, possibly an empty list; `None` at the end.
    ///
    /// # Errors
    /// [`OperatorError::NoSuchAccount`] if it was deleted meanwhile: the export is incomplete. Or the store broke.
    pub async fn next(&mut self, app: &Application) -> Result<Option<Vec<Record>>, OperatorError> {
        match self.next {
            None => Ok(None),
            Some(Part::Groups(after)) => {
                let Page { items, next, left_out } =
                    app.store.groups(self.account, self.at_once, after).await?;
                self.left_out.count_unreadable(left_out);
                self.groups.extend(items.iter().map(|group| group.id));
                let is_last = next.is_none();
                self.next =
                    Some(if is_last { Part::Links(LinkKind::Redirect, None) } else { Part::Groups(next) });
                Ok(Some(items.iter().map(Record::from).collect()))
            }
            Some(Part::Links(kind, after)) => {
                let Page { items, next, left_out } =
                    app.store.links(self.account, kind, &LinkFilter::default(), self.at_once, after).await?;
                self.left_out.count_unreadable(left_out);
                self.next = match (next, kind) {
                    (Some(_), kind) => Some(Part::Links(kind, next)),
                    (None, LinkKind::Redirect) => Some(Part::Links(LinkKind::Landing, None)),
                    (None, LinkKind::Landing) => None,
                };
                if self.counts {
                    self.left_out.count_links(app, self.account, &items).await?;
                }
                self.pixel_uses = items.iter().filter_map(pixel_use).collect();
                let records = self.with_late_groups(app, items).await?;
                if self.next.is_none() {
                    let usage = app.store.usage(self.account).await?;
                    let usage = usage.ok_or(OperatorError::NoSuchAccount(self.account))?;
                    if self.counts {
                        self.left_out.count_rest(app, self.account, &usage).await?;
                    }
                }
                Ok(Some(records))
            }
        }
    }

    /// The records of links. A group that was created after the groups were read comes before its first link. A link whose
    /// group was deleted, or cannot be read, becomes ungrouped.
    async fn with_late_groups(
        &mut self,
        app: &Application,
        links: Vec<Link>,
    ) -> Result<Vec<Record>, StoreError> {
        let mut records = Vec::with_capacity(links.len());
        for mut link in links {
            if let Some(id) = link.group_id
                && !self.groups.contains(&id)
            {
                match app.store.group(self.account, id).await {
                    Ok(Some(group)) => {
                        self.groups.insert(id);
                        records.push(Record::from(&group));
                    }
                    Ok(None) => link.move_to_group(None, app.clock.now()),
                    Err(StoreError::Corrupt { .. }) => {
                        // It was counted with the groups, unless it was created after they were read.
                        self.left_out.unreadable = self.left_out.unreadable.max(1);
                        link.move_to_group(None, app.clock.now());
                    }
                    Err(error) => return Err(error),
                }
            }
            records.push(Record::from(&link));
        }
        Ok(records)
    }
}

/// The pixels that a redirect names.
fn pixel_use(link: &Link) -> Option<(LinkId, Vec<PixelId>)> {
    match &link.content {
        AnyContent::Landing => None,
        AnyContent::Redirect(content) => Some((link.id(), content.pixel_ids.as_slice().to_vec())),
    }
}
