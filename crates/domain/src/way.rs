//! How a redirect sends its visitors on: with which status, and with which parameters (D132).

use crate::change::Change;
use crate::click_limit::MaxClicks;
use crate::life::{Life, LifeRequest, Schedule};
use crate::link_password::LinkPassword;
use crate::link_request::{Judgement, LinkRequest};
use crate::redirect::{RedirectContent, RedirectContentRequest};
use crate::routing::{Rules, paths_of_targets};
use crate::target_url::TargetUrl;
use crate::url_query::MAX_LOCATION_BYTES;
use crate::utm::Utm;
use crate::violation::{FieldError, ViolationCode, Violations};

/// The status of the answer that sends visitors on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum RedirectStatus {
    /// 301
    MovedPermanently,
    /// 302
    #[default]
    Found,
    /// 307
    TemporaryRedirect,
    /// 308
    PermanentRedirect,
}

impl RedirectStatus {
    /// The field that has it.
    pub const FIELD: &'static str = "redirect_status";

    /// All statuses.
    pub const ALL: [Self; 4] =
        [Self::MovedPermanently, Self::Found, Self::TemporaryRedirect, Self::PermanentRedirect];

    /// Reads a status.
    ///
    /// # Errors
    /// `invalid_value` for any other number.
    pub fn parse(code: i64) -> Result<Self, FieldError> {
        let found = Self::ALL.into_iter().find(|status| i64::from(status.code()) == code);
        found.ok_or_else(|| FieldError::new(ViolationCode::InvalidValue, "must be 301, 302, 307 or 308"))
    }

    /// The number.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            Self::MovedPermanently => 301,
            Self::Found => 302,
            Self::TemporaryRedirect => 307,
            Self::PermanentRedirect => 308,
        }
    }

    /// Whether browsers keep the answer.
    #[must_use]
    pub const fn is_permanent(self) -> bool {
        matches!(self, Self::MovedPermanently | Self::PermanentRedirect)
    }

    /// The status that treats the method of the request in the same way, and that browsers do not keep.
    #[must_use]
    pub const fn temporary(self) -> Self {
        match self {
            Self::MovedPermanently | Self::Found => Self::Found,
            Self::TemporaryRedirect | Self::PermanentRedirect => Self::TemporaryRedirect,
        }
    }
}

/// How a redirect sends its visitors on. The default answers 302 and adds nothing to the target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way {
    /// The status.
    pub redirect_status: RedirectStatus,
    /// Whether the parameters of visitors are added to the target.
    pub forward_query: bool,
    /// The parameters that are always added.
    pub utm: Utm,
}

impl Way {
    /// The field of [`Self::forward_query`].
    pub const FORWARD_QUERY: &'static str = "forward_query";
}

/// The changes of a request to the [`Way`] of a redirect. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WayRequest {
    /// `redirect_status`; 302 in a creation without it.
    pub redirect_status: Option<RedirectStatus>,
    /// `forward_query`; false in a creation without it.
    pub forward_query: Option<bool>,
    /// `utm`. It replaces all parts, as `geo_blocklists` replaces all countries; null removes them.
    pub utm: Change<Utm>,
}

impl WayRequest {
    /// The way of a redirect after the request.
    pub(crate) fn applied_to(&self, before: Option<&Way>) -> Way {
        let Self { redirect_status, forward_query, utm } = self;
        let before = before.cloned().unwrap_or_default();
        Way {
            redirect_status: redirect_status.unwrap_or(before.redirect_status),
            forward_query: forward_query.unwrap_or(before.forward_query),
            utm: utm.clone().applied_to(Some(before.utm)).unwrap_or_default(),
        }
    }

    /// The violations that every redirect would have after a request with this content, this life and this password, in the object of
    /// the request at `prefix`.
    pub(crate) fn violations_without_link(
        prefix: &str,
        content: &RedirectContentRequest,
        life: &LifeRequest,
        password: &Change<LinkPassword>,
    ) -> Violations {
        let status = content.way.redirect_status.unwrap_or_default();
        let error = error_beside(status, requested_gates(content, life, password));
        let violation = error.map(|error| error.at(format!("{prefix}{}", RedirectStatus::FIELD)));
        violation.map(Violations::from).unwrap_or_default()
    }
}

impl RedirectContent {
    /// The target with the parameters of the campaign: where visitors are sent whose own parameters are not forwarded.
    #[must_use]
    pub fn final_url(&self) -> TargetUrl {
        self.target_url.with_utm(&self.way.utm)
    }

    /// Judges the way of a redirect after a request. Rules whose fields the request does not name, or that could not all be read, are
    /// not judged.
    pub(crate) fn judge_way(
        &self,
        request: &LinkRequest<RedirectContentRequest>,
        life: &Life,
        judgement: &mut Judgement<'_, Self>,
    ) {
        let Judgement { before, unreadable, found, .. } = judgement;
        let is_readable = |fields: &[&str]| !fields.iter().any(|field| unreadable.are_about(field));
        let LinkRequest { content: requested, life: requested_life, password, .. } = request;
        let names_either =
            requested.way.redirect_status.is_some() || names_gates(requested, requested_life, password);
        let has_password =
            LinkPassword::is_there_after(password, before.is_some_and(|link| link.has_password));
        if names_either
            && is_readable(&[RedirectStatus::FIELD])
            && is_readable(&GATES)
            && let Some(error) = error_beside(self.way.redirect_status, self.gates(life, has_password))
        {
            found.push(error.at(RedirectStatus::FIELD));
        }
        if !self.way.utm.is_empty() && is_readable(&[Utm::FIELD, "target_url"]) {
            found.append(self.judge_locations(requested));
        }
    }

