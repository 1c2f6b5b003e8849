//! Everything that an account has as JSON lines. Lines of groups and links are those that imports read.

use std::io;

use serde::Serialize;
use serde_json::value::RawValue;
use signpost_app::domains::DomainWithInstructions;
use signpost_app::ports::AccountMember;
use signpost_app::transfer::AccountObject;
use signpost_domain::analytics::ExportedClick;
use signpost_domain::{
    Account, ApiKey, AppFile, CustomDomain, DomainFiles, DomainUrls, FailureReason, Name, Permission, Pixel,
    Tag, TargetUrl, Timestamp, User,
};

use crate::click_lines::Line as ClickLine;
use crate::format::FileFormat;
use crate::writer::RecordWriter;

#[derive(Serialize)]
#[serde(tag = "object", rename_all = "snake_case")]
enum Line<'a> {
    Account {
        id: String,
        email: &'a str,
        name: Option<&'a str>,
        plan: &'a str,
        suspended_at: Option<String>,
        requires_second_factor: bool,
        created_at: String,
    },
    Member {
        id: String,
        email: &'a str,
        name: Option<&'a str>,
        role: &'a str,
        joined_at: String,
    },
    Key {
        id: String,
        name: Option<&'a str>,
        last_four: &'a str,
        /// Null for everything.
        scopes: Option<Vec<&'a str>>,
        created_at: String,
        created_by: Option<String>,
        last_used_at: Option<String>,
        expires_at: Option<String>,
        revoked_at: Option<String>,
    },
    Domain {
        id: String,
        hostname: &'a str,
        status: &'a str,
        failure_reason: Option<&'a str>,
        root_url: Option<&'a str>,
        not_found_url: Option<&'a str>,
        expired_url: Option<&'a str>,
        /// Texts, because visitors get these files byte for byte.
        apple_app_site_association: Option<&'a str>,
        asset_links: Option<&'a str>,
        created_at: String,
        updated_at: String,
    },
    Pixel {
        id: String,
        pixel_type: &'a str,
        pixel_id: &'a str,
        name: Option<&'a str>,
        created_at: String,
    },
    Tag {
        id: String,
        name: &'a str,
        created_at: String,
    },
    PixelUse {
        id: String,
        pixel_ids: Vec<String>,
    },
    PageContent {
        id: String,
        page: &'a RawValue,
    },
}

#[derive(Serialize)]
struct Click<'a> {
    object: &'static str,
    #[serde(flatten)]
    click: ClickLine<'a>,
}

/// Adds a line for each object.
///
/// # Errors
/// The content of a page is not JSON, which never happens.
pub fn write_objects(objects: &[AccountObject], lines: &mut Vec<u8>) -> io::Result<()> {
    for object in objects {
        match object {
            AccountObject::Account(account) => write(&account_line(account), lines)?,
            AccountObject::Member(member) => write(&member_line(member), lines)?,
            AccountObject::Key(key) => write(&key_line(key), lines)?,
            AccountObject::Domain(domain) => write(&domain_line(domain), lines)?,
            AccountObject::Pixel(pixel) => write(&pixel_line(pixel), lines)?,
            AccountObject::Tag(tag) => write(&tag_line(tag), lines)?,
            AccountObject::Record(record) => {
                RecordWriter::new(FileFormat::JsonLines, &mut *lines)?.write(record)?;
            }
            AccountObject::PixelUse(link, pixels) => {
                let pixel_ids = pixels.iter().map(ToString::to_string).collect();
                write(&Line::PixelUse { id: link.to_string(), pixel_ids }, lines)?;
            }
            AccountObject::Page(page) => {
                let content = RawValue::from_string(page.content.to_json())?;
                write(&Line::PageContent { id: page.id.to_string(), page: &content }, lines)?;
            }
        }
    }
    Ok(())
}

/// Adds a line for each click.
///
/// # Errors
/// Never, because memory takes every line.
pub fn write_clicks(clicks: &[ExportedClick], lines: &mut Vec<u8>) -> io::Result<()> {
    clicks.iter().try_for_each(|click| write(&Click { object: "click", click: ClickLine(click) }, lines))
}

