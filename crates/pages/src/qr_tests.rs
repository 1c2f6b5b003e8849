use proptest::prelude::*;

use super::*;
use crate::qr_options::QrQuery;

fn options(query: &str) -> QrOptions {
    QrQuery::parse(query).unwrap().options
}

/// The pixels of a PNG image, and its side.
fn colours(png: &[u8]) -> (usize, Vec<[u8; 3]>) {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.width, info.height);
    (usize::try_from(info.width).unwrap(), pixels.chunks(3).map(|pixel| pixel.try_into().unwrap()).collect())
}

/// The same in black (0) and white (255), as a reader sees it: by the brightness between the two colours.
fn pixels(png: &[u8]) -> (usize, Vec<u8>) {
    let (side, colours) = colours(png);
    let brightness =
        |[red, green, blue]: [u8; 3]| u32::from(red) * 3 + u32::from(green) * 6 + u32::from(blue);
    let all: Vec<u32> = colours.into_iter().map(brightness).collect();
    let middle = (all.iter().min().unwrap() + all.iter().max().unwrap()) / 2;
    (side, all.into_iter().map(|one| if one > middle { 255 } else { 0 }).collect())
}

/// Decodes the QR code in an image.
fn read(side: usize, pixels: &[u8]) -> String {
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(side, side, |x, y| pixels[y * side + x]);
    let grids = image.detect_grids();
    assert_eq!(grids.len(), 1, "one code in the image");
    grids[0].decode().unwrap().1
}

fn read_png(png: &[u8]) -> String {
    let (side, pixels) = pixels(png);
    read(side, &pixels)
}

/// Rasterizes an SVG image with four pixels a module. The image consists of one path, whose lines this reads.
fn read_svg(svg: &str) -> String {
    const SCALE: usize = 4;
    let between =
        |start: &str, end: &str| svg.split_once(start).unwrap().1.split_once(end).unwrap().0.to_owned();
    let modules: usize = between("viewBox=\"0 0 ", " ").parse().unwrap();
    let side = modules * SCALE;
    let mut pixels = vec![255; side * side];
    let lines =
        svg.split_once("stroke=").unwrap().1.split_once("d=\"M").unwrap().1.split_once('"').unwrap().0;
    for line in lines.split('M') {
        let (x, rest) = line.split_once(' ').unwrap();
        let (y, length) = rest.split_once(".5h").unwrap();
        let [x, y, length] = [x, y, length].map(|number| number.parse::<usize>().unwrap() * SCALE);
        for row in y..y + SCALE {
            pixels[row * side + x..][..length].fill(0);
        }
    }
    read(side, &pixels)
}

