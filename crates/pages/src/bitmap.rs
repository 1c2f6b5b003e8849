//! Square PNG images, compressed in a tenth of a millisecond, since visitors request them.

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};

use crate::colour::Rgb;

/// The format of a pixel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Depth {
    /// One bit, the number of one of these colours. Each row starts at a byte boundary.
    Two([Rgb; 2]),
    /// Red, green, blue and opacity, a byte each.
    Colours,
}

/// Encodes the pixels. Their number must match `side` and `depth`; otherwise the image is empty.
pub(crate) fn png(side: u16, depth: Depth, pixels: &[u8]) -> Vec<u8> {
    encode(side, depth, pixels).unwrap_or_default()
}

fn encode(side: u16, depth: Depth, pixels: &[u8]) -> Result<Vec<u8>, EncodingError> {
    let mut image = Vec::new();
    let mut encoder = Encoder::new(&mut image, side.into(), side.into());
    match depth {
        Depth::Two(colours) => {
            encoder.set_color(ColorType::Indexed);
            encoder.set_palette(
                colours
                    .iter()
                    .flat_map(|colour| [colour.red, colour.green, colour.blue])
                    .collect::<Vec<u8>>(),
            );
            encoder.set_depth(BitDepth::One);
        }
        Depth::Colours => {
            encoder.set_color(ColorType::Rgba);
            encoder.set_depth(BitDepth::Eight);
        }
    }
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(image)
}
