#!/usr/bin/env python3
"""Validates what is written against docs/result-schema.json, and that the schema refuses damage.

Usage: schema_test.py SCHEMA PRINT_SAMPLE. Exit 77 (skipped) without the jsonschema package.
"""
import copy
import json
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema (apt-get install python3-jsonschema)")
    sys.exit(77)


def damages(sample):
    """Documents that must not validate, each with what is wrong."""
    def changed(what, path, value):
        document = copy.deepcopy(sample)
        at = document
        for step in path[:-1]:
            at = at[step]
        if value is None:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        return what, document

    cell = ["cells", 0]
    repetition = cell + ["repetitions", 0]
    yield changed("no schema", ["schema"], None)
    yield changed("newer schema", ["schema"], "fragbench-result/2")
    yield changed("unknown status", cell + ["status"], "fine")
    yield changed("unknown key", cell + ["colour"], "red")
    yield changed("no metrics", repetition + ["metrics"], None)
    yield changed("metric as text", repetition + ["metrics", "ratio_peak"], "1.5")
    yield changed("metric missing", repetition + ["metrics", "kept_bytes"], None)
    yield changed("unknown metric", repetition + ["metrics", "fragmentation"], 1)
    yield changed("negative size", repetition + ["checkpoints", 0, "rss_bytes"], -1)
    yield changed("unknown checkpoint", repetition + ["checkpoints", 0, "kind"], "lunch")
    explained = repetition + ["checkpoints", 2]
    yield changed("part missing", explained + ["parts", "holes"], None)
    yield changed("negative part", explained + ["parts", "live"], -1)
    yield changed("unknown part", explained + ["parts", "other"], 1)
    yield changed("hostages without parts", explained + ["parts"], None)
    yield changed("short histogram", explained + ["hostages", 0, "histogram"], [1, 2])
    yield changed("map elsewhere", explained + ["heat"], "/etc/passwd")
    yield changed("series elsewhere", repetition + ["series"], "/etc/passwd")
    yield changed("shard without a plan", ["shard", "plan"], None)
    yield changed("shard below 0", ["shard", "index"], -1)
    yield changed("part without a host", ["parts", 1, "host"], None)
    yield changed("unit missing", ["units", "drift"], None)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    sample = json.loads(subprocess.run([sys.argv[2]], check=True, stdout=subprocess.PIPE).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    faults = [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(sample)]
    faults += [f"accepted: {what}" for what, document in damages(sample)
               if validator.is_valid(document)]
    print("\n".join(faults[:20]) or "the sample is valid, every damage is refused")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
