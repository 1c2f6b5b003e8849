//! Web addresses that a landing page shows or links to (D34, D35).

use crate::stored::MalformedStored;
use crate::target_url::TargetUrl;
use crate::violation::{FieldError, ViolationCode};

/// An `http` or `https` URL with the rules of a redirect's target (D24), kept exactly as given.
///
/// ```
/// use signpost_domain::WebUrl;
///
/// assert_eq!(WebUrl::parse("https://example.com/me.png").unwrap().as_str(), "https://example.com/me.png");
/// assert!(WebUrl::parse("javascript:alert(1)").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WebUrl(TargetUrl);

impl WebUrl {
    /// Reads a URL.
    ///
    /// # Errors
    /// Those of [`TargetUrl::parse`].
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        TargetUrl::parse(text).map(Self)
    }

    /// Reads a stored URL by the rules of [`TargetUrl::from_stored`].
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        TargetUrl::from_stored(text).map(Self)
    }

    /// The URL as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Its host, in the form in which hosts are compared.
    #[must_use]
    pub fn host(&self) -> &str {
        self.0.host()
    }

    /// The URL as a target.
    #[must_use]
    pub const fn as_target(&self) -> &TargetUrl {
        &self.0
    }
}

/// A video on `YouTube` or Vimeo (D35).
///
/// ```
/// use signpost_domain::VideoUrl;
///
/// assert!(VideoUrl::parse("https://youtu.be/dQw4w9WgXcQ").is_ok());
/// assert!(VideoUrl::parse("https://example.com/film.mp4").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VideoUrl(WebUrl);

impl VideoUrl {
    const HOSTS: [&'static str; 10] = [
        "youtube.com",
        "www.youtube.com",
        "m.youtube.com",
        "music.youtube.com",
        "youtu.be",
        "youtube-nocookie.com",
        "www.youtube-nocookie.com",
        "vimeo.com",
        "www.vimeo.com",
        "player.vimeo.com",
    ];

    /// Reads the URL of a video.
    ///
    /// # Errors
    /// Those of [`WebUrl::parse`]; `invalid_value` for another host.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let url = WebUrl::parse(text)?;
        if Self::HOSTS.contains(&url.host()) {
            return Ok(Self(url));
        }
        Err(FieldError::new(ViolationCode::InvalidValue, "must be a video on YouTube or Vimeo"))
    }

    /// Reads a stored URL. It must be on one of these hosts, because the video page is embedded in ours.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        let url = WebUrl::from_stored(text)?;
        if Self::HOSTS.contains(&url.host()) {
            return Ok(Self(url));
        }
        Err(MalformedStored("is not on a host of videos"))
    }

    /// The URL as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The URL.
    #[must_use]
    pub const fn as_web_url(&self) -> &WebUrl {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract D35: a video is on `YouTube` or Vimeo. Similar hosts are refused.
    #[test]
    fn d35_videos_are_on_one_of_two_sites() {
        for good in
            ["https://www.youtube.com/watch?v=x", "http://VIMEO.com/1", "https://player.vimeo.com/video/1"]
        {
            assert_eq!(VideoUrl::parse(good).unwrap().as_str(), good);
        }
        for bad in [
            "https://youtube.com.example.org/watch",
            "https://notyoutube.com/watch",
            "https://example.org/?u=youtube.com",
            "https://example.org/youtube.com",
        ] {
            assert_eq!(VideoUrl::parse(bad).unwrap_err().code(), ViolationCode::InvalidValue, "{bad}");
        }
        assert_eq!(VideoUrl::parse("youtube.com/x").unwrap_err().code(), ViolationCode::InvalidFormat);
    }
}
