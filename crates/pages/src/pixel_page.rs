//! The page that fires a redirect's pixels and moves on (D57).
//!
//! With scripts it moves on as soon as every vendor's script has loaded (or failed) and had a moment to send its event, and
//! after [`PixelPage::LONGEST_WAIT_MS`] in any case. Without scripts it loads the vendors' pictures and moves on by
//! `refresh`. Whoever stays, for whatever reason, sees a link. A browser that goes back comes to where the visitor was
//! before the link: the page replaces itself.
//!
//! Scripts come from the vendors of this redirect only. Those that the page itself has carry the nonce; there is no
//! `strict-dynamic`, so a vendor's script loads nothing from hosts that are not its own, and no `unsafe-eval`.
//!
//! Vendors need to know the site on which their pixel fired, and some refuse events of sites that their customer has not
//! named. So they, and the target, get the origin of the link as the referrer, but not its path:
//! [`PixelPage::REFERRER_POLICY`].

use std::collections::BTreeSet;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use signpost_domain::{PixelCode, PixelType, TargetUrl, Theme};

use crate::language::Language;
use crate::page::{HtmlPage, PageError, hash_source, policy_of};
use crate::palette::Colours;
use crate::pixel_vendors::{Vendor, vendor, with_code};
use crate::small_page_texts::continue_to;

const STYLE: &str = concat!(include_str!("../templates/base.css"), include_str!("../templates/pixel.css"));

/// A page of pixels that is to be rendered.
#[derive(Debug, Clone, Copy)]
pub struct PixelPage<'a> {
    /// The pixels, in the order in which they fire.
    pub pixels: &'a [PixelCode],
    /// Where the visitor goes.
    pub target: &'a TargetUrl,
    /// For the link of those who stay.
    pub language: Language,
    /// Random bytes that no other response has.
    pub nonce: [u8; 16],
}

/// A script element of a vendor.
struct Script {
    src: String,
    /// Whether Microsoft's queue is made when it has loaded.
    makes_queue: bool,
}

impl PixelPage<'_> {
    /// The greatest time that a visitor with scripts waits, in milliseconds.
    pub const LONGEST_WAIT_MS: u32 = 900;
    /// How long after its last script the page leaves vendors for sending their events, in milliseconds.
    pub const GRACE_MS: u32 = 150;
    /// The value of `Referrer-Policy` that goes with the page.
    pub const REFERRER_POLICY: &'static str = "strict-origin";

    /// The page.
    pub fn render(&self) -> Result<HtmlPage, PageError> {
        let colours = Colours::new(Theme::Auto, None);
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
            // A vendor whose calls fail keeps nobody else's from being made.
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

/// The script of the page reads the target from the link, so that no text of ours is ever put into a script but the codes
/// of pixels, which consist of letters, digits, `-` and `_`.
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
