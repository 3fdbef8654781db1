//! Takes one-line JSON envelopes off: journald, Docker's json-file, log shippers and clouds, and programs that log in JSON.

use serde_json::{Map, Value};

use super::journal::Entry;
use super::open::Rest;
use super::{Envelope, documents};
use crate::time::Stamp;

/// Where writers put the time.
const TIMES: [&str; 13] = [
    "time",
    "@timestamp",
    "timestamp",
    "ts",
    "asctime",
    "datetime",
    "date",
    "eventTime",
    "receiveTimestamp",
    "ingestionTime",
    // Papertrail and Splunk.
    "generated_at",
    "received_at",
    "_time",
];

/// Where writers put the text, the likeliest first.
pub(super) const TEXTS: [&str; 10] =
    ["log", "textPayload", "message", "msg", "line", "@message", "MESSAGE", "short_message", "_raw", "body"];

/// What else shows that an object is a line of a log: a training sample may have a `message` too.
const MARKS: [&str; 16] = [
    "stream",
    "level",
    "severity",
    "levelname",
    "log.level",
    "lvl",
    "kubernetes",
    "logName",
    "insertId",
    "labels",
    "logger",
    "pri",
    // FireLens, Docker's drivers and stern's `-o json`.
    "container_id",
    "container_name",
    "ecs_task_arn",
    "podName",
];

/// Reads an object that fills the line.
pub(super) fn object<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    if !text.trim_end().ends_with('}') {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    told(&value, envelope).or_else(|| documents::lines(&value)).map(Rest::Made)
}

/// Reads a list of records that fills the line.
pub(super) fn list<'a>(text: &'a str) -> Option<Rest<'a>> {
    if !(text.starts_with("[{") && text.trim_end().ends_with("}]")) {
        return None;
    }
    documents::lines(&serde_json::from_str(text).ok()?).map(Rest::Made)
}

/// The message of a record; what else it tells goes into the envelope.
pub(super) fn told(value: &Value, envelope: &mut Envelope) -> Option<String> {
    read(value.as_object()?, envelope, 0)
}

/// The message of an object; what else it tells goes into the envelope.
fn read(object: &Map<String, Value>, envelope: &mut Envelope, depth: u8) -> Option<String> {
    if let Some(message) = object.get("MESSAGE") {
        return journald(object, message, envelope);
    }
    if let Some(Value::Array(records)) = object.get("dmesg").filter(|_| object.len() == 1) {
        return Some(dmesg(records));
    }
    // A hit of Elasticsearch, an event of Datadog and a result of Splunk hold the document.
    for key in ["_source", "content", "attributes", "result"] {
        if let Some(Value::Object(inner)) = object.get(key).filter(|_| depth < 2)
            && let Some(message) = read(inner, envelope, depth + 1)
        {
            return Some(message);
        }
    }
    // Kubernetes objects are exit documents, not envelopes.
    if object.contains_key("apiVersion") && object.contains_key("kind") {
        return None;
    }
    let time = TIMES.iter().find_map(|key| moment(object.get(*key)?));
    if time.is_none() && !MARKS.iter().any(|mark| object.contains_key(*mark)) {
        return None;
    }
    let mut message = message(object)?;
    if let Some(time) = time {
        envelope.saw(time);
    }
    names(object, envelope);
    for key in ["exc_info", "exception", "stack_trace", "stacktrace", "stack"] {
        if let Some(Value::String(more)) = object.get(key) {
            message.push('\n');
            message.push_str(more);
        }
    }
    let end = message.trim_end_matches(['\n', '\r']).len();
    message.truncate(end);
    Some(message)
}

/// The text of a log object, by the names that writers give it.
fn message(object: &Map<String, Value>) -> Option<String> {
    if let Some(Value::Object(payload)) = object.get("jsonPayload") {
        return message(payload);
    }
    for key in TEXTS {
        match object.get(key) {
            Some(Value::String(text)) => return Some(text.clone()),
            // Some shippers parse an inner JSON line.
            Some(Value::Object(inner)) => {
                if let Some(text) = ["message", "msg", "log"].iter().find_map(|key| inner.get(*key)?.as_str()) {
                    return Some(text.to_owned());
                }
            }
            _ => {}
        }
    }
    // structlog's name for the message, too common a word to be believed alone.
    object.get("event").filter(|_| object.contains_key("level"))?.as_str().map(str::to_owned)
}

/// A moment as text, or as seconds, milli-, micro- or nanoseconds since 1970.
///
/// The nanoseconds of Loki are text.
pub(super) fn moment(value: &Value) -> Option<Stamp> {
    match value {
        Value::String(text) => Stamp::parse(text).or_else(|| epoch(text.parse().ok()?)),
        Value::Number(number) => epoch(number.as_f64()?),
        _ => None,
    }
}