#[test]
fn d59_code_contains_the_marked_address() {
    for link in ["https://go.example.com/sale", "https://shop.example.com/", "http://localhost:8081/Zz_-9"] {
        let text = QrCode::marked(link);
        for query in [
            "",
            "size=256&level=L",
            "level=Q&margin=2",
            "size=401&level=H&margin=16",
            "size=65&margin=4",
            "color=116b4f&background=fff8e0",
        ] {
            let code = QrCode::new(&text, options(query)).unwrap();
            assert_eq!(read_png(&code.png()), format!("{link}?src=qr"), "{query}");
            assert_eq!(read_svg(&code.svg()), format!("{link}?src=qr"), "{query}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn d59_codes_of_any_link_are_readable(
        host in "[a-z0-9]{1,40}(\\.[a-z0-9]{1,40}){1,4}",
        slug in "[A-Za-z0-9_-]{0,64}",
        level in prop::sample::select(vec!["L", "M", "Q", "H"]),
        size in 220..=420_u16,
    ) {
        let text = QrCode::marked(&format!("https://{host}/{slug}"));
        let code = QrCode::new(&text, options(&format!("level={level}&size={size}"))).unwrap();
        prop_assert_eq!(read_png(&code.png()), text);
    }
}

/// The margin is exact to the nearest pixel, whatever remains when the size is divided by the modules, unless modules are
/// tiny.
#[test]
fn d59_image_has_exactly_the_requested_size_and_margin() {
    for query in [
        "",
        "size=132&margin=0",
        "size=777&margin=7",
        "size=2048&margin=16",
        "size=150&margin=1",
        "size=500&margin=0",
    ] {
        let options = options(query);
        let code = QrCode::new("https://a.example/b?src=qr", options).unwrap();
        let (side, pixels) = pixels(&code.png());
        assert_eq!(side, usize::from(options.size));
        let is_dark = |pixel: &u8| *pixel == 0;
        let rows: Vec<&[u8]> = pixels.chunks(side).collect();
        let columns = || (0..side).map(|x| rows.iter().any(|row| is_dark(&row[x])));
        let modules = code.rows.len() + 2 * usize::from(options.margin);
        let before = (2 * usize::from(options.margin) * side + modules) / (2 * modules);
        // The finder patterns are at the left, at the top, and at two of the other corners.
        assert_eq!(rows.iter().position(|row| row.iter().any(is_dark)), Some(before), "{query}");
        assert_eq!(columns().position(|dark| dark), Some(before), "{query}");
        let end = side - before;
        assert!(columns().rposition(|dark| dark).unwrap().abs_diff(end - 1) <= 1, "{query}");
        assert!(
            rows.iter().rposition(|row| row.iter().any(is_dark)).unwrap().abs_diff(end - 1) <= 1,
            "{query}"
        );
    }
}

#[test]
fn d59_image_has_exactly_the_requested_colours() {
    let code = QrCode::new("https://a.example/b?src=qr", options("color=1A2b3c&background=fff8e0")).unwrap();
    let (_, colours) = colours(&code.png());
    let all: std::collections::BTreeSet<[u8; 3]> = colours.iter().copied().collect();
    assert_eq!(all, [[0x1a, 0x2b, 0x3c], [0xff, 0xf8, 0xe0]].into());
    assert_eq!(colours[0], [0xff, 0xf8, 0xe0], "the margin is background");
    let svg = code.svg();
    assert!(svg.contains("<path fill=\"#fff8e0\" d=\"M0 0h"), "{svg}");
    assert!(svg.contains("<path stroke=\"#1a2b3c\" d=\"M"), "{svg}");
}

#[test]
fn same_code_yields_the_same_bytes() {
    let draw = || QrCode::new("https://a.example/b?src=qr", options("size=300")).unwrap();
    assert_eq!(draw().png(), draw().png());
    assert_eq!(draw().svg(), draw().svg());
}

#[test]
fn images_are_small() {
    let code = QrCode::new("https://go.example.com/summer-sale?src=qr", options("size=2048")).unwrap();
    assert!(code.png().len() < 12_000, "{}", code.png().len());
    assert!(code.svg().len() < 8_000, "{}", code.svg().len());
}

#[test]
fn code_that_does_not_fit_names_the_minimum_size() {
    let long = format!("https://{}.example/{}", "a".repeat(60), "b".repeat(64));
    let Err(QrError::TooSmall { least }) = QrCode::new(&long, options("size=64&level=H")).map(drop) else {
        panic!("a module is at least a pixel");
    };
    let query = format!("size={least}&level=H");
    assert_eq!(read_svg(&QrCode::new(&long, options(&query)).unwrap().svg()), long);
    assert_eq!(QrCode::new(&"a".repeat(3_000), options("")).map(drop), Err(QrError::TooLong));
}

/// Codes of some lengths in small images.
#[test]
fn d59_codes_are_readable_at_any_size() {
    let long = format!("https://a-long-host.of.some.example.com/{}", "Slug-of_64".repeat(6));
    for link in ["https://a.io/b", "https://go.example.com/sale", &long] {
        for (level, first) in [("L", 130), ("H", 170)] {
            for size in (first..450).step_by(23) {
                let text = QrCode::marked(link);
                let code = QrCode::new(&text, options(&format!("level={level}&size={size}"))).unwrap();
                assert_eq!(read_png(&code.png()), text, "{level} {size}");
            }
        }
    }
}
