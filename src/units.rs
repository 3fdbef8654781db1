//! Values that every floor speaks in: sizes, signals and the two kinds of process id.

use std::fmt;
use std::str::FromStr;

use nom::Parser;
use nom::character::complete::{alpha0, digit1, space0};
use nom::combinator::{all_consuming, opt, recognize};
use nom::sequence::{pair, preceded};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `n` KiB, saturating.
    pub const fn kib(n: u64) -> Self {
        Self(n.saturating_mul(1 << 10))
    }

    /// `n` MiB, saturating.
    pub const fn mib(n: u64) -> Self {
        Self(n.saturating_mul(1 << 20))
    }

    /// The size as the container engines take it on their command lines, in whole MiB rounded up (`768m`).
    pub fn as_flag(self) -> String {
        let mib = self.0.div_ceil(1 << 20);
        if mib >= 1024 && mib.is_multiple_of(1024) { format!("{}g", mib / 1024) } else { format!("{mib}m") }
    }

    /// The size as a Kubernetes quantity, in whole MiB rounded up (`768Mi`).
    pub fn as_quantity(self) -> String {
        let mib = self.0.div_ceil(1 << 20);
        if mib >= 1024 && mib.is_multiple_of(1024) { format!("{}Gi", mib / 1024) } else { format!("{mib}Mi") }
    }
}

impl fmt::Display for Bytes {
    /// Binary units with at most two decimals: `1.46 GiB`, `64 MiB`, `512 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut unit = 0;
        #[allow(clippy::cast_precision_loss)]
        let mut value = self.0 as f64;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        let text = if unit == 0 || (value - value.round()).abs() < 0.005 {
            format!("{value:.0}")
        } else if value >= 100.0 {
            format!("{value:.1}")
        } else {
            format!("{value:.2}")
        };
        write!(f, "{text} {}", UNITS[unit])
    }
}

impl FromStr for Bytes {
    type Err = String;

    /// Reads `64m`, `64MB`, `64Mi`, `1.5 GiB`, `65536k`, `8g` or plain bytes.
    ///
    /// One letter and the `i` forms are powers of 1024, as in Docker, tmpfs and Kubernetes; so are `KB`, `MB` and `GB`,
    /// because the programs whose output is read (Docker, df, PyTorch) use them so.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a size: write it as 64m, 1.5GiB or plain bytes");
        let number =
            recognize(pair(digit1::<&str, nom::error::Error<&str>>, opt(pair(nom::character::complete::char('.'), digit1))));
        let (_, (number, unit)) =
            all_consuming(pair(preceded(space0, number), preceded(space0, alpha0))).parse(text.trim()).map_err(|_| wrong())?;
        let shift = match unit.to_ascii_lowercase().as_str() {
            "" | "b" | "bytes" | "byte" => 0,
            "k" | "kb" | "ki" | "kib" => 10,
            "m" | "mb" | "mi" | "mib" => 20,
            "g" | "gb" | "gi" | "gib" => 30,
            "t" | "tb" | "ti" | "tib" => 40,
            "p" | "pb" | "pi" | "pib" => 50,
            _ => return Err(wrong()),
        };
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(1 << shift).map(Self).ok_or_else(|| format!("`{text}` is too large"));
        }
        let value: f64 = number.parse().map_err(|_| wrong())?;
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let bytes = value * (1_u64 << shift) as f64;
        if !bytes.is_finite() || bytes >= 1.8e19 {
            return Err(format!("`{text}` is too large"));
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok(Self(bytes.round() as u64))
    }
}

/// A process id as the kernel of the machine counts it (the initial pid namespace).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPid(pub u32);

/// A process id as a process in its own pid namespace sees it; in a container it differs from the [`HostPid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnPid(pub u32);

impl fmt::Display for HostPid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for OwnPid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A signal by its Linux number (x86, arm, riscv, ppc, s390).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(pub u8);

/// The names, by number, of the signals that training jobs die of.
const NAMES: [(u8, &str); 16] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (10, "SIGUSR1"),
    (11, "SIGSEGV"),
    (12, "SIGUSR2"),
    (13, "SIGPIPE"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
];

/// What C libraries and shells call a signal, in lower case: glibc, musl, BSD, and the catalogues of glibc 2.36 and bash 5.2
/// in the languages that turned up in public logs.
const DESCRIPTIONS: [(u8, &[&str]); 10] = [
    (1, &["hangup"]),
    (2, &["interrupt"]),
    (4, &["illegal instruction"]),
    (6, &["aborted", "abort trap", "iot trap", "abgebrochen", "abandon", "中止", "已放弃"]),
    (
        7,
        &[
            "bus error",
            "erreur du bus",
            "erreur de bus",
            "bus-zugriffsfehler",
            "bus-fehler",
            "error del bus",
            "errore di bus",
            "erro no barramento",
            "erro do barramento",
            "总线错误",
            "匯流排錯誤",
            "バスエラー",
            "버스 오류",
            "ошибка шины",
            "access to an undefined portion of a memory object",
        ],
    ),
    (8, &["floating point exception", "arithmetic exception"]),
    (
        9,
        &[
            "killed",
            "kill",
            "processus arrêté",
            "tué",
            "getötet",
            "abgebrochen (killed)",
            "terminado (killed)",
            "matado",
            "ucciso",
            "morto",
            "morto (killed)",
            "已杀死",
            "已殺死",
            "強制終了",
            "죽었음",
            "убито",
            "убит",
        ],
    ),
    (
        11,
        &[
            "segmentation fault",
            "segfault",
            "erreur de segmentation",
            "speicherzugriffsfehler",
            "violación de segmento",
            "段错误",
            "段錯誤",
        ],
    ),
    (13, &["broken pipe"]),
    (15, &["terminated", "beendet", "complété", "terminado", "terminato", "已终止"]),
];