/// A number since 1970; its size tells the unit, as all moments of logs lie between 2001 and 2096.
fn epoch(number: f64) -> Option<Stamp> {
    let micros = match number {
        1e9..4e9 => number * 1e6,
        1e12..4e12 => number * 1e3,
        1e15..4e15 => number,
        1e18..4e18 => number / 1e3,
        _ => return None,
    };
    #[allow(clippy::cast_possible_truncation)]
    Stamp::from_unix_micros(micros as i64)
}

/// Whose line it is, in the words of Docker's labels, fluent-bit, Elastic and Google Cloud.
fn names(object: &Map<String, Value>, envelope: &mut Envelope) {
    let at = |path: [&str; 2]| object.get(path[0])?.get(path[1])?.as_str().map(str::to_owned);
    let flat = |key: &str| object.get(key)?.as_str().map(str::to_owned);
    let deep = |path: [&str; 3]| object.get(path[0])?.get(path[1])?.get(path[2])?.as_str().map(str::to_owned);
    let pod = at(["kubernetes", "pod_name"])
        .or_else(|| deep(["kubernetes", "pod", "name"]))
        .or_else(|| deep(["resource", "labels", "pod_name"]))
        .or_else(|| at(["labels", "pod"]))
        .or_else(|| flat("pod_name"))
        .or_else(|| flat("podName"));
    // ECS has ids of its own that no engine knows.
    let engine = |id: &String| id.len() >= 12 && id.bytes().all(|b| b.is_ascii_hexdigit());
    let container = at(["kubernetes", "docker_id"])
        .or_else(|| at(["container", "id"]))
        .or_else(|| flat("container_id").filter(engine))
        .or_else(|| at(["kubernetes", "container_name"]))
        .or_else(|| deep(["kubernetes", "container", "name"]))
        .or_else(|| deep(["resource", "labels", "container_name"]))
        .or_else(|| at(["labels", "container"]))
        .or_else(|| flat("container_name"))
        .or_else(|| flat("containerName"))
        .or_else(|| flat("container_id"))
        .map(|name| name.trim_start_matches('/').to_owned());
    let host = at(["kubernetes", "host"])
        .or_else(|| at(["host", "name"]))
        .or_else(|| deep(["kubernetes", "node", "name"]))
        .or_else(|| ["host", "hostname", "nodeName", "source_name", "node"].iter().find_map(|key| flat(key)))
        .or_else(|| ["node", "hostname", "node_name"].iter().find_map(|key| at(["labels", key])));
    let rank = object.get("rank").and_then(Value::as_u64).and_then(|rank| u32::try_from(rank).ok());
    envelope.rank = rank.or(envelope.rank);
    envelope.pod = pod.or(envelope.pod.take());
    envelope.container = container.or(envelope.container.take());
    envelope.host = host.or(envelope.host.take());
}

/// A field of journald's JSON: a string, an array of bytes where it is no UTF-8, or an array of values.
fn field(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) if items.iter().all(Value::is_u64) => {
            let bytes: Vec<u8> = items.iter().filter_map(|item| u8::try_from(item.as_u64()?).ok()).collect();
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        Value::Array(items) => items.first().and_then(field),
        _ => None,
    }
}

/// An entry of `journalctl -o json`.
fn journald(object: &Map<String, Value>, message: &Value, envelope: &mut Envelope) -> Option<String> {
    let known = ["__REALTIME_TIMESTAMP", "_TRANSPORT", "PRIORITY", "__CURSOR", "SYSLOG_IDENTIFIER", "_BOOT_ID"];
    if !known.iter().any(|key| object.contains_key(*key)) {
        return None;
    }
    let mut entry = Entry::default();
    for (key, value) in object.iter().filter(|(key, _)| *key != "MESSAGE") {
        if let Some(value) = field(value) {
            entry.field(key, &value);
        }
    }
    *envelope = entry.into_envelope(envelope);
    // An entry without a text (`null` for an overlong field) is still an entry.
    Some(field(message).unwrap_or_default())
}

