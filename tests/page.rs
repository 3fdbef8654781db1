//! The page in a real browser, where one is installed: it loads without an error, draws the timeline, fits a phone and paper.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Names under which a browser may be installed.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// What is said where none is.
const ABSENT: &str = "no browser is installed: not tested";

/// A frame of a phone's width around the page, and a script that tells how wide the page is in it. A window cannot be made so narrow.
const PHONE: &str = "<!doctype html><title>?</title><iframe src='page.html' style='border:0;width:390px;height:900px'></iframe>
<script>
onload = () => {
  const page = document.querySelector('iframe').contentDocument;
  page.querySelectorAll('details').forEach(one => one.open = true);
  const root = page.documentElement;
  document.title = `${root.scrollWidth} of ${root.clientWidth}`;
}
</script>";

/// Pages of a case and of a scan over it, with a browser to look at them; nothing where none is installed.
struct Room {
    browser: &'static str,
    folder: TempDir,
}

impl Room {
    fn new() -> Option<Self> {
        let browser = BROWSERS.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
        Some(Self { browser: browser?, folder: TempDir::new().expect("a temporary folder can be made") })
    }

    fn write(&self, arguments: &[&str], case: &str) -> PathBuf {
        let page = self.folder.path().join("page.html");
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(case);
        let mut coroner = Command::new(env!("CARGO_BIN_EXE_coroner"));
        coroner.args(arguments).arg(&case).args(["-f", "html", "-o"]).arg(&page);
        assert!(coroner.status().expect("the program starts").success());
        page
    }

    fn look(&self, options: &[&str], page: &Path) -> Output {
        let mut browser = Command::new(self.browser);
        browser.args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--allow-file-access-from-files",
        ]);
        browser.args(options).arg(format!("--user-data-dir={}", self.folder.path().join("profile").display()));
        browser.arg(page).output().expect("the browser starts")
    }
}

#[test]
fn a_browser_loads_the_page_without_an_error() {
    let Some(room) = Room::new() else { return eprintln!("{ABSENT}") };
    for command in [&[][..], &["scan"]] {
        let page = room.write(command, "oom-kill/docker20-oom-child-main-exit1");
        let output = room.look(&["--dump-dom"], &page);
        let (dom, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        // Errors of a page, of its style and of its policy are all told on the console.
        assert!(!said.contains("CONSOLE"), "{said}");
        assert!(dom.contains("<svg") && dom.contains("<footer>") && dom.contains("docker update"), "{dom}");
        assert!(dom.contains("the lines around it") && dom.contains("selects all of it"), "{dom}");
    }
}

#[test]
fn nothing_is_wider_than_a_phone() {
    let Some(room) = Room::new() else { return eprintln!("{ABSENT}") };
    let cases = ["oom-kill/docker20-oom-restart-loop", "oom-kill/docker20-oom-parent-cgroup", "shm-exhaustion/docker26-shm-bus"];
    for (command, case) in cases.iter().flat_map(|case| [(&[][..], case), (&["scan"][..], case)]) {
        room.write(command, case);
        let frame = room.folder.path().join("phone.html");
        fs::write(&frame, PHONE).unwrap();
        let dom = String::from_utf8_lossy(&room.look(&["--dump-dom"], &frame).stdout).into_owned();
        let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap();
        let (scroll, client) = title.split_once(" of ").unwrap_or_else(|| panic!("the page was not measured: {dom}"));
        assert_eq!(scroll, client, "{case}");
    }
}

#[test]
fn paper_is_not_left_blank() {
    let Some(room) = Room::new() else { return eprintln!("{ABSENT}") };
    let page = room.write(&[], "oom-kill/docker20-oom-restart-loop");
    let sheets = room.folder.path().join("page.pdf");
    room.look(&[&format!("--print-to-pdf={}", sheets.display()), "--no-pdf-header-footer"], &page);
    let pdf = fs::read(&sheets).unwrap();
    let pdf = String::from_utf8_lossy(&pdf);
    let count = pdf.matches("/Type /Page\n").count();
    assert!((1..=12).contains(&count), "{count} pages");
}

#[test]
fn title_and_heading_name_the_incident_and_its_day() {
    let folder = TempDir::new().unwrap();
    let page = |input: &Path| {
        let mut coroner = Command::new(env!("CARGO_BIN_EXE_coroner"));
        let output = coroner.arg(input).args(["-f", "html"]).current_dir(folder.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/oom-kill/docker20-oom-parent-cgroup");
    let told = page(&case);
    assert!(told.contains("<title>SIGKILL OOM: container lab-c-oom-parent-cgroup, 2026-12-01</title>"), "{told}");
    assert!(told.contains("container lab-c-oom-parent-cgroup, 2026-12-01</span></h1>"), "{told}");
    assert!(told.contains("5 inputs, which tell up to") && told.contains("<span class=\"grade proven\">"), "{told}");
    // Where nobody has a name the input has one.
    fs::create_dir(folder.path().join("llama finetune")).unwrap();
    fs::write(
        folder.path().join("llama finetune/stdout.log"),
        "RuntimeError: DataLoader worker (pid 8107) is killed by signal: Killed. \n",
    )
    .unwrap();
    for input in ["llama finetune/stdout.log", "llama finetune"] {
        assert!(page(Path::new(input)).contains("<title>SIGKILL OOM: llama finetune/stdout.log</title>"));
    }
}

#[test]
fn each_death_that_the_kernel_timed_is_on_the_timeline() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/oom-kill/docker20-oom-parent-cgroup");
    let run = |format: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_coroner")).arg(&case).args(["-f", format]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let page = run("html");
    assert_eq!(page.matches("class=\"death\" x=").count(), 11, "{page}");
    assert!(!page.contains("Facts without a moment"), "{page}");
    let report: serde_json::Value = serde_json::from_str(&run("json")).unwrap();
    let untimed = |death: &&serde_json::Value| death["time"].is_null() && death["uptime"].is_null();
    assert_eq!(report["deaths"].as_array().unwrap().iter().filter(untimed).count(), 0, "{report}");
}

#[test]
fn a_death_is_not_drawn_apart_from_the_kill_of_the_kernel() {
    let folder = TempDir::new().unwrap();
    let id = "6dceaf0149ad".repeat(5) + "6dce";
    let kernel = format!(
        "[Mon Nov 30 06:36:52 2026] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=docker-{id}.scope,mems_allowed=0,\
         oom_memcg=/system.slice/docker-{id}.scope,task_memcg=/system.slice/docker-{id}.scope,task=python,pid=13585,uid=0\n\
         [Mon Nov 30 06:36:52 2026] Memory cgroup out of memory: Killed process 13585 (python) total-vm:5000000kB, \
         anon-rss:919572kB, file-rss:1000kB, shmem-rss:20000kB, UID:0 pgtables:2392kB oom_score_adj:0\n"
    );
    let engine = format!(
        "2026-11-30T06:36:52.400000000Z container oom {id} (image=my/img:1, name=trainer)\n\
         2026-11-30T06:36:54.200000000Z container die {id} (exitCode=137, image=my/img:1, name=trainer)\n"
    );
    fs::write(folder.path().join("dmesg.txt"), kernel).unwrap();
    fs::write(folder.path().join("events.txt"), engine).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_coroner")).arg(folder.path()).args(["-f", "html"]).output().unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    let place = |before: &str| {
        let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("{before}: {page}"));
        rest.split('"').next().unwrap().to_owned()
    };
    assert_eq!(place("<rect class=\"death\" x=\""), place("<circle class=\"kernel\" cx=\""));
}
