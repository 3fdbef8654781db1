//! What holds for all lines, however they come.

use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

use super::{Count, Envelope, Line, Lines, lines, lines_of, peel};
use crate::time::Stamp;

/// The lines of some bytes: number, text and envelope.
fn read(bytes: &[u8]) -> Vec<(u64, String, Envelope)> {
    let mut all = Vec::new();
    lines(bytes, None, &mut |line| all.push((line.number, line.text.into_owned(), line.envelope))).unwrap();
    all
}

/// The lines of a text.
pub(super) fn lines_in(text: &str) -> Vec<Line<'static>> {
    let line = |(number, text, envelope): (u64, String, Envelope)| Line { text: text.into(), number, envelope };
    read(text.as_bytes()).into_iter().map(line).collect()
}

fn texts(bytes: &[u8]) -> Vec<(u64, String)> {
    read(bytes).into_iter().map(|(number, text, _)| (number, text)).collect()
}

fn owned(lines: &[(u64, &str)]) -> Vec<(u64, String)> {
    lines.iter().map(|(number, text)| (*number, (*text).to_owned())).collect()
}

#[test]
fn line_feeds_count_and_carriage_returns_redraw() {
    assert_eq!(texts(b"a\r\nb\r\n\r\nc"), owned(&[(1, "a"), (2, "b"), (3, ""), (4, "c")]));
    assert_eq!(texts(b"\r 0%\r 50%ERROR\n\0Traceback\n"), owned(&[(1, " 0%"), (1, " 50%ERROR"), (2, "Traceback")]));
    assert_eq!(lines(&b"a\nb"[..], None, &mut |_| {}).unwrap(), Count { bytes: 3, lines: 2 });
    assert_eq!(lines(&b""[..], None, &mut |_| {}).unwrap(), Count::default());
    assert_eq!(lines(&b"a\n\r\n"[..], None, &mut |_| {}).unwrap(), Count { bytes: 4, lines: 2 });
}

#[test]
fn utf_16_and_broken_utf_8_are_read() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let mut bytes = vec![0xff, 0xfe];
    bytes.extend(wide("Killed \u{1f480}\r\nb"));
    assert_eq!(texts(&bytes), owned(&[(1, "Killed \u{1f480}"), (2, "b")]));
    assert_eq!(texts(b"caf\xe9\n"), owned(&[(1, "caf\u{fffd}")]));
    assert_eq!(texts("\u{feff}a\n".as_bytes()), owned(&[(1, "a")]));
    assert_eq!(texts(&[0xff]), owned(&[(1, "\u{fffd}")]));
}

#[test]
fn an_overlong_line_keeps_its_two_ends() {
    let mut bytes = b"first ".to_vec();
    bytes.extend(std::iter::repeat_n(b'x', 5 << 20));
    bytes.extend_from_slice(b" last\nnext");
    let all = texts(&bytes);
    assert_eq!(all.len(), 2);
    assert!(all[0].1.starts_with("first xxx") && all[0].1.ends_with("xxx last") && all[0].1.len() < (1 << 20) + 16);
    assert_eq!(all[1], (2, "next".to_owned()));
}

#[test]
fn a_hole_of_nul_bytes_is_nothing() {
    let mut bytes = vec![0; 3 << 20];
    bytes.extend_from_slice(b"Killed\n");
    assert_eq!(texts(&bytes), owned(&[(1, "Killed")]));
}

#[test]
fn continuation_lines_inherit_the_envelope_above() {
    let all = read(
        b"[   61.730106] anon 49152\n               file 66719744\n               kernel 339968\n[   61.730121] Tasks state\n",
    );
    assert_eq!(all[1].1, "file 66719744");
    assert_eq!((all[2].0, all[2].1.as_str()), (3, "kernel 339968"));
    assert_eq!(all[2].2, all[0].2);
    assert_eq!(all[2].2.boot, Some(Stamp::Boot(61_730_106)));
    let all =
        read(b"Dec 01 06:55:46 node1 kernel: anon 1\n                              file 2\nDec 01 06:55:46 node1 kernel: x");
    assert_eq!((all[1].1.as_str(), all[1].2.kernel), ("file 2", Some(true)));
    // Behind compose's prefix.
    let all = read(b"k-1  | [   61.730106] anon 1\nk-1  |                file 2\n");
    assert_eq!((all[1].1.as_str(), all[1].2.boot), ("file 2", Some(Stamp::Boot(61_730_106))));
    // An ordinary indented line is not the kernel's.
    let all = read(b"Traceback\n                    indented\n");
    assert_eq!((all[1].1.as_str(), all[1].2.kernel), ("                    indented", None));
}

