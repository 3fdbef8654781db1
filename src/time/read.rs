//! Reads time stamps at the beginning of a text, in the forms that logs, journals and kernels print.

use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use nom::branch::alt;
use nom::bytes::complete::{take_while, take_while_m_n};
use nom::character::complete::{alpha1, char, one_of};
use nom::combinator::{map_opt, opt, recognize, verify};
use nom::sequence::{pair, preceded, terminated};
use nom::{IResult, Parser};

use super::Stamp;
use super::words::{month, weekday};

/// How a stamp told its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// Not at all.
    Open,
    /// By `Z`.
    Zulu,
    /// By an offset such as `+00:00`.
    Offset,
}

/// A stamp in the order year, month, day, with the details by which envelopes tell their writers apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iso {
    /// The moment.
    pub stamp: Stamp,
    /// Digits of the fraction; 0 without one.
    pub digits: usize,
    /// Whether a comma stands before the fraction.
    pub comma: bool,
    /// What stands between date and time.
    pub between: char,
    /// How the zone was told.
    pub zone: Zone,
}

type Fault<'a> = nom::error::Error<&'a str>;

/// One blank.
fn blank(text: &str) -> IResult<&str, char> {
    char(' ').parse(text)
}

/// A number of exactly or up to so many digits.
fn number<'a>(least: usize, most: usize) -> impl Parser<&'a str, Output = u32, Error = Fault<'a>> {
    map_opt(take_while_m_n(least, most, |c: char| c.is_ascii_digit()), |digits: &str| digits.parse().ok())
}

/// A small number as the calendar wants it.
fn small<'a>(least: usize, most: usize) -> impl Parser<&'a str, Output = i8, Error = Fault<'a>> {
    map_opt(number(least, most), |n| i8::try_from(n).ok())
}

/// A fraction of a second: its nanoseconds, its digits, and whether a comma led it.
fn fraction(text: &str) -> IResult<&str, (i32, usize, bool)> {
    let (rest, (mark, digits)) = pair(one_of(".,"), take_while(|c: char| c.is_ascii_digit())).parse(text)?;
    let mut nanos = 0_i32;
    for place in 0..9 {
        let digit = digits.as_bytes().get(place).map_or(0, |b| i32::from(b - b'0'));
        nanos = nanos * 10 + digit;
    }
    if digits.is_empty() {
        return Err(nom::Err::Error(nom::error::Error::new(text, nom::error::ErrorKind::Digit)));
    }
    Ok((rest, (nanos, digits.len(), mark == ',')))
}

/// `hh:mm:ss` with an optional fraction. A leap second is read as the second before it.
fn clock(text: &str) -> IResult<&str, (Time, usize, bool)> {
    let (rest, (hour, _, minute, _, second)) = (small(1, 2), char(':'), small(2, 2), char(':'), small(2, 2)).parse(text)?;
    let (rest, part) = opt(fraction).parse(rest)?;
    let (nanos, digits, comma) = part.unwrap_or((0, 0, false));
    match Time::new(hour, minute, second.min(59), nanos) {
        Ok(time) if second <= 60 => Ok((rest, (time, digits, comma))),
        _ => Err(nom::Err::Error(nom::error::Error::new(text, nom::error::ErrorKind::Verify))),
    }
}

/// `Z`, `+0000`, `+00:00` or `+00`.
fn zone(text: &str) -> IResult<&str, (Offset, Zone)> {
    let zulu = nom::combinator::map(one_of("Zz"), |_| (Offset::UTC, Zone::Zulu));
    let offset = map_opt((one_of("+-"), small(2, 2), opt(preceded(opt(char(':')), small(2, 2)))), |(sign, hours, minutes)| {
        let seconds = i32::from(hours) * 3600 + i32::from(minutes.unwrap_or(0)) * 60;
        let offset = Offset::from_seconds(if sign == '-' { -seconds } else { seconds }).ok()?;
        Some((offset, Zone::Offset))
    });
    alt((zulu, offset)).parse(text)
}

