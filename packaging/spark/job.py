#!/usr/bin/env python3
"""Verdicts of more logs than one machine can read: runs `coroner` over partitions of a list, and writes a table in Parquet.

    spark-submit job.py --coroner ./coroner --output s3a://reports/today --listing s3a://logs/listing.txt --fetch 'aws s3 cp {} -'
    spark-submit job.py --coroner ./coroner --output /shared/reports /shared/logs/a.log /shared/logs/b.tar.gz

The listing holds a path or a URI a line.  Paths must be readable on the workers; each is examined as `coroner scan --group file`
does it.  A URI is brought by the command after --fetch, which writes it to standard output; `{}` stands for the URI.  The binary
is shipped to the workers.  The table has a row for each incident: one for each file, several for an archive of a path.  A file
that could not be read has a row with a note and no class.  Needs PySpark 3.4 or later, on Linux, and nothing else.
"""
import argparse
import json
import os
import shlex
import subprocess
import tempfile

from pyspark import SparkFiles
from pyspark.sql import SparkSession

COLUMNS = """
    path string, incident string, class string, cause string, grade string, summary string, deaths int,
    signal string, exit_code int, pid long, host_pid long, rank long, process string, container string, pod string, node string,
    job string, time string, evidence_input string, evidence_line long, evidence string, note string, version string
"""

# The columns that are fields of the death.
OF_DEATH = ("signal", "exit_code", "pid", "host_pid", "rank", "process", "container", "pod", "node", "job", "time")

# So many files are given to one process: few enough for a command line, enough not to notice its start.
FILES_OF_ONE_PROCESS = 200


def row(path, report):
    """A report of `coroner` as a row; the death is the one that explains the others."""
    notes = "; ".join(f"{note['input']}: {note['text']}" for note in report["notes"])
    if not report["inputs"]:
        return unread(path, notes)
    verdict = report["verdict"]
    root = report["deaths"][verdict["death"]] if verdict.get("death") is not None else {}
    first = (root.get("because") or [{}])[0]
    place = first.get("place") or {}
    return (
        path, report.get("incident") or path, verdict["class"], verdict["cause"], verdict["grade"], verdict["summary"],
        len(report["deaths"]), *(root.get(key) for key in OF_DEATH), place.get("input"), place.get("line"),
        first.get("text"), notes or None, report["version"],
    )


def unread(path, why):
    """The row of a file that could not be read."""
    return (path, path, *[None] * 19, why, None)


def reports(command, errors, **streams):
    """The reports that a process of `coroner` prints, one a line; 2 says that an input could not be read."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace", **streams)
    with process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode not in (0, 2):
        errors.seek(0)
        raise RuntimeError(f"{shlex.join(command)} ended with {process.returncode}: {errors.read().decode(errors='replace')}")


def examine_files(coroner, paths):
    """Files that the worker can open, by as few processes as can be."""
    with tempfile.TemporaryFile() as errors:
        seen = set()
        for report in reports([coroner, "scan", "--group", "file", "--format", "ndjson", "--", *paths], errors):
            # What an archive holds is named ARCHIVE!/MEMBER; a path may hold `!/` itself.
            incident = report["incident"]
            path = next((path for path in paths if incident == path or incident.startswith(f"{path}!/")), incident)
            seen.add(path)
            yield row(path, report)
    yield from (unread(path, "could not be read") for path in paths if path not in seen)


def examine_uri(coroner, uri, fetch):
    """Something in an object store, as one incident, through a pipe."""
    words = [word.replace("{}", uri) for word in shlex.split(fetch)]
    with tempfile.TemporaryFile() as errors, subprocess.Popen(words, stdout=subprocess.PIPE) as source:
        rows = [row(uri, report) for report in reports([coroner, "--format", "ndjson", "-"], errors, stdin=source.stdout)]
    yield from rows if source.returncode == 0 else [unread(uri, f"{words[0]} ended with {source.returncode}")]


def examine(lines, binary, fetch):
    """The rows of a partition."""
    coroner, files = SparkFiles.get(binary), []
    for line in lines:
        if "://" in line:
            yield from examine_uri(coroner, line, fetch) if fetch else [unread(line, "a URI, and no --fetch was given")]
            continue
        files.append(line)
        if len(files) == FILES_OF_ONE_PROCESS:
            yield from examine_files(coroner, files)
            files = []
    if files:
        yield from examine_files(coroner, files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*", help="files and archives that the workers can open")
    parser.add_argument("--listing", action="append", default=[], help="a text file that Spark can read, a path or URI a line")
    parser.add_argument("--fetch", help="a command that writes a URI to standard output; {} stands for it")
    parser.add_argument("--coroner", required=True, help="the binary, on this machine; it is shipped to the workers")
    parser.add_argument("--output", required=True, help="where the table goes, as a path or URI of Spark; it must not exist")
    parser.add_argument("--partitions", type=int, help="how many pieces; four for each core otherwise")
    options = parser.parse_args()
    if not options.paths and not options.listing:
        parser.error("nothing to read: give paths or a --listing")

    spark = SparkSession.builder.appName("coroner").getOrCreate()
    context = spark.sparkContext
    context.addFile(options.coroner)
    binary, fetch = os.path.basename(options.coroner), options.fetch
    lines = context.parallelize(options.paths)
    for listing in options.listing:
        lines = lines.union(context.textFile(listing))
    pieces = lines.filter(str.strip).repartition(options.partitions or 4 * context.defaultParallelism)
    table = spark.createDataFrame(pieces.mapPartitions(lambda part: examine(part, binary, fetch)), COLUMNS)
    table.write.parquet(options.output)
    spark.stop()


if __name__ == "__main__":
    main()
