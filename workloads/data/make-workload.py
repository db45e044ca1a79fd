#!/usr/bin/env python3
"""Writes the measured parts of a workload anew: its object classes and what a request allocates.

Usage: make-workload.py [--check] [NAME...]     (default: every workload in RECIPES)

From data/NAME.sizes.csv and data/NAME.life.csv it makes, between the marker comments of NAME.yaml,
  - one object class a size class: its sizes as a choice of measured ones, its lifetimes as a
    histogram between the measured percentiles, counted in the allocations of its own thread;
  - how many of each class one request allocates.
Everything else of the YAML file is written by hand and left alone. --check changes nothing and
fails when a file differs from what its data says.
"""
import csv
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PERCENTILES = (5, 10, 25, 50, 75, 90, 95, 99)
WIDTH = 100

# requests: what the recording is dealt to. aligned: share of the calls and of the bytes that ask
# for 64 bytes. spread: one request in so many makes all objects of the rare classes, those of
# which a request has less than one. kv: the caches that grow with every token: step, smallest and
# largest size with their names in YAML, blocks a sequence.
RECIPES = {
    "torch-encoder": {"requests": 120, "aligned": (0.085, 0.996), "spread": 9},
    "torch-decoder-kv": {"requests": 360, "aligned": (0.123, 0.786), "spread": 9,
                         "kv": {"step": 1024, "from": 28 * 1024, "prompt": 48 * 1024,
                                "to": 304 * 1024, "blocks": 8}},
    "ort-dynamic": {"requests": 200, "aligned": (0.263, 0.994), "spread": 9},
}
THREADS = 4
OWN_CALLS = 20       # lives up to here pass within one thread's turn on a CPU; of the calls that a
                     # longer one sees, only a quarter is its own thread's
HANDED_SHARE = 0.04  # from here on the blocks freed by another thread are a class of their own
LONG_LIFE = 1000     # allocations; what lives longer waits for the next token


def read(name):
    """The size classes, smallest first, each with its sizes and counts. lives: how many percent
    die before so many allocations; the ends are the 5th and the 99th percentile."""
    with open(HERE / f"{name}.sizes.csv") as file:
        sizes = [(int(row["size"]), int(row["count"])) for row in csv.DictReader(file)]
    classes, below = [], 0
    with open(HERE / f"{name}.life.csv") as file:
        for row in csv.DictReader(file):
            top = int(row["class_le"])
            percents = (0,) + PERCENTILES[1:-1] + (100,)
            classes.append({
                "top": top, "count": int(row["count"]), "bytes": int(row["bytes"]),
                "handed": int(row["xthread_frees"]),
                "lives": [(percent, float(row[f"ops_p{p}"]))
                          for percent, p in zip(percents, PERCENTILES)],
                "sizes": [item for item in sizes if below < item[0] <= top]})
            below = top
    return classes


def mark_aligned(classes, share):
    """The larger classes are the aligned ones: the cut that fits both shares best."""
    calls, total = (sum(c[key] for c in classes) for key in ("count", "bytes"))

    def off(first):
        return (abs(sum(c["count"] for c in classes[first:]) / calls - share[0])
                + abs(sum(c["bytes"] for c in classes[first:]) / total - share[1]))

    cut = min(range(len(classes) + 1), key=off)
    for index, size_class in enumerate(classes):
        size_class["aligned"] = index >= cut


