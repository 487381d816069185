"""Asks the questions of docs/fleet.md of databases, and compares the answers with what a few lines of Python count.

Usage: fleet.py ENGINE FOLDER; ENGINE is duckdb, spark or clickhouse, FOLDER has the files of the runs (*.ndjson).
Prints the number of rows of each answer. Fails if a database answers otherwise than Python.
"""

import glob
import importlib
import json
import os
import re
import sys
from collections import defaultdict

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "fleet.md")
# As in the document's queries.
LONGEST_ANSWER = 20
BEFORE, AFTER = "1.0", "1.1"


def questions():
    """The queries of the document in its order."""
    with open(DOCUMENT, encoding="utf-8") as file:
        return re.findall(r"```sql\n(.*?)```", file.read(), re.DOTALL)


def rows(folder):
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*.ndjson"))):
        with open(path, encoding="utf-8") as file:
            found += [json.loads(line) for line in file]
    return found


def new_fingerprints(fleet):
    since: dict[str, float] = {}
    for row in fleet:
        if row["kind"] == "run":
            since[row["build"]] = min(since.get(row["build"], row["started_at"]), row["started_at"])
    findings = [row for row in fleet if row["kind"] == "finding"]
    first: dict[str, str] = {}
    for row in findings:
        known = first.get(row["fingerprint"])
        if known is None or since[row["build"]] < since[known]:
            first[row["fingerprint"]] = row["build"]
    groups = defaultdict(list)
    for row in findings:
        if first[row["fingerprint"]] == row["build"]:
            groups[row["build"], row["fingerprint"]].append(row)
    return [
        (*key, min(row["title"] for row in group), hosts(group), sum(row["instances"] for row in group))
        for key, group in sorted(groups.items())
    ]


def growth(fleet):
    groups = defaultdict(list)
    for row in fleet:
        if row["kind"] == "type":
            groups[row["type"]].append(row)
    found = []
    for name, group in groups.items():
        before, after = (
            mean([row["live_bytes"] for row in group if row["build"] == build]) for build in (BEFORE, AFTER)
        )
        if after > before:
            found.append((name, before, after, hosts([row for row in group if row["build"] == AFTER])))
    return sorted(found, key=lambda row: (row[1] - row[2], row[0]))[:LONGEST_ANSWER]


def sites(fleet):
    groups = defaultdict(list)
    for row in fleet:
        if row["kind"] == "site" and row["live_bytes"] > 0:
            groups[row["type"], row["function"]].append(row)
    found = [
        (*key, sum(row["live_bytes"] for row in group), hosts(group), len({row["run"] for row in group}))
        for key, group in groups.items()
    ]
    return sorted(found, key=lambda row: (-row[2], row[0], row[1] or ""))[:LONGEST_ANSWER]


def hosts(group):
    return len({row["host"] for row in group if row["host"] is not None})


def mean(values):
    return sum(values) / len(values) if values else 0.0


def duckdb(folder):
    connection = importlib.import_module("duckdb").connect()
    connection.execute(f"CREATE VIEW fleet AS SELECT * FROM read_json_auto('{folder}/*.ndjson')")
    return lambda query: connection.execute(query).fetchall()


def spark(folder):
    builder = importlib.import_module("pyspark.sql").SparkSession.builder
    session = builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session.read.json(f"{folder}/*.ndjson").createOrReplaceTempView("fleet")
    return lambda query: [tuple(row) for row in session.sql(query).collect()]


def clickhouse(folder):
    database = importlib.import_module("chdb.session").Session()
    database.query("CREATE DATABASE work")
    database.query(f"CREATE VIEW work.fleet AS SELECT * FROM file('{folder}/*.ndjson', JSONEachRow)")
    settings = " SETTINGS output_format_json_quote_64bit_integers = 0 FORMAT JSONCompactEachRow"

    def ask(query):
        text = database.query("USE work; " + query + settings).bytes().decode()
        return [tuple(json.loads(line)) for line in text.splitlines()]

    return ask


ENGINES = {"duckdb": duckdb, "spark": spark, "clickhouse": clickhouse}
ANSWERS = (new_fingerprints, growth, sites)


def alike(row, other):
    """Equal, numbers up to what a sum of doubles loses."""
    return len(row) == len(other) and all(
        abs(a - b) <= 1e-9 * abs(a) if isinstance(a, float) or isinstance(b, float) else a == b
        for a, b in zip(row, other, strict=False)
    )


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ENGINES:
        print(__doc__, file=sys.stderr)
        return 64
    engine, folder = arguments
    fleet = rows(folder)
    ask = ENGINES[engine](os.path.abspath(folder))
    queries = questions()
    if len(queries) != len(ANSWERS):
        print(f"docs/fleet.md has {len(queries)} questions, and {len(ANSWERS)} are known here", file=sys.stderr)
        return 1
    status = 0
    for query, count in zip(queries, ANSWERS, strict=False):
        found, expected = ask(query), count(fleet)
        print(f"{count.__name__} {len(found)}")
        if len(found) != len(expected) or not all(map(alike, found, expected)):
            print(f"{engine} answers {count.__name__} with\n{found}\ninstead of\n{expected}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
