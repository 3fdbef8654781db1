#!/usr/bin/env python3
"""Times `coroner` beside the programs that people would search a log with, on logs made for it, and prints one Markdown table.

    python3 benches/speed/compare.py                      a training log of 1 GiB, some minutes
    python3 benches/speed/compare.py --size 64m --runs 3  a quick look
    python3 benches/speed/compare.py --only one-core,pipe some parts of the table
    python3 benches/speed/compare.py --record             writes RESULTS.md and the README's table as well

Builds `coroner` and the generator of logs in release, writes the logs into a temporary folder, and deletes it at the end.  Whole
processes are measured from outside: wall time from start to end, user and system time and the largest resident size as the kernel
counts them.  Files are in the page cache.  The commands of one part run in turn, round after round, so that a busy neighbour meets
all of them; medians are shown.  A peer that is not installed is named as missing.
"""
import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple, Optional

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PHRASES = HERE / "phrases.txt"
RESULTS, README = HERE / "RESULTS.md", ROOT / "README.md"
# Between them stands the short table in the README.
BEGIN, END = "<!-- speed:begin -->", "<!-- speed:end -->"
MIB = 1 << 20
# What the generator puts into a training log, unless told otherwise.
DEATHS = 10
# Programs whose output is as large as the input; it is thrown away.
COPIERS = {"cat", "gzip", "zstd"}
HEAD = "| input | command | cores | wall s | CPU s | speed | peak MiB | coroner / this: wall | CPU |\n"
HEAD += "|---|---|---|---|---|---|---|---|---|"


def size(text):
    """64m or 1g as bytes."""
    found = re.fullmatch(r"(\d+)([kmg])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is no size; a right one is 512m or 1g")
    return int(found[1]) << {"k": 10, "m": 20, "g": 30}[found[2]]


def stems():
    """The literals that the patterns need, one of which stands in every line that is read; taken from their tables."""
    found = set()
    for file in sorted((ROOT / "src/patterns").glob("*.rs")):
        text = file.read_text()
        lists = dict(re.findall(r"const (\w+): &\[&str\] = &\[(.*?)\];", text, re.S))
        for inline, name in re.findall(r"\bstems: (?:&\[(.*?)\]|(\w+)),", text, re.S):
            for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', inline or lists.get(name, "")):
                found.add(re.sub(r'\\(["\\])', r"\1", literal))
    if not found:
        sys.exit("no stems were found in src/patterns: its tables are written otherwise than this script reads them")
    return sorted(found)


class Run:
    """What one process took."""

    def __init__(self, command, cores, limit, output):
        os.sched_setaffinity(0, cores)
        self.late = False
        with open(os.devnull if Path(command[0]).name in COPIERS else output, "wb") as sink:
            begin = time.perf_counter()
            null = subprocess.DEVNULL
            child = subprocess.Popen(command, stdin=null, stdout=sink, stderr=null, start_new_session=True)
            alarm = threading.Timer(limit, self.stop, [child.pid])
            alarm.start()
            _, status, usage = os.wait4(child.pid, 0)
            self.wall = time.perf_counter() - begin
            alarm.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        self.status = child.returncode
        self.cpu = usage.ru_utime + usage.ru_stime

    def stop(self, group):
        self.late = True
        os.killpg(group, signal.SIGKILL)


class Result(NamedTuple):
    """What a command of a part took; medians."""

    label: str
    name: str
    cores: int
    bytes: int
    late: bool
    wall: float
    cpu: float
    peak: Optional[int]
    ratio: float
    cpu_ratio: float

    def speed(self):
        """Millions of bytes in a second, or the milliseconds of a small input."""
        if self.late:
            return "over the limit"
        return f"{self.bytes / self.wall / 1e6:,.0f} MB/s" if self.bytes >= MIB else f"{self.wall * 1000:.1f} ms"

    def mebibytes(self):
        return "-" if self.peak is None else f"{self.peak / 1024:.1f}"

    def command(self):
        return f"`{self.name}`".replace("|", "\\|")

    def row(self):
        """A row of the whole table."""
        digits = 3 if self.wall >= 0.1 else 4
        ratios = "- | -" if self.late else f"{self.ratio:.2f} | {self.cpu_ratio:.2f}"
        return (f"| {self.label} | {self.command()} | {self.cores} | {'> ' if self.late else ''}{self.wall:.{digits}f} "
                f"| {self.cpu:.{digits}f} | {self.speed()} | {self.mebibytes()} | {ratios} |")