/// The document of `dmesg -J` on one line, turned into the lines that `dmesg -r` would have printed.
fn dmesg(records: &[Value]) -> String {
    let mut text = String::new();
    for record in records {
        let message = record.get("msg").and_then(Value::as_str).unwrap_or_default();
        let time = record.get("time").and_then(Value::as_f64).unwrap_or_default();
        let priority = record.get("pri").and_then(Value::as_u64).map_or_else(String::new, |pri| format!("<{pri}>"));
        for line in message.split('\n') {
            text.push_str(&format!("{priority}[{time:12.6}] {line}\n"));
        }
    }
    text.trim_end_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use crate::line::peel;
    use crate::time::Stamp;

    #[test]
    fn messages_are_found_in_the_objects_of_many_writers() {
        for (text, expected) in [
            (r#"{"log":"Killed\n","stream":"stderr","time":"2026-12-01T06:55:40.304207123Z"}"#, "Killed"),
            (r#"{"log":"\u001b[31mKilled\u001b[0m\r\n","stream":"stderr","time":"2026-12-01T06:55:40Z"}"#, "Killed"),
            (r#"{"date":1796108140.3,"log":"2026-12-01T06:55:40.3Z stdout F Killed","kubernetes":{"pod_name":"p"}}"#, "Killed"),
            (r#"{"@timestamp":"2026-12-01T06:55:40Z","message":"Killed"}"#, "Killed"),
            (r#"{"_index":"i","_source":{"@timestamp":"2026-12-01T06:55:40Z","message":"Killed"}}"#, "Killed"),
            (r#"{"insertId":"a","timestamp":"2026-12-01T06:55:40Z","textPayload":"Killed"}"#, "Killed"),
            (r#"{"insertId":"a","timestamp":"2026-12-01T06:55:40Z","jsonPayload":{"message":"Killed"}}"#, "Killed"),
            (r#"{"timestamp":1796108140304,"message":"Killed","ingestionTime":1796108140400}"#, "Killed"),
            (r#"{"labels":{"pod":"p"},"line":"Killed","timestamp":"2026-12-01T06:55:40Z"}"#, "Killed"),
            (r#"{"level":"info","msg":"Killed"}"#, "Killed"),
            (r#"{"source":"stderr","log":"Killed","container_id":"0a1b-15","container_name":"train"}"#, "Killed"),
            (r#"{"id":"A","content":{"timestamp":"2026-12-01T06:55:40Z","host":"h","message":"Killed"}}"#, "Killed"),
            (r#"{"preview":false,"result":{"_raw":"Killed","_time":"2026-12-01T06:55:40Z"}}"#, "Killed"),
            (r#"{"message":"Killed","nodeName":"n","podName":"p","containerName":"c"}"#, "Killed"),
            (r#"{"levelname":"ERROR","message":"x","exc_info":"Traceback\nKeyError: 1"}"#, "x\nTraceback\nKeyError: 1"),
            (r#"{"MESSAGE":[75,105,108,108,101,100],"_TRANSPORT":"stdout"}"#, "Killed"),
            (r#"{"dmesg":[{"pri":3,"time":61.7,"msg":"a\nb"}]}"#, "<3>[   61.700000] a\n<3>[   61.700000] b"),
        ] {
            assert_eq!(peel(text, 1).text, expected, "{text}");
        }
    }

    #[test]
    fn other_objects_stay() {
        for text in [
            r#"{"message":"Bus error","label":3}"#,
            r#"{"kind":"Event","apiVersion":"v1","message":"Killed","timestamp":"2026-12-01T06:55:40Z"}"#,
            r#"{"status":"oom","id":"6dceaf01","time":1796108140}"#,
            r#"{"a":1"#,
            "{}",
            "{not json}",
        ] {
            assert_eq!(peel(text, 1).text, text);
        }
    }

    #[test]
    fn the_journal_tells_who_and_when() {
        let line = peel(
            r#"{"PRIORITY":"3","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"Out of memory","_SOURCE_MONOTONIC_TIMESTAMP":"54717291","__MONOTONIC_TIMESTAMP":"54770140","__REALTIME_TIMESTAMP":"1796108140304207","_TRANSPORT":"kernel","_HOSTNAME":"node1"}"#,
            1,
        );
        assert_eq!(line.text, "Out of memory");
        assert_eq!(line.envelope.kernel, Some(true));
        assert_eq!(line.envelope.boot, Some(Stamp::Boot(54_717_291)));
        assert_eq!(line.envelope.when, Stamp::parse("2026-12-01T06:55:40.304207Z"));
        assert_eq!((line.envelope.host.as_deref(), line.envelope.program.as_deref()), (Some("node1"), Some("kernel")));
        let line =
            peel(r#"{"MESSAGE":"x","_TRANSPORT":"journal","UNIT":"train.service","_SYSTEMD_UNIT":"init.scope","_PID":"1"}"#, 1);
        assert_eq!(line.envelope.unit.as_deref(), Some("train.service"));
        assert_eq!((line.envelope.kernel, line.envelope.speaker), (Some(false), Some(1)));
        let line =
            peel(r#"{"date":1796108140.3,"log":"x","kubernetes":{"pod_name":"p-0","docker_id":"abc","container_name":"c"}}"#, 1);
        assert_eq!((line.envelope.pod.as_deref(), line.envelope.container.as_deref()), (Some("p-0"), Some("abc")));
    }
}
