//! Operations on pixels.

use serde_json::json;
use signpost_domain::ErrorCode;

use super::{Endpoint, body, created, ok};
use crate::openapi::errors;
use crate::openapi::parameters::OF_OTHER_LISTS;
use crate::openapi::schemas::examples;
use crate::pixels::PATH;
use crate::routes::{Access, RouteMethod};

pub(super) const TAG: &str = "Pixels";

const ONE: &str = "/v1/pixels/{id}";

/// The operations, in the order in which the page shows them.
pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![create(), list(), get(), delete()]
}

fn create() -> Endpoint {
    Endpoint {
        method: RouteMethod::Post,
        path: PATH,
        access: Access::Admitted,
        tag: TAG,
        id: "createPixel",
        summary: "Create a pixel",
        description: "Creates a pixel, which redirects can then name in `pixel_ids`.",
        parameters: &[],
        body: Some(body(
            "NewPixel",
            [
                ("google", "A Google tag", json!({"pixel_type": "google_tag", "pixel_id": "G-1A2BCD345E"})),
                (
                    "named",
                    "With a name",
                    json!({"pixel_type": "meta", "pixel_id": "123456789012345", "name": "Shop"}),
                ),
            ],
        )),
        success: created("The pixel.", "Pixel", examples::pixel()),
        errors: &[ErrorCode::FeatureNotAvailableOnCurrentPlan, ErrorCode::PlanLimitReached],
        other: None,
    }
}

fn list() -> Endpoint {
    Endpoint {
        method: RouteMethod::Get,
        path: PATH,
        access: Access::Admitted,
        tag: TAG,
        id: "listPixels",
        summary: "List pixels",
        description: "Lists the account's pixels, newest first.",
        parameters: OF_OTHER_LISTS,
        body: None,
        success: ok("One page.", "PixelList", examples::page_of(&examples::pixel())),
        errors: &[],
        other: None,
    }
}

fn get() -> Endpoint {
    Endpoint {
        method: RouteMethod::Get,
        path: ONE,
        access: Access::Admitted,
        tag: TAG,
        id: "getPixel",
        summary: "Retrieve a pixel",
        description: "Shows one pixel.",
        parameters: &["PixelId"],
        body: None,
        success: ok("The pixel.", "Pixel", examples::pixel()),
        errors: &[],
        other: Some(("404", errors::no_such_pixel())),
    }
}

fn delete() -> Endpoint {
    let message = "The pixel is deleted; no redirect fires it any more.";
    Endpoint {
        method: RouteMethod::Delete,
        path: ONE,
        access: Access::Admitted,
        tag: TAG,
        id: "deletePixel",
        summary: "Delete a pixel",
        description: "Deletes a pixel. Redirects that had it stay, without it.",
        parameters: &["PixelId"],
        body: None,
        success: ok(
            "The pixel is deleted.",
            "DeletedPixel",
            examples::deletion(examples::PIXEL_ID, "pixel", message),
        ),
        errors: &[],
        other: Some(("404", errors::no_such_pixel())),
    }
}
