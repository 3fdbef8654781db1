//! `qacct -j` of Grid Engine: one finished job after another, below lines of equal signs.

use crate::fact::{How, Role, What, Who, Witness};
use crate::seen::Form;
use crate::units::Signal;

use super::{Reading, TextFormat, texts};

/// Sun, Univa and Son of Grid Engine, source/clients/qacct. `exit_status` is 128 + n for signal n.
pub(super) const FORMAT: TextFormat = TextFormat {
    id: "sge-qacct",
    starts: &["qname "],
    read,
    form: Form {
        name: "qacct -j (Grid Engine)",
        how: "qacct -j ID",
        proves: "exit code or signal of a job; h_vmem is a limit of address space and kills nobody",
    },
    samples: &[
        "==============================================================\nqname        all.q\nhostname     node7\nowner        ada\njobname      train\njobnumber    4711\nfailed       100 : assumedly after job\nexit_status  137                  (Killed)\nmaxvmem      31.997GB\n",
    ],
};

fn read(text: &str) -> Option<Reading> {
    let mut reading = Reading::default();
    let mut who: Option<Who> = None;
    for (number, line) in texts::numbered(text) {
        let Some((key, value)) = line.trim_start().split_once(' ') else { continue };
        let value = value.trim();
        match (key, &mut who) {
            ("qname", _) => who = Some(Who::role(Role::Job)),
            ("hostname", Some(who)) => who.host = Some(value.to_owned()),
            ("jobnumber", Some(who)) => who.job = Some(value.to_owned()),
            ("exit_status", Some(who)) => {
                let code = value.split([' ', '\t']).next().and_then(|code| code.parse::<i64>().ok());
                let Some(code) = code.filter(|code| *code != 0) else { continue };
                // The word in brackets is there only where the job died of a signal.
                let signal = value.contains('(').then(|| Signal::from_status(code)).flatten();
                let how = signal.map_or(How::Code(code), How::Signal);
                reading.say(Witness::Supervisor, number, who, None, What::Ended { how, hint: false }, line.trim());
            }
            _ => {}
        }
    }
    reading.told()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_and_its_signal_are_told() {
        let entry = &read(FORMAT.samples[0]).unwrap().entries[0];
        assert_eq!(entry.claim.what, What::Ended { how: How::Signal(Signal::KILL), hint: false });
        assert_eq!((entry.claim.who.job.as_deref(), entry.claim.who.host.as_deref()), (Some("4711"), Some("node7")));
        assert_eq!(read("exit_status  137\n"), None);
    }
}
