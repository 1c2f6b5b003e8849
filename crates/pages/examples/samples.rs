//! Writes sample pages into a folder, to be looked at in a browser:
//!
//! ```sh
//! cargo run --package signpost-pages --example samples -- target/samples https://pictures.example.com
//! ```
//!
//! The second argument is where the pictures of the samples are found: `face.png`, `wide.jpg` and `tall.jpg`. Beside each
//! page is a `.csp` file with its content security policy, for a server that sends it along.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use signpost_domain::{
    AccentColor, AltText, Description, Email, Name, PageContent, Slug, SocialNetwork, Theme, VideoUrl,
    WebUrl, Widget, WidgetBody, WidgetContent, WidgetId, WidgetText, Widgets,
};
use signpost_pages::{HtmlPage, Landing, Language, SmallPage};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Where the samples go, and where their pictures are.
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
    samples.landings()
}

impl Samples {
    fn write(&self, name: &str, page: &HtmlPage) -> Outcome<()> {
        let path = |extension: &str| Path::new(&self.folder).join(format!("{name}.{extension}"));
        fs::write(path("html"), &page.html)?;
        fs::write(path("csp"), &page.content_security_policy)?;
        Ok(())
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

    fn picture(&self, name: &str) -> Outcome<WebUrl> {
        Ok(WebUrl::from_stored(format!("{}/{name}", self.pictures))?)
    }

    fn landings(&self) -> Outcome<()> {
        let described = |text: &str| -> Outcome<PageContent> {
            Ok(PageContent {
                description: Some(Description::from_stored(text.to_owned())?),
                ..PageContent::default()
            })
        };
        let accent = |text: &str| AccentColor::from_stored(text).ok();
        let link = |title: &str, url: &str| -> Outcome<WidgetContent> {
            Ok(WidgetContent::Link {
                title: Name::from_stored(title.to_owned())?,
                url: WebUrl::from_stored(url.to_owned())?,
                thumbnail_url: None,
            })
        };
        let bread = "Sourdough, rye and far too much butter.\nBaked before sunrise in Leipzig since 2014.";

        let none = described(bread)?;
        self.landing("landing-0", "Morgenbrot Bakery", none.clone(), vec![])?;
        let one = vec![link("Order for Saturday", "https://shop.morgenbrot.example/order")?];
        self.landing("landing-1", "Morgenbrot Bakery", none.clone(), one)?;

        let many = |count: usize| -> Outcome<Vec<WidgetContent>> {
            (1..=count)
                .map(|number| link(&format!("Field recording no. {number}"), "https://sounds.example.org/r"))
                .collect()
        };
        self.landing(
            "landing-100",
            "A hundred recordings",
            described("One for each day of the summer.")?,
            many(100)?,
        )?;

        let full = PageContent {
            avatar_url: Some(self.picture("face.png")?),
            accent_color: accent("#c2410c"),
            ..described(bread)?
        };
        for (suffix, theme) in [("auto", Theme::Auto), ("light", Theme::Light), ("dark", Theme::Dark)] {
            let content = PageContent { theme, ..full.clone() };
            self.landing(
                &format!("landing-all-{suffix}"),
                "Morgenbrot Bakery",
                content,
                self.every_widget()?,
            )?;
        }
        for colour in ["#ffffff", "#000000", "#ffe600", "#00e5ff", "#3b2fd9", "#d81b60", "#808080"] {
            let content = PageContent { avatar_url: None, accent_color: accent(colour), ..full.clone() };
            let name = format!("landing-accent-{}", colour.trim_start_matches('#'));
            self.landing(&name, "Morgenbrot Bakery", content, self.eight()?)?;
        }
        self.landing("landing-8", "Ines Okafor", full.clone(), self.eight()?)?;

        let long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
        let content =
            described(&format!("{long} {long} and then some words, so that a line breaks where it should."))?;
        let mut widgets = vec![
            link(long, "https://a-very-long-host-name-that-does-not-want-to-end.subdomain.of.example.com/")?,
            WidgetContent::Heading { text: Name::from_stored(long.to_owned())? },
            WidgetContent::Text { text: WidgetText::from_stored(format!("{long}{long}"))? },
            WidgetContent::Social {
                network: SocialNetwork::from_stored(long.chars().take(50).collect())?,
                url: WebUrl::from_stored("https://example.com".to_owned())?,
            },
        ];
        widgets.push(WidgetContent::Email {
            address: Email::from_stored(format!("{long}@example.com"))?,
            title: None,
        });
        self.landing("landing-long", long, content, widgets)?;

        let content = PageContent {
            accent_color: accent("#0f766e"),
            ..described("قهوة مختصة ومخبوزات طازجة كل صباح في قلب عمّان.")?
        };
        let widgets = vec![
            link("احجز طاولة لهذا المساء", "https://cafe.example.com/book")?,
            link("Menu in English", "https://cafe.example.com/menu")?,
            WidgetContent::Heading { text: Name::from_stored("تابعونا".to_owned())? },
            self.social("instagram")?,
            self.social("whatsapp")?,
            WidgetContent::Text {
                text: WidgetText::from_stored("نفتح من السابعة صباحًا.\nOpen from 7 am.".to_owned())?,
            },
            WidgetContent::Email {
                address: Email::from_stored("hello@cafe.example.com".to_owned())?,
                title: Some(Name::from_stored("راسلنا".to_owned())?),
            },
        ];
        self.landing("landing-rtl", "مقهى الأمل", content, widgets)?;

        let content = PageContent {
            accent_color: accent("#7c3aed"),
            ..described("Launches, landings & other 🛰️ news 🌍✨")?
        };
        let widgets = vec![
            link("🚀 Next launch", "https://example.com")?,
            link("👩🏽‍🚀", "https://example.org")?,
            self.social("🦊 Fox")?,
        ];
        self.landing("landing-emoji", "🪐 Space Club 🧑‍🚀", content, widgets)?;

        let broken = PageContent { avatar_url: Some(self.picture("missing.png")?), ..described(bread)? };
        let widgets = vec![
            WidgetContent::Link {
                title: Name::from_stored("A link whose picture is gone".to_owned())?,
                url: WebUrl::from_stored("https://example.com".to_owned())?,
                thumbnail_url: Some(self.picture("missing.png")?),
            },
            WidgetContent::Image {
                image_url: self.picture("missing.png")?,
                alt: AltText::from_stored("A loaf, still warm, on a wooden board".to_owned())?,
                url: None,
            },
            WidgetContent::Image {
                image_url: self.picture("missing.png")?,
                alt: AltText::from_stored(String::new())?,
                url: None,
            },
        ];
        self.landing("landing-broken", "Broken pictures", broken, widgets)
    }

    fn social(&self, network: &str) -> Outcome<WidgetContent> {
        let url = WebUrl::from_stored("https://social.example.com/me".to_owned())?;
        Ok(WidgetContent::Social { network: SocialNetwork::from_stored(network.to_owned())?, url })
    }

    fn eight(&self) -> Outcome<Vec<WidgetContent>> {
        let link = |title: &str, url: &str, thumbnail_url: Option<WebUrl>| -> Outcome<WidgetContent> {
            let (title, url) = (Name::from_stored(title.to_owned())?, WebUrl::from_stored(url.to_owned())?);
            Ok(WidgetContent::Link { title, url, thumbnail_url })
        };
        Ok(vec![
            self.social("instagram")?,
            self.social("youtube")?,
            self.social("spotify")?,
            link(
                "Listen to the new record",
                "https://music.example.com/okafor",
                Some(self.picture("wide.jpg")?),
            )?,
            link("Tour dates, autumn 2026", "https://tickets.example.org", Some(self.picture("tall.jpg")?))?,
            link("Shop: vinyl, shirts, sheet music", "https://shop.example.net", None)?,
            WidgetContent::Heading { text: Name::from_stored("Work with me".to_owned())? },
            WidgetContent::Email {
                address: Email::from_stored("booking@okafor.example".to_owned())?,
                title: Some(Name::from_stored("Booking".to_owned())?),
            },
        ])
    }

    fn every_widget(&self) -> Outcome<Vec<WidgetContent>> {
        let mut widgets = self.eight()?;
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
            "website",
            "podcast",
            "rss",
            "newsletter",
            "VKontakte",
        ] {
            widgets.push(self.social(network)?);
        }
        let text =
            "We bake in small batches. When the shelf is empty, it is empty.\n\nMonday is for sleeping.";
        widgets.extend([
            WidgetContent::Text { text: WidgetText::from_stored(text.to_owned())? },
            WidgetContent::Divider,
            WidgetContent::Heading { text: Name::from_stored("From the oven".to_owned())? },
            WidgetContent::Image {
                image_url: self.picture("wide.jpg")?,
                alt: AltText::from_stored("Loaves on a shelf".to_owned())?,
                url: Some(WebUrl::from_stored("https://example.com/gallery".to_owned())?),
            },
            WidgetContent::Video {
                url: VideoUrl::from_stored("https://www.youtube.com/watch?v=x".to_owned())?,
            },
            WidgetContent::Video { url: VideoUrl::from_stored("https://vimeo.com/1".to_owned())? },
        ]);
        Ok(widgets)
    }

    fn landing(
        &self,
        name: &str,
        title: &str,
        content: PageContent,
        widgets: Vec<WidgetContent>,
    ) -> Outcome<()> {
        let widgets = widgets.into_iter().zip(1_u128..).map(|(content, number)| Widget {
            id: WidgetId::from_bytes((number << 64 | 0x9_3f27_a1c4_5b6d).to_be_bytes()),
            body: WidgetBody::Known(content),
        });
        let content = PageContent { widgets: Widgets::from_stored(widgets.collect())?, ..content };
        let title = Name::from_stored(title.to_owned())?;
        let slug = Slug::parse("sample").map_err(|error| format!("{error:?}"))?;
        let landing = Landing { title: &title, content: &content, search_engines: false, slug: Some(&slug) };
        self.write(name, &landing.render()?)
    }
}
