//! Operations on pixels.

use actix_web::web;
use serde_json::json;
use signpost_domain::ErrorCode;

use super::{Endpoint, body, created, ok};
use crate::endpoint::RouteMethod;
use crate::openapi::errors;
use crate::openapi::parameters::OF_OTHER_LISTS;
use crate::resources::pixels::{self, PATH};
use crate::schema::examples;

pub(super) const TAG: &str = "Pixels";

const ONE: &str = "/v1/pixels/{id}";

/// The operations, in the order of the documentation page.
pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![create(), list(), get(), delete()]
}

fn create() -> Endpoint {
    Endpoint {
        summary: "Create a pixel",
        description: "Creates a pixel, which redirects can then name in `pixel_ids`.",
        body: Some(body(
            "PixelCreate",
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
        ..Endpoint::new(TAG, "createPixel", RouteMethod::Post, PATH, || web::to(pixels::create))
    }
}

fn list() -> Endpoint {
    Endpoint {
        summary: "List pixels",
        description: "Lists the account's pixels, newest first.",
        parameters: OF_OTHER_LISTS,
        success: ok("One page.", "PixelList", examples::page_of(&examples::pixel())),
        ..Endpoint::new(TAG, "listPixels", RouteMethod::Get, PATH, || web::to(pixels::list))
    }
}

fn get() -> Endpoint {
    Endpoint {
        summary: "Retrieve a pixel",
        description: "Shows one pixel.",
        parameters: &["PixelId"],
        success: ok("The pixel.", "Pixel", examples::pixel()),
        other: Some(("404", errors::no_such_pixel())),
        ..Endpoint::new(TAG, "getPixel", RouteMethod::Get, ONE, || web::to(pixels::get))
    }
}

fn delete() -> Endpoint {
    let message = "The pixel is deleted; no redirect fires it any more.";
    Endpoint {
        summary: "Delete a pixel",
        description: "Deletes a pixel and removes it from its redirects.",
        parameters: &["PixelId"],
        success: ok(
            "The pixel is deleted.",
            "DeletedPixel",
            examples::deletion(examples::PIXEL_ID, "pixel", message),
        ),
        other: Some(("404", errors::no_such_pixel())),
        ..Endpoint::new(TAG, "deletePixel", RouteMethod::Delete, ONE, || web::to(pixels::delete))
    }
}
