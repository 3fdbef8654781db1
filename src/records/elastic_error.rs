//! `error.json` of torchelastic: what `@record` wrote when a rank raised an exception.

use serde_json::Value;

use crate::fact::{Role, What, Who, Witness};
use crate::seen::Form;

use super::{Field, Format, Reading};

/// torch/distributed/elastic/multiprocessing/errors/error_handler.py, PyTorch 1.9 and later.
pub(super) const FORMAT: Format = Format {
    id: "torchelastic-error",
    sniff: |document: &Value| {
        document.pointer("/message/extraInfo").is_some_and(Value::is_object)
            && document.pointer("/message/message").is_some_and(Value::is_string)
    },
    read,
    form: Form {
        name: "torchelastic's error file (JSON)",
        how: "TORCHELASTIC_ERROR_FILE=/tmp/error.json torchrun …",
        proves: "the exception that ended a rank",
    },
    samples: &[
        r#"{"message":{"message":"RuntimeError: DataLoader worker (pid 12) is killed by signal: Killed.","extraInfo":{"py_callstack":"Traceback (most recent call last):\n  File \"train.py\", line 3, in main\nRuntimeError: DataLoader worker (pid 12) is killed by signal: Killed.\n","timestamp":"1796106984"}}}"#,
    ],
};

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    let outer = Field::root(document).at("message");
    let message = outer.at("message");
    let when = outer.at("extraInfo").at("timestamp").epoch(1);
    let who = Who::role(Role::Rank);
    if let Some(text) = message.text() {
        // The writer puts `<type>: <message>` together.
        let (kind, rest) = match text.split_once(": ") {
            Some((kind, rest)) if !kind.contains(char::is_whitespace) => (kind, rest),
            _ => ("", text),
        };
        if kind.is_empty() {
            reading.remark(&message, &who, when);
        } else {
            let what = What::Raised { kind: kind.to_owned(), message: rest.to_owned() };
            reading.claim_by(Witness::Program, &message, &who, when, what, text);
        }
    }
    reading.remark(&outer.at("extraInfo").at("py_callstack"), &who, when);
    reading
}
