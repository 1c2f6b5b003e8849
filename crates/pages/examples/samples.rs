//! Writes sample pages, codes and icons into a folder, for viewing in a browser:
//!
//! ```sh
//! cargo run --package signpost-pages --example samples -- target/samples https://pictures.example.com
//! ```
//!
//! The second argument is the base URL of the sample pictures: `face.png`, `wide.jpg` and `tall.jpg`. Beside
//! each page is a `.csp` file with its content security policy, for a server that sends it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use signpost_domain::{
    AccentColor, AltText, Background, ButtonStyle, ContactMethod, Description, Email, Font, HostBlocklist,
    LanguageTag, Name, PageContent, PhoneNumber, PixelCode, PixelType, Slug, SocialNetwork, TargetUrl, Theme,
    VideoUrl, WebUrl, Widget, WidgetBody, WidgetContent, WidgetId, WidgetText, Widgets,
};
use signpost_pages::{HtmlPage, Landing, Language, PixelPage, QrCode, QrOptions, SiteIcon, SmallPage};

type Outcome<T> = Result<T, Box<dyn Error>>;

const BREAD: &str = "Sourdough, rye and far too much butter.\nBaked before sunrise in Leipzig since 2014.";
const LONG: &str = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";

/// The output folder, and the base URL of the pictures.
struct Samples {
    folder: PathBuf,
    pictures: String,
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "target/samples".to_owned()));
    let pictures = arguments.next().unwrap_or_else(|| "https://pictures.example.com".to_owned());
    fs::create_dir_all(&folder)?;
    let samples = Samples { folder, pictures };
    samples.small_pages()?;
    samples.pixel_page()?;
    samples.images()?;
    samples.plain_landings()?;
    samples.full_landings()?;
    samples.looks()?;
    samples.difficult_landings()
}

fn name(text: &str) -> Outcome<Name> {
    Ok(Name::from_stored(text.to_owned())?)
}

fn url(text: &str) -> Outcome<WebUrl> {
    Ok(WebUrl::from_stored(text.to_owned())?)
}

fn described(text: &str) -> Outcome<PageContent> {
    Ok(PageContent {
        description: Some(Description::from_stored(text.to_owned())?),
        ..PageContent::default()
    })
}

fn accent(text: &str) -> Option<AccentColor> {
    AccentColor::from_stored(text).ok()
}

fn link(title: &str, address: &str) -> Outcome<WidgetContent> {
    Ok(WidgetContent::Link { title: name(title)?, url: url(address)?, thumbnail_url: None })
}

fn heading(text: &str) -> Outcome<WidgetContent> {
    Ok(WidgetContent::Heading { text: name(text)? })
}

fn text(text: &str) -> Outcome<WidgetContent> {
    Ok(WidgetContent::Text { text: WidgetText::from_stored(text.to_owned())? })
}

fn social(network: &str) -> Outcome<WidgetContent> {
    let network = SocialNetwork::from_stored(network.to_owned())?;
    Ok(WidgetContent::Social { network, url: url("https://social.example.com/me")? })
}

fn email(address: &str, title: Option<&str>) -> Outcome<WidgetContent> {
    let address = Email::from_stored(address.to_owned())?;
    Ok(WidgetContent::Email { address, title: title.map(name).transpose()? })
}

fn video(address: &str) -> Outcome<WidgetContent> {
    let url = VideoUrl::from_stored(address.to_owned())?;
    Ok(WidgetContent::Video { url, title: None, thumbnail_url: None })
}

fn contact(method: ContactMethod, number: &str, title: Option<&str>) -> Outcome<WidgetContent> {
    let number = PhoneNumber::from_stored(number.to_owned())?;
    Ok(WidgetContent::Contact { method, number, title: title.map(name).transpose()? })
}

