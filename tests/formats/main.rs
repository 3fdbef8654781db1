//! Reports made by hand, through every format, against `tests/formats/`. `BLESS=1 cargo test --test formats` writes them anew.

mod made;

use std::fs;
use std::path::Path;

use coroner::report::{Format, Incident, Report, Series, Style, Tally, write};
use made::all;

fn rendered(report: &Report, format: Format, style: &Style) -> String {
    let mut out = Vec::new();
    write(report, format, style, &mut out).expect("memory takes every byte");
    String::from_utf8(out).expect("reports are UTF-8")
}

#[test]
fn every_report_looks_as_it_did_in_every_format() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut changed = Vec::new();
    for (name, report) in all() {
        for format in Format::ALL {
            let text = rendered(&report, *format, &Style::default());
            let path = folder.join(format!("{name}.{}.txt", format.name()));
            if std::env::var_os("BLESS").is_some() {
                fs::write(&path, &text).unwrap();
            } else if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                changed.push(format!("{}:\n{text}", path.display()));
            }
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

#[test]
fn nothing_hostile_reaches_the_screen() {
    for (name, report) in all() {
        for format in Format::ALL {
            let text = rendered(&report, *format, &Style::default());
            let bad = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{202d}\u{2028}\u{feff}".contains(c);
            assert!(!text.contains(bad), "{name} {}", format.name());
        }
    }
}

#[test]
fn a_screen_is_enough_for_one_death() {
    for (name, report) in all() {
        let text = rendered(&report, Format::Human, &Style::default());
        assert!(text.lines().count() <= 40, "{name} takes {} lines", text.lines().count());
        for line in text.lines() {
            assert!(line.chars().count() <= 100 || line.contains("  docker"), "{name}: {line}");
            assert_eq!(line, line.trim_end(), "{name}");
        }
        let colored = rendered(&report, Format::Human, &Style { color: true, width: 100 });
        assert!(name == "nothing" || colored.contains("\x1b[1;3"), "{name}");
        rendered(&report, Format::Human, &Style { color: false, width: 0 });
    }
}

#[test]
fn json_obeys_its_schema_and_the_schema_names_every_field() {
    let schema: serde_json::Value = serde_json::from_str(include_str!("../../src/report/report.schema.json")).unwrap();
    let mut closed = schema.clone();
    close(&mut closed);
    let (open, closed) = (jsonschema::validator_for(&schema).unwrap(), jsonschema::validator_for(&closed).unwrap());
    for (name, report) in all() {
        let mut document: serde_json::Value = serde_json::from_str(&rendered(&report, Format::Json, &Style::default())).unwrap();
        let errors: Vec<String> = closed.iter_errors(&document).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        document["verdict"]["cause"] = "a-new-cause".into();
        document["a-new-field"] = 1.into();
        assert!(open.is_valid(&document), "{name}");
        document["verdict"]["class"] = 7.into();
        assert!(!open.is_valid(&document), "{name}");
    }
    assert!(open.is_valid(&serde_json::json!({"schema": "coroner.report/1", "deaths": [{"memory": null}]})));
}

#[test]
fn sarif_obeys_its_schema() {
    // The parts of the published schema that name what is written; everything else is forbidden there, as in the whole.
    let schema: serde_json::Value = serde_json::from_str(include_str!("sarif-2.1.0.part.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for (name, report) in all() {
        let document: serde_json::Value = serde_json::from_str(&rendered(&report, Format::Sarif, &Style::default())).unwrap();
        let errors: Vec<String> = schema.iter_errors(&document).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert_eq!(document["runs"][0]["results"].as_array().map(Vec::len), Some(report.deaths.len()), "{name}");
    }
}

#[test]
fn machines_can_read_every_format() {
    for (name, report) in all() {
        for format in [Format::Json, Format::Ndjson, Format::Gitlab, Format::Sarif] {
            let text = rendered(&report, format, &Style::default());
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{name} {}", format.name());
        }
        let lines = rendered(&report, Format::Ndjson, &Style::default()).lines().count();
        assert_eq!(lines, 1, "{name}");
        let issues = rendered(&report, Format::Gitlab, &Style::default());
        let issues: Vec<serde_json::Value> = serde_json::from_str(&issues).unwrap();
        let prints: std::collections::HashSet<_> = issues.iter().map(|issue| issue["fingerprint"].to_string()).collect();
        assert_eq!(prints.len(), report.deaths.len() + report.lost().count(), "{name}: fingerprints are unique");
        for line in rendered(&report, Format::Github, &Style::default()).lines() {
            assert!(["::error ", "::warning ", "::notice "].iter().any(|level| line.starts_with(level)), "{name}: {line}");
        }
    }
}

#[test]
fn the_page_needs_no_network_and_no_script() {
    for (name, report) in all() {
        let page = rendered(&report, Format::Html, &Style::default());
        for outside in ["<script", "http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{name} has {outside}");
        }
        let svg = page.matches("<svg").count();
        assert!(svg <= 1 && page.ends_with("</html>\n"), "{name}");
    }
}

#[test]
fn every_format_is_known_as_a_report() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    for name in all().into_iter().map(|(name, _)| name).chain(["many"]) {
        for format in Format::ALL {
            let text = fs::read(folder.join(format!("{name}.{}.txt", format.name()))).unwrap();
            assert!(coroner::read::own::is_report(&text), "{name} {}", format.name());
        }
    }
    for format in Format::ALL {
        let mut none = Vec::new();
        Series::new(*format, &Style::default()).end(&Tally::default(), &mut none).unwrap();
        assert!(none.is_empty() || coroner::read::own::is_report(&none), "{}", format.name());
    }
}

#[test]
fn many_incidents_make_one_document_in_every_format() {
    for format in Format::ALL {
        let mut out = Vec::new();
        let mut series = Series::new(*format, &Style::default());
        let mut tally = Tally::default();
        for (name, report) in all() {
            tally.add(&report);
            series.incident(Incident { name, report: &report }, &mut out).unwrap();
        }
        series.end(&tally, &mut out).unwrap();
        let text = String::from_utf8(out).expect("reports are UTF-8");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/formats/many.{}.txt", format.name()));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some(&*text), "{}", path.display());
        match format {
            Format::Json | Format::Gitlab | Format::Sarif => assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok()),
            Format::Ndjson => assert_eq!(text.lines().count(), all().len()),
            _ => {}
        }
        let mut none = Vec::new();
        Series::new(*format, &Style::default()).end(&Tally::default(), &mut none).unwrap();
        let text = String::from_utf8(none).expect("reports are UTF-8");
        if matches!(format, Format::Json | Format::Gitlab | Format::Sarif) {
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        }
    }
}

/// Forbids fields that the schema does not name, which readers must accept but the program must not write.
fn close(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(fields) => {
            if fields.get("type").is_some_and(|kind| kind == "object") && fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
            fields.values_mut().for_each(close);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
