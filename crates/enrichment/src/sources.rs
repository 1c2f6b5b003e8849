//! The lists from which facts are derived, built in or the operator's own.

use std::sync::Arc;

use crate::agent_rules::AgentRules;
use crate::categories::Categories;
use crate::crawlers::Crawlers;

/// The list that a text replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// Rules that name browsers and operating systems.
    Agents,
    /// Patterns of bots.
    Crawlers,
    /// The channels of referrers and of values of `utm_source`.
    Channels,
    /// The AI assistants.
    Assistants,
}

impl SourceKind {
    fn name(self) -> &'static str {
        match self {
            Self::Agents => "user agent rules",
            Self::Crawlers => "bot patterns",
            Self::Channels => "channels",
            Self::Assistants => "AI assistants",
        }
    }
}

/// Why a list is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: line {line}: {problem}", kind.name())]
pub struct SourceError {
    /// The list.
    pub kind: SourceKind,
    /// The line, counted from 1; 0 if the fault is in no single line.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// The lists of an [`Enricher`](crate::Enricher). By default all are built in; a text replaces a whole list.
///
/// In every text, empty lines and lines that begin with `#` are ignored, and one tab separates columns.
#[derive(Clone, Default)]
pub struct Sources {
    agents: Option<Arc<AgentRules>>,
    crawlers: Option<Arc<Crawlers>>,
    channels: Option<Arc<Categories>>,
    assistants: Option<Arc<Categories>>,
}

impl Sources {
    /// Replaces the user agent rules. Each line has `browser` or `os`, a regular expression, and a name.
    /// Without a name, the first group of the expression is the name; a name may refer to that group as `$1`.
    /// The first matching rule wins.
    ///
    /// # Errors
    ///
    /// The first invalid line.
    pub fn with_agents(mut self, text: &str) -> Result<Self, SourceError> {
        self.agents = Some(Arc::new(AgentRules::parse(text)?));
        Ok(self)
    }

    /// Replaces the patterns of bots: a regular expression on each line, which may match any part of an
    /// agent. The programs that [`classify`](crate::classify) knows are bots in any case.
    ///
    /// # Errors
    ///
    /// The first invalid line.
    pub fn with_crawlers(mut self, text: &str) -> Result<Self, SourceError> {
        self.crawlers = Some(Arc::new(Crawlers::parse(text)?));
        Ok(self)
    }

    /// Replaces the channels of referrers. Each line has a name and a category: `search`, `social`, `video`,
    /// `shopping`, `email`, `messenger`, `sms`, `push`, `display`, `affiliate`, `audio` or `referral`. A name
    /// with a dot is a host with its subdomains; any other is a value of `utm_source`.
    /// `android-app://package`, a tab and a host name the host as which an app counts.
    ///
    /// # Errors
    ///
    /// The first invalid line.
    pub fn with_channels(mut self, text: &str) -> Result<Self, SourceError> {
        self.channels = Some(Arc::new(Categories::of_channels(text)?));
        Ok(self)
    }

    /// Replaces the AI assistants: on each line a host, or a value of `utm_source`. They take precedence over
    /// the channels.
    ///
    /// # Errors
    ///
    /// The first invalid line.
    pub fn with_assistants(mut self, text: &str) -> Result<Self, SourceError> {
        self.assistants = Some(Arc::new(Categories::of_assistants(text)?));
        Ok(self)
    }

    pub(crate) fn agents(&self) -> Option<&AgentRules> {
        match &self.agents {
            Some(own) => Some(own),
            None => AgentRules::built_in(),
        }
    }

    /// Whether [`agents`](Self::agents) answers at once. It never waits.
    pub(crate) fn agents_are_ready(&self) -> bool {
        self.agents.is_some() || AgentRules::built_in_is_compiled()
    }

    pub(crate) fn crawlers(&self) -> Option<&Crawlers> {
        match &self.crawlers {
            Some(own) => Some(own),
            None => Crawlers::built_in(),
        }
    }

    /// The patterns of bots, unless they are the built-in ones and not compiled yet. It never waits.
    pub(crate) fn ready_crawlers(&self) -> Option<&Crawlers> {
        match &self.crawlers {
            Some(own) => Some(own),
            None => Crawlers::built_in_if_compiled(),
        }
    }

    pub(crate) fn channels(&self) -> &Categories {
        match &self.channels {
            Some(own) => own,
            None => Categories::built_in_channels(),
        }
    }

    pub(crate) fn assistants(&self) -> &Categories {
        match &self.assistants {
            Some(own) => own,
            None => Categories::built_in_assistants(),
        }
    }
}

/// The non-empty lines of a list without comments, with their numbers.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
}

/// The columns of a line, if it has this many.
pub(crate) fn columns<const COUNT: usize>(row: &str) -> Option<[&str; COUNT]> {
    let mut columns = [""; COUNT];
    let mut parts = row.split('\t');
    for column in &mut columns {
        *column = parts.next()?;
    }
    parts.next().is_none().then_some(columns)
}
