#!/usr/bin/env python3
"""A large result as a page: 100 cells of noise stay under 5 MB, and no curve loses its peak.

LARGE_SAMPLES=100000 makes the size that the promise is about; a page has no more for it, since
curves are thinned to what a picture can show."""
import copy
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

if not shutil.which("gnuplot"):
    print("gnuplot is not installed (apt-get install gnuplot-nox)")
    sys.exit(77)
FRAGBENCH = os.environ["FRAGBENCH"]
SAMPLES = int(os.environ.get("LARGE_SAMPLES", "2000"))
WORKLOADS = int(os.environ.get("LARGE_WORKLOADS", "25"))
CONTENDERS = ("ptmalloc2", "jemalloc", "tcmalloc", "mimalloc")[:100 // WORKLOADS]
MIB, STEP_NS = 1 << 20, 1_000_000
TINY = """
fragbench: 1
name: tiny
objects: {small: {size: 1KiB, lifetime: iteration}}
phases: [{name: serve, iterations: 10, every: 100ms, allocate: {small: 100}}]
"""


def fragbench(*arguments):
    done = subprocess.run([FRAGBENCH, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def write_series(path, noise, peak):
    """Noise between 100 and 200 MiB, and the peak for one sample somewhere in the middle third."""
    at = noise.randrange(SAMPLES // 3, 2 * SAMPLES // 3)
    with path.open("w") as out:
        out.write("t_ns,footprint_bytes,live_bytes,touched_bytes,volume_bytes,iteration,phase,reason\n")
        for i in range(SAMPLES):
            live = noise.randrange(50, 90) * MIB
            footprint = peak if i == at else noise.randrange(100 * MIB, 200 * MIB) // 4096 * 4096
            out.write(f"{i * STEP_NS},{footprint},{live},{live},0,{i},serve,iteration\n")


def make_cell(pattern, workload, contender, peak):
    cell = copy.deepcopy(pattern)
    cell["id"] = f"{workload}/{contender}"
    cell["workload"]["name"] = workload
    cell["allocator"]["name"] = contender
    cell["summary"]["peak_footprint_bytes"] = {k: peak if k in ("median", "min", "max") else v for k, v
                                               in cell["summary"]["peak_footprint_bytes"].items()}
    repetition = cell["repetitions"][0]
    repetition["metrics"]["peak_footprint_bytes"] = peak
    repetition["series"] = f"series/{workload}_{contender}.0.csv"
    for checkpoint in repetition["checkpoints"]:
        checkpoint["t_ns"] = (SAMPLES - 1) * STEP_NS if checkpoint["kind"] == "phase_end" else checkpoint["t_ns"]
    return cell


def make_result(folder):
    """Peaks by (workload, contender), of a result made from one small cell."""
    (folder / "tiny.yaml").write_text(TINY)
    result = folder / "result"
    fragbench("run", folder / "tiny.yaml", "-a", "ptmalloc2", "--layouts", "1", "--no-timing", "-o", result)
    document = json.loads((result / "result.json").read_text())
    pattern, peaks, noise = document["cells"][0], {}, random.Random(7)
    document["cells"] = []
    for workload in (f"load-{i}" for i in range(WORKLOADS)):
        for contender in CONTENDERS:
            peak = peaks[workload, contender] = noise.randrange(250, 400) * MIB
            document["cells"].append(make_cell(pattern, workload, contender, peak))
            write_series(result / "series" / f"{workload}_{contender}.0.csv", noise, peak)
    (result / "result.json").write_text(json.dumps(document))
    return result, peaks


def heights(path):
    """The y of a path's points. Upper case commands only: what the page has."""
    points = re.findall(r"([MLHV])(-?[\d.]+)(?:,(-?[\d.]+))?", path)
    return [float(b if command in "ML" else a) for command, a, b in points if command != "H"]


class Large(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        result, cls.peaks = make_result(pathlib.Path(cls.folder.name))
        said = fragbench("report", result)
        print(said.stderr, end="")
        cls.page = (result / "report.html").read_text()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def curves_of_rss(self, workload):
        """By contender: what its entry in the key says, and the height of its line above zero in pixels."""
        svg = next(s for s in re.findall(r"<svg.*?</svg>", self.page, re.S) if f">RSS over time: {workload}<" in s)
        zero = max(y for path in re.findall(r'class="gridline"\s+d=.([^\'"]*)', svg) for y in heights(path))
        groups = re.findall(r"<title>(\w+): peak ([\d.]+ MiB)[^<]*</title>(.*?)</g>\s*</g>", svg, re.S)
        return {name: (said, zero - min(y for path in re.findall(r" d=.([^'\"]*)", body) for y in heights(path)))
                for name, said, body in groups if name in CONTENDERS}

    def test_a_page_of_a_hundred_cells_is_under_5_mb(self):
        self.assertEqual(self.page.count(">RSS over time: load-"), WORKLOADS)
        self.assertLess(len(self.page.encode()), 5_000_000)

    def test_every_curve_has_its_peak(self):
        for i in range(WORKLOADS):
            curves = self.curves_of_rss(f"load-{i}")
            self.assertEqual(sorted(curves), sorted(CONTENDERS))
            tallest = max(CONTENDERS, key=lambda name: self.peaks[f"load-{i}", name])
            scale = curves[tallest][1] / self.peaks[f"load-{i}", tallest]
            for name, (said, height) in curves.items():
                peak = self.peaks[f"load-{i}", name]
                self.assertEqual(said, f"{peak // MIB} MiB")
                self.assertAlmostEqual(height, peak * scale, delta=0.3)
            # 100 of 250 and more: the line is not one of noise alone.
            self.assertGreater(curves[tallest][1], 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
