//! Kubernetes quantities: `4Gi`, `4G`, `4294967296`, `128974848000m`, `1e9`. Unlike Docker's sizes, `G` is decimal here.

use crate::units::Bytes;

use super::Field;

/// Reads a quantity as a number of bytes, rounded up as the kubelet does.
pub(super) fn parse(text: &str) -> Option<Bytes> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '+')).unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(end)?;
    let factor = match suffix {
        "" => 1.0,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        "Pi" => 1_125_899_906_842_624.0,
        "Ei" => 1_152_921_504_606_846_976.0,
        exponent => 10_f64.powi(exponent.strip_prefix(['e', 'E'])?.parse().ok().filter(|power| (-18..=18).contains(power))?),
    };
    let value = number.parse::<f64>().ok()? * factor;
    if !(0.0..1.8e19).contains(&value) {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Some(Bytes(value.ceil() as u64))
}

/// Reads a quantity that may also be a bare number.
pub(super) fn read(field: &Field<'_>) -> Option<Bytes> {
    match field.text() {
        Some(text) => parse(text),
        None => field.count().map(Bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_in_all_forms() {
        for (text, bytes) in [
            ("4Gi", 4_294_967_296),
            ("4G", 4_000_000_000),
            ("1.5Gi", 1_610_612_736),
            ("67108864", 67_108_864),
            ("128974848000m", 128_974_848),
            ("1e9", 1_000_000_000),
            ("500k", 500_000),
            ("0", 0),
        ] {
            assert_eq!(parse(text), Some(Bytes(bytes)), "{text}");
        }
        for text in ["", "Gi", "4GB", "-1Gi", "1e99", "1.2.3", "9999Ei", "ü"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
