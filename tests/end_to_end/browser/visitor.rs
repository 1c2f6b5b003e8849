//! Visitors and their screens.

/// The colour scheme that a visitor prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

impl Scheme {
    pub const ALL: [Self; 2] = [Self::Light, Self::Dark];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// The widths in pixels of the smallest screen that WCAG requires, of a phone and of a laptop.
const WIDTHS: [u32; 3] = [320, 375, 1280];

/// A visitor with a browser.
#[derive(Debug, Clone)]
pub struct Visitor {
    pub width: u32,
    pub height: u32,
    pub scheme: Scheme,
    pub wants_less_motion: bool,
    pub has_scripts: bool,
    pub headers: Vec<(&'static str, &'static str)>,
}

impl Default for Visitor {
    fn default() -> Self {
        Self {
            width: 1280,
            height: 800,
            scheme: Scheme::Light,
            wants_less_motion: false,
            has_scripts: true,
            headers: Vec::new(),
        }
    }
}

impl Visitor {
    /// The same visitor with every width and every scheme.
    pub fn on_every_screen(&self) -> Vec<Self> {
        let of_width = |width| Scheme::ALL.map(|scheme| Self { width, scheme, ..self.clone() });
        WIDTHS.into_iter().flat_map(of_width).collect()
    }

    pub fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    pub fn without_scripts(self) -> Self {
        Self { has_scripts: false, ..self }
    }
}
