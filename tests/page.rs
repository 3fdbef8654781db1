//! The page in a real browser, where one is installed: it must load without an error and draw the timeline.

use std::path::Path;
use std::process::Command;

/// Names under which a browser may be installed.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

#[test]
fn a_browser_loads_the_page_without_an_error() {
    let Some(browser) = BROWSERS.iter().find(|name| Command::new(name).arg("--version").output().is_ok()) else {
        eprintln!("no browser is installed: not tested");
        return;
    };
    let folder = tempfile::TempDir::new().unwrap();
    let page = folder.path().join("page.html");
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/oom-kill/docker20-oom-child-main-exit1");
    for command in [&[][..], &["scan"]] {
        let mut coroner = Command::new(env!("CARGO_BIN_EXE_coroner"));
        coroner.args(command).arg(&case).args(["-f", "html", "-o"]).arg(&page);
        assert!(coroner.status().unwrap().success());
        let mut seen = Command::new(browser);
        seen.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
        let output =
            seen.arg(format!("--user-data-dir={}", folder.path().join("profile").display())).arg(&page).output().unwrap();
        let (dom, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        // Errors of a page, of its style and of its policy are all told on the console.
        assert!(!said.contains("CONSOLE"), "{said}");
        assert!(dom.contains("<svg") && dom.contains("<footer>") && dom.contains("docker update"), "{dom}");
    }
}