#[test]
fn relative_stamps_of_dmesg_run_on_from_the_minute() {
    let all = read(b"[  +0.5] x\n[Oct28 16:57] a\n[  +0.000001] b\n[ +10.231150] c\n");
    assert_eq!(all[1].2.when, all[2].2.when.map(|_| Stamp::parse("Oct 28 16:57:00").unwrap()));
    assert_eq!(all[3].2.when, Some(Stamp::parse("Oct 28 16:57:10.231151").unwrap()));
    assert_eq!(all[3].1, "c");
}

#[test]
fn the_journals_long_forms_are_put_together() {
    let mut export = b"__CURSOR=s=1\n__REALTIME_TIMESTAMP=1796108139205141\nMESSAGE\n".to_vec();
    export.extend_from_slice(&12_u64.to_le_bytes());
    export.extend_from_slice(b"anon 1\n\nfile\n_TRANSPORT=kernel\n_SOURCE_MONOTONIC_TIMESTAMP=54713824\n\n__CURSOR=s=2\n");
    export.extend_from_slice(b"MESSAGE=Killed process\nSYSLOG_IDENTIFIER=kernel\n_TRANSPORT=kernel\n_HOSTNAME=node1\n");
    let all = read(&export);
    assert_eq!(all.iter().map(|l| l.1.as_str()).collect::<Vec<_>>(), ["anon 1", "", "file", "Killed process"]);
    assert_eq!(all[0].2.boot, Some(Stamp::Boot(54_713_824)));
    assert_eq!((all[2].2.kernel, all[3].2.host.as_deref()), (Some(true), Some("node1")));

    let verbose = "Tue 2026-12-01 06:55:39.253351 UTC [s=1;i=2;b=3;m=4;t=5;x=6]\n    _TRANSPORT=kernel\n    \
        MESSAGE=anon 66916352\n            file 0\n    _SOURCE_MONOTONIC_TIMESTAMP=54713824\nTue 2026-12-01 06:55:39.254468 UTC \
        [s=1;i=3;b=3;m=4;t=5;x=7]\n    MESSAGE= <TASK>\n    _TRANSPORT=kernel\n";
    let all = read(verbose.as_bytes());
    assert_eq!(texts(verbose.as_bytes()), owned(&[(3, "anon 66916352"), (4, "file 0"), (7, " <TASK>")]));
    assert_eq!(all[1].2.when, Stamp::parse("2026-12-01T06:55:39.253351Z"));
    assert_eq!((all[1].2.boot, all[1].2.kernel), (Some(Stamp::Boot(54_713_824)), Some(true)));
}

#[test]
fn documents_of_dmesg_are_read_record_by_record() {
    let text = "{\n   \"dmesg\": [\n      {\n         \"pri\": 4,\n         \"time\": 61.72946,\n         \"msg\": \"anon 1\\nfile 2\"\n      \
        },\n      {\"pri\": 12, \"time\": 61.8, \"msg\": \"fake\"}\n   ]\n}\n";
    let all = read(text.as_bytes());
    let all: Vec<_> = all.iter().filter(|l| l.2.kernel.is_some()).collect();
    assert_eq!((all[0].0, all[0].1.as_str(), all[0].2.boot), (6, "anon 1", Some(Stamp::Boot(61_729_460))));
    assert_eq!((all[1].1.as_str(), all[1].2.kernel), ("file 2", Some(true)));
    assert_eq!((all[2].1.as_str(), all[2].2.kernel), ("fake", Some(false)));
}

