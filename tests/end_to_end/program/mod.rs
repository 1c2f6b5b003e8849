//! The program: commands, settings, first start, health, stopping (D60 to D64).

mod api_guide;
mod commands;
mod first_start;
mod health;
mod logs;
mod metrics;
mod readme;
mod settings;
mod stopping;
