//! Rows of `pixels`.

use diesel::prelude::*;
use signpost_domain::{AccountId, Name, Pixel, PixelCode, PixelId, PixelType};

use super::cell::{RowName, own_id};
use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::listed::Listed;
use crate::schema::pixels;

const TABLE: &str = "pixels";

/// A pixel as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = pixels, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct PixelRow {
    id: Vec<u8>,
    pixel_type: String,
    code: String,
    name: Option<String>,
    created_at: i64,
}

impl PixelRow {
    pub(crate) fn into_pixel(self) -> Result<Pixel, Failure> {
        let Self { id, pixel_type, code, name, created_at } = self;
        let (id, row) = own_id(TABLE, &id)?;
        Ok(Pixel {
            id,
            code: code_from(&row, &pixel_type, code)?,
            name: name.map(|name| row.cell("name", Name::from_stored(name))).transpose()?,
            created_at: row.timestamp("created_at", created_at)?,
        })
    }
}

/// The code of a pixel, which is all that visitors meet of it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = pixels, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct PixelCodeRow {
    id: Vec<u8>,
    pixel_type: String,
    code: String,
}

impl PixelCodeRow {
    pub(crate) fn into_code(self) -> Result<(PixelId, PixelCode), Failure> {
        let Self { id, pixel_type, code } = self;
        let (id, row) = own_id(TABLE, &id)?;
        Ok((id, code_from(&row, &pixel_type, code)?))
    }
}

fn code_from(row: &RowName, pixel_type: &str, code: String) -> Result<PixelCode, Failure> {
    let pixel_type = row.cell("pixel_type", PixelType::from_stored(pixel_type))?;
    row.cell("code", PixelCode::from_stored(pixel_type, code))
}

impl Listed for PixelRow {
    type Item = Pixel;

    fn id(&self) -> &[u8] {
        &self.id
    }

    fn read(self) -> Result<Pixel, Failure> {
        self.into_pixel()
    }
}

/// A pixel as it is inserted.
#[derive(Insertable)]
#[diesel(table_name = pixels, treat_none_as_default_value = false)]
pub(crate) struct NewPixel<'a> {
    id: IdBytes,
    account_id: IdBytes,
    pixel_type: &'a str,
    code: &'a str,
    name: Option<&'a str>,
    created_at: i64,
}

impl<'a> NewPixel<'a> {
    pub(crate) fn new(account: AccountId, pixel: &'a Pixel) -> Self {
        let Pixel { id, code, name, created_at } = pixel;
        Self {
            id: (*id).into(),
            account_id: account.into(),
            pixel_type: code.pixel_type().as_str(),
            code: code.as_str(),
            name: name.as_ref().map(Name::as_str),
            created_at: created_at.unix_millis(),
        }
    }
}
