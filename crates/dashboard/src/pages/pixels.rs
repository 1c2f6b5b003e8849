//! Pixels (D36).

use actix_web::HttpResponse;
use serde_json::json;
use signpost_app::AppError;
use signpost_app::idempotency::Idempotency;
use signpost_app::pixels::{self, NewPixel};
use signpost_domain::id::PixelKind;
use signpost_domain::{
    Feature, FieldError, Name, PageLimit, Permission, Pixel, PixelCode, PixelType, ViolationCode, Violations,
};

use super::{field, followed, general_message, message_at, pager, position_of, remembered};
use crate::answer::{page, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::local_time::date;
use crate::views::{Choice, Field, Form, NavItem, PixelRow, PixelsPage, Select};
use crate::visit::{Member, Visit};

/// `GET /{account}/pixels`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    page(&pixels_page(&visit, &member).await?)
}

/// `POST /{account}/pixels`
pub(crate) async fn create(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::WriteLinks)?;
    let mut violations = Violations::new();
    let Some(new) = new_pixel(&form, &mut violations) else {
        return not_created(&visit, &member, &form, &violations).await;
    };
    let key = form.key();
    let path = format!("/{}/pixels?said=pixel-created", member.caller.account_id());
    let answer = path.clone();
    let idempotency =
        Idempotency::of_request(key.as_ref(), move |_: &Pixel| Some(remembered(answer.clone())));
    match pixels::create(visit.app(), &member.caller, new, idempotency).await {
        Err(AppError::Invalid(violations)) => not_created(&visit, &member, &form, &violations).await,
        created => followed(created.map(|_| path)),
    }
}

/// The page with what was typed, and why it was refused.
async fn not_created(
    visit: &Visit,
    member: &Member,
    form: &FormBody,
    violations: &Violations,
) -> Result<HttpResponse, Failure> {
    let mut view = pixels_page(visit, member).await?;
    view.form.general_error = general_message(violations, &["pixel_type", "pixel_id", "name"]);
    refused(&PixelsPage {
        pixel_type: vendors(form.text("pixel_type"), violations),
        pixel_id: field(form.text("pixel_id"), violations, "pixel_id"),
        name: field(form.text("name"), violations, "name"),
        ..view
    })
}

/// `POST /{account}/pixels/{id}/delete`
pub(crate) async fn delete(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    pixels::delete(visit.app(), &member.caller, visit.id::<PixelKind>()).await?;
    Ok(see_other(&format!("/{}/pixels?said=pixel-deleted", member.caller.account_id())))
}

fn new_pixel(form: &FormBody, violations: &mut Violations) -> Option<NewPixel> {
    let vendor = PixelType::ALL.into_iter().find(|vendor| vendor.as_str() == form.text("pixel_type"));
    let code = if let Some(vendor) = vendor {
        let code = PixelCode::parse(vendor, form.text("pixel_id").trim());
        code.map_err(|error| violations.push(error.at("pixel_id"))).ok()
    } else {
        let error = FieldError::new(ViolationCode::InvalidValue, "must be one of the vendors");
        violations.push(error.at("pixel_type"));
        None
    };
    let name = form.non_empty("name").map(Name::parse).transpose();
    let name = name.map_err(|error| violations.push(error.at("name"))).ok();
    Some(NewPixel { code: code?, name: name? })
}

async fn pixels_page(visit: &Visit, member: &Member) -> Result<PixelsPage, Failure> {
    let caller = &member.caller;
    let after = position_of(&visit.query());
    let list = pixels::list(visit.app(), caller, PageLimit::default(), after).await?;
    let path = format!("/{}/pixels", caller.account_id());
    let pager = pager(&list, &path, &[], after.is_none());
    let api = visit.api_url();
    let body = json!({ "pixel_type": "google_tag", "pixel_id": "G-1A2BCD345E" });
    let curl = vec![
        curl::read(api, TEXTS.curl_list_pixels, "/v1/pixels"),
        curl::send_json(api, TEXTS.add_pixel, "POST", "/v1/pixels", &body),
    ];
    let preferences = &member.signed_in.user().preferences;
    let row = |pixel: &Pixel| PixelRow {
        id: pixel.id.to_string(),
        vendor: vendor_name(pixel.code.pixel_type()).to_owned(),
        pixel_id: pixel.code.as_str().to_owned(),
        name: pixel.name.as_ref().map(|name| name.as_str().to_owned()),
        created: date(pixel.created_at, preferences),
        idempotency_key: visit.new_key(),
    };
    let has_feature = caller.plan().features.contains(Feature::Pixels);
    Ok(PixelsPage {
        can_write: caller.may(Permission::WriteLinks),
        unavailable: (!has_feature).then(|| TEXTS.plan_without_pixels.to_owned()),
        rows: list.items.iter().map(row).collect(),
        pager,
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        pixel_type: vendors("", &Violations::new()),
        pixel_id: Field::default(),
        name: Field::default(),
        shell: shell(visit, member, NavItem::Pixels, TEXTS.pixels, curl),
    })
}

fn vendors(chosen: &str, violations: &Violations) -> Select {
    let choice =
        |vendor: PixelType| Choice::new(vendor.as_str(), vendor_name(vendor), vendor.as_str() == chosen);
    Select {
        options: PixelType::ALL.into_iter().map(choice).collect(),
        error: message_at(violations, "pixel_type"),
    }
}

/// The name of a vendor as people know it.
pub(crate) const fn vendor_name(vendor: PixelType) -> &'static str {
    match vendor {
        PixelType::GoogleTag => "Google tag",
        PixelType::GoogleTagManager => "Google Tag Manager",
        PixelType::Meta => "Meta",
        PixelType::Tiktok => "TikTok",
        PixelType::Linkedin => "LinkedIn",
        PixelType::X => "X",
        PixelType::Pinterest => "Pinterest",
        PixelType::Snapchat => "Snapchat",
        PixelType::Reddit => "Reddit",
        PixelType::MicrosoftAds => "Microsoft Advertising",
    }
}
