#!/usr/bin/env python3
"""Each header includes only lower layers; no header includes what costs users seconds; no file is too long.

The table below is the architecture: a row may include the rows above it and its own, never in a circle.
"""
import os
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

# (row, files under include/fx). The first row that matches rules.
ROWS = [
    ("config", ["config.hpp", "fwd.hpp"]),
    ("base", ["base/*"]),
    ("type", ["dim*.hpp", "type*.hpp", "spec.hpp", "cost.hpp", "pad*.hpp"]),
    ("ir", ["ir*.hpp", "print*.hpp", "prim*.hpp", "verify*.hpp", "builder*.hpp"]),
    ("ops", ["ops/*", "parse*.hpp"]),
    ("passes", ["passes/*"]),
    ("tile", ["backend.hpp", "tile/*"]),
    ("runtime", ["runtime/*"]),
    ("array", ["array*.hpp", "node.hpp", "trace.hpp", "operators.hpp", "eager.hpp", "run.hpp", "pytree*", "fields*.hpp"]),
    ("functions", ["numpy/*", "nn/*", "random/*"]),
    ("transforms", ["transforms/*", "sharding/*"]),
    ("static", ["static*.hpp"]),
    ("borders", ["hana.hpp", "xtensor.hpp", "cuda.hpp"]),
    ("backends", ["backends/*"]),
]
RANK = {row: i for i, (row, _) in enumerate(ROWS)}
# A backend sees no further than the contract and what serves it, and no other backend.
BACKENDS_SEE = RANK["runtime"]
# Includes that the table forbids and that are right: (file, included).
ALLOWED = [("cuda.hpp", "backends/cuda/*")]
# The umbrella alone may include everything.
EXEMPT = {"fx.hpp"}

# Headers that cost too much, or that tie users to an instruction set or an assembler.
FORBIDDEN = {"iostream", "regex", "ranges", "filesystem", "chrono", "condition_variable", "complex", "sstream",
             "functional", "variant", "immintrin.h", "x86intrin.h", "arm_neon.h"}
# Libraries other than the standard one: what each border is for, and the system's own folders.
FOREIGN = {"hana.hpp": ["boost/*"], "xtensor.hpp": ["xtensor/*", "xtl/*"]}
SYSTEM = ["sys/*", "linux/*", "asm/*"]
MAX_LINES = 500

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def row_of(name):
    return next((row for row, patterns in ROWS if any(fnmatch(name, p) for p in patterns)), None)


def headers(top):
    """Name as in <fx/NAME> -> path; include/fx/backends is a link to backends/, which is walked itself."""
    found = {}
    for root, prefix in ((top / "include" / "fx", ""), (top / "backends", "backends/")):
        for folder, _, files in os.walk(root):  # does not follow links
            for f in files:
                path = Path(folder) / f
                found[prefix + path.relative_to(root).as_posix()] = path
    return {n: p for n, p in sorted(found.items()) if p.suffix in (".hpp", ".h", ".inc", ".ipp")}


def check(top):
    names = headers(top)
    problems, edges = [], {}
    for name, path in names.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        row = row_of(name)
        edges[name] = []

        def problem(text, line=1):
            problems.append(f"{path.relative_to(top).as_posix()}:{line}: {text}")

        if len(lines) > MAX_LINES:
            problem(f"{len(lines)} lines, {MAX_LINES} are the most")
        if row is None and name not in EXEMPT:
            problem("this file has no row in the table of tests/form/layering.py")
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quoted, target = match[1] == '"', match[2]
            if target in FORBIDDEN or "xbyak" in target:
                problem(f"<{target}> is forbidden in headers", number)
                continue
            if quoted:
                inside = os.path.normpath(os.path.join(os.path.dirname(name), target))
                if name.startswith("backends/") and not inside.startswith("backends/"):
                    problem(f'"{target}" leaves backends/, which is reached by a link: write <fx/...>', number)
                    continue
            elif target.startswith("fx/"):
                inside = os.path.normpath(target[3:])
            else:
                if "/" in target and not any(fnmatch(target, p) for p in FOREIGN.get(name, []) + SYSTEM):
                    problem(f"<{target}> is no part of the standard library", number)
                continue
            if inside not in names:
                problem(f"{target}: there is no such header", number)
                continue
            # A header may include its bodies at its end: no circle, for they come after all that it declares.
            if not any(l.startswith("namespace ") for l in lines[:number]):
                edges[name].append(inside)
            other = row_of(inside)
            if name in EXEMPT or row is None or any(fnmatch(name, a) and fnmatch(inside, b) for a, b in ALLOWED):
                continue
            if inside in EXEMPT:
                problem(f"{inside} is for users", number)
            elif row == other == "backends":
                if name.split("/")[1] != inside.split("/")[1]:
                    problem(f"one backend includes another: {inside}", number)
            elif other is not None:
                highest = BACKENDS_SEE if row == "backends" else RANK[row]
                if RANK[other] > highest:
                    problem(f"{row} includes {other}, which is no lower layer: {inside}", number)
    problems += circles(edges)
    return names, problems


def circles(edges):
    """Each circle of includes once, by depth-first search."""
    found, state = [], {}

    def visit(name, trail):
        state[name] = "open"
        for other in edges[name]:
            if state.get(other) == "open":
                found.append("a circle of includes: " + " -> ".join(trail[trail.index(other):] + [other]))
            elif other not in state:
                visit(other, trail + [other])
        state[name] = "done"

    for name in edges:
        if name not in state:
            visit(name, [name])
    return found


def main():
    top = Path(os.environ.get("FX_SOURCE_DIR") or Path(__file__).resolve().parents[2]).resolve()
    names, problems = check(top)
    for p in problems:
        print(p)
    print(f"{len(names)} headers checked against {len(ROWS)} layers, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
