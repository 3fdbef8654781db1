//! Archives from outside: every format, nestings, names, bombs and broken ones.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

const KILLED: &str = "RuntimeError: DataLoader worker (pid 8107) is killed by signal: Killed. \n";

/// `KILLED`, packed by xz 5.
const XZ: &str = "fd377a585a000004e6d6b4460200210116000000742fe5a301004852756e74696d654572726f723a20446174614c6f6164657220776f726b6572\
                  2028706964203831303729206973206b696c6c6564206279207369676e616c3a204b696c6c65642e200a00000000ebb2e2f5ad25d62b0001\
                  6149f91660531fb6f37d010000000004595a";

fn report(folder: &Path, arguments: &[&str]) -> (Value, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coroner"));
    command.args(["--format", "json"]).args(arguments).current_dir(folder).timeout(Duration::from_secs(120));
    let output = command.output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    let document = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text} {said}"));
    (document, output.status.code().unwrap_or(-1))
}

/// The name of the input with the line that proves the verdict.
fn proof(report: &Value) -> &str {
    report["deaths"][0]["because"][0]["place"]["input"].as_str().unwrap_or("nothing died")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).expect("memory takes every byte");
    writer.finish().expect("memory takes every byte")
}

fn bzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    writer.write_all(bytes).expect("memory takes every byte");
    writer.finish().expect("memory takes every byte")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn xz() -> Vec<u8> {
    let digits: Vec<u8> = XZ.bytes().filter(u8::is_ascii_hexdigit).collect();
    let value = |digit: u8| (digit as char).to_digit(16).map_or(0, |value| value as u8);
    digits.chunks(2).map(|two| value(two[0]) << 4 | value(two[1])).collect()
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes).expect("memory takes every byte");
    }
    builder.into_inner().expect("memory takes every byte")
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        writer.start_file(*name, options).expect("memory takes every byte");
        writer.write_all(bytes).expect("memory takes every byte");
    }
    writer.finish().expect("memory takes every byte").into_inner()
}

#[test]
fn every_format_is_read_whatever_its_name() {
    let text = KILLED.as_bytes();
    let archive = tar(&[("logs/kern.log", text), ("logs/other.log", b"x\n")]);
    let packed: [(&str, Vec<u8>, &str); 10] = [
        ("gz", gzip(text), "a"),
        ("two gz", [gzip(b"first\n"), gzip(text)].concat(), "a"),
        ("zst", zstd(text), "a"),
        ("two zst", [zstd(b"first\n"), b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec(), zstd(text)].concat(), "a"),
        ("xz", xz(), "a"),
        ("bz2", bzip(text), "a"),
        ("tar", archive.clone(), "a!/logs/kern.log"),
        ("tar.gz", gzip(&archive), "a!/logs/kern.log"),
        ("zip", zip(&[("d/kern.log", text)]), "a!/d/kern.log"),
        ("gz in tar in zst in zip", zip(&[("x", &zstd(&tar(&[("y.gz", &gzip(text))])))]), "a!/x!/y.gz"),
    ];
    for (what, bytes, place) in packed {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("a"), &bytes).unwrap();
        let (document, code) = report(folder.path(), &["a"]);
        assert_eq!((proof(&document), code), (place, 0), "{what}: {document}");
        let mut piped = Command::new(env!("CARGO_BIN_EXE_coroner"));
        let output = piped.args(["-f", "brief"]).write_stdin(bytes).output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("pid=8107"), "{what} from a pipe");
    }
}

#[test]
fn a_job_of_github_actions_counts_once() {
    let archive =
        zip(&[("0_build.txt", KILLED.as_bytes()), ("build/1_Set up job.txt", b"x\n"), ("build/2_Run.txt", KILLED.as_bytes())]);
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("logs.zip"), archive).unwrap();
    let (document, _) = report(folder.path(), &["logs.zip"]);
    assert_eq!(proof(&document), "logs.zip!/build/2_Run.txt");
    assert_eq!((document["deaths"].as_array().map(Vec::len), &document["deaths"][0]["count"]), (Some(1), &1.into()));
}