fn write(line: &impl Serialize, lines: &mut Vec<u8>) -> io::Result<()> {
    serde_json::to_writer(&mut *lines, line)?;
    lines.push(b'\n');
    Ok(())
}

fn at(instant: Option<Timestamp>) -> Option<String> {
    instant.map(|at| at.to_string())
}

fn account_line(account: &Account) -> Line<'_> {
    let Account { id, email, name, plan, suspended_at, requires_second_factor, created_at } = account;
    Line::Account {
        id: id.to_string(),
        email: email.as_str(),
        name: name.as_ref().map(Name::as_str),
        plan: plan.as_str(),
        suspended_at: at(*suspended_at),
        requires_second_factor: *requires_second_factor,
        created_at: created_at.to_string(),
    }
}

fn member_line(member: &AccountMember) -> Line<'_> {
    let AccountMember { user, role, joined_at } = member;
    // What else is stored of users belongs to them, and not to the account.
    let User { id, email, name, .. } = user;
    Line::Member {
        id: id.to_string(),
        email: email.as_str(),
        name: name.as_ref().map(Name::as_str),
        role: role.as_str(),
        joined_at: joined_at.to_string(),
    }
}

fn key_line(key: &ApiKey) -> Line<'_> {
    let ApiKey {
        id,
        account_id: _,
        name,
        hash: _,
        last_four,
        created_at,
        revoked_at,
        created_by,
        last_used_at,
        expires_at,
        scopes,
    } = key;
    Line::Key {
        id: id.to_string(),
        name: name.as_ref().map(Name::as_str),
        last_four,
        scopes: scopes.map(|scopes| scopes.iter().map(Permission::as_str).collect()),
        created_at: created_at.to_string(),
        created_by: created_by.map(|user| user.to_string()),
        last_used_at: at(*last_used_at),
        expires_at: at(*expires_at),
        revoked_at: at(*revoked_at),
    }
}

fn domain_line(domain: &DomainWithInstructions) -> Line<'_> {
    let DomainWithInstructions { domain, files, next_check_at: _, certificate: _, dns_instructions: _ } =
        domain;
    let CustomDomain {
        id,
        account_id: _,
        hostname,
        status,
        created_at,
        updated_at,
        revision: _,
        failure_reason,
        observation: _,
        history: _,
        urls: DomainUrls { root_url, not_found_url, expired_url },
    } = domain;
    let url: fn(&Option<TargetUrl>) -> Option<&str> = |url| url.as_ref().map(TargetUrl::as_str);
    let file = |file: fn(&DomainFiles) -> &Option<AppFile>| {
        files.as_ref().and_then(|files| file(files).as_ref()).map(AppFile::as_str)
    };
    Line::Domain {
        id: id.to_string(),
        hostname: hostname.as_str(),
        status: status.as_str(),
        failure_reason: failure_reason.as_ref().map(FailureReason::as_str),
        root_url: url(root_url),
        not_found_url: url(not_found_url),
        expired_url: url(expired_url),
        apple_app_site_association: file(|files| &files.apple_app_site_association),
        asset_links: file(|files| &files.asset_links),
        created_at: created_at.to_string(),
        updated_at: updated_at.to_string(),
    }
}

/// The lines of links say which of them have the tag.
fn tag_line(tag: &Tag) -> Line<'_> {
    let Tag { id, name, links_count: _, created_at } = tag;
    Line::Tag { id: id.to_string(), name: name.as_str(), created_at: created_at.to_string() }
}

fn pixel_line(pixel: &Pixel) -> Line<'_> {
    let Pixel { id, code, name, created_at } = pixel;
    Line::Pixel {
        id: id.to_string(),
        pixel_type: code.pixel_type().as_str(),
        pixel_id: code.as_str(),
        name: name.as_ref().map(Name::as_str),
        created_at: created_at.to_string(),
    }
}
