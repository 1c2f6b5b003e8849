//! Renders what Signpost's visitors see, as pure functions: no I/O, no clock, no randomness, no framework.
//! The same values always give the same page, so a preview shows exactly what visitors get.
//!
//! - [`Landing`] renders landing pages (D34, D35), which need no scripts.
//! - [`accent_contrast`] says how a landing page uses an accent colour.
//! - [`SmallPage`] renders the pages that visitors see instead of a link's target, in each [`Language`].
//! - [`CardPage`] renders the card that link previewers get instead of a redirect (D135).
//! - [`PixelPage`] renders the page that fires a redirect's pixels and then redirects (D57).
//! - [`QrCode`] draws the code that leads to a link (D59).
//! - [`SiteIcon`], [`ROBOTS_TXT`] and [`SecurityContact`] are files that browsers and crawlers request from
//!   every site.
//!
//! Every page comes with a content security policy that allows only what the page loads.

mod accent_contrast;
mod appearance;
mod bitmap;
mod card_page;
mod colour;
mod image_sources;
mod landing;
mod landing_blocks;
mod language;
mod monogram;
mod network_names;
mod page;
mod palette;
mod password_page_texts;
mod phone_numbers;
mod pixel_page;
mod pixel_vendors;
mod qr;
mod qr_options;
mod site_icon;
mod small_page_texts;
mod small_pages;
mod social_networks;
mod text_links;
mod well_known;

pub use accent_contrast::{AccentContrast, AccentText, accent_contrast};
pub use card_page::CardPage;
pub use landing::Landing;
pub use language::Language;
pub use page::{HtmlPage, PageError};
pub use pixel_page::PixelPage;
pub use qr::QrCode;
pub use qr_options::{QrError, QrLevel, QrOptions, QrQuery};
pub use site_icon::SiteIcon;
pub use small_pages::{PasswordPage, SmallPage};
pub use well_known::{ROBOTS_TXT, SecurityContact};
