//! The surroundings of a tab: its window and its network.

use serde_json::json;

use crate::tab::Tab;

impl Tab {
    /// Minimizes the window, whose page is hidden then.
    #[track_caller]
    pub fn minimize(&self) {
        self.set_window_state("minimized");
        // A page whose focus is emulated counts as visible wherever its window is.
        self.page.call("Emulation.setFocusEmulationEnabled", json!({"enabled": false}));
        self.wait_for_visibility("hidden");
    }

    /// Shows the window again after [`minimize`](Self::minimize).
    #[track_caller]
    pub fn restore(&self) {
        self.set_window_state("normal");
        self.wait_for_visibility("visible");
    }

    /// Whether this tab's requests reach nothing.
    pub fn goes_offline(&self, is_offline: bool) {
        let conditions =
            json!({"offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        self.page.call("Network.emulateNetworkConditions", conditions);
    }

    fn set_window_state(&self, state: &str) {
        let window = self.page.call("Browser.getWindowForTarget", json!({}));
        let bounds = json!({"windowId": window["windowId"], "bounds": {"windowState": state}});
        self.page.call("Browser.setWindowBounds", bounds);
    }

    #[track_caller]
    fn wait_for_visibility(&self, state: &str) {
        let is_so: bool = self.evaluate(&format!(
            "document.visibilityState == '{state}' || new Promise(resolve =>
                document.addEventListener('visibilitychange', () => resolve(document.visibilityState == '{state}'), {{once: true}}))"
        ));
        assert!(is_so, "the page is not {state}");
    }
}