def shown(bytes_):
    """1073741824 as 1 GiB."""
    for unit, name in ((1 << 30, "GiB"), (MIB, "MiB"), (1 << 10, "KiB")):
        if bytes_ >= unit:
            return f"{bytes_ / unit:g} {name}"
    return f"{bytes_} B"


def summary(parts):
    """The table of the README: coroner, and the first command beside it, in each part."""
    lines = ["| input | cores | coroner | peak MiB | beside it | | wall of coroner / of that |", "|---|---|---|---|---|---|---|"]
    for first, *others in parts:
        line = f"| {first.label} | {first.cores} | {first.speed()} | {first.mebibytes()} "
        peer = others[0] if others else None
        alike = peer and peer.name == first.name
        beside = peer and ("itself on one core" if alike else peer.command())
        lines.append(line + (f"| {beside} | {peer.speed()} | {peer.ratio:.2f} |" if peer else "| | | |"))
    return lines


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.cores = sorted(os.sched_getaffinity(0))
        self.missing, self.made, self.parts = set(), [], []
        self.output = folder / "output"
        self.stems = folder / "stems.txt"
        self.stems.write_text("\n".join(stems()) + "\n")

    def make(self, name, kind, bytes_, seed=1, **more):
        """Generates a log, unless it is there; into the page cache, too."""
        path = self.folder / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            command = [self.options.generate, "--kind", kind, "--size", str(bytes_), "--seed", str(seed), "-o", path]
            for key, value in more.items():
                command += [f"--{key}", str(value)]
            said = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr.strip()
            if seed <= 2:
                self.made.append(f"| {name} | {kind} | {said.replace('fnv1a ', '| ')} |")
        return path

    def peak(self, command, limit):
        """The largest resident size in KiB, by GNU time: a child of Python would count Python's own pages before it starts."""
        if not shutil.which("time"):
            self.missing.add("time")
            return None
        said = self.folder / "peak"
        run = Run([shutil.which("time"), "-f", "%M", "-o", said, *command], set(self.cores), limit, self.output)
        return None if run.late else int(said.read_text().split()[-1])

    def part(self, label, bytes_, commands):
        """Runs the commands of a part in turn; a command is (its name, its words, its cores).  The first one is coroner."""
        label, ready = f"{label}, {shown(bytes_)}", []
        for name, words, cores in commands:
            program = words[-1].rpartition("| ")[2].split()[0] if words[0] == "sh" else words[0]
            if shutil.which(program):
                ready.append((name, [str(word) for word in words], cores))
            else:
                self.missing.add(program)
        runs = {row[0] + str(row[2]): [] for row in ready}
        for turn in range(self.options.runs + 1):
            for name, words, cores in ready:
                kept = runs[name + str(cores)]
                if kept and kept[-1].late:
                    continue
                run = Run(words, set(self.cores[:cores]), self.options.limit, self.output)
                if not run.late and (run.status not in (0, 1) or b"inary file" in self.output.read_bytes()[-200:]):
                    sys.exit(f"{name} ended with {run.status}, or before the end of the log")
                # The first round warms up.
                if turn or run.late:
                    kept.append(run)
        results = []
        for name, words, cores in ready:
            kept = runs[name + str(cores)]
            late = kept[-1].late
            wall, cpu = (statistics.median(getattr(run, what) for run in kept) for what in ("wall", "cpu"))
            peak = None if late else self.peak(words, self.options.limit)
            first = results[0] if results else None
            ratios = (first.wall / wall, first.cpu / cpu) if first else (1, 1)
            results.append(Result(label, name, min(cores, len(self.cores)), bytes_, late, wall, cpu, peak, *ratios))
            print(results[-1].row(), flush=True)
        self.parts.append(results)

    # The parts of the table, by name.

    def one_core(self):
        log, coroner = self.make("training.log", "training", self.options.size), self.options.coroner
        report = subprocess.run([coroner, "--format", "json", log], check=True, stdout=subprocess.PIPE).stdout
        told = len(json.loads(report)["deaths"])
        if told < DEATHS:
            sys.exit(f"coroner tells of {told} deaths in a log that holds {DEATHS}: its speed means nothing")
        self.part("training log", self.options.size, [
            ("coroner FILE", [coroner, log], 1),
            ("rg -F -n -f phrases", ["rg", "-F", "-n", "-f", PHRASES, log], 1),
            ("rg -F -n -f stems", ["rg", "-F", "-n", "-f", self.stems, log], 1),
            ("grep -F -n -f phrases", ["grep", "-F", "-n", "-f", PHRASES, log], 1),
            ("wc -l", ["wc", "-l", log], 1),
            ("cat", ["cat", log], 1),
        ])

    def two_cores(self):
        log, coroner = self.make("training.log", "training", self.options.size), self.options.coroner
        self.part("training log, two cores", self.options.size, [
            ("coroner FILE", [coroner, log], 2),
            ("coroner FILE", [coroner, log], 1),
            ("rg -F -n -f phrases", ["rg", "-F", "-n", "-f", PHRASES, log], 2),
        ])

    def folder_of_files(self):
        for part in range(16):
            self.make(f"folder/rank{part}.log", "training", self.options.size // 16, seed=part + 2, deaths=1)
        folder, coroner = self.folder / "folder", self.options.coroner
        self.part("16 training logs", self.options.size, [
            ("coroner scan --group file FOLDER", [coroner, "scan", "--group", "file", folder], 2),
            ("coroner scan --group file FOLDER", [coroner, "scan", "--group", "file", folder], 1),
            ("rg -F -n -f phrases FOLDER", ["rg", "-F", "-n", "-f", PHRASES, folder], 2),
        ])

    def pipe(self):
        log, coroner = self.make("training.log", "training", self.options.size), self.options.coroner
        self.part("training log, through a pipe", self.options.size, [
            ("cat FILE | coroner -", ["sh", "-c", f"cat {log} | {coroner} -"], 2),
            ("cat FILE | rg -F -n -f phrases", ["sh", "-c", f"cat {log} | rg -F -n -f {PHRASES}"], 2),
            ("cat FILE | wc -l", ["sh", "-c", f"cat {log} | wc -l"], 2),
        ])

    def packed(self):
        plain = self.options.size // 4
        log, coroner = self.make("quarter.log", "training", plain), self.options.coroner
        for tool, end in (("gzip", "gz"), ("zstd", "zst")):
            packed = log.with_suffix(f".log.{end}")
            if not shutil.which(tool):
                self.missing.add(tool)
                continue
            subprocess.run([tool, "-q", "-k", "-f", log], check=True)
            self.part(f"training log in {tool}", plain, [
                ("coroner FILE", [coroner, packed], 2),
                (f"{tool} -dc", [tool, "-dc", packed], 2),
                (f"{tool} -dc | rg -F -n -f phrases", ["sh", "-c", f"{tool} -dc {packed} | rg -F -n -f {PHRASES}"], 2),
                ("coroner FILE", [coroner, packed], 1),
            ])
            packed.unlink()

    def kernel(self):
        bytes_ = self.options.size // 4
        log, coroner = self.make("kernel.log", "kernel", bytes_), self.options.coroner
        self.part("kernel log", bytes_, [
            ("coroner FILE", [coroner, log], 1),
            ("rg -F -n -f phrases", ["rg", "-F", "-n", "-f", PHRASES, log], 1),
        ])

    def wrapped(self):
        bytes_ = self.options.size // 4
        for kind, label in (("jsonl", "JSON lines"), ("ci", "CI log")):
            log, coroner = self.make(f"{kind}.log", kind, bytes_), self.options.coroner
            self.part(label, bytes_, [
                ("coroner FILE", [coroner, log], 1),
                ("rg -F -n -f phrases", ["rg", "-F", "-n", "-f", PHRASES, log], 1),
            ])

    def hits(self):
        small = self.options.hits or self.options.size // 16
        for bytes_ in (small, 2 * small):
            log, coroner = self.make(f"hits-{bytes_ // MIB}m.log", "hits", bytes_), self.options.coroner
            self.part("every line a hit", bytes_, [("coroner FILE", [coroner, log], 1)])
            log.unlink()

    def start(self):
        log, coroner = self.make("small.log", "training", 10 << 10, deaths=1), self.options.coroner
        self.part("training log", 10 << 10, [
            ("coroner FILE", [coroner, log], 2),
            ("coroner --version", [coroner, "--version"], 2),
            ("rg -F -n -f phrases", ["rg", "-F", "-n", "-f", PHRASES, log], 2),
            ("true", ["true"], 2),
        ])


PARTS = {
    "one-core": Bench.one_core, "two-cores": Bench.two_cores, "folder": Bench.folder_of_files, "pipe": Bench.pipe,
    "packed": Bench.packed, "kernel": Bench.kernel, "wrapped": Bench.wrapped, "hits": Bench.hits, "start": Bench.start,
}


def said(*command):
    """The first line that a program prints, or that it is missing."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return f"{command[0]}: missing"


def machine():
    """Where it ran, as lines of Markdown."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    total = int(re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())[1])
    versions = [said(tool, "--version") for tool in ("rustc", "rg", "grep", "gzip", "zstd")]
    return [
        f"- Machine: {model[1] if model else os.uname().machine}, {len(os.sched_getaffinity(0))} cores, {total >> 20} GiB, Linux "
        f"{os.uname().release}",
        f"- coroner: commit {said('git', 'describe', '--always', '--dirty', '--abbrev=10')}, release build",
        f"- Versions: {'; '.join(versions)}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=size, default=1 << 30, help="of the training log; the others are parts of it")
    parser.add_argument("--hits", type=size, help="of the smaller log of hits; a sixteenth of --size otherwise")
    parser.add_argument("--runs", type=int, default=5, help="rounds that are kept, after one to warm up")
    parser.add_argument("--only", help=f"parts, with commas: {', '.join(PARTS)}")
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a command is stopped and not run again")
    parser.add_argument("--folder", type=Path, help="keep the logs there, and use those that are there")
    parser.add_argument("--coroner", type=Path, help="a binary to measure instead of building one")
    parser.add_argument("--record", action="store_true", help="write RESULTS.md and the table of the README")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(PARTS)
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"no part is called {', '.join(unknown)}")

    build = ["cargo", "build", "--release", "--locked", "--quiet", "--example", "generate"]
    subprocess.run(build + ([] if options.coroner else ["--bin", "coroner"]), check=True, cwd=ROOT)
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release"
    options.generate = target / "examples/generate"
    options.coroner = (options.coroner or target / "coroner").resolve()

    # Without it GNU grep takes the bars for binary data, and stops at the first hit.
    os.environ["LC_ALL"] = "C.UTF-8"
    all_cores, load = os.sched_getaffinity(0), os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="coroner-speed-") as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(exist_ok=True)
        bench = Bench(options, folder)
        print(HEAD, flush=True)
        for part in chosen:
            PARTS[part](bench)
        os.sched_setaffinity(0, all_cores)
        literals = len(bench.stems.read_text().splitlines())
        notes = machine() + [
            f"- Load average of the machine before and after: {load[0]:.2f}, {os.getloadavg()[0]:.2f}",
            f"- Medians of {options.runs} runs after one to warm up; `phrases` has {len(PHRASES.read_text().splitlines())} literals, "
            f"`stems` the {literals} that the patterns of coroner need; MB = 10⁶ bytes",
        ]
        if bench.missing:
            notes.append(f"- Missing, so not compared: {', '.join(sorted(bench.missing))}")
        inputs = ["| file | kind | what it holds | FNV-1a |", "|---|---|---|---|"] + bench.made
        print("\n" + "\n".join(notes + [""] + inputs))
    if options.record:
        rows = [result.row() for part in bench.parts for result in part]
        text = ["# Speed", "", "What `python3 benches/speed/compare.py --record` wrote last.", "", *notes, "", HEAD, *rows, "",
                "The logs, which the generator writes alike on every machine:", "", *inputs, ""]
        RESULTS.write_text("\n".join(text))
        before, _, rest = README.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        README.write_text("\n".join([f"{before}{BEGIN}", *summary(bench.parts), f"{END}{after}"]))


if __name__ == "__main__":
    main()