#[test]
fn pieces_of_long_lines_are_joined() {
    let cri = "2026-12-01T06:55:40Z stderr P ERROR: Unexpected \n2026-12-01T06:55:40Z stdout F step 3\n\
        2026-12-01T06:55:40Z stderr F bus error\n2026-12-01T06:55:41Z stderr P tail";
    assert_eq!(texts(cri.as_bytes()), owned(&[(2, "step 3"), (1, "ERROR: Unexpected bus error"), (4, "tail")]));
    let long = "x".repeat(16_384);
    let docker = format!(
        "{{\"log\":\"{long}\",\"stream\":\"stderr\",\"time\":\"2026-12-01T06:55:40Z\"}}\n\
         {{\"log\":\"Killed\\n\",\"stream\":\"stderr\",\"time\":\"2026-12-01T06:55:42Z\"}}\n\
         {{\"log\":\"last word\",\"stream\":\"stdout\",\"time\":\"2026-12-01T06:55:43Z\"}}\n\
         {{\"log\":\"restarted\\n\",\"stream\":\"stdout\",\"time\":\"2026-12-01T06:55:53Z\"}}\n"
    );
    let all = texts(docker.as_bytes());
    assert_eq!(all[0], (1, format!("{long}Killed")));
    assert_eq!(all[1..], owned(&[(3, "last word"), (4, "restarted")]));
}

#[test]
fn records_that_the_kernel_split_are_joined() {
    let path = "a".repeat(600);
    let kmsg = format!(
        "6,1,5,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/{path},task_memcg=\n4,2,6,c;/b,task=x,pid=1,uid=0\n3,3,7,-;Killed\n"
    );
    let joined = format!("oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/{path},task_memcg=/b,task=x,pid=1,uid=0");
    assert_eq!(texts(kmsg.as_bytes()), owned(&[(1, &joined), (3, "Killed")]));
    let plain = format!(
        "[ 2690.019221] oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/{path},task_memcg=\n[ 2690.019232] /b,task=x,pid=1,uid=0\n[ 2690.019241] Killed\n"
    );
    assert_eq!(texts(plain.as_bytes()), owned(&[(1, &joined), (3, "Killed")]));
    assert_eq!(texts(b"6,1,5,-;anon 1\\x0afile 2\n"), owned(&[(1, "anon 1"), (1, "file 2")]));
}

#[test]
fn texts_of_records_are_numbered_from_their_place() {
    let mut all = Vec::new();
    lines_of("Killed\n2026-12-01T06:55:40Z x\n", 40, &mut |line| all.push((line.number, line.text.into_owned())));
    assert_eq!(all, owned(&[(40, "Killed"), (41, "x")]));
}

/// Pieces of envelopes, so that garbage gets deep into the readers.
const PIECES: [&str; 48] = [
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "{",
    "}",
    "\"",
    ":",
    ": ",
    " ",
    "  ",
    "    ",
    "\n",
    "\r",
    "\0",
    "\\x",
    "0a",
    "é",
    "=",
    ",",
    ";",
    "|",
    "1",
    "54.717291",
    "+0.000919",
    "2026-12-01",
    "T06:55:40",
    ",717291",
    ".304207",
    "+00:00",
    "Z",
    "Dec  1 06:55:39",
    "Tue",
    "node1",
    "kernel:",
    "stdout F",
    "stderr P",
    "__CURSOR=",
    "MESSAGE",
    "MESSAGE=",
    "{\"log\":\"",
    "\\n\",\"stream\":\"stderr\"}",
    "rank0",
    "ERROR",
    "1201 07:17:55.968",
    "\"dmesg\": [",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_read_and_any_division_gives_the_same_lines(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
        size in 1_usize..40,
    ) {
        divide(&bytes, size)?;
    }

    #[test]
    fn any_mixture_of_envelopes_is_read(
        picks in proptest::collection::vec(0..PIECES.len(), 0..60),
        size in 1_usize..9,
    ) {
        let text: String = picks.iter().map(|i| PIECES[*i]).collect();
        divide(text.as_bytes(), size)?;
        peel(&text, 1);
        Stamp::parse(&text);
    }

    #[test]
    fn any_text_is_peeled(text in "\\PC{0,80}") {
        peel(&text, 1);
    }
}

fn divide(bytes: &[u8], size: usize) -> Result<(), proptest::test_runner::TestCaseError> {
    let mut all = Vec::new();
    let mut parts = Lines::new(None);
    let mut keep = |line: super::Line<'_>| all.push((line.number, line.text.into_owned(), line.envelope));
    for part in bytes.chunks(size) {
        parts.push(part, &mut keep);
    }
    let count = parts.finish(&mut keep);
    prop_assert_eq!(all, read(bytes));
    prop_assert_eq!(count.bytes, bytes.len() as u64);
    Ok(())
}
