//! The minimum of actix-web: one worker, and the same redirect for every request. `cargo xtask bench edge` measures what
//! the program adds to it.

use std::io::{Error, Result};

use actix_web::http::header::LOCATION;
use actix_web::{App, HttpResponse, HttpServer, web};

/// As long as the targets of the measured links.
const TARGET: &str = "https://example.com/shop/0000000/offers?utm_source=newslette";

/// Listens on the address in its only argument.
#[actix_web::main]
async fn main() -> Result<()> {
    let address =
        std::env::args().nth(1).ok_or_else(|| Error::other("an address to listen on is missing"))?;
    HttpServer::new(|| App::new().default_service(web::to(redirect))).workers(1).bind(address)?.run().await
}

async fn redirect() -> HttpResponse {
    HttpResponse::Found().insert_header((LOCATION, TARGET)).finish()
}