impl Signal {
    /// Interrupt from the keyboard.
    pub const INT: Self = Self(2);
    /// Abort, as from a failed assertion.
    pub const ABRT: Self = Self(6);
    /// Access to memory that has no page behind it.
    pub const BUS: Self = Self(7);
    /// The signal that cannot be caught.
    pub const KILL: Self = Self(9);
    /// Access to memory that is not mapped.
    pub const SEGV: Self = Self(11);
    /// A polite request to end.
    pub const TERM: Self = Self(15);

    /// The C name (`SIGBUS`), or `signal 34` for one without a name here.
    pub fn name(self) -> String {
        NAMES.iter().find(|(n, _)| *n == self.0).map_or_else(|| format!("signal {}", self.0), |(_, name)| (*name).to_owned())
    }

    /// Reads `SIGKILL`, `KILL` or `Signals.SIGKILL`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim().trim_start_matches("Signals.").to_ascii_uppercase();
        let short = name.strip_prefix("SIG").unwrap_or(&name);
        if short == "IOT" {
            return Some(Self::ABRT);
        }
        NAMES.iter().find(|(_, full)| &full[3..] == short).map(|(n, _)| Self(*n))
    }

    /// Reads what `strsignal(3)` or a shell prints, in several languages, with or without `(core dumped)` or a BSD number.
    pub fn from_description(text: &str) -> Option<Self> {
        let lower = text.trim().trim_end_matches('.').to_lowercase();
        let lower = lower.strip_suffix("(core dumped)").unwrap_or(&lower).trim();
        let plain = match lower.rsplit_once(": ") {
            Some((words, number)) if number.bytes().all(|b| b.is_ascii_digit()) => words,
            _ => lower,
        };
        DESCRIPTIONS.iter().find(|(_, words)| words.contains(&plain)).map(|(n, _)| Self(*n)).or_else(|| Self::from_name(plain))
    }

    /// The signal that an exit status stands for by arithmetic: `128 + n` of shells and containers, `-n` of Python, and the
    /// same `-n` after `sys.exit` has cut it to eight bits (247 for -9, 249 for -7).
    pub fn from_status(code: i64) -> Option<Self> {
        let n = match code {
            -64..=-1 => -code,
            129..=192 => code - 128,
            // DeepSpeed's launcher passes a negative return code to sys.exit (deepspeed/launcher/launch.py).
            245 | 247 | 249 | 250 => 256 - code,
            _ => return None,
        };
        u8::try_from(n).ok().map(Self)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_all_usual_spellings() {
        for (text, bytes) in [
            ("64m", 67_108_864),
            ("64MB", 67_108_864),
            ("64Mi", 67_108_864),
            ("64 MiB", 67_108_864),
            ("1.5g", 1_610_612_736),
            ("65536k", 67_108_864),
            ("67108864", 67_108_864),
            ("0", 0),
        ] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "m", "64x", "-1", "1.2.3m", "99999999999999999999", "18446744073709551615g"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_shown_in_binary_units() {
        for (bytes, text) in [(512, "512 B"), (67_108_864, "64 MiB"), (1_572_864_000, "1.46 GiB"), (732_000_000, "698.1 MiB")] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        assert_eq!(Bytes::mib(768).as_flag(), "768m");
        assert_eq!(Bytes::mib(2048).as_quantity(), "2Gi");
    }

    #[test]
    fn signals_are_known_by_name_words_and_status() {
        assert_eq!(Signal::from_name("Signals.SIGBUS"), Some(Signal::BUS));
        assert_eq!(Signal::from_name("kill"), Some(Signal::KILL));
        assert_eq!(Signal::from_description("Bus error: 10"), Some(Signal::BUS));
        assert_eq!(Signal::from_description("Erreur du bus"), Some(Signal::BUS));
        assert_eq!(Signal::from_description("Killed"), Some(Signal::KILL));
        assert_eq!(Signal::from_description("Segmentation fault (core dumped)"), Some(Signal::SEGV));
        assert_eq!(Signal::from_status(-7), Some(Signal::BUS));
        assert_eq!(Signal::from_status(137), Some(Signal::KILL));
        assert_eq!(Signal::from_status(247), Some(Signal::KILL));
        assert_eq!(Signal::from_status(1), None);
        assert_eq!(Signal::from_status(255), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_size_or_an_error(text in proptest::prelude::any::<String>()) {
            let _ = text.parse::<Bytes>();
        }

        #[test]
        fn written_sizes_come_back(number in 0_u64..1 << 13, unit in 0_usize..5) {
            let shift = 10 * u32::try_from(unit).expect("it is small");
            for ending in [&["", "b", "B"][..], &["k", "KB", "Ki", "KiB"], &["m", "MB", "Mi", "mib"], &["g", "GB", "Gi"], &["t", "TB", "TiB"]][unit] {
                proptest::prop_assert_eq!(format!("{number}{ending}").parse::<Bytes>(), Ok(Bytes(number << shift)));
                proptest::prop_assert_eq!(format!(" {number} {ending} ").parse::<Bytes>(), Ok(Bytes(number << shift)));
            }
        }

        #[test]
        fn flags_hold_at_least_the_size(bytes in 0_u64..1 << 50) {
            for text in [Bytes(bytes).as_flag(), Bytes(bytes).as_quantity()] {
                let read = text.parse::<Bytes>().expect("it is a size");
                proptest::prop_assert!(read.0 >= bytes && read.0 - bytes < 1 << 20);
            }
        }
    }
}
