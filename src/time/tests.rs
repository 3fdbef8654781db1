//! What the clocks must read, and how they compare.

use super::{Stamp, prefix};

fn shown(text: &str) -> String {
    Stamp::parse(text).map_or_else(|| "none".to_owned(), |stamp| stamp.to_string())
}

#[test]
fn stamps_are_read_in_all_forms_that_logs_print() {
    for (text, expected) in [
        ("2026-12-01T06:55:40.304207+00:00", "2026-12-01T06:55:40.304207Z"),
        ("2026-12-01T06:55:40+0000", "2026-12-01T06:55:40Z"),
        ("2026-12-01T07:55:38,717291+01:00", "2026-12-01T06:55:38.717291Z"),
        ("2024-02-13T10:00:00.1234567Z", "2024-02-13T10:00:00.1234567Z"),
        ("2024-02-13 10:00:00", "2024-02-13T10:00:00"),
        ("2023-07-20 15:44:55,020", "2023-07-20T15:44:55.02"),
        ("2023/07/20 15:44:55", "2023-07-20T15:44:55"),
        ("2023-03-20_05:21:40", "2023-03-20T05:21:40"),
        ("2018-02-20 14:03:11.208 UTC", "2018-02-20T14:03:11.208Z"),
        ("2021-06-20T09:11:30.185333113Z", "2021-06-20T09:11:30.185333113Z"),
        ("07/20/2023 15:45:01", "2023-07-20T15:45:01"),
        ("Tue Dec  1 06:55:38 2026", "2026-12-01T06:55:38"),
        ("Thu Dec 29 11:20:40 CST 2022", "2022-12-29T11:20:40"),
        ("Thu Dec 29 11:20:40 UTC 2022", "2022-12-29T11:20:40Z"),
        ("dim. avril 19 10:20:30 2026", "2026-04-19T10:20:30"),
        ("dim. 19 avril 10:20:30 2026", "2026-04-19T10:20:30"),
        ("Di Aug 12 10:20:30 2025", "2025-08-12T10:20:30"),
        ("lun. août  3 10:20:30 2026", "2026-08-03T10:20:30"),
        ("mié dic 16 10:20:30 2026", "2026-12-16T10:20:30"),
        ("Tue 2026-12-01 06:55:40 UTC", "2026-12-01T06:55:40Z"),
        ("Tue 2026-12-01 06:55:40.304207 CET", "2026-12-01T06:55:40.304207"),
        ("Mon, 02 Jan 2006 15:04:05 -0700", "2006-01-02T22:04:05Z"),
        ("1796108140.304207", "2026-12-01T06:55:40.304207Z"),
        ("Dec  1 06:55:39", "Dec 1 06:55:39"),
        ("Dec 01 06:55:40.304207", "Dec 1 06:55:40"),
        ("Sep 12, 2026 @ 08:10:30.000", "2026-09-12T08:10:30"),
        ("1201 07:17:55.968000", "Dec 1 07:17:55"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_moment_is_not_read() {
    for text in [
        "",
        "0001-01-01T00:00:00Z",
        "2026-13-01T06:55:40Z",
        "2026-02-30T06:55:40Z",
        "2026-12-01",
        "25:61:61",
        "179610814.3",
        "17961081403",
        "Killed",
        "May the force be with you",
        "Mar",
        "2026-12-01T06:55:40Zebra",
    ] {
        assert_eq!(shown(text), "none", "{text}");
    }
}

#[test]
fn the_rest_of_a_line_follows_its_stamp() {
    let (stamp, rest) = prefix("Dec  1 06:55:39 node1 kernel: x").unwrap();
    assert_eq!(rest, " node1 kernel: x");
    assert_eq!(stamp.hms(), "06:55:39");
    assert_eq!(Stamp::parse("2026-11-30T06:36:52Z").unwrap().hms(), "06:36:52 UTC");
    assert_eq!(Stamp::Boot(2_920_009_204).to_string(), "2920.009 s after boot");
}

#[test]
fn gaps_know_when_they_are_guesses() {
    let stamp = |text| Stamp::parse(text).unwrap();
    let utc = stamp("2026-12-01T06:55:40Z");
    let gap = utc.gap(stamp("2026-12-01T07:55:42+01:00")).unwrap();
    assert!(gap.sure && (gap.seconds - 2.0).abs() < 1e-6);
    let gap = utc.gap(stamp("2026-12-01 06:55:30")).unwrap();
    assert!(!gap.sure && (gap.seconds - 10.0).abs() < 1e-6);
    let gap = stamp("Jan  1 00:00:10").gap(stamp("2026-12-31T23:59:50Z")).unwrap();
    assert!(!gap.sure && (gap.seconds - 20.0).abs() < 1e-6);
    let gap = stamp("Dec 31 23:59:50").gap(stamp("Jan  1 00:00:10")).unwrap();
    assert!((gap.seconds - 20.0).abs() < 1e-6);
    assert_eq!(stamp("Dec 31 23:59:50").before(stamp("Jan  1 00:00:10")), Some(true));
    assert_eq!(Stamp::Boot(1).before(Stamp::Boot(2)), Some(true));
    assert_eq!(Stamp::Boot(2).before(Stamp::Boot(2)), Some(false));
    assert!(Stamp::Boot(5_000_000).gap(Stamp::Boot(3_000_000)).unwrap().sure);
    assert_eq!(utc.gap(Stamp::Boot(1)), None);
    assert_eq!(utc.before(Stamp::Boot(1)), None);
}

#[test]
fn a_clock_without_seconds_tells_its_minute() {
    let told = |text| super::coarse(text).map(|(stamp, rest)| (stamp.to_string(), rest));
    assert_eq!(told("2026-09-12 08:41"), Some(("2026-09-12T08:41:00".to_owned(), "")));
    assert_eq!(told("2021-03-09 14:02,344 - mmseg"), Some(("2021-03-09T14:02:00".to_owned(), " - mmseg")));
    for text in ["2026-09-12 08:41:07", "2026-09-12 08:415", "2026-09-12 28:41 x", "09/12 08:41", "2026-09-12 08:41+08:00"] {
        assert_eq!(told(text), None, "{text}");
    }
}

#[test]
fn date_tells_the_zone_where_its_word_means_one() {
    let told = |text| super::date(text).map(|(at, ahead)| (at.to_string(), ahead));
    assert_eq!(told("Tue Dec  1 12:08:25 JST 2026"), Some(("2026-12-01T03:08:25Z".to_owned(), 32_400)));
    assert_eq!(told("Tue Dec  1 12:08:25 AM CEST 2026"), Some(("2026-11-30T22:08:25Z".to_owned(), 7_200)));
    assert_eq!(told("2026-12-01T12:08:25-0330"), Some(("2026-12-01T15:38:25Z".to_owned(), -12_600)));
    for text in
        ["Tue Dec  1 12:08:25 CST 2026", "Tue Dec  1 12:08:25 2026", "2026-12-01T12:08:25", "Tue Dec 32 12:08:25 UTC 2026"]
    {
        assert_eq!(told(text), None, "{text}");
    }
}
