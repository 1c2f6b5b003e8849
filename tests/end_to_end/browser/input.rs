//! Keys and the mouse, as Chromium's protocol describes them.

use serde_json::{Value, json};

/// The parameters of the two events of a key: it goes down and up.
///
/// # Panics
/// If no test has used the key so far: then add it here.
pub fn key_events(key: &str) -> [Value; 2] {
    // Only a key with a text acts like a typed character: without it, Enter follows no link.
    let (code, text) = match key {
        "Tab" => (9, None),
        "Enter" => (13, Some("\r")),
        " " => (32, Some(" ")),
        "ArrowRight" => (39, None),
        "ArrowDown" => (40, None),
        _ => panic!("the key {key} is unknown"),
    };
    let event = |kind: &str| json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "nativeVirtualKeyCode": code});
    let mut down = event(if text.is_some() { "keyDown" } else { "rawKeyDown" });
    if let Some(text) = text {
        down["text"] = json!(text);
    }
    [down, event("keyUp")]
}

/// The parameters of the two events of a typed character.
pub fn typing_events(character: char) -> [Value; 2] {
    let text = character.to_string();
    let event = |kind: &str| json!({"type": kind, "key": text});
    let mut down = event("keyDown");
    down["text"] = json!(text);
    [down, event("keyUp")]
}

/// The parameters of an event of the mouse, whose left button is down or up meanwhile.
pub fn mouse_event(kind: &str, [x, y]: [f64; 2], is_down: bool) -> Value {
    let (button, buttons) = if is_down { ("left", 1) } else { ("none", 0) };
    json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons})
}

/// The parameters of the events of a click: the mouse moves to the point, its left button goes down and up.
pub fn click_events([x, y]: [f64; 2]) -> [Value; 3] {
    let event = |kind: &str, button: &str, clicks: u8| json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": clicks});
    [event("mouseMoved", "none", 0), event("mousePressed", "left", 1), event("mouseReleased", "left", 1)]
}

/// The parameters of the events of dragging: the button goes down at one point, and up at another.
pub fn drag_events(from: [f64; 2], to: [f64; 2]) -> Vec<Value> {
    let mut pressed = mouse_event("mousePressed", from, true);
    pressed["clickCount"] = json!(1);
    let on_the_way = |part: f64| [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part];
    // A browser begins to drag when the mouse has moved some pixels, and asks the element below it at each further move.
    let moves = [0.25, 0.5, 0.75, 1.0, 1.0].map(|part| mouse_event("mouseMoved", on_the_way(part), true));
    let mut events = vec![mouse_event("mouseMoved", from, false), pressed];
    events.extend(moves);
    events.push(json!({"type": "mouseReleased", "x": to[0], "y": to[1], "button": "left", "clickCount": 1}));
    events
}

/// The middle of the first box that has an area. `quads` has the corners of each box, as x and y in turn. An inline
/// element that wraps has several boxes.
pub fn middle(quads: &Value) -> Option<[f64; 2]> {
    let quads: Vec<[f64; 8]> = serde_json::from_value(quads.clone()).ok()?;
    quads
        .into_iter()
        .find(|quad| area(quad) > 1.0)
        .map(|[x1, y1, x2, y2, x3, y3, x4, y4]| [(x1 + x2 + x3 + x4) / 4.0, (y1 + y2 + y3 + y4) / 4.0])
}

/// The area of a quadrilateral, by the cross product of its diagonals.
fn area([x1, y1, x2, y2, x3, y3, x4, y4]: &[f64; 8]) -> f64 {
    ((x3 - x1) * (y4 - y2) - (x4 - x2) * (y3 - y1)).abs() / 2.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{key_events, middle};

    #[test]
    fn the_middle_is_in_the_first_box_with_an_area() {
        let empty = [5.0, 5.0, 90.0, 5.0, 90.0, 5.0, 5.0, 5.0];
        let wide = [10.0, 20.0, 110.0, 20.0, 110.0, 40.0, 10.0, 40.0];
        assert_eq!(middle(&json!([empty, wide])), Some([60.0, 30.0]));
        assert_eq!(middle(&json!([empty])), None);
        assert_eq!(middle(&json!([])), None);
    }

    #[test]
    fn only_keys_with_a_text_type_it() {
        let [down, up] = key_events("Enter");
        assert_eq!((&down["type"], &down["text"]), (&json!("keyDown"), &json!("\r")));
        assert_eq!((&up["type"], up.get("text")), (&json!("keyUp"), None));
        let [down, _] = key_events("Tab");
        assert_eq!((&down["type"], down.get("text")), (&json!("rawKeyDown"), None));
    }
}
