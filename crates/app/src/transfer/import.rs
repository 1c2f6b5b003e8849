//! Import: creates the group or the link that each record describes, unless it exists.

use std::collections::BTreeSet;

use futures_util::future::join;
use signpost_domain::{AccountId, HostBlocklist, NamedDomains, PixelId, Plan};

use super::classifier::Classifier;
use super::entry::Run;
use super::insertion::insert_links;
use super::named_groups::NamedGroups;
use super::outcome::ImportedRow;
use super::pending::Pending;
use super::record::ImportRow;
use super::rehearsal::Rehearsal;
use crate::accounts::require_plan;
use crate::app_error::OperatorError;
use crate::application::Application;
use crate::links::LinkRules;

/// The best number of rows for one call. Their new links are one transaction. More rows would keep other writers of the
/// embedded store waiting; with fewer rows, commits would take most of the time.
pub const ROWS_AT_ONCE: usize = 1_000;

/// Whether an import writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportMode {
    /// It creates missing groups and links.
    Write,
    /// It only reports the expected outcome of each row. It cannot foresee what the store decides under concurrency.
    Rehearse,
}

/// A running import into an account.
///
/// A row's object exists if the account has an object with the row's id, or a link at the row's address. A row without id
/// and slug also matches a link at one of its derived slugs. An existing object is compared and never changed. So a second
/// import of the same file changes nothing, and completes an interrupted import.
///
/// Any other row must obey the rules of the API's creation, including the features and limits of the plan. It is created
/// with the id and the dates of the row.
///
/// Rows are classified while the links of earlier rows are inserted, unless they depend on the outcome of these.
pub struct Import {
    account: AccountId,
    plan: Plan,
    classifier: Classifier,
    /// The last run that [`push`](Self::push) classified.
    pending: Option<Pending>,
}

impl Import {
    /// Starts an import.
    ///
    /// # Errors
    /// [`OperatorError::NoSuchAccount`]; [`OperatorError::NoSuchPlan`] if the account is on a plan that the configuration
    /// does not have. Or the store broke.
    pub async fn start(
        app: &Application,
        account: AccountId,
        mode: ImportMode,
    ) -> Result<Self, OperatorError> {
        let missing = || OperatorError::NoSuchAccount(account);
        let plan = app.store.account(account).await?.ok_or_else(missing)?.plan;
        let plan = require_plan(app, &plan)?.clone();
        let rehearsal = match mode {
            ImportMode::Write => None,
            ImportMode::Rehearse => {
                let usage = app.store.usage(account).await?.ok_or_else(missing)?;
                Some(Rehearsal::new(usage, plan.limits))
            }
        };
        let classifier =
            Classifier { limits: plan.limits, named_groups: NamedGroups::of(account), rehearsal };
        Ok(Self { account, plan, classifier, pending: None })
    }

    /// The number of groups that were created because a link's row named them, or that a rehearsal would have created.
    #[must_use]
    pub const fn groups_created(&self) -> u64 {
        self.classifier.named_groups.created()
    }

    /// Imports rows in order. Up to [`ROWS_AT_ONCE`] rows are one transaction for their new groups, and one for their new
    /// links. After a crash, each transaction is complete or undone. The answer has an outcome for each row, in order.
    ///
    /// # Errors
    /// [`OperatorError::NoSuchAccount`] if it was deleted meanwhile. Or the store broke; the same file can be imported
    /// again.
    pub async fn rows(
        &mut self,
        app: &Application,
        rows: Vec<ImportRow>,
    ) -> Result<Vec<ImportedRow>, OperatorError> {
        let mut imported = self.push(app, rows).await?;
        imported.extend(self.finish(app).await?);
        Ok(imported)
    }

    /// Imports rows as [`rows`](Self::rows) does, but leaves the last insertion to the next call, which classifies its own
    /// rows meanwhile. Returns the outcomes that are known by then, in order. [`finish`](Self::finish) returns the rest.
    ///
    /// # Errors
    /// As [`rows`](Self::rows). The outcome of unreported rows is unknown then.
    pub async fn push(
        &mut self,
        app: &Application,
        rows: Vec<ImportRow>,
    ) -> Result<Vec<ImportedRow>, OperatorError> {
        let (blocklist, no_pixels) = (app.target_blocklist.current(), BTreeSet::new());
        let rules = self.rules(app, &blocklist, &no_pixels);
        let references: Vec<_> =
            rows.iter().filter_map(|row| row.record.as_ref().ok()?.named_domain()).collect();
        let named_domains = rules.look_up(&rules.custom_hostnames(&references)).await?;
        let mut imported = vec![];
        for run in Run::of_rows(rows, self.account, &rules.context(&named_domains)) {
            imported.extend(self.run(&rules, &named_domains, run).await?);
        }
        Ok(imported)
    }

    /// Completes the pushed rows, and returns their outcomes.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub async fn finish(&mut self, app: &Application) -> Result<Vec<ImportedRow>, OperatorError> {
        let (blocklist, no_pixels) = (app.target_blocklist.current(), BTreeSet::new());
        let rules = self.rules(app, &blocklist, &no_pixels);
        self.settle(&rules).await
    }

    fn rules<'a>(
        &self,
        app: &'a Application,
        blocklist: &'a HostBlocklist,
        // Files name no pixels.
        known_pixels: &'a BTreeSet<PixelId>,
    ) -> LinkRules<'a> {
        LinkRules { app, account: self.account, features: self.plan.features, blocklist, known_pixels }
    }

    /// Classifies a run, and meanwhile inserts the links of the one before. Returns the outcomes of the one before.
    async fn run(
        &mut self,
        rules: &LinkRules<'_>,
        named_domains: &NamedDomains,
        run: Run,
    ) -> Result<Vec<ImportedRow>, OperatorError> {
        let mut imported = vec![];
        if self.pending.as_ref().is_some_and(|pending| pending.affects(&run)) {
            imported = self.settle(rules).await?;
        }
        let pending = self.pending.take();
        let limits = &self.plan.limits;
        let links = pending.as_ref().map(Pending::links).unwrap_or_default();
        let passwords = pending.as_ref().map(Pending::passwords).unwrap_or_default();
        let (insertions, classified) = join(
            insert_links(rules, links, &passwords, limits),
            self.classifier.classify(rules, named_domains, run),
        )
        .await;
        if let Some(pending) = pending {
            imported.extend(pending.settle(rules, insertions?, limits).await?);
        }
        self.pending = Some(classified?);
        Ok(imported)
    }

    /// Inserts the pending links.
    async fn settle(&mut self, rules: &LinkRules<'_>) -> Result<Vec<ImportedRow>, OperatorError> {
        let Some(pending) = self.pending.take() else { return Ok(vec![]) };
        let limits = &self.plan.limits;
        let insertions = insert_links(rules, pending.links(), &pending.passwords(), limits).await?;
        pending.settle(rules, insertions, limits).await
    }
}