/// No letter, digit or further part of a number may follow a stamp.
fn ended(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// `2026-12-01T06:55:40.304207+00:00` and its like: any separator that logs use, any length of fraction, any zone or none.
pub fn iso(text: &str) -> Option<(Iso, &str)> {
    let date = |mark| (small_year, char(mark), small(2, 2), char(mark), small(2, 2));
    let (rest, (year, _, month, _, day)) = alt((date('-'), date('/'))).parse(text).ok()?;
    let (rest, between) = one_of::<_, _, Fault>("T t_").parse(rest).ok()?;
    let (rest, (time, digits, comma)) = clock(rest).ok()?;
    let (rest, told) = match zone(rest) {
        Ok((after, told)) if ended(after) => (after, Some(told)),
        // A blank before the zone, as git, Go and PostgreSQL print it.
        _ => match preceded(blank, alt((verify(zone, |z| z.1 == Zone::Offset), utc))).parse(rest) {
            Ok((after, told)) if ended(after) => (after, Some(told)),
            _ => (rest, None),
        },
    };
    if !ended(rest) {
        return None;
    }
    let civil = Date::new(year, month, day).ok()?.to_datetime(time);
    let stamp = Stamp::wall(Some(year), civil, told.map(|(offset, _)| offset))?;
    Some((Iso { stamp, digits, comma, between, zone: told.map_or(Zone::Open, |(_, zone)| zone) }, rest))
}

/// A year of four digits.
fn small_year(text: &str) -> IResult<&str, i16> {
    map_opt(number(4, 4), |year| i16::try_from(year).ok()).parse(text)
}

/// The zone words that mean UTC. Others (`CST`, `EDT`) are read by nobody twice in the same way, so they tell nothing.
fn utc(text: &str) -> IResult<&str, (Offset, Zone)> {
    verify(alpha1, |word: &str| matches!(word, "UTC" | "GMT")).map(|_| (Offset::UTC, Zone::Offset)).parse(text)
}

/// A word of letters, perhaps ended by a point.
fn word(text: &str) -> IResult<&str, &str> {
    recognize(pair(nom::bytes::complete::take_while1(char::is_alphabetic), opt(char('.')))).parse(text)
}

/// A month's number from its name.
fn month_word(text: &str) -> IResult<&str, i8> {
    map_opt(word, month).parse(text)
}

/// A day of the month, padded with a blank or a zero or not at all.
fn day(text: &str) -> IResult<&str, i8> {
    preceded(opt(blank), small(1, 2)).parse(text)
}

/// `Dec  1 06:55:39` of syslog and journald, with a fraction or without.
pub fn day_month(text: &str) -> Option<(Stamp, &str)> {
    let (rest, (month, _, day, _)) = (month_word, blank, day, blank).parse(text).ok()?;
    let (rest, (time, _, _)) = clock(rest).ok()?;
    let civil = Date::new(1972, month, day).ok()?.to_datetime(time);
    ended(rest).then_some((Stamp::wall(None, civil, None)?, rest))
}

/// `Tue Dec  1 06:55:38 2026` of `dmesg -T` and ctime(3), `Thu Dec 29 11:20:40 CST 2022` of date(1), with the words of other
/// locales and with day and month in either order.
pub fn ctime(text: &str) -> Option<(Stamp, &str)> {
    let (rest, _) = terminated(verify(word, weekday), blank).parse(text).ok()?;
    let swapped = (day, blank, month_word).map(|(day, _, month)| (month, day));
    let usual = (month_word, blank, day).map(|(month, _, day)| (month, day));
    let (rest, ((month, day), _)) = (alt((usual, swapped)), blank).parse(rest).ok()?;
    // The year of some locales stands before the time.
    let (rest, early) = opt(terminated(small_year, blank)).parse(rest).ok()?;
    let (rest, (time, _, _)) = clock(rest).ok()?;
    let (rest, zone) = opt(preceded(blank, alpha1::<&str, Fault>)).parse(rest).ok()?;
    let (rest, year) = match early {
        Some(year) => (rest, year),
        None => preceded(blank, small_year).parse(rest).ok()?,
    };
    let offset = zone.filter(|zone| matches!(*zone, "UTC" | "GMT" | "Z")).map(|_| Offset::UTC);
    let civil = Date::new(year, month, day).ok()?.to_datetime(time);
    ended(rest).then_some((Stamp::wall(Some(year), civil, offset)?, rest))
}

/// The zone words of date(1) that mean one offset wherever they are used, in hours. `CST`, `IST`, `BST`, `EST`, `PST` and
/// others have several.
const ZONES: [(&str, i32); 24] = [
    ("UTC", 0),
    ("GMT", 0),
    ("WET", 0),
    ("WEST", 1),
    ("CET", 1),
    ("CEST", 2),
    ("EET", 2),
    ("EEST", 3),
    ("MSK", 3),
    ("SAST", 2),
    ("PKT", 5),
    ("WIB", 7),
    ("HKT", 8),
    ("JST", 9),
    ("KST", 9),
    ("AEST", 10),
    ("AEDT", 11),
    ("NZST", 12),
    ("NZDT", 13),
    ("EDT", -4),
    ("MDT", -6),
    ("PDT", -7),
    ("AKDT", -8),
    ("HST", -10),
];

/// What date(1) prints, whole: the moment and how far the local time is ahead of UTC, in seconds; nothing where the zone is
/// not told or its word has several meanings.
pub fn date(text: &str) -> Option<(Stamp, i32)> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let (found, rest) = iso(text)?;
        // The date has dashes of its own; the offset stands behind the time.
        let from = text.char_indices().skip(19).find(|(_, c)| matches!(c, '+' | '-'))?.0;
        let (_, (offset, _)) = zone(text.get(from..)?).ok()?;
        return rest.is_empty().then_some((found.stamp, offset.seconds()));
    }
    let (rest, _) = terminated(verify(word, weekday), blank).parse(text).ok()?;
    let swapped = (day, blank, month_word).map(|(day, _, month)| (month, day));
    let usual = (month_word, blank, day).map(|(month, _, day)| (month, day));
    let (rest, ((month, day), _)) = (alt((usual, swapped)), blank).parse(rest).ok()?;
    let (rest, (time, ..)) = clock(rest).ok()?;
    let (rest, half) =
        opt(preceded(blank, alt((nom::bytes::complete::tag::<_, _, Fault>("AM"), nom::bytes::complete::tag("PM")))))
            .parse(rest)
            .ok()?;
    let named = map_opt(alpha1::<&str, Fault>, |word| {
        let (_, hours) = ZONES.iter().find(|(name, _)| *name == word)?;
        Offset::from_seconds(hours * 3600).ok()
    });
    let (rest, offset) = preceded(blank, alt((named, zone.map(|(offset, _)| offset)))).parse(rest).ok()?;
    let (rest, year) = preceded(blank, small_year).parse(rest).ok()?;
    let hour = match half {
        Some("PM") => time.hour() % 12 + 12,
        Some(_) => time.hour() % 12,
        None => time.hour(),
    };
    let time = Time::new(hour, time.minute(), time.second(), 0).ok()?;
    let civil = Date::new(year, month, day).ok()?.to_datetime(time);
    rest.is_empty().then_some((Stamp::wall(Some(year), civil, Some(offset))?, offset.seconds()))
}

