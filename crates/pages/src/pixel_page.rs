//! The page that fires a redirect's pixels and then redirects (D57).
//!
//! With scripts it redirects once every vendor's script has loaded (or failed) and had a moment to send its
//! event. It redirects at the latest after [`PixelPage::LONGEST_WAIT_MS`]. Without scripts it loads the
//! vendors' pictures and redirects by `refresh`. A visitor who stays for any reason sees a link. The page
//! replaces itself in the history, so going back leads to where the visitor was before the link.
//!
//! Scripts come only from the vendors of this redirect. The page's own scripts carry the nonce. Without
//! `strict-dynamic`, a vendor's script loads only from the vendor's hosts, and there is no `unsafe-eval`.
//!
//! Vendors need to know the site on which their pixel fired, and some refuse events from sites that their
//! customer has not named. So vendors and the target get the origin of the link as the referrer, but not its
//! path: [`PixelPage::REFERRER_POLICY`].

use std::collections::BTreeSet;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use signpost_domain::{PixelCode, PixelType, TargetUrl};

use crate::language::Language;
use crate::page::{HtmlPage, PageError, hash_source, policy_of};
use crate::palette::Colours;
use crate::pixel_vendors::{Vendor, vendor, with_code};
use crate::small_page_texts::continue_to;

const STYLE: &str = concat!(include_str!("../templates/base.css"), include_str!("../templates/pixel.css"));

/// A pixel page to render.
#[derive(Debug, Clone, Copy)]
pub struct PixelPage<'a> {
    /// The pixels, in the order in which they fire.
    pub pixels: &'a [PixelCode],
    /// The target of the redirect.
    pub target: &'a TargetUrl,
    /// The language of the link for visitors who stay.
    pub language: Language,
    /// Random bytes, unique to this response.
    pub nonce: [u8; 16],
}

/// A script element of a vendor.
struct Script {
    src: String,
    /// Whether Microsoft's queue is created after it has loaded.
    makes_queue: bool,
}

impl PixelPage<'_> {
    /// The maximum wait of a visitor with scripts, in milliseconds.
    pub const LONGEST_WAIT_MS: u32 = 900;
    /// The time that vendors get to send events after the last script has loaded, in milliseconds.
    pub const GRACE_MS: u32 = 150;
    /// The value of `Referrer-Policy` for the page.
    pub const REFERRER_POLICY: &'static str = "strict-origin";

    /// Renders the page.
    pub fn render(&self) -> Result<HtmlPage, PageError> {
        let colours = Colours::of_own_pages();
        let style = format!("{}{STYLE}", colours.css());
        let nonce = STANDARD_NO_PAD.encode(self.nonce);
        let vendors = self.vendors();
        let location = self.target.location();
        let codes = |pixel_type: PixelType| {
            self.pixels.iter().filter(move |pixel| pixel.pixel_type() == pixel_type).map(PixelCode::as_str)
        };

        let mut calls = String::new();
        let mut scripts = Vec::new();
        let mut pictures = Vec::new();
        let mut frames = Vec::new();
        for pixel_type in vendors.iter().copied() {
            let Vendor { queue, each, fire, script, script_each, picture, frame, .. } = vendor(pixel_type);
            // A vendor whose calls fail does not stop the others.
            calls.push_str("try{");
            calls.push_str(queue);
            for (code, number) in codes(pixel_type).zip(0_usize..) {
                calls.push_str(&with_code(each, code));
                if number == 0 || *script_each {
                    let makes_queue = pixel_type == PixelType::MicrosoftAds;
                    scripts.push(Script { src: with_code(script, code), makes_queue });
                }
                pictures.extend(picture.map(|picture| with_code(picture, code)));
                frames.extend(frame.map(|frame| with_code(frame, code)));
            }
            calls.push_str(fire);
            calls.push_str("}catch(x){}");
        }
        let template = PixelTemplate {
            language: self.language.tag(),
            continue_to: continue_to(self.language),
            host: self.target.host(),
            location: &location,
            nonce: &nonce,
            colours: &colours,
            style: &style,
            calls: &calls,
            scripts: &scripts,
            pictures: &pictures,
            frames: &frames,
            longest_wait: Self::LONGEST_WAIT_MS,
            grace: Self::GRACE_MS,
        };
        let hosts = |of: fn(&Vendor) -> &'static [&'static str]| {
            let hosts: BTreeSet<&str> =
                vendors.iter().flat_map(|pixel_type| of(vendor(*pixel_type))).copied().collect();
            hosts.into_iter().collect::<Vec<_>>().join(" ")
        };
        let beacons = hosts(|vendor| vendor.beacons);
        let directives = [
            ("style-src", hash_source(&style)),
            (
                "script-src",
                format!("'nonce-{nonce}' {}", hosts(|vendor| vendor.scripts)).trim_end().to_owned(),
            ),
            ("img-src", beacons.clone()),
            ("connect-src", beacons),
            ("frame-src", hosts(|vendor| vendor.frames)),
        ];
        Ok(HtmlPage { html: template.render()?, content_security_policy: policy_of(&directives) })
    }

    /// The vendors, each once, in the order of their first pixel.
    fn vendors(&self) -> Vec<PixelType> {
        let mut vendors = Vec::new();
        for pixel in self.pixels {
            if !vendors.contains(&pixel.pixel_type()) {
                vendors.push(pixel.pixel_type());
            }
        }
        vendors
    }
}

/// The page's script reads the target from the link. So the only data in scripts are pixel codes, which
/// consist of letters, digits, `-` and `_`.
#[derive(Template)]
#[template(path = "pixel.html")]
struct PixelTemplate<'a> {
    language: &'a str,
    continue_to: &'a str,
    host: &'a str,
    location: &'a str,
    nonce: &'a str,
    colours: &'a Colours,
    style: &'a str,
    calls: &'a str,
    scripts: &'a [Script],
    pictures: &'a [String],
    frames: &'a [String],
    longest_wait: u32,
    grace: u32,
}

#[cfg(test)]
#[path = "pixel_page_tests.rs"]
mod tests;
