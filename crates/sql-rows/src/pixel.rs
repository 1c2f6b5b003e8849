//! Rows of `pixels`.

use diesel::prelude::*;
use signpost_domain::{AccountId, Name, Pixel, PixelCode, PixelId, PixelType};

use crate::Corrupt;
use crate::cell::{RowName, own_id};
use crate::columns::{IdBytes, Instant, StoredId};
use crate::listed::Listed;
use crate::schema::pixels;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        pixels (id) {
            id -> Identifier,
            account_id -> Identifier,
            #[sql_name = "type"]
            pixel_type -> Text,
            code -> Text,
            name -> Nullable<Text>,
            created_at -> Moment,
        }
    }
}

/// The table's name.
pub const TABLE: &str = "pixels";

/// A pixel as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = pixels, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct PixelRow {
    id: StoredId,
    pixel_type: String,
    code: String,
    name: Option<String>,
    created_at: Instant,
}

impl PixelRow {
    /// The row as a value of the domain.
    pub fn into_pixel(self) -> Result<Pixel, Corrupt> {
        let Self { id, pixel_type, code, name, created_at } = self;
        let (id, row) = own_id(TABLE, &id)?;
        Ok(Pixel {
            id,
            code: code_of(&row, &pixel_type, code)?,
            name: name.map(|name| row.cell("name", Name::from_stored(name))).transpose()?,
            created_at: row.timestamp("created_at", created_at)?,
        })
    }
}

/// The code of a pixel, which is the only part that visitors need.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = pixels, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct PixelCodeRow {
    id: StoredId,
    pixel_type: String,
    code: String,
}

impl PixelCodeRow {
    /// The pixel's id and its code.
    pub fn into_code(self) -> Result<(PixelId, PixelCode), Corrupt> {
        let Self { id, pixel_type, code } = self;
        let (id, row) = own_id(TABLE, &id)?;
        Ok((id, code_of(&row, &pixel_type, code)?))
    }
}

/// The code of the pixel with this id, from `text`: its type, a space and its code.
pub fn code_from(id: PixelId, text: &str) -> Result<PixelCode, Corrupt> {
    let (pixel_type, code) = text.split_once(' ').unwrap_or((text, ""));
    code_of(&RowName::new(TABLE, id), pixel_type, code.to_owned())
}

fn code_of(row: &RowName, pixel_type: &str, code: String) -> Result<PixelCode, Corrupt> {
    let pixel_type = row.cell("type", PixelType::from_stored(pixel_type))?;
    row.cell("code", PixelCode::from_stored(pixel_type, code))
}

impl Listed for PixelRow {
    type Item = Pixel;

    fn id(&self) -> &StoredId {
        &self.id
    }

    fn read(self) -> Result<Pixel, Corrupt> {
        self.into_pixel()
    }
}

/// A pixel as it is inserted.
#[derive(Debug, Insertable)]
#[diesel(table_name = pixels, treat_none_as_default_value = false)]
pub struct NewPixel<'a> {
    id: IdBytes,
    account_id: IdBytes,
    pixel_type: &'a str,
    code: &'a str,
    name: Option<&'a str>,
    created_at: Instant,
}

impl<'a> NewPixel<'a> {
    /// The row of an account's pixel.
    #[must_use]
    pub fn new(account: AccountId, pixel: &'a Pixel) -> Self {
        let Pixel { id, code, name, created_at } = pixel;
        Self {
            id: (*id).into(),
            account_id: account.into(),
            pixel_type: code.pixel_type().as_str(),
            code: code.as_str(),
            name: name.as_ref().map(Name::as_str),
            created_at: (*created_at).into(),
        }
    }
}