#[test]
fn what_can_be_read_of_a_broken_archive_is_reported() {
    let noise: Vec<u8> = (0..200_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_string().into_bytes()).collect();
    let files: [(&str, &[u8]); 2] = [("a.log", KILLED.as_bytes()), ("noise.log", &noise)];
    let whole = [gzip(&tar(&files)), zip(&files), zstd(&[KILLED.as_bytes(), &noise].concat()), bzip(&tar(&files)), tar(&files)];
    for (number, bytes) in whole.iter().enumerate() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("a"), &bytes[..bytes.len() * 2 / 3]).unwrap();
        fs::write(folder.path().join("b.log"), KILLED.replace("8107", "9000")).unwrap();
        let (document, code) = report(folder.path(), &["a", "b.log"]);
        let text = document.to_string();
        assert!(text.contains("\"pid\":9000"), "{number} hides the other input");
        // A block of bzip2 is read whole or not at all.
        assert!(number == 3 || text.contains("\"pid\":8107"), "{number}: {text}");
        assert!(!document["notes"].as_array().unwrap().is_empty() && code == 2, "{number}");
    }
    for bytes in [&b"\x1f\x8b\x08"[..], b"PK\x03\x04", b"\x28\xb5\x2f\xfd\0", b"\xfd7zXZ\0junk", b"BZh91AY&SYjunk"] {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("a"), bytes).unwrap();
        let (document, code) = report(folder.path(), &["a"]);
        assert_eq!((document["deaths"].as_array().map(Vec::len), code), (Some(0), 2), "{bytes:?}");
    }
}

#[test]
fn what_stands_before_a_cut_or_after_the_data_is_no_loss() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let xz = xz();
    write("cut.xz", &xz[..xz.len() - 20]);
    let (document, code) = report(folder.path(), &["cut.xz"]);
    let note = &document["notes"][0]["text"];
    assert_eq!((proof(&document), code, note.as_str()), ("cut.xz", 2, Some("cannot be read to its end: it is cut off")));

    write("padded.gz", &[gzip(b"first\n"), vec![0; 512], gzip(KILLED.as_bytes()), vec![0; 512]].concat());
    let (document, code) = report(folder.path(), &["padded.gz"]);
    assert_eq!((proof(&document), code, document["notes"].as_array().map(Vec::len)), ("padded.gz", 0, Some(0)));

    write("trailing.gz", &[gzip(KILLED.as_bytes()), b"garbage".to_vec()].concat());
    let (document, code) = report(folder.path(), &["trailing.gz"]);
    assert_eq!((proof(&document), code), ("trailing.gz", 0));
    assert!(document["notes"][0]["text"].as_str().is_some_and(|text| text.contains("not compressed")), "{document}");

    let mut damaged = gzip(KILLED.as_bytes());
    let end = damaged.len() - 6;
    damaged[end] ^= 0xff;
    write("damaged.gz", &damaged);
    let (document, _) = report(folder.path(), &["damaged.gz"]);
    assert_eq!(document["notes"][0]["text"], "cannot be read to its end: it is damaged");

    let twins = zip(&[("a.log", b"x\n"), ("b.log", KILLED.as_bytes())]);
    let at: Vec<usize> = (0..twins.len() - 5).filter(|at| &twins[*at..*at + 5] == b"b.log").collect();
    let mut twins = twins;
    for at in at {
        twins[at] = b'a';
    }
    write("twins.zip", &twins);
    let (document, code) = report(folder.path(), &["twins.zip"]);
    assert_eq!((proof(&document), code), ("twins.zip!/a.log", 0));
    assert!(document["notes"][0]["text"].as_str().is_some_and(|text| text.contains("have one name")), "{document}");
}

