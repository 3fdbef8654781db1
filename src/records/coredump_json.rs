//! `coredumpctl list --json=short|pretty`: processes that dumped core.

use serde_json::Value;

use crate::fact::{How, What, Who, Witness};
use crate::seen::Form;
use crate::units::Signal;

use super::{Field, Format, Reading};

/// systemd 248 and later (src/coredump/coredumpctl.c); the pid is the host's.
pub(super) const FORMAT: Format = Format {
    id: "coredumpctl",
    sniff: |document: &Value| {
        document.get(0).is_some_and(|one| {
            ["time", "pid", "sig"].iter().all(|key| one.get(key).is_some_and(Value::is_number)) && one.get("corefile").is_some()
        })
    },
    read,
    form: Form { name: "coredumpctl (JSON)", how: "coredumpctl list --json=short", proves: "which process died of which signal" },
    samples: &[
        r#"[{"time":1796108154275160,"pid":343,"uid":0,"gid":0,"sig":7,"corefile":"present","exe":"/opt/hog","size":20486}]"#,
    ],
};

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    for dump in Field::root(document).items() {
        let sig = dump.at("sig");
        let Some(signal) = sig.count().and_then(|number| u8::try_from(number).ok()).filter(|n| *n > 0).map(Signal) else {
            continue;
        };
        let exe = dump.at("exe").text().unwrap_or_default();
        let process = exe.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned);
        let pid = dump.at("pid").count().and_then(|pid| u32::try_from(pid).ok());
        let text = format!("pid {}, sig {} ({signal}), exe {exe}", pid.unwrap_or_default(), signal.0);
        let what = What::Ended { how: How::Signal(signal), hint: false };
        reading.claim_by(Witness::Supervisor, &sig, &Who::host(pid, process), dump.at("time").epoch(1_000_000), what, text);
    }
    reading
}