impl Samples {
    fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.folder).join(name)
    }

    fn write(&self, name: &str, page: &HtmlPage) -> Outcome<()> {
        fs::write(self.path(&format!("{name}.html")), &page.html)?;
        fs::write(self.path(&format!("{name}.csp")), &page.content_security_policy)?;
        Ok(())
    }

    fn picture(&self, name: &str) -> Outcome<WebUrl> {
        url(&format!("{}/{name}", self.pictures))
    }

    fn film(&self, title: &str, still: &str) -> Outcome<WidgetContent> {
        let url = VideoUrl::from_stored("https://vimeo.com/1".to_owned())?;
        let thumbnail_url = Some(self.picture(still)?);
        Ok(WidgetContent::Video { url, title: Some(name(title)?), thumbnail_url })
    }

    fn landing(
        &self,
        file: &str,
        title: &str,
        content: PageContent,
        widgets: Vec<WidgetContent>,
    ) -> Outcome<()> {
        let widgets = widgets.into_iter().zip(1_u128..).map(|(content, number)| Widget {
            id: WidgetId::from_bytes((number << 64 | 0x9_3f27_a1c4_5b6d).to_be_bytes()),
            body: WidgetBody::Known(content),
        });
        let content = PageContent { widgets: Widgets::from_stored(widgets.collect())?, ..content };
        let slug = Slug::parse("sample").map_err(|error| format!("{error:?}"))?;
        let url = "https://go.example.com/sample";
        let blocked = HostBlocklist::default();
        let page =
            Landing { title: &name(title)?, content: &content, url, slug: Some(&slug), blocked: &blocked };
        self.write(file, &page.render()?)
    }

    fn small_pages(&self) -> Outcome<()> {
        for page in SmallPage::ALL {
            for language in Language::ALL {
                let name = format!("small-{page:?}-{}", language.tag()).to_lowercase();
                self.write(&name, &page.render(language)?)?;
            }
        }
        Ok(())
    }

    fn pixel_page(&self) -> Outcome<()> {
        let codes = [
            (PixelType::GoogleTag, "G-1A2BCD345E"),
            (PixelType::GoogleTagManager, "GTM-AB12CDE"),
            (PixelType::Meta, "123456789012345"),
            (PixelType::Tiktok, "C4A1B2C3D4E5F6G7H8I9"),
            (PixelType::Linkedin, "1234567"),
            (PixelType::X, "o1abc"),
            (PixelType::Pinterest, "2612345678901"),
            (PixelType::Snapchat, "1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6f"),
            (PixelType::Reddit, "t2_1ab2cd3e"),
            (PixelType::MicrosoftAds, "12345678"),
        ];
        let pixels: Result<Vec<_>, _> =
            codes.into_iter().map(|(kind, code)| PixelCode::from_stored(kind, code.to_owned())).collect();
        let target = TargetUrl::from_stored("https://shop.example.com/autumn?from=mail".to_owned())?;
        let page =
            PixelPage { pixels: &pixels?, target: &target, language: Language::English, nonce: [7; 16] };
        self.write("pixels", &page.render()?)
    }

    fn images(&self) -> Outcome<()> {
        let code = QrCode::new(&QrCode::marked("https://go.example.com/autumn-sale"), QrOptions::default())?;
        fs::write(self.path("qr.svg"), code.svg())?;
        fs::write(self.path("qr.png"), code.png())?;
        fs::write(self.path("favicon.ico"), SiteIcon::Favicon.draw())?;
        fs::write(self.path("touch.png"), SiteIcon::Touch.draw())?;
        Ok(())
    }

    /// Pages without links, with one link, and with a hundred.
    fn plain_landings(&self) -> Outcome<()> {
        let one = vec![link("Order for Saturday", "https://shop.morgenbrot.example/order")?];
        let hundred: Outcome<Vec<_>> = (1..=100)
            .map(|number| link(&format!("Field recording no. {number}"), "https://sounds.example.org/r"))
            .collect();
        self.landing("landing-0", "Morgenbrot Bakery", described(BREAD)?, vec![])?;
        self.landing("landing-1", "Morgenbrot Bakery", described(BREAD)?, one)?;
        self.landing(
            "landing-100",
            "A hundred recordings",
            described("One for each day of the summer.")?,
            hundred?,
        )
    }

    /// Realistic pages, in each theme and with accents that are hard to read.
    fn full_landings(&self) -> Outcome<()> {
        let content = PageContent {
            avatar_url: Some(self.picture("face.png")?),
            accent_color: accent("#c2410c"),
            ..described(BREAD)?
        };
        self.landing("landing-8", "Ines Okafor", content.clone(), self.eight_widgets()?)?;
        for theme in Theme::ALL {
            let content = PageContent { theme, ..content.clone() };
            let file = format!("landing-all-{}", theme.as_str());
            self.landing(&file, "Morgenbrot Bakery", content, self.every_widget()?)?;
        }
        for colour in ["#ffffff", "#000000", "#ffe600", "#00e5ff", "#3b2fd9", "#d81b60", "#808080"] {
            let content = PageContent { avatar_url: None, accent_color: accent(colour), ..content.clone() };
            let file = format!("landing-accent-{}", colour.trim_start_matches('#'));
            self.landing(&file, "Morgenbrot Bakery", content, self.eight_widgets()?)?;
        }
        Ok(())
    }

    /// One page in every combination of theme, background, buttons and font, each with another accent.
    fn looks(&self) -> Outcome<()> {
        let accents =
            ["#c2410c", "#0f766e", "#7c3aed", "#ffe600", "#be185d", "#1d4ed8", "#f9fafb", "#111827"];
        let mut accents = accents.into_iter().cycle();
        for (theme, background) in
            Theme::ALL.into_iter().flat_map(|theme| Background::ALL.map(|background| (theme, background)))
        {
            for (button_style, font) in
                ButtonStyle::ALL.into_iter().flat_map(|style| Font::ALL.map(|font| (style, font)))
            {
                let content = PageContent {
                    theme,
                    background,
                    button_style,
                    font,
                    accent_color: accents.next().and_then(accent),
                    language: Some(LanguageTag::from_stored("en".to_owned())?),
                    ..described(BREAD)?
                };
                let names = [theme.as_str(), background.as_str(), button_style.as_str(), font.as_str()];
                let file = format!("look-{}", names.join("-"));
                self.landing(&file, "Morgenbrot Bakery", content, self.look_widgets()?)?;
            }
        }
        Ok(())
    }

    /// A list without pictures, a list with some, and the other surfaces.
    fn look_widgets(&self) -> Outcome<Vec<WidgetContent>> {
        Ok(vec![
            social("instagram")?,
            social("youtube")?,
            social("VKontakte")?,
            link("Order for Saturday", "https://shop.morgenbrot.example/order")?,
            link(
                "Our breads, and what is in them: flour, water, salt and time",
                "https://morgenbrot.example",
            )?,
            heading("Talk to us")?,
            contact(ContactMethod::Phone, "+4934112345678", Some("Call the bakery"))?,
            contact(ContactMethod::Whatsapp, "+4915112345678", Some("Ask for a cake"))?,
            contact(ContactMethod::Sms, "+4915112345678", None)?,
            email("hallo@morgenbrot.example", Some("Write a letter"))?,
            text("Monday is for sleeping. See https://example.com/opening-hours for feast days.")?,
            self.film("A night in the bakery, from the first dough to the last loaf", "wide.jpg")?,
            video("https://youtu.be/x")?,
        ])
    }

    /// Long words, right-to-left text, emoji, and missing pictures.
    fn difficult_landings(&self) -> Outcome<()> {
        let widgets = vec![
            link(LONG, "https://a-very-long-host-name-that-does-not-want-to-end.of.subdomains.example.com/")?,
            heading(LONG)?,
            text(&format!("{LONG}{LONG}"))?,
            social(&LONG.chars().take(50).collect::<String>())?,
            email(&format!("{LONG}@example.com"), None)?,
            contact(ContactMethod::Whatsapp, "+123456789012345", Some(LONG))?,
        ];
        let content = PageContent {
            button_style: ButtonStyle::Pill,
            ..described(&format!(
                "{LONG} {LONG} and then some words, so that a line breaks where it should."
            ))?
        };
        self.landing("landing-long", LONG, content, widgets)?;

        let content = PageContent {
            accent_color: accent("#0f766e"),
            language: LanguageTag::from_stored("ar".to_owned()).ok(),
            button_style: ButtonStyle::Filled,
            ..described("قهوة مختصة ومخبوزات طازجة كل صباح في قلب عمّان.")?
        };
        let widgets = vec![
            link("احجز طاولة لهذا المساء", "https://cafe.example.com/book")?,
            link("Menu in English", "https://cafe.example.com/menu")?,
            heading("تابعونا")?,
            social("instagram")?,
            social("whatsapp")?,
            text("نفتح من السابعة صباحًا.\nOpen from 7 am.")?,
            email("hello@cafe.example.com", Some("راسلنا"))?,
            contact(ContactMethod::Phone, "+96265551234", Some("اتصل بنا"))?,
            self.film("صباح في المقهى", "wide.jpg")?,
        ];
        self.landing("landing-rtl", "مقهى الأمل", content, widgets)?;

        let content = PageContent {
            accent_color: accent("#7c3aed"),
            ..described("Launches, landings & other 🛰️ news 🌍✨")?
        };
        let widgets = vec![
            link("🚀 Next launch", "https://example.com")?,
            link("👩🏽‍🚀", "https://example.org")?,
            social("🦊 Fox")?,
        ];
        self.landing("landing-emoji", "🪐 Space Club 🧑‍🚀", content, widgets)?;

        let gone = || self.picture("missing.png");
        let image = |alt: &str| -> Outcome<WidgetContent> {
            Ok(WidgetContent::Image {
                image_url: gone()?,
                alt: AltText::from_stored(alt.to_owned())?,
                url: None,
            })
        };
        let widgets = vec![
            WidgetContent::Link {
                title: name("A link whose picture is gone")?,
                url: url("https://example.com")?,
                thumbnail_url: Some(gone()?),
            },
            image("A loaf, still warm, on a wooden board")?,
            image("")?,
            self.film("A film whose still is gone", "missing.png")?,
        ];
        let content = PageContent { avatar_url: Some(gone()?), ..described(BREAD)? };
        self.landing("landing-broken", "Broken pictures", content, widgets)
    }

    fn eight_widgets(&self) -> Outcome<Vec<WidgetContent>> {
        let pictured = |title: &str, address: &str, picture: &str| -> Outcome<WidgetContent> {
            let thumbnail_url = Some(self.picture(picture)?);
            Ok(WidgetContent::Link { title: name(title)?, url: url(address)?, thumbnail_url })
        };
        Ok(vec![
            social("instagram")?,
            social("youtube")?,
            social("spotify")?,
            pictured("Listen to the new record", "https://music.example.com/okafor", "wide.jpg")?,
            pictured("Tour dates, autumn 2026", "https://tickets.example.org", "tall.jpg")?,
            link("Plain & Black: vinyl, shirts, sheet music", "https://shop.example.net")?,
            heading("Work with me")?,
            email("booking@okafor.example", Some("Booking"))?,
        ])
    }

    fn every_widget(&self) -> Outcome<Vec<WidgetContent>> {
        let mut widgets = self.eight_widgets()?;
        for network in [
            "tiktok",
            "x",
            "facebook",
            "linkedin",
            "threads",
            "bluesky",
            "mastodon",
            "whatsapp",
            "telegram",
            "discord",
            "twitch",
            "snapchat",
            "pinterest",
            "reddit",
            "soundcloud",
            "github",
            "gitlab",
            "codeberg",
            "ko-fi",
            "website",
            "podcast",
            "rss",
            "newsletter",
            "VKontakte",
        ] {
            widgets.push(social(network)?);
        }
        widgets.extend([
            text(
                "We bake in small batches. When the shelf is empty, it is empty.\n\nMonday is for sleeping. Ask \
                 https://example.com/opening-hours (or https://пример.рф).",
            )?,
            WidgetContent::Divider,
            heading("From the oven")?,
            WidgetContent::Image {
                image_url: self.picture("wide.jpg")?,
                alt: AltText::from_stored("Loaves on a shelf".to_owned())?,
                url: Some(url("https://example.com/gallery")?),
            },
            video("https://www.youtube.com/watch?v=x")?,
            video("https://vimeo.com/1")?,
        ]);
        Ok(widgets)
    }
}
