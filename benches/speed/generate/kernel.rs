//! A kernel log of a busy machine: whole out-of-memory reports as Linux 6.18 prints them, each in another container, between
//! the lines of network interfaces, audit and file systems.

use std::io::Write;

use crate::dice::Dice;
use crate::{Due, Writer};

/// A report from a real machine; its pids, its cgroup and its times are replaced.
const REPORT: &str = include_str!("../../../fixtures/oom-kill/torch-oom-anon-215/dmesg.txt");

/// The pid of the victim in it, and its cgroup.
const VICTIM: &str = "19300";
const CGROUP: &str = "/sizing-18854";

/// The head of the task table; more tasks are put below it.
const TABLE: &str = "[  pid  ]";

/// Programs that a node runs.
const PROGRAMS: [&str; 8] =
    ["python3.11", "pt_data_worker", "containerd-shim", "pause", "bash", "kubelet", "sshd", "dcgm-exporter"];

/// The time since boot.
pub(crate) struct Kernel {
    dice: Dice,
    micros: u64,
}

impl Kernel {
    /// A machine that has just started.
    pub(crate) fn new(dice: Dice) -> Self {
        Self { dice, micros: 4_000_000 }
    }

    fn stamp(&mut self, out: &mut Vec<u8>) -> std::io::Result<()> {
        write!(out, "[{:5}.{:06}] ", self.micros / 1_000_000, self.micros % 1_000_000)
    }

    fn report(&mut self, out: &mut Vec<u8>) -> std::io::Result<()> {
        let pid = self.dice.between(10_000, 99_999).to_string();
        let (pod, container) = (self.dice.bits(), [self.dice.bits(), self.dice.bits(), self.dice.bits(), self.dice.bits()]);
        let id: String = container.iter().map(|part| format!("{part:016x}")).collect();
        let cgroup = format!("/kubepods.slice/kubepods-pod{pod:016x}.slice/cri-containerd-{id}.scope");
        for line in REPORT.lines() {
            let text = line.split_once("] ").map_or(line, |(_, text)| text);
            self.micros += self.dice.between(1, 20);
            self.stamp(out)?;
            writeln!(out, "{}", text.replace(VICTIM, &pid).replace(CGROUP, &cgroup))?;
            if text.starts_with(TABLE) {
                for _ in 0..self.dice.between(3, 200) {
                    self.task(out)?;
                }
            }
        }
        Ok(())
    }

    fn task(&mut self, out: &mut Vec<u8>) -> std::io::Result<()> {
        self.micros += 3;
        self.stamp(out)?;
        let (pid, total, rss) = (self.dice.between(100, 9_999), self.dice.below(900_000), self.dice.below(90_000));
        let (files, tables, name) = (rss / 4, total * 3, self.dice.one_of(&PROGRAMS));
        let anonymous = rss - files;
        writeln!(
            out,
            "[{pid:7}]     0 {pid:5} {total:8} {rss:8} {anonymous:8} {files:8}        0 {tables:13}        0             0 {name}"
        )
    }

    fn ordinary(&mut self, out: &mut Vec<u8>) -> std::io::Result<()> {
        self.micros += self.dice.between(10_000, 4_000_000);
        self.stamp(out)?;
        let (a, b) = (self.dice.below(1 << 28), self.dice.below(60_000));
        match self.dice.below(6) {
            0 => writeln!(out, "docker0: port {}(veth{a:07x}) entered blocking state", b % 90),
            1 => writeln!(out, "eth0: renamed from veth{a:07x}"),
            2 => writeln!(
                out,
                "audit: type=1400 audit(1796018400.{}:{b}): apparmor=\"STATUS\" operation=\"profile_load\"",
                b % 999
            ),
            3 => writeln!(out, "EXT4-fs (nvme0n1p1): mounted filesystem {a:08x} r/w with ordered data mode. Quota mode: none."),
            4 => writeln!(out, "IPv6: ADDRCONF(NETDEV_CHANGE): veth{a:07x}: link becomes ready"),
            _ => writeln!(out, "nvidia-uvm: Loaded the UVM driver, major device number {}.", b % 512),
        }
    }
}

impl Writer for Kernel {
    fn write(&mut self, _: Due, out: &mut Vec<u8>) {
        // A report is 8 to 24 KB, and some 270 other lines of 90 bytes stand between two of them.
        let written = if self.dice.below(270) == 0 { self.report(out) } else { self.ordinary(out) };
        written.expect("memory takes all");
    }
}
