//! Takes the records out of a document of many that stands on one line: answers of CloudWatch, Loki, Elasticsearch, Datadog.

use serde_json::{Value, json};

use super::Envelope;
use super::json::{moment, told};
use crate::time::Stamp;

/// The records of a document, each as a line of JSON, in the order of time.
pub(super) fn lines(document: &Value) -> Option<String> {
    let at = |pointer: &str| document.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice);
    let records: Vec<Value> = if let Some(streams) = at("/data/result") {
        streams.iter().flat_map(loki).collect()
    } else {
        let list = at("/hits/hits").or_else(|| at("/events")).or_else(|| at("/data")).or_else(|| at("/entries"));
        list.or(document.as_array().map(Vec::as_slice))?.to_vec()
    };
    let mut texts: Vec<(Option<Stamp>, String)> = records
        .iter()
        .filter_map(|record| {
            let mut envelope = Envelope::default();
            told(record, &mut envelope)?;
            Some((envelope.when, record.to_string()))
        })
        .collect();
    // Objects of other kinds may stand in a list with a record or two; a list of records has nothing else.
    if texts.is_empty() || texts.len() < records.len() {
        return None;
    }
    if newest_first(&texts) {
        texts.reverse();
    }
    let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
    Some(texts.join("\n"))
}

/// The entries of one stream of Loki, `{"stream":{…},"values":[["1796108140304207123","line"],…]}`.
fn loki(stream: &Value) -> Vec<Value> {
    let labels = stream.get("stream").cloned().unwrap_or_default();
    let values = stream.get("values").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let entry = |value: &Value| {
        let (time, line) = (value.get(0)?, value.get(1)?.as_str()?);
        moment(time)?;
        Some(json!({"labels": labels, "line": line, "timestamp": time}))
    };
    values.iter().filter_map(entry).collect()
}

/// Whether most records are older than the one before.
fn newest_first(texts: &[(Option<Stamp>, String)]) -> bool {
    let (mut falls, mut climbs) = (0, 0);
    for pair in texts.windows(2) {
        let [(Some(first), _), (Some(second), _)] = pair else { continue };
        falls += u32::from(second.before(*first) == Some(true));
        climbs += u32::from(first.before(*second) == Some(true));
    }
    falls > climbs
}

#[cfg(test)]
mod tests {
    use crate::line::tests::lines_in;

    #[test]
    fn records_come_out_in_the_order_of_time() {
        for text in [
            r#"{"status":"success","data":{"resultType":"streams","result":[{"stream":{"pod":"t-0"},"values":[["1796108141304207123","B"],["1796108140304207123","A"]]}]}}"#,
            r#"{"events":[{"timestamp":1796108140304,"message":"A","ingestionTime":1796108140400},{"timestamp":1796108141304,"message":"B"}],"nextForwardToken":"f"}"#,
            r#"{"took":5,"hits":{"total":{"value":2},"hits":[{"_source":{"@timestamp":"2026-12-01T06:55:41Z","message":"B"}},{"_source":{"@timestamp":"2026-12-01T06:55:40Z","message":"A"}}]}}"#,
            r#"{"data":[{"id":"x","type":"log","attributes":{"timestamp":"2026-12-01T06:55:40Z","message":"A\nB"}}]}"#,
            r#"[{"insertId":"a","textPayload":"A"},{"insertId":"b","textPayload":"B"}]"#,
            r#"{"events":[{"generated_at":"2026-12-01T06:55:40Z","source_name":"h","program":"train","message":"A"},{"message":"B","received_at":"2026-12-01T06:55:41Z"}]}"#,
        ] {
            let texts: Vec<_> = lines_in(text).into_iter().map(|line| line.text.into_owned()).collect();
            assert_eq!(texts, ["A", "B"], "{text}");
        }
        let loki = r#"{"data":{"result":[{"stream":{"pod":"t-0"},"values":[["1796108141304207123","B"]]}]}}"#;
        assert!(lines_in(loki).iter().all(|line| line.envelope.pod.as_deref() == Some("t-0") && line.envelope.when.is_some()));
    }

    #[test]
    fn other_documents_stay() {
        for text in [r#"{"data":[1,2]}"#, r#"[{"a":1}]"#, r#"{"events":[{"id":1}]}"#, r#"{"data":{"result":[]}}"#] {
            assert_eq!(lines_in(text).first().map(|line| line.text.clone().into_owned()).as_deref(), Some(text));
        }
    }
}