/// `Mon, 02 Jan 2006 15:04:05 -0700` of `kubectl describe` and mail.
fn mail(text: &str) -> Option<(Stamp, &str)> {
    let (rest, _) = (verify(word, weekday), char(','), blank).parse(text).ok()?;
    let (rest, (day, _, month, _, year, _)) = (small(1, 2), blank, month_word, blank, small_year, blank).parse(rest).ok()?;
    let (rest, (time, _, _)) = clock(rest).ok()?;
    let (rest, told) = opt(preceded(blank, alt((zone, utc)))).parse(rest).ok()?;
    let civil = Date::new(year, month, day).ok()?.to_datetime(time);
    ended(rest).then_some((Stamp::wall(Some(year), civil, told.map(|(offset, _)| offset))?, rest))
}

/// `Tue 2026-12-01 06:55:40 UTC` of systemd. Other zone words are taken off, but tell no zone.
pub fn system(text: &str) -> Option<(Stamp, &str)> {
    let (rest, _) = terminated(verify(word, weekday), blank).parse(text).ok()?;
    let (found, rest) = iso(rest)?;
    if found.between != ' ' {
        return None;
    }
    if found.zone != Zone::Open {
        return Some((found.stamp, rest));
    }
    let abbreviation = take_while_m_n(2, 5, |c: char| c.is_ascii_uppercase());
    match preceded(blank, abbreviation).parse(rest) {
        Ok((after, _)) if ended(after) => Some((found.stamp, after)),
        _ => Some((found.stamp, rest)),
    }
}

/// `1201 07:17:55.968000` of glog and klog, after the letter of the level.
pub fn glog(text: &str) -> Option<(Stamp, &str)> {
    let (rest, (month, day, _)) = (small(2, 2), small(2, 2), blank).parse(text).ok()?;
    let (rest, (time, digits, _)) = clock(rest).ok()?;
    let civil = Date::new(1972, month, day).ok()?.to_datetime(time);
    (digits > 0 && ended(rest)).then_some((Stamp::wall(None, civil, None)?, rest))
}

