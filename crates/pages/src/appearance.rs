//! The style sheets of the owner's choices (D34). Each adds to that of landing pages, which shows the defaults, so a
//! page carries only the rules that it uses.
//!
//! The palette makes text readable on the page, on its surfaces and on the accent. So these rules may move text between
//! them, but may not mix colours of their own.

use signpost_domain::{Background, ButtonStyle, Font, PageContent};

/// The rules for these choices, after those of landing pages.
pub(crate) fn style_of(content: &PageContent, has_captions: bool) -> String {
    let PageContent { background, button_style, font, .. } = content;
    let captions = if has_captions { CAPTIONS } else { "" };
    // Dots behind the text of a button without a surface would look like a mistake.
    let on_dots = match (background, button_style) {
        (Background::Dots, ButtonStyle::Outline) => OUTLINES_ON_DOTS,
        (Background::Plain | Background::Gradient | Background::Dots, _) => "",
    };
    [captions, background_rules(*background), button_rules(*button_style), on_dots, font_rules(*font)]
        .concat()
}

const fn background_rules(background: Background) -> &'static str {
    match background {
        Background::Gradient => "",
        Background::Plain => "@media screen{body{background:var(--paper)}}",
        Background::Dots => {
            "@media screen{body{background:radial-gradient(var(--glow) 1.5px,transparent 2.5px) 50% 0/1.5rem 1.5rem var(--paper)}}"
        }
    }
}

const fn button_rules(style: ButtonStyle) -> &'static str {
    match style {
        ButtonStyle::Card => "",
        ButtonStyle::Pill => PILLS,
        ButtonStyle::Outline => OUTLINES,
        ButtonStyle::Filled => FILLED,
    }
}

const fn font_rules(font: Font) -> &'static str {
    match font {
        Font::Sans => "",
        Font::Serif => SERIF,
        Font::Rounded => ROUNDED,
    }
}

/// Titles in the middle, because both ends of a pill are round. A picture has its mirror in an empty space.
const PILLS: &str = "\
.go a{padding:.6rem 1.5rem;border-radius:2.125rem}.go a:after{display:none}.go a>span:last-child{flex:1}\
.go.go b,.go.go small{text-align:center;text-wrap:balance}.pic{border-radius:50%;margin-inline-start:-.9rem}.pic+span{margin-inline-end:3rem}\
.im,.vi{border-radius:1.75rem}";

const OUTLINES: &str = "\
.go a,.soc a,.vi{background:none;border:2px solid var(--mark)}.go a:after{border-color:var(--mark)}\
@media(hover:hover){.go a:hover,.vi:hover{background:var(--card)}}";

const OUTLINES_ON_DOTS: &str = ".go a,.soc a,.vi{background:var(--paper)}";

/// The edge keeps buttons visible whose accent hardly differs from the page. The tile of an icon has the colour of the
/// button's text, and its icon the accent, because that pair is readable too.
const FILLED: &str = "\
.go a,.soc a{background:var(--fill);border-color:var(--edge);color:var(--on)}.go small{color:inherit}\
.go a:after,.go a:hover:after{border-color:var(--on)}.soc a:hover{border-color:var(--edge)}.go .pic{background:var(--on);color:var(--fill)}";

const SERIF: &str = "\
body{font-family:ui-serif,\"Iowan Old Style\",Charter,\"Sitka Text\",Cambria,Georgia,\"Noto Serif\",serif}\
h1{font-weight:700;letter-spacing:-.012em}";

/// Where the system has no such typeface, that of `sans` stays.
const ROUNDED: &str = "\
body{font-family:ui-rounded,\"SF Pro Rounded\",\"Hiragino Maru Gothic ProN\",Nunito,Quicksand,\"Varela Round\",system-ui,\
-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",sans-serif}h1{letter-spacing:-.015em}";

/// A video with its still above, and its title below. A still that cannot be loaded looks like that of a video without one.
const CAPTIONS: &str = "\
.cap{display:block;place-items:normal;aspect-ratio:auto;overflow:hidden;background:var(--card)}\
.cap>span{position:relative;inset:auto;display:block;padding:.8rem 1.15rem .9rem}\
.cap>.still{display:grid;place-items:center;padding:0;aspect-ratio:16/9}\
.still,.still img:after{background:radial-gradient(70% 90% at 50% 45%,var(--glow),var(--card))}\
.still img{position:absolute;inset:0;width:100%;height:100%;object-fit:cover}\
.still svg{position:relative;border-radius:50%;box-shadow:0 0 0 4px var(--card)}\
.cap b,.cap small{display:block;text-align:left}[dir=rtl] .cap b,[dir=rtl] .cap small{text-align:right}\
.cap b{font-weight:620;line-height:1.3}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d34_default_choices_add_no_rules() {
        assert_eq!(style_of(&PageContent::default(), false), "");
    }

    #[test]
    fn d34_each_choice_adds_rules_of_its_own() {
        let mut styles = Vec::new();
        for background in Background::ALL {
            for button_style in ButtonStyle::ALL {
                for font in Font::ALL {
                    let content = PageContent { background, button_style, font, ..PageContent::default() };
                    styles.push(style_of(&content, false));
                }
            }
        }
        let longest = styles.iter().map(String::len).max();
        assert!(longest < Some(1_000), "{longest:?}");
        styles.sort_unstable();
        styles.dedup();
        assert_eq!(styles.len(), 3 * 4 * 3);
    }

    /// A colour of a rule's own would escape the tests of the palette, and an address would be fetched.
    #[test]
    fn d34_rules_take_all_colours_from_the_palette_and_load_nothing() {
        let fonts = Font::ALL.map(font_rules);
        let rules =
            Background::ALL.map(background_rules).into_iter().chain(ButtonStyle::ALL.map(button_rules));
        for rule in rules.chain(fonts).chain([CAPTIONS, OUTLINES_ON_DOTS]) {
            for forbidden in
                ["#", "rgb", "hsl", "color-mix", "opacity", "filter", "url(", "@import", "@font-face"]
            {
                assert!(!rule.contains(forbidden), "{forbidden} in {rule}");
            }
        }
    }
}
