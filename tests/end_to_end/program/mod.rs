//! The program: commands, settings, health, stopping (D60 to D64).

mod api_guide;
mod backup;
mod check;
mod commands;
mod guide_numbers;
mod health;
mod logs;
mod monitoring;
mod nightly_backups;
mod operations_guide;
mod passed_sockets;
mod readme;
mod settings;
mod sign_in_elsewhere;
mod stopping;
mod transfer;
mod transfer_at_once;
mod transfer_passwords;
mod transfer_reports;