def typical(reached, size, step):
    """How often a cache of about this size was asked for: the median of its neighbours."""
    near = sorted(reached.get(size + step * i, 0) for i in range(-4, 5))
    return near[len(near) // 2]


def take_out_caches(classes, kv):
    """Of the sizes that are whole tokens, the usual number were caches; what is above it (32,000 and
    128,000 bytes of logits) and the short lives stay. Returns {size: caches}."""
    step, reached = kv["step"], {size: count for c in classes for size, count in c["sizes"]
                                 if size % kv["step"] == 0}
    caches = {size: min(count, typical(reached, size, step)) for size, count in reached.items()
              if kv["from"] < size <= kv["to"]}
    for c in classes:
        gone = sum(caches.get(size, 0) for size, _ in c["sizes"])
        if gone == 0:
            continue
        c["sizes"] = [(size, count - caches.get(size, 0)) for size, count in c["sizes"]
                      if count > caches.get(size, 0)]
        kept = 100 * (1 - gone / c["count"])
        short = [point for point in c["lives"] if point[0] < kept and point[1] < LONG_LIFE]
        c["lives"] = short + [(kept, min(LONG_LIFE, c["lives"][len(short)][1]))]
        c["count"] -= gone
    return caches


def own_calls(ops):
    return ops if ops <= OWN_CALLS else max(OWN_CALLS, ops / THREADS)


def choice(sizes, most):
    """At most so many of the measured sizes: equal shares of the calls, each by its commonest."""
    total, groups, seen = sum(count for _, count in sizes), {}, 0
    for size, count in sizes:
        group = min(most - 1, (2 * seen + count) * most // (2 * total))
        groups.setdefault(group, []).append((size, count))
        seen += count
    picked = [(max(group, key=lambda item: item[1])[0], sum(count for _, count in group))
              for group in groups.values()]
    if len(picked) == 1:
        return str(picked[0][0])
    return "{choice: [" + ", ".join(f"[{size}, {count}]" for size, count in picked) + "]}"


def histogram(points):
    """From [(percent below, value)]; bins too narrow for whole numbers are merged."""
    edges, counts = [max(1, round(points[0][1]))], []
    for (before, _), (percent, value) in zip(points, points[1:]):
        if round(value) > edges[-1] or not counts:
            edges.append(max(round(value), edges[-1] + 1))
            counts.append(0)
        counts[-1] += percent - before
    return f"{{histogram: {{edges: {edges}, counts: {[round(count, 1) for count in counts]}}}}}"


def lifetime(size_class):
    return "{ops: " + histogram([(p, own_calls(ops)) for p, ops in size_class["lives"]]) + "}"


def sequence_lengths(caches, kv):
    """[(percent, tokens)] that sequences last: the fewer are asked for of a size, the more have
    ended before it; and the mean."""
    bounds = [kv["prompt"] + kv["step"] * tokens for tokens in (1, 20, 40, 60, 80, 100, 120, 190, 250)]
    alive = [typical(caches, bound, kv["step"]) for bound in bounds]
    points = [(100 - 100 * here / alive[0], (bound - kv["prompt"]) // kv["step"])
              for bound, here in zip(bounds, alive)]
    points[-1] = (100, points[-1][1])
    mean = sum((b[0] - a[0]) * (a[1] + b[1]) / 200 for a, b in zip(points, points[1:]))
    return points, mean


def label(top):
    for unit, letter in ((1 << 20, "m"), (1 << 10, "k")):
        if top >= unit:
            return f"to_{top // unit}{letter}"
    return f"to_{top}"


def amount(per_request, spread):
    """Objects a request: a number, or a distribution with that mean."""
    if per_request >= 20:
        return str(round(per_request))
    if per_request < 1:
        return "{cycle: [" + "0, " * (spread - 1) + str(max(1, round(per_request * spread))) + "]}"
    whole, rest = int(per_request), round(100 * (per_request % 1))
    if rest == 0:
        return str(whole)
    return f"{{choice: [[{whole}, {100 - rest}], [{whole + 1}, {rest}]]}}"


def wrapped(text, indent):
    """Broken between the pairs of a list where it is too long."""
    lines = [""]
    for index, part in enumerate(text.split("], [")):
        piece = part if index == 0 else "[" + part
        piece += "]," if index < text.count("], [") else ""
        if len(lines[-1]) + len(piece) > WIDTH:
            lines[-1] = lines[-1].rstrip()
            lines.append(indent)
        lines[-1] += piece + " "
    lines[-1] = lines[-1].rstrip()
    return lines


def cache_part(recipe, classes):
    """The class of the caches, and how many blocks start in a request: lines, amount."""
    kv = recipe["kv"]
    caches = take_out_caches(classes, kv)
    points, mean = sequence_lengths(caches, kv)
    starts = round(1000 * sum(caches.values()) / recipe["requests"] / kv["blocks"] / mean)
    lines = [f"  kv: {{size: {{uniform: [{kv['from']}, {kv['prompt']}]}}, align: 64,",
             f"    grow: {{by: {kv['step']}, to: {kv['to']}, how: copy}},",
             "    lifetime: {iterations:",
             f"      {histogram(points)}}}}}"]
    return lines, f"{{choice: [[0, {1000 - starts}], [{kv['blocks']}, {starts}]]}}"


def class_lines(title, size_class, anchor):
    align = "align: 64, " if size_class["aligned"] else ""
    sizes = choice(size_class["sizes"], 10 if size_class["top"] > 32768 else 5)
    return (wrapped(f"  {title}: {anchor}{{{align}size: {sizes},", "    ")
            + [f"    lifetime: {lifetime(size_class)}}}"])


def parts(name):
    """The two generated parts: lines of objects, lines of allocate."""
    recipe, classes = RECIPES[name], read(name)
    mark_aligned(classes, recipe["aligned"])
    objects, counts = [], []
    if "kv" in recipe:
        objects, starts = cache_part(recipe, classes)
        counts.append(("kv", starts))
    for size_class in classes:
        title, count, handed = label(size_class["top"]), size_class["count"], size_class["handed"]
        if handed < HANDED_SHARE * count:
            handed = 0
        objects += class_lines(title, size_class, f"&{title} " if handed else "")
        for suffix, number in (("", count - handed), ("_handed", handed)):
            if number > 0:
                counts.append((title + suffix,
                               amount(number / recipe["requests"], recipe["spread"])))
        if handed:
            objects.append(f"  {title}_handed: {{<<: *{title}, freed_by: other}}")
    return objects, [f"      {title}: {count}" for title, count in counts]


def rewrite(name, text):
    for part, lines in zip(("objects", "allocate"), parts(name)):
        begin, end = (next(i for i, line in enumerate(text) if f"# measured {part}: {word}" in line)
                      for word in ("begin", "end"))
        text[begin + 1:end] = lines
    return text


def main(arguments):
    check = "--check" in arguments
    differ = 0
    for name in [word for word in arguments if word != "--check"] or RECIPES:
        path = HERE.parent / f"{name}.yaml"
        old = path.read_text().split("\n")
        new = rewrite(name, old.copy())
        if new != old and check:
            print(f"{path.name} differs from its data; run workloads/data/make-workload.py {name}")
            differ += 1
        elif new != old:
            path.write_text("\n".join(new))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
