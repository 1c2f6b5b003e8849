use proptest::prelude::*;

use super::*;

fn options(query: &str) -> QrOptions {
    QrOptions::from_query(query).unwrap()
}

/// The pixels of a PNG image, one byte each, and its side.
fn pixels(png: &[u8]) -> (usize, Vec<u8>) {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.width, info.height);
    (usize::try_from(info.width).unwrap(), pixels)
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
    for line in between("stroke=\"#000\" d=\"M", "\"").split('M') {
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
        for query in
            ["", "size=256&level=L", "level=Q&margin=2", "size=401&level=H&margin=16", "size=65&margin=4"]
        {
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

#[test]
fn d59_image_has_the_requested_size_and_a_quiet_zone() {
    for (query, least_margin) in
        [("", 4), ("size=64&margin=0", 0), ("size=777&margin=7", 7), ("size=2048&margin=16", 16)]
    {
        let options = options(query);
        let code = QrCode::new("https://a.example/b?src=qr", options).unwrap();
        let (side, pixels) = pixels(&code.png());
        assert_eq!(side, usize::from(options.size));
        let is_dark = |pixel: &u8| *pixel == 0;
        let first_row = pixels.chunks(side).position(|row| row.iter().any(is_dark)).unwrap();
        let first_column = pixels.chunks(side).filter_map(|row| row.iter().position(is_dark)).min().unwrap();
        assert_eq!(first_row, first_column, "the code is centred");
        assert!(first_row >= least_margin * usize::from(code.scale), "{query}: {first_row}");
    }
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
fn options_have_bounds() {
    for query in [
        "size=64",
        "size=2048",
        "margin=0",
        "margin=16",
        "level=l",
        "level=%4C",
        "v=3",
        "size",
        "&&",
        "src=qr&level=H",
    ] {
        assert!(QrOptions::from_query(query).is_ok(), "{query}");
    }
    for (query, error) in [
        ("size=63", QrError::Size),
        ("size=2049", QrError::Size),
        ("size=-1", QrError::Size),
        ("size=+64", QrError::Size),
        ("size=", QrError::Size),
        ("size=64.0", QrError::Size),
        ("size=99999999999999999999", QrError::Size),
        ("margin=17", QrError::Margin),
        ("margin=256", QrError::Margin),
        ("margin=a", QrError::Margin),
        ("level=X", QrError::Level),
        ("level=", QrError::Level),
        ("level=%58", QrError::Level),
        ("%6Cevel=X", QrError::Level),
        ("size=100&size=1", QrError::Size),
    ] {
        assert_eq!(QrOptions::from_query(query), Err(error), "{query}");
    }
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
