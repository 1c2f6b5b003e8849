//! Everything that an account has, a part at a time: for people who keep it or take it elsewhere (D69).

use std::collections::HashSet;

use signpost_domain::{
    Account, ApiKey, IdReference, LandingPage, LinkId, PageLimit, PagePosition, Permission, Pixel, PixelId,
    Tag,
};

use super::export::Export;
use super::page_export::PageExport;
use super::record::Record;
use crate::app_error::{AppError, OperatorError};
use crate::application::Application;
use crate::caller::Caller;
use crate::domains::{self, DomainWithInstructions};
use crate::keys;
use crate::people::members;
use crate::pixels;
use crate::ports::AccountMember;
use crate::tags;

/// One thing that an account has.
#[derive(Debug, Clone)]
pub enum AccountObject {
    /// The account itself.
    Account(Box<Account>),
    /// A member.
    Member(Box<AccountMember>),
    /// A key without its secret, which the program does not know. It may be revoked.
    Key(Box<ApiKey>),
    /// A custom domain with its files.
    Domain(Box<DomainWithInstructions>),
    /// A pixel.
    Pixel(Pixel),
    /// A tag, also one that no link has.
    Tag(Tag),
    /// A group or a link.
    Record(Record),
    /// The pixels that a redirect runs.
    PixelUse(LinkId, Vec<PixelId>),
    /// The content of a landing page.
    Page(Box<LandingPage>),
}

/// The kinds of objects that imports do not read, by the names that lines of files have for them. Clicks are exported by
/// [`analytics`](crate::analytics).
pub const NOT_IMPORTED: [&str; 9] =
    ["account", "member", "key", "domain", "pixel", "tag", "pixel_use", "page_content", "click"];

/// The part that is read next.
enum Part {
    Head,
    Members(Option<PagePosition>),
    Domains(Option<PagePosition>),
    Pixels(Option<PagePosition>),
    Tags(Option<PagePosition>),
    Records(Box<Export>),
    Pages(PageExport),
    Over,
}

/// A running export of everything but clicks. It holds one part, and the ids of the groups and pixels.
///
/// As in [`Export`], a concurrent change may or may not be included, and what exists throughout is included exactly once.
pub struct AccountExport {
    next: Part,
    pixels: HashSet<PixelId>,
}

impl AccountExport {
    /// Starts the export of the caller's account.
    ///
    /// # Errors
    /// The caller may not read.
    pub fn start(caller: &Caller) -> Result<Self, AppError> {
        caller.require(Permission::Read)?;
        Ok(Self { next: Part::Head, pixels: HashSet::new() })
    }

    /// The next objects, possibly none of a part; `None` at the end.
    ///
    /// # Errors
    /// The account was deleted meanwhile, so the export is incomplete. Or the store broke.
    pub async fn next(
        &mut self,
        app: &Application,
        caller: &Caller,
    ) -> Result<Option<Vec<AccountObject>>, OperatorError> {
        caller.require(Permission::Read)?;
        let account = caller.account_id();
        let (objects, next) = match std::mem::replace(&mut self.next, Part::Over) {
            Part::Over => return Ok(None),
            Part::Head => {
                let keys = keys::list(app, account).await?.into_iter();
                let keys = keys.map(|key| AccountObject::Key(Box::new(key)));
                let itself = AccountObject::Account(Box::new(caller.account().clone()));
                (std::iter::once(itself).chain(keys).collect(), Part::Members(None))
            }
            Part::Members(after) => {
                let page = members::list(app, caller, PageLimit::MAX, after).await?;
                let next = page.next.map_or(Part::Domains(None), |next| Part::Members(Some(next)));
                let member = |member| AccountObject::Member(Box::new(member));
                (page.items.into_iter().map(member).collect(), next)
            }
            Part::Domains(after) => {
                let page = domains::list(app, caller, PageLimit::MAX, after).await?;
                let next = page.next.map_or(Part::Pixels(None), |next| Part::Domains(Some(next)));
                (with_files(app, caller, page.items).await?, next)
            }
            Part::Pixels(after) => {
                let page = pixels::list(app, caller, PageLimit::MAX, after).await?;
                self.pixels.extend(page.items.iter().map(|pixel| pixel.id));
                let next = page.next.map_or(Part::Tags(None), |next| Part::Pixels(Some(next)));
                (page.items.into_iter().map(AccountObject::Pixel).collect(), next)
            }
            Part::Tags(after) => {
                let page = tags::list(app, caller, PageLimit::MAX, after).await?;
                let next = match page.next {
                    Some(next) => Part::Tags(Some(next)),
                    None => Part::Records(Box::new(Export::start(app, account).await?.without_counts())),
                };
                (page.items.into_iter().map(AccountObject::Tag).collect(), next)
            }
            Part::Records(mut export) => match export.next(app).await? {
                Some(records) => {
                    let uses = export.take_pixel_uses();
                    let uses = uses.into_iter().filter_map(|(link, pixels)| self.pixel_use(link, pixels));
                    let records = records.into_iter().map(AccountObject::Record);
                    (records.chain(uses).collect(), Part::Records(export))
                }
                None => (Vec::new(), Part::Pages(PageExport::start(caller)?)),
            },
            Part::Pages(mut export) => match export.next(app).await? {
                Some(pages) => {
                    let page = |page| AccountObject::Page(Box::new(page));
                    (pages.into_iter().map(page).collect(), Part::Pages(export))
                }
                None => (Vec::new(), Part::Over),
            },
        };
        self.next = next;
        Ok(Some(objects))
    }

    /// A redirect keeps the ids of deleted pixels, which it does not run.
    fn pixel_use(&self, link: LinkId, mut pixels: Vec<PixelId>) -> Option<AccountObject> {
        pixels.retain(|pixel| self.pixels.contains(pixel));
        (!pixels.is_empty()).then_some(AccountObject::PixelUse(link, pixels))
    }
}

/// Lists do not read the files of domains. A domain that is deleted meanwhile is left out.
async fn with_files(
    app: &Application,
    caller: &Caller,
    listed: Vec<DomainWithInstructions>,
) -> Result<Vec<AccountObject>, AppError> {
    let mut objects = Vec::with_capacity(listed.len());
    for DomainWithInstructions { domain, .. } in listed {
        match domains::get(app, caller, IdReference::Id(domain.id)).await {
            Ok(domain) => objects.push(AccountObject::Domain(Box::new(domain))),
            Err(AppError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(objects)
}
