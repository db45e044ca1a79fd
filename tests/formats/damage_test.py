#!/usr/bin/env python3
"""validate.py must refuse damaged documents. Usage: damage_test.py DIR (of print_exports)."""
import pathlib
import sys
import tempfile

import validate

# format, file, what is replaced, by what
DAMAGES = [
    ("junit", "run-nasty.junit", "&apos;", "'<"),
    ("junit", "run.junit", 'failures="2"', 'failures="1"'),
    ("junit", "run.junit", "<failure ", "<failing "),
    ("junit", "run.junit", "ratio_peak\" time", "ratio_end\" time"),
    ("gitlab", "run.gitlab", '"severity": "major"', '"severity": "bad"'),
    ("gitlab", "run.gitlab", '"fingerprint"', '"print"'),
    ("gitlab", "run.gitlab", '"path": "', '"path": "./'),
    ("benchmark-action", "run.benchmark-action", '"value": 3,', '"value": "3",'),
    ("benchmark-action", "run.benchmark-action", "ptmalloc2 / ratio_peak", "ptmalloc2 / kept_bytes"),
    ("openmetrics", "run.openmetrics", "# EOF\n", ""),
    ("openmetrics", "run.openmetrics", "_bytes bytes\n", "_bytes ratio\n"),
    ("openmetrics", "run.openmetrics", 'allocator="', 'allocator="""'),
    ("github", "run.github", "title=fragbench%3A", "title=fragbench:"),
    ("github", "run.github", "%0Anext", "%next"),
    ("csv", "comparison.csv", "regressed,", "regressed,,"),
    ("csv", "comparison-nasty.csv", "'=", "="),
    ("json", "run.json", '"ratio_peak"', '"ratio_peek"'),
    ("comparison", "comparison.json", '"regressed"', '"worse"'),
    ("comparison", "comparison.json", '"gates": true', '"gates": 1'),
]


def refused(form, path):
    """None: the consumer is not installed."""
    try:
        return bool(list(validate.FORMATS[form](path)))
    except validate.Missing:
        return None


def main():
    faults, tried = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for form, name, old, new in DAMAGES:
            good = pathlib.Path(sys.argv[1], name)
            text = good.read_text(encoding="utf-8")
            if old not in text:
                faults.append(f"{name}: no {old!r} to damage")
                continue
            bad = pathlib.Path(folder, name)
            bad.write_text(text.replace(old, new), encoding="utf-8")
            verdict = refused(form, bad)
            tried += verdict is not None
            if verdict is False:
                faults.append(f"{name}: {old!r} → {new!r} was accepted")
    print("\n".join(faults) or f"{tried} damages refused")
    if not faults and tried < len(DAMAGES):
        print(f"skipped: the consumers of {len(DAMAGES) - tried} damages are not installed")
        return 77
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
