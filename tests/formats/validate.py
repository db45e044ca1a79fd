#!/usr/bin/env python3
"""Reads an exported document with its real consumer, or against the schema of one.

Usage: validate.py FORMAT FILE...      FORMAT as of --export; "comparison" is json of a comparison
Exit 0 valid, 1 not (said why), 77 the consumer is not installed (said which).
"""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs"
SUMMARY_MAX = 1 << 20
DEBIANS = "/usr/bin/python3"


class Missing(Exception):
    """A consumer that is not installed."""


def need(module, package):
    try:
        return __import__(module, fromlist=["_"])
    except ImportError:
        # Debian's packages are Debian's Python's; another one may come first in PATH.
        if os.path.exists(DEBIANS) and os.environ.get("FORMATS_AGAIN") is None:
            os.environ["FORMATS_AGAIN"] = "1"
            os.execv(DEBIANS, [DEBIANS, *sys.argv])
        raise Missing(f"no {package} (apt-get install {package})") from None


def against_schema(path, schema):
    jsonschema = need("jsonschema", "python3-jsonschema")
    rules = json.loads(schema.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(rules)
    document = json.loads(path.read_text(encoding="utf-8"))
    for fault in jsonschema.Draft7Validator(rules).iter_errors(document):
        yield f"{list(fault.absolute_path)}: {fault.message}"


def unique(values, what):
    seen = set()
    for value in values:
        if value in seen:
            yield f"{what} {value!r} is there twice"
        seen.add(value)


def junit(path):
    try:
        done = subprocess.run(["xmllint", "--noout", "--schema", HERE / "junit.xsd", path],
                              stderr=subprocess.PIPE, check=False)
    except FileNotFoundError:
        raise Missing("no xmllint (apt-get install libxml2-utils)") from None
    if done.returncode != 0:
        yield done.stderr.decode("utf-8", "replace").strip()
        return
    root = tree.parse(path).getroot()
    for suite in [root, *root]:
        cases = list(suite.iter("testcase"))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            found = sum(case.find(tag) is not None for case in cases)
            if suite.get(attribute) is not None and int(suite.get(attribute)) != found:
                yield f"{suite.get('name')}: {attribute}={suite.get(attribute)}, but {found} are there"
        if int(suite.get("tests")) != len(cases):
            yield f"{suite.get('name')}: tests={suite.get('tests')}, but {len(cases)} are there"
    yield from unique([(case.get("classname"), case.get("name"))
                       for case in root.iter("testcase")], "case")


def gitlab(path):
    yield from against_schema(path, HERE / "gitlab.schema.json")
    issues = json.loads(path.read_text(encoding="utf-8"))
    yield from unique([issue.get("fingerprint") for issue in issues], "fingerprint")


def benchmark_action(path):
    yield from against_schema(path, HERE / "benchmark-action.schema.json")
    entries = json.loads(path.read_text(encoding="utf-8"))
    yield from unique([entry.get("name") for entry in entries], "name")


def openmetrics(path):
    parser = need("prometheus_client.openmetrics.parser", "python3-prometheus-client")
    try:
        families = list(parser.text_string_to_metric_families(path.read_text(encoding="utf-8")))
    except ValueError as fault:
        yield str(fault)
        return
    samples = [sample for family in families for sample in family.samples]
    if not samples:
        yield "no samples"
    yield from unique([(s.name, tuple(sorted(s.labels.items()))) for s in samples], "sample")


def github(path):
    form = re.compile(r"::(error|warning|notice) (file=[^,:]+,line=[1-9][0-9]*,)?title=[^,:]+::(.+)")
    for number, line in enumerate(path.read_bytes().decode("utf-8").split("\n")[:-1], 1):
        if not form.fullmatch(line):
            yield f"line {number} is no workflow command: {line!r}"
        if re.search(r"%(?!25|0A|0D|3A|2C)", line):
            yield f"line {number} has a % of its own: {line!r}"
        if any(ord(character) < 0x20 for character in line):
            yield f"line {number} has a control character: {line!r}"


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            yield f"row {number} has {len(row)} fields, the header {len(rows[0])}"
        for field in row:
            if field[:1] in tuple("=+@\t\r") or re.fullmatch(r"-[^0-9].*", field):
                yield f"row {number}: {field!r} is a formula"


def summary(path):
    size = path.stat().st_size
    if size > SUMMARY_MAX:
        yield f"{size} bytes: GitHub takes {SUMMARY_MAX}"
    if b"<svg" in path.read_bytes().lower():
        yield "an inline picture"


FORMATS = {
    "junit": junit,
    "gitlab": gitlab,
    "benchmark-action": benchmark_action,
    "openmetrics": openmetrics,
    "github": github,
    "github-summary": summary,
    "csv": table,
    "json": lambda path: against_schema(path, DOCS / "result-schema.json"),
    "comparison": lambda path: against_schema(path, DOCS / "comparison-schema.json"),
}


def main():
    faults = []
    try:
        for name in sys.argv[2:]:
            faults += [f"{name}: {fault}" for fault in FORMATS[sys.argv[1]](pathlib.Path(name))]
    except Missing as missing:
        print(f"skipped: {missing}")
        return 77
    print("\n".join(faults[:20]) or f"{sys.argv[1]}: valid")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
