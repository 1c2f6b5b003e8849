//! What the creation of a link of any kind has in common: its placement is judged first.

use crate::id::{Id, IdKind};
use crate::link::Link;
use crate::link_context::LinkContext;
use crate::placement::{Placement, SlugChoice, site_for_new_link};
use crate::reference::HostReference;
use crate::refusal::Rejection;
use crate::slug::Slug;
use crate::violation::Violations;

/// What the creation of a link asks for.
pub trait LinkDraft: Clone {
    /// The kind of the link's id.
    type Kind: IdKind;
    /// The link that comes of it.
    type Link: Clone + Into<Link>;

    /// `slug`
    fn slug(&self) -> &SlugChoice;

    /// `domain`; `None` is the system domain.
    fn domain(&self) -> Option<&HostReference>;

    /// What is wrong with the draft wherever it may be placed.
    fn violations_without_placement(&self, context: &LinkContext<'_>) -> Violations;

    /// Builds the link at a placement that [`Placement::new`] has judged.
    ///
    /// # Errors
    /// [`Rejection::Invalid`] with every violation; else the first refusal that applies.
    fn create(
        self,
        id: Id<Self::Kind>,
        placement: Placement,
        context: &LinkContext<'_>,
    ) -> Result<Self::Link, Rejection>;

    /// Builds the link with `slug`, which is the one that the draft names or one drawn for it, on the site that the
    /// draft names.
    ///
    /// # Errors
    /// [`Rejection::Invalid`] with every violation, also where the placement is refused: what is wrong with the
    /// request comes before what refuses it. Else the first refusal that applies.
    fn create_with_slug(
        &self,
        id: Id<Self::Kind>,
        slug: Option<Slug>,
        context: &LinkContext<'_>,
    ) -> Result<Self::Link, Rejection> {
        let placement = site_for_new_link(self.domain().cloned(), context.system, context.named_domains)
            .and_then(|site| Placement::new(site, slug));
        match placement {
            Ok(placement) => self.clone().create(id, placement, context),
            Err(refusal) => {
                self.violations_without_placement(context).into_result(()).map_err(Rejection::Invalid)?;
                Err(refusal.into())
            }
        }
    }
}
