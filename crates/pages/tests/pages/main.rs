//! What browsers make of the pages.

mod document;
mod inert;
mod landing_structure;
mod landings;
mod payloads;