    /// The violations of the locations with the parameters of `utm`: of each by itself, and of those of all rules together. They name the
    /// field that made a location too long.
    fn judge_locations(&self, requested: &RedirectContentRequest) -> Violations {
        const OF_UTM: &str = "must not make a target longer than 4096 bytes";
        const OF_TARGET: &str = "must have at most 4096 bytes with the parameters of `utm`";
        const OF_RULES: &str =
            "must leave the targets of all rules together at most 196608 bytes with the parameters of `utm`";
        let utm = &self.way.utm;
        let mut found = Violations::new();
        let mut blame = |field: &str, message: &'static str| {
            found.push(FieldError::new(ViolationCode::TooLong, message).at(field));
        };
        let length = |target: &TargetUrl| target.with_utm(utm).location().len();
        let is_too_long = |target: &TargetUrl| length(target) > MAX_LOCATION_BYTES;
        let are_too_long = || self.rules.targets().map(length).sum::<usize>() > Rules::MAX_LOCATION_BYTES;
        if matches!(requested.way.utm, Change::Set(_)) {
            if is_too_long(&self.target_url) || self.rules.targets().any(is_too_long) {
                blame(Utm::FIELD, OF_UTM);
            } else if are_too_long() {
                blame(Utm::FIELD, OF_RULES);
            }
            return found;
        }
        if requested.target_url.is_some() && is_too_long(&self.target_url) {
            blame("target_url", OF_TARGET);
        }
        if let Change::Set(rules) = &requested.rules.list {
            let paths = paths_of_targets(rules, is_too_long);
            for path in &paths {
                blame(path, OF_TARGET);
            }
            if paths.is_empty() && are_too_long() {
                blame(Rules::FIELD, OF_RULES);
            }
        }
        found
    }

    /// Those of [`GATES`] that the redirect has.
    fn gates(&self, life: &Life, has_password: bool) -> impl Iterator<Item = &'static str> + use<> {
        let Self {
            target_url: _,
            antibot_enabled,
            geo_blocklist,
            pixel_ids,
            way: _,
            click_limit,
            rules,
            preview: _,
        } = self;
        let Life { schedule, fallback_url: _ } = life;
        present([
            schedule.starts_at().is_some(),
            schedule.expires_at().is_some(),
            click_limit.is_some(),
            has_password,
            *antibot_enabled,
            !geo_blocklist.is_empty(),
            !pixel_ids.as_slice().is_empty(),
            !rules.is_empty(),
        ])
    }
}

/// The fields by which each visit is decided anew. A browser that keeps the answer would pass them, so none of them goes with a
/// permanent status. A card is not a gate, because a previewer that keeps it sends nobody on (D135). A further field belongs here, into the functions
/// that know the order, and into the status of chains (`signpost_app::visits`).
const GATES: [&str; 8] = [
    Schedule::STARTS_AT,
    Schedule::EXPIRES_AT,
    MaxClicks::FIELD,
    LinkPassword::FIELD,
    "antibot_enabled",
    "geo_blocklists",
    "pixel_ids",
    Rules::FIELD,
];

/// The names of those gates that are there.
fn present(gates: [bool; GATES.len()]) -> impl Iterator<Item = &'static str> {
    GATES.into_iter().zip(gates).filter_map(|(field, is_there)| is_there.then_some(field))
}

/// Whether a request names one of [`GATES`].
const fn names_gates(
    content: &RedirectContentRequest,
    life: &LifeRequest,
    password: &Change<LinkPassword>,
) -> bool {
    let RedirectContentRequest {
        target_url: _,
        antibot_enabled,
        geo_blocklist,
        pixels,
        way: _,
        click_limit,
        rules,
        preview: _,
    } = content;
    let LifeRequest { starts_at, expires_at, fallback_url: _ } = life;
    !starts_at.is_keep()
        || !expires_at.is_keep()
        || !click_limit.max_clicks.is_keep()
        || !password.is_keep()
        || antibot_enabled.is_some()
        || !geo_blocklist.is_keep()
        || !pixels.is_keep()
        || !rules.list.is_keep()
}

/// Those of [`GATES`] that every link has after a request.
fn requested_gates(
    content: &RedirectContentRequest,
    life: &LifeRequest,
    password: &Change<LinkPassword>,
) -> impl Iterator<Item = &'static str> + use<> {
    let RedirectContentRequest {
        target_url: _,
        antibot_enabled,
        geo_blocklist,
        pixels,
        way: _,
        click_limit,
        rules,
        preview: _,
    } = content;
    let LifeRequest { starts_at, expires_at, fallback_url: _ } = life;
    present([
        matches!(starts_at, Change::Set(_)),
        matches!(expires_at, Change::Set(_)),
        matches!(click_limit.max_clicks, Change::Set(_)),
        matches!(password, Change::Set(_)),
        *antibot_enabled == Some(true),
        matches!(geo_blocklist, Change::Set(blocklist) if !blocklist.is_empty()),
        matches!(pixels, Change::Set(pixels) if !pixels.is_empty()),
        rules.sets_some(),
    ])
}

/// The error of a permanent status beside gates; `None` if the status is not permanent or there are none.
fn error_beside(status: RedirectStatus, gates: impl Iterator<Item = &'static str>) -> Option<FieldError> {
    let named: Vec<String> = gates.map(|field| format!("`{field}`")).collect();
    if !status.is_permanent() || named.is_empty() {
        return None;
    }
    let message = format!(
        "must be 302 or 307 beside {}: browsers keep a {} and would not ask again",
        named.join(", "),
        status.code()
    );
    Some(FieldError::new(ViolationCode::InvalidValue, message))
}

#[cfg(test)]
#[path = "way_tests.rs"]
pub(crate) mod tests;
