//! What the account uses, and what its plan allows (D76).

use actix_web::HttpResponse;
use signpost_app::accounts::remaining_requests;
use signpost_domain::{Feature, PlanResource, QuotaRemaining, RequestBudget};

use crate::answer::page;
use crate::curl;
use crate::failure::Failure;
use crate::frame::{TEXTS, shell};
use crate::local_time::number;
use crate::views::{Meter, NavItem, PlanFeature, UsagePage};
use crate::visit::Visit;

/// `GET /{account}/usage`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let caller = &member.caller;
    let plan = caller.plan();
    let remaining = remaining_requests(visit.app(), caller).await?;
    let limits = PlanResource::ALL.map(|resource| {
        meter(resource_name(resource), caller.usage().of(resource), plan.limits.of(resource), "")
    });
    let features = Feature::ALL.map(|feature| PlanFeature {
        name: (TEXTS.feature)(feature).to_owned(),
        included: plan.features.contains(feature),
    });
    let api = PlanFeature { name: TEXTS.feature_api.to_owned(), included: plan.api_access };
    let days = usize::try_from(plan.limits.analytics_days).unwrap_or(usize::MAX);
    let example = curl::read(visit.api_url(), TEXTS.curl_account, "/v1/account");
    page(&UsagePage {
        plan: plan.name.as_str().to_owned(),
        requests: remaining.map_or_else(Vec::new, |remaining| requests(plan.budget, remaining)),
        limits: limits.into(),
        analytics: (TEXTS.analytics_days)(days),
        features: std::iter::once(api).chain(features).collect(),
        shell: shell(&visit, &member, NavItem::Usage, TEXTS.usage, vec![example]),
    })
}

pub(super) fn requests(budget: RequestBudget, remaining: QuotaRemaining) -> Vec<Meter> {
    let used = |allowed: u32, left: u32| u64::from(allowed.saturating_sub(left));
    vec![
        meter(TEXTS.meter_minute, used(budget.per_minute, remaining.minute), budget.per_minute.into(), ""),
        meter(
            TEXTS.meter_day,
            used(budget.per_day, remaining.day),
            budget.per_day.into(),
            TEXTS.meter_day_note,
        ),
    ]
}

pub(super) fn meter(label: &str, used: u64, allowed: u64, note: &str) -> Meter {
    Meter {
        label: label.to_owned(),
        used,
        allowed,
        used_text: number(used),
        allowed_text: number(allowed),
        note: note.to_owned(),
    }
}

pub(super) const fn resource_name(resource: PlanResource) -> &'static str {
    match resource {
        PlanResource::Links => TEXTS.meter_links,
        PlanResource::Groups => TEXTS.meter_groups,
        PlanResource::Domains => TEXTS.meter_domains,
        PlanResource::Pixels => TEXTS.meter_pixels,
        PlanResource::Tags => TEXTS.tags.title,
    }
}