/// `07/20/2023 15:45:01` of Python's logging with an American date format, `07/20 15:45:01` of Detectron2, and
/// `07-20 15:45:01` of vLLM.
pub fn slashed(text: &str) -> Option<(Stamp, &str)> {
    let date = |mark| (small(2, 2), char(mark), small(2, 2));
    let (rest, (month, _, day)) = alt((date('/'), date('-'))).parse(text).ok()?;
    let (rest, year) = opt(preceded(one_of("/-"), small_year)).parse(rest).ok()?;
    let (rest, _) = (opt(char::<_, Fault>(',')), blank).parse(rest).ok()?;
    let (rest, (time, _, _)) = clock(rest).ok()?;
    let civil = Date::new(year.unwrap_or(1972), month, day).ok()?.to_datetime(time);
    ended(rest).then_some((Stamp::wall(year, civil, None)?, rest))
}

/// `1796108140.304207` of `journalctl -o short-unix`: ten digits and a fraction, or ten digits alone.
pub fn unix(text: &str) -> Option<(Stamp, &str)> {
    let (rest, seconds) = number(10, 10).parse(text).ok()?;
    let (rest, part) = opt(fraction).parse(rest).ok()?;
    let micros = i64::from(seconds) * 1_000_000 + part.map_or(0, |(nanos, _, _)| i64::from(nanos / 1000));
    // 2001 to 2096: earlier and later numbers of ten digits are seldom moments.
    (ended(rest) && (1_000_000_000..4_000_000_000).contains(&seconds)).then_some((Stamp::from_unix_micros(micros)?, rest))
}

/// `Dec 1 06:55` and `Oct28 16:57` of `dmesg -e`.
pub fn minute(text: &str) -> Option<(Stamp, &str)> {
    let month = map_opt(recognize(nom::bytes::complete::take_while1(char::is_alphabetic)), month);
    let (rest, (month, _, day, _)) = (month, nom::character::complete::space0, small(1, 2), blank).parse(text).ok()?;
    let (rest, (hour, _, minute)) = (small(2, 2), char::<_, Fault>(':'), small(2, 2)).parse(rest).ok()?;
    let civil = Date::new(1972, month, day).ok()?.to_datetime(Time::new(hour, minute, 0, 0).ok()?);
    (ended(rest) && !rest.starts_with(':')).then_some((Stamp::wall(None, civil, None)?, rest))
}

/// `2026-09-12 08:41` of formats without seconds, also with milliseconds behind the minute (`14:00,456`, by
/// `%H:%M` and Python's own comma). The moment is the beginning of the minute.
pub fn coarse(text: &str) -> Option<(Stamp, &str)> {
    let date = |mark| (small_year, char(mark), small(2, 2), char(mark), small(2, 2));
    let (rest, ((year, _, month, _, day), _)) = (alt((date('-'), date('/'))), one_of::<_, _, Fault>(" T")).parse(text).ok()?;
    let (rest, (hour, _, minute)) = (small(2, 2), char::<_, Fault>(':'), small(2, 2)).parse(rest).ok()?;
    let (rest, _) = opt((char::<_, Fault>(','), number(3, 3))).parse(rest).ok()?;
    let civil = Date::new(year, month, day).ok()?.to_datetime(Time::new(hour, minute, 0, 0).ok()?);
    // Seconds or a zone would make it another stamp, and a number goes on.
    (ended(rest) && !rest.starts_with([':', '.', '+', '-'])).then_some((Stamp::wall(Some(year), civil, None)?, rest))
}

/// `Sep 12, 2026 @ 08:10:30.000` of Kibana, by the clock of whoever looked.
fn kibana(text: &str) -> Option<(Stamp, &str)> {
    let (rest, (month, _, day, _)) = (month_word, blank, small(1, 2), nom::bytes::complete::tag(", ")).parse(text).ok()?;
    let (rest, (year, _)) = (small_year, nom::bytes::complete::tag::<_, _, Fault>(" @ ")).parse(rest).ok()?;
    let (rest, (time, _, _)) = clock(rest).ok()?;
    let civil = Date::new(year, month, day).ok()?.to_datetime(time);
    ended(rest).then_some((Stamp::wall(Some(year), civil, None)?, rest))
}

/// A stamp at the beginning of a text, in any form, and what follows it.
pub fn prefix(text: &str) -> Option<(Stamp, &str)> {
    let first = text.chars().next()?;
    if first.is_ascii_digit() {
        return iso(text)
            .map(|(found, rest)| (found.stamp, rest))
            .or_else(|| slashed(text))
            .or_else(|| glog(text))
            .or_else(|| unix(text));
    }
    if !first.is_alphabetic() {
        return None;
    }
    day_month(text).or_else(|| ctime(text)).or_else(|| system(text)).or_else(|| mail(text)).or_else(|| kibana(text))
}
