//! QR codes (D59).

use serde_json::json;

use crate::harness::{Program, redirect_body};
use crate::tab::Tab;
use crate::visitor::Visitor;

/// Decodes the QR code in the picture of a tab.
pub fn read(tab: &Tab) -> String {
    let picture = tab.picture();
    let mut decoder = png::Decoder::new(std::io::Cursor::new(picture));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let [width, height] = [info.width, info.height].map(|side| usize::try_from(side).unwrap());
    let of_pixel = info.color_type.samples();
    let grey = |x, y| pixels[(y * width + x) * of_pixel];
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, height, grey);
    let grids = image.detect_grids();
    assert_eq!(grids.len(), 1, "one code");
    grids[0].decode().unwrap().1
}

#[test]
fn d59_qr_codes_can_be_read_from_a_browser() {
    let program = Program::start();
    program.first_account().create_redirect(&redirect_body(json!({"slug": "link"})));
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let says = "http://localhost:8081/link?src=qr";
    for path in ["/link/qr.svg", "/link/qr.svg?level=H&margin=8"] {
        assert_eq!(read(tab.visit(&program, path)), says, "{path}");
    }
    assert_eq!(tab.events().console, Vec::<String>::new());
    for path in ["/link/qr.png", "/link/qr.png?size=512"] {
        assert_eq!(read(tab.visit(&program, path)), says, "{path}");
    }
}
