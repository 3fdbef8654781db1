#!/usr/bin/env python3
"""Counts the instructions that `coroner` needs for three small inputs, and compares them with what is stored.

    python3 benches/instructions/count.py --coroner target/release/coroner
    python3 benches/instructions/count.py --coroner target/release/coroner --bless     stores the new counts

Instructions are counted by valgrind (callgrind), user space only; unlike seconds they do not move with the machine's load.  The
same build differs by less than 0.1 % from run to run (the seeds of hash tables).  Another compiler or C library moves them more,
hence the tolerance.  Ends with status 1 if an input needs more than the stored count and the tolerance.
"""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STORED = HERE / "counts.json"
TOLERANCE = 0.10
FIXTURES = "fixtures"
INPUTS = {
    "incident": ["oom-kill/torch-oom-anon-215/stdout.log", "oom-kill/torch-oom-anon-215/dmesg.txt"],
    "log": ["shm-exhaustion/wlasl-i3d-1300-lines/train.log"],
    "records": ["unknown/docker20-host-kill9/inspect.json", "unknown/docker20-host-kill9/events.jsonl"],
}


def count(coroner, inputs):
    """The instructions of one run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", coroner, *(f"{FIXTURES}/{name}" for name in inputs)]
    run = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not found:
        sys.exit(f"{' '.join(command)} ended with {run.returncode}:\n{run.stderr}")
    return int(found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--coroner", type=Path, required=True, help="a release build")
    parser.add_argument("--bless", action="store_true", help="store what was counted")
    options = parser.parse_args()
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    counted = {name: count(options.coroner.resolve(), inputs) for name, inputs in INPUTS.items()}

    print("| input | bytes | instructions | stored | change |\n|---|---|---|---|---|")
    worse, better = [], []
    for name, now in counted.items():
        size = sum((ROOT / FIXTURES / path).stat().st_size for path in INPUTS[name])
        before = stored.get(name)
        change = now / before - 1 if before else 0
        print(f"| {name} | {size:,} | {now:,} | {f'{before:,}' if before else 'none'} | {change:+.1%} |")
        if before is None or change > TOLERANCE:
            worse.append(name)
        elif change < -TOLERANCE:
            better.append(name)
    if better:
        print(f"\n{', '.join(better)}: more than {TOLERANCE:.0%} below what is stored; --bless keeps it that way")
    if options.bless:
        STORED.write_text(json.dumps(counted, indent=1) + "\n")
    elif worse:
        sys.exit(f"{', '.join(worse)}: more than {TOLERANCE:.0%} above what is stored. If that is the price of something, --bless it.")


if __name__ == "__main__":
    main()
