//! Names of the values of dimensions, as pages show them.

use std::collections::{BTreeSet, HashMap};

use signpost_app::analytics::Asked;
use signpost_app::links;
use signpost_domain::analytics::{Dimension, MAX_VALUES};
use signpost_domain::{IdReference, LinkId, PageContent};

use super::questions::Answers;
use super::state::State;
use super::subject::Subject;
use crate::failure::Failure;
use crate::frame::TEXTS;
use crate::pages::links::editor::caption_of;
use crate::visit::{Member, Visit};

/// The names of links and widgets, by their ids. A deleted link in the report is marked as deleted. Other ids that no link or widget
/// has are not in here.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<String, String>);

impl Names {
    /// The names of the values and filters of an answer.
    pub(super) async fn read(
        visit: &Visit,
        member: &Member,
        subject: &Subject,
        state: &State,
        answers: &Answers,
    ) -> Result<Self, Failure> {
        let mut names = of_links(visit, member, state, answers).await?;
        names.extend(of_widgets(visit, member, subject, answers).await?);
        Ok(Self(names))
    }

    /// A value in words.
    pub(super) fn in_words(&self, dimension: Dimension, value: &str) -> String {
        if let Some(words) = (TEXTS.analytics.value)(dimension, value) {
            return words.to_owned();
        }
        let name = self.0.get(value).filter(|_| matches!(dimension, Dimension::Link | Dimension::Widget));
        name.map_or_else(|| value.to_owned(), Clone::clone)
    }
}

/// The names of the links among the values and filters.
async fn of_links(
    visit: &Visit,
    member: &Member,
    state: &State,
    answers: &Answers,
) -> Result<HashMap<String, String>, Failure> {
    let filtered = state.filters.iter().filter(|filter| filter.dimension == Dimension::Link);
    let filtered = filtered.flat_map(|filter| filter.values.iter());
    let reported = answers.questions.asked.dimensions.iter().zip(&answers.report.dimensions);
    let reported = reported.filter(|(dimension, _)| **dimension == Dimension::Link);
    let reported: BTreeSet<&String> =
        reported.flat_map(|(_, values)| values.iter().map(|counts| &counts.value)).collect();
    let all = filtered.chain(reported.iter().copied());
    let ids: BTreeSet<LinkId> = all.filter_map(|id| id.parse().ok()).collect();
    let ids: Vec<LinkId> = ids.into_iter().collect();
    let mut names = HashMap::new();
    for batch in ids.chunks(MAX_VALUES) {
        let links = links::named(visit.app(), &member.caller, batch).await?;
        // A filter may have any id, but only a link of the account has been visited.
        let visited = batch.iter().map(ToString::to_string).filter(|id| reported.contains(id));
        names.extend(visited.map(|id| (id.clone(), (TEXTS.analytics.deleted)(&id))));
        names.extend(links.iter().map(|link| (link.id().to_string(), link.name.as_str().to_owned())));
    }
    Ok(names)
}

/// The names of the widgets of a landing page, if the answer has values of them.
async fn of_widgets(
    visit: &Visit,
    member: &Member,
    subject: &Subject,
    answers: &Answers,
) -> Result<HashMap<String, String>, Failure> {
    let Asked { dimensions, filters, .. } = &answers.questions.asked;
    let is_filtered = filters.iter().any(|filter| filter.dimension == Dimension::Widget);
    if !is_filtered && !dimensions.contains(&Dimension::Widget) {
        return Ok(HashMap::new());
    }
    let Subject::Link(link) = subject else { return Ok(HashMap::new()) };
    let LinkId::Landing(id) = link.id() else { return Ok(HashMap::new()) };
    let page = links::get::<PageContent>(visit.app(), &member.caller, IdReference::Id(id), None).await?;
    let named = page
        .content
        .widgets
        .as_slice()
        .iter()
        .filter_map(|widget| Some((widget.id.to_string(), caption_of(widget)?)));
    Ok(named.collect())
}
