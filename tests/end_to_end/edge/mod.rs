//! What visitors meet on the built program: moved domains, real targets, misses, files that change (D24, D53 to D55, D61).

mod explain;
mod gates;
mod link_dates;
mod link_passwords;
mod link_previews;
mod max_clicks;
mod misses;
mod pixels;
mod recorded_values;
mod redirects;
mod requests;
mod rules;
mod target_blocklist;
mod ways;