#[test]
fn an_archive_of_many_logs_is_judged_in_parts() {
    let folder = TempDir::new().unwrap();
    let names: Vec<String> = (0..2_500).map(|n| format!("{}/job-{n:04}.log", n / 100)).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), KILLED.as_bytes())).collect();
    // A log of the first incident stands at the very end.
    let late = ("0/job-0000.err", &b"x\n"[..]);
    fs::write(folder.path().join("a.tar"), tar(&[files.as_slice(), &[late]].concat())).unwrap();
    let (archive, plan) = (folder.path().join("a.tar"), coroner::scan::Plan { workers: 2, ..Default::default() });
    let (mut seen, mut notes) = (0, Vec::new());
    let tally = coroner::scan::scan(&[archive], &plan, &Default::default(), &Default::default(), &mut |incident| {
        seen += incident.report.inputs.len();
        notes.extend(incident.report.notes.iter().map(|note| note.text.clone()));
        Ok(())
    });
    assert_eq!((seen, tally.unwrap().incidents), (2_501, 2_501));
    assert!(matches!(notes.as_slice(), [note] if note.contains("stand far before")), "{notes:?}");
}

#[test]
fn a_stopped_scan_tells_of_the_members_that_were_read() {
    let folder = TempDir::new().unwrap();
    let names: Vec<String> = (0..3_000).map(|n| format!("job-{n:04}.log")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), KILLED.as_bytes())).collect();
    for (name, bytes) in [("a.zip", zip(&files)), ("a.tar", tar(&files))] {
        fs::write(folder.path().join(name), bytes).unwrap();
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let plan = coroner::scan::Plan { workers: 2, ..Default::default() };
        let tally = coroner::scan::scan(&[folder.path().join(name)], &plan, &stop, &Default::default(), &mut |_| {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            Ok(())
        });
        let tally = tally.unwrap();
        assert!(tally.stopped && (1..3_000).contains(&tally.incidents), "{name}: {}", tally.incidents);
        assert_eq!(tally.unread_count(), 0, "{name}");
    }
}

#[test]
fn nestings_and_bombs_end() {
    let folder = TempDir::new().unwrap();
    let mut nested = gzip(KILLED.as_bytes());
    for _ in 0..30 {
        nested = zip(&[("again.zip", &nested)]);
    }
    fs::write(folder.path().join("deep.zip"), nested).unwrap();
    let (document, code) = report(folder.path(), &["deep.zip"]);
    assert_eq!(code, 2);
    assert!(document["notes"][0]["text"].as_str().unwrap().contains("nested deeper"), "{document}");

    // Nothing but nothing: it is not read to its end. The bound on size has a test of its own beside it.
    fs::write(folder.path().join("bomb.gz"), gzip(&gzip(&vec![0; 40 << 20]))).unwrap();
    let (document, _) = report(folder.path(), &["bomb.gz"]);
    assert!(!document["notes"].as_array().unwrap().is_empty(), "{document}");
}

#[test]
fn names_in_archives_are_shown_escaped() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.tar"), tar(&[("e\u{1b}[31mvil\n.log", KILLED.as_bytes())])).unwrap();
    for format in coroner::report::Format::ALL {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coroner"));
        let output = command.args(["-f", format.name(), "a.tar"]).current_dir(folder.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).expect("reports are UTF-8");
        assert!(text.contains("vil") && !text.contains('\u{1b}'), "{}: {text}", format.name());
    }
}

#[test]
fn checkpoints_are_no_archives_of_logs() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("model.pt"), zip(&[("model/data.pkl", &[0x80, 2, 0, 0]), ("model/data/0", &[0; 64])])).unwrap();
    let (document, code) = report(folder.path(), &["model.pt"]);
    assert_eq!((document["inputs"][0]["kind"].as_str(), code), (Some("binary"), 2), "nothing to read: {document}");
}
