//! A field of a document that remembers its JSON pointer: typed getters that answer "not told" instead of failing.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::time::{Stamp, Wall};

/// What a missing field reads as, so that chains of getters need no checks.
static NOTHING: Value = Value::Null;

/// A value in a document, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    value: &'a Value,
    pointer: String,
}

impl<'a> Field<'a> {
    /// The whole document.
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, pointer: String::new() }
    }

    /// The field's JSON pointer (RFC 6901).
    pub(super) fn pointer(&self) -> &str {
        &self.pointer
    }

    /// A member of an object; a missing one reads as null.
    pub(super) fn at(&self, key: &str) -> Self {
        let value = self.value.get(key).unwrap_or(&NOTHING);
        Self { value, pointer: format!("{}/{}", self.pointer, key.replace('~', "~0").replace('/', "~1")) }
    }

    /// The first of several spellings that is there and not null.
    pub(super) fn any(&self, keys: &[&str]) -> Self {
        let found = keys.iter().find(|key| self.value.get(**key).is_some_and(|value| !value.is_null()));
        self.at(found.or(keys.first()).copied().unwrap_or_default())
    }

    /// The members of an array; none for anything else.
    pub(super) fn items(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let pointer = self.pointer.clone();
        let list: &'a [Value] = self.value.as_array().map_or(&[], Vec::as_slice);
        list.iter().enumerate().map(move |(n, value)| Field { value, pointer: format!("{pointer}/{n}") })
    }

    /// The members of an array, or the value itself where it is an object.
    pub(super) fn each(&self) -> Vec<Field<'a>> {
        if self.is_object() { vec![self.clone()] } else { self.items().collect() }
    }

    /// The string, unless it is empty.
    pub(super) fn text(&self) -> Option<&'a str> {
        self.value.as_str().filter(|text| !text.trim().is_empty())
    }

    /// The string as an owned one.
    pub(super) fn string(&self) -> Option<String> {
        self.text().map(str::to_owned)
    }

    /// The whole number, also where it is written as a string or with a fraction of zero.
    pub(super) fn number(&self) -> Option<i64> {
        match self.value {
            Value::Number(number) => number.as_i64().or_else(|| {
                let float = number.as_f64().filter(|f| f.abs() < 9.0e15 && f.fract() == 0.0)?;
                #[allow(clippy::cast_possible_truncation)]
                Some(float as i64)
            }),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// The number where it is not negative.
    pub(super) fn count(&self) -> Option<u64> {
        self.number().and_then(|number| u64::try_from(number).ok())
    }

    /// The truth value, also where it is written as a string.
    pub(super) fn flag(&self) -> Option<bool> {
        match self.value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
            Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        }
    }

    /// The moment written in RFC 3339. Go's zero time, year 1, means "never".
    pub(super) fn time(&self) -> Option<Stamp> {
        let text = self.text()?.trim();
        if text.starts_with("0001-") {
            return None;
        }
        Some(Stamp::Wall(Wall { at: text.parse().ok()?, zoned: true, dated: true }))
    }

    /// The moment counted since 1970 in parts of a second: 1 for seconds, 1 000 000 for microseconds. Zero means "never".
    pub(super) fn epoch(&self, parts: u64) -> Option<Stamp> {
        let count = self.count().filter(|count| *count > 0)?;
        let parts = parts.max(1);
        let nanos = count.checked_rem(parts)?.saturating_mul(1_000_000_000) / parts;
        let since = Duration::from_secs(count / parts).checked_add(Duration::from_nanos(nanos))?;
        let at = SystemTime::UNIX_EPOCH.checked_add(since)?.try_into().ok()?;
        Some(Stamp::Wall(Wall { at, zoned: true, dated: true }))
    }

    /// Whether the field is there and not null.
    pub(super) fn is_told(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether the value is an object.
    pub(super) fn is_object(&self) -> bool {
        self.value.is_object()
    }

    /// The members of an object with their names.
    pub(super) fn members(&self) -> Vec<(&'a str, Field<'a>)> {
        self.value.as_object().map_or_else(Vec::new, |map| {
            map.iter()
                .map(|(key, value)| {
                    let pointer = format!("{}/{}", self.pointer, key.replace('~', "~0").replace('/', "~1"));
                    (key.as_str(), Field { value, pointer })
                })
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_knows_its_pointer_and_survives_what_is_missing() {
        let document =
            serde_json::json!([{"a/b": {"n": "137"}, "t": "0001-01-01T00:00:00Z", "ns": 1_796_106_984_079_187_130_u64}]);
        let first = Field::root(&document).items().next().unwrap();
        let n = first.at("a/b").at("n");
        assert_eq!((n.pointer(), n.number()), ("/0/a~1b/n", Some(137)));
        assert_eq!(document.pointer(n.pointer()).and_then(Value::as_str), Some("137"));
        assert_eq!(first.at("x").at("y").items().count(), 0);
        assert_eq!(first.at("t").time(), None);
        let Some(Stamp::Wall(wall)) = first.at("ns").epoch(1_000_000_000) else { panic!("a time") };
        assert_eq!(wall.at.to_string(), "2026-12-01T06:36:24.07918713Z");
    }
}
