#!/usr/bin/env python3
"""Runs the job on a cluster of two workers on this machine, and compares its table with `coroner scan`, file by file.

    python3 packaging/spark/test_job.py --coroner target/release/coroner

Needs Java 17 or later and PySpark from PyPI.  Ends with status 1 if a row differs.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pyspark.sql

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent.parent / "fixtures"
FILES = 300
STORE = "store://logs"


def lay_out(folder):
    """Some hundred files of cases, evenly chosen, an archive and a file of NULs."""
    inputs = []
    for case in sorted(FIXTURES.glob("*/*/case.json")):
        inputs += [(case.parent.name, case.parent / name) for name in json.loads(case.read_text())["inputs"]]
    files = [(slug, file) for slug, file in inputs if file.is_file()]
    for slug, file in files[:: max(1, len(files) // FILES)][:FILES]:
        (folder / slug).mkdir(exist_ok=True)
        shutil.copy(file, folder / slug / file.name)
    with tarfile.open(folder / "two logs.tar.gz", "w:gz") as archive:
        for slug in ("torch-oom-anon-215", "torch-oom-anon-113"):
            archive.add(FIXTURES / "oom-kill" / slug / "stdout.log", f"{slug}/stdout.log")
    (folder / "core").write_bytes(bytes(4096))


def told(report):
    """What a report says, in the terms of the table."""
    verdict, death = report["verdict"], report["verdict"]["death"]
    root = {} if death is None else report["deaths"][death]
    first = root["because"][0] if root.get("because") else {"text": None, "place": {"line": None}}
    return {
        "class": verdict["class"], "cause": verdict["cause"], "grade": verdict["grade"], "summary": verdict["summary"],
        "deaths": len(report["deaths"]), "evidence": first["text"], "evidence_line": first["place"].get("line"),
        **{key: root.get(key) for key in ("signal", "pid", "host_pid", "exit_code", "time", "pod")},
    }


def expected(coroner, folder):
    """Each incident of the folder as `coroner scan` sees it."""
    command = [coroner, "scan", "--group", "file", "--format", "ndjson", folder]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {report["incident"]: told(report) for report in map(json.loads, lines)}


def table(output):
    """The rows of a Parquet table."""
    spark = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    rows = [row.asDict() for row in spark.read.parquet(str(output)).collect()]
    spark.stop()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--coroner", type=Path, required=True)
    coroner = parser.parse_args().coroner.resolve()
    with tempfile.TemporaryDirectory(prefix="coroner-spark-") as scratch:
        scratch = Path(scratch)
        logs, output, missing = scratch / "logs", scratch / "verdicts", f"{scratch}/logs/gone.log"
        logs.mkdir()
        lay_out(logs)
        truth = expected(coroner, logs)
        files = sorted(str(file) for file in logs.rglob("*") if file.is_file())
        # The same logs once more from a store, which a command reads.
        stored = {f"{STORE}/{Path(file).relative_to(logs)}": file for file in files[:20]}
        fetch = scratch / "fetch"
        fetch.write_text(f'#!/bin/sh\nexec cat "{logs}/${{1#{STORE}/}}"\n')
        fetch.chmod(0o755)
        (scratch / "listing.txt").write_text("\n".join([*files[1:], missing, *stored, f"{STORE}/gone.log"]) + "\n")

        home = Path(pyspark.__file__).parent
        submit = [home / "bin/spark-submit", "--master", "local-cluster[2,1,1024]", "--conf", "spark.ui.enabled=false",
                  "--conf", "spark.sql.shuffle.partitions=8", "--conf", "spark.log.level=WARN",
                  HERE / "job.py", "--coroner", coroner, "--output", output, "--listing", scratch / "listing.txt",
                  "--fetch", f"{fetch} {{}}", files[0]]
        environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        run = subprocess.run(submit, cwd=scratch, env=environment, capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"the job ended with {run.returncode}:\n{run.stdout}{run.stderr}")
        rows = table(output)

    found = {row["incident"]: row for row in rows}
    assert len(found) == len(rows), "an incident has two rows"
    wrong = []
    for incident, want in truth.items():
        row = found.pop(incident, {})
        if {key: row.get(key) for key in want} != want:
            wrong.append(f"{incident}: the job says {row}, the scan {want}")
    for uri, file in stored.items():
        row, want = found.pop(uri, {}), truth[file]
        if {key: row.get(key) for key in want} != want:
            wrong.append(f"{uri}: the job says {row}, the scan {want}")
    for gone in (missing, f"{STORE}/gone.log"):
        row = found.pop(gone, {})
        if row.get("class", "") is not None or not row.get("note"):
            wrong.append(f"{gone}: {row}")
    wrong += [f"{incident}: the scan has no such incident" for incident in found]
    print("\n".join(wrong))
    print(f"{len(rows) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
