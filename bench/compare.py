#!/usr/bin/env python3
"""Times fx, JAX and OpenBLAS in turns and prints a table of medians and ratios; then the roofline. Run by bench/run.

Before a row is timed its results are compared: a row that computes something else is no comparison.
"""
import argparse
import json
import math
import os
import platform
import shlex
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import roofline

TOP = Path(__file__).resolve().parent.parent


@dataclass
class Row:
    name: str
    group: str
    tolerance: float = 1e-5
    blas: bool = False


@dataclass
class Bar:
    """most: seconds that fx may take; times: how often as fast as the best peer the group is in the geometric mean;
    cell: the least for each row of it."""
    title: str
    most: float = 0.0
    times: float = 0.0
    cell: float = 0.0
    rows: list = field(default_factory=list)


BARS = {
    "jit_call": Bar("jitted call, 8 floats", most=100e-9),
    "eager_add": Bar("eager add, 8 floats", most=250e-9),
    "compile_elementwise": Bar("trace, compile, run: elementwise", most=1e-3),
    "compile_digits": Bar("trace, compile, run: digits step", most=20e-3),
    "compile_mlp": Bar("trace, compile, run: MLP step", most=15e-3),
    "elementwise": Bar("fused elementwise f32", times=4),
    "softmax": Bar("softmax 1024x1024", times=2.5),
    "layernorm": Bar("layer norm 512x1024", times=2.5),
    "layernorm_grad": Bar("its gradient", times=2.5),
    "matmul": Bar("matrix products", times=1, cell=0.93),
    "mlp_step": Bar("MLP training step, batch 128", times=1.5),
    "scan": Bar("scan, 1000 steps of 16x16", times=3),
    "scan_grad": Bar("its gradient", times=3),
    "tu_header_only": Bar("compile hello world, header-only", most=5),
    "tu_compiled": Bar("compile hello world, fx::compiled", most=2),
}
TOLERANCE = {"mlp_step": 1e-4, "compile_mlp": 1e-4, "compile_digits": 1e-2, "layernorm_grad": 1e-3, "scan": 1e-3,
             "scan_grad": 1e-3}
SIZES = ["128x128x128", "512x512x512", "1024x1024x1024", "2048x2048x2048", "64x1024x1024", "1x1024x1024"]


def all_rows():
    rows = []
    for group in BARS:
        if group == "elementwise":
            rows += [Row(f"elementwise_{n}", group) for n in (1 << 16, 1 << 20, 1 << 24)]
        elif group == "matmul":
            rows += [Row(f"matmul_{t}_{s}", group, e, blas=True) for t, e in (("f32", 1e-4), ("f64", 1e-11)) for s in SIZES]
        else:
            rows.append(Row(group, group, TOLERANCE.get(group, 1e-5)))
    return rows


class Peer:
    """A program that speaks the protocol of bench_cpu.cpp; the driver waits for it, so that only one runs at a time."""

    def __init__(self, command, env, cpus):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env,
                                        preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the program ended")
        state, _, text = line.strip().partition(" ")
        if state != "ok":
            raise RuntimeError(text)
        return text

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def differing(a, b, tolerance):
    """The first way in which two answers to `check` differ, or nothing."""
    left, right = [[float(v) for v in part.split()] for part in a.split(";")], [
        [float(v) for v in part.split()] for part in b.split(";")]
    if [p[0] for p in left] != [p[0] for p in right]:
        return "arrays of other sizes"
    for i, (x, y) in enumerate(zip(left, right)):
        size = max(x[2], y[2])
        mean = size / max(x[0], 1)
        for k, (u, v) in enumerate(zip(x[1:], y[1:])):
            scale = size if k < 2 else max(mean, abs(u), abs(v))
            if not abs(u - v) <= tolerance * scale:
                return f"array {i}: {u:g} and {v:g}"
    return ""


def read_options():
    p = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    p.add_argument("--rows", default="", help="rows or groups, or how their names begin: softmax,matmul_f32")
    p.add_argument("--quick", action="store_true", help="3 rounds instead of 9")
    p.add_argument("--threads", type=int, default=1, help="CPUs that each program may use (the bars are for 1)")
    p.add_argument("--no-roofline", action="store_true", help="no ceilings, table and SVG of the kernels")
    p.add_argument("--strict", action="store_true", help="fail if a bar is missed")
    p.add_argument("--trace", type=Path, metavar="FILE", help="a Perfetto trace of the digits step")
    for name in ("--server", "--jax", "--out"):
        p.add_argument(name, type=Path, help=argparse.SUPPRESS)
    return p.parse_args()


def start(options):
    """fx's server with OpenBLAS in it, and JAX's or nothing."""
    cpus = sorted(os.sched_getaffinity(0))[-options.threads:]
    env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "XLA_FLAGS")}
    env["OPENBLAS_NUM_THREADS"] = str(options.threads)
    fx = Peer([str(options.server)], env, cpus)
    eigen = "true" if options.threads > 1 else "false"
    env["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={eigen} intra_op_parallelism_threads={options.threads}"
    env["JAX_PLATFORMS"] = "cpu"
    jax = None
    try:
        jax = Peer([str(options.jax), str(TOP / "bench/peer_jax.py")], env, cpus)
        print("measured against", jax.read(), flush=True)
    except (OSError, RuntimeError):
        print("JAX does not start: its column stays empty", flush=True)
        jax = None
    return fx, jax


def measure(row, fx, jax, rounds):
    """Medians over the rounds of those that have the row, or why there are none."""
    result = {"name": row.name, "group": row.group}
    peers = {"fx": (fx, row.name)}
    if jax:
        peers["jax"] = (jax, row.name)
    if row.blas:
        peers["openblas"] = (fx, "blas_" + row.name)
    values = {}
    for who, (peer, name) in list(peers.items()):
        try:
            values[who] = peer.ask("check", name)
        except RuntimeError as e:
            result[who + "_error"] = str(e)
            del peers[who]
    for who in values:
        if who != "fx" and "fx" in values and (why := differing(values["fx"], values[who], row.tolerance)):
            result["differs"] = f"fx and {who}, {why}"
            return result
    times = {who: [] for who in peers}
    for _ in range(rounds):
        for who, (peer, name) in peers.items():
            times[who].append(float(peer.ask("run", name, 7)))
    for who, t in times.items():
        result[who], result[who + "_rounds"] = statistics.median(t), t
    return result


def compile_seconds(flags):
    """Processor time of one compilation: what else runs does not count."""
    command = [*shlex.split(os.environ.get("CXX", "g++")), "-std=c++20", "-O2", *flags, "-I", str(TOP / "include"), "-c",
               str(TOP / "bench/hello.cpp"), "-o", os.devnull]
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise RuntimeError("hello.cpp does not compile")
    return used.ru_utime + used.ru_stime


def measure_compiler(rows, rounds):
    flags = {"tu_header_only": [], "tu_compiled": ["-DFX_COMPILED"]}
    times = {r.name: [] for r in rows}
    for _ in range(min(rounds, 3)):
        for r in rows:
            times[r.name].append(compile_seconds(flags[r.name]))
    return [{"name": n, "group": n, "fx": statistics.median(t), "fx_rounds": t} for n, t in times.items()]


def duration(t):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if t >= scale:
            return f"{t / scale:.3g} {unit}"
    return f"{t / 1e-9:.0f} ns"


def judge(r):
    """Adds the ratio: how often as fast as the best peer fx is."""
    best = min((r[w] for w in ("jax", "openblas") if w in r), default=None)
    if best and "fx" in r:
        r["ratio"] = best / r["fx"]


def verdict(bar, rows):
    """A text and whether the bar of a group holds; None: it was not measured."""
    if bar.most:
        t = rows[0].get("fx")
        if not t:
            return "", None
        need = f"<= {duration(bar.most)}"
        return (f"{need}: holds", True) if t <= bar.most else (f"{need}: missed by {t / bar.most:.2g}x", False)
    ratios = [r["ratio"] for r in rows if "ratio" in r]
    if not ratios:
        return "", None
    mean, need = math.exp(statistics.fmean(map(math.log, ratios))), f">= {bar.times:g}x"
    text = f"geometric mean {mean:.3g}x, " if len(rows) > 1 else ""
    if mean < bar.times:
        return f"{text}{need}: missed by {bar.times / mean:.3g}x", False
    low = [r["name"] for r in rows if r.get("ratio", bar.cell) < bar.cell]
    if low:
        return f"{text}{need} holds; below {bar.cell:g}x: {', '.join(low)}", False
    return f"{text}{need}: holds", True


def line(name, cells, note):
    print(f"{name:34}" + "".join(f"{c:>11}" for c in cells) + ("   " + note if note else ""), flush=True)


def print_row(r, note):
    if "differs" in r:
        note = "OTHER RESULTS: " + r["differs"]
    elif "fx" not in r:
        note = "FAILED: " + r.get("fx_error", "")
    cells = [duration(r[w]) if w in r else "-" for w in ("fx", "jax", "openblas")]
    line(r["name"], cells + [f"{r['ratio']:.3g}x" if "ratio" in r else "-"], note)


def print_group(group, rows):
    text, holds = verdict(BARS[group], rows)
    for r in rows:
        print_row(r, text if len(rows) == 1 else "")
    if len(rows) > 1:
        line("  " + BARS[group].title, [""] * 4, text)
    return {"group": group, "title": BARS[group].title, "bar": text, "holds": holds}


def load():
    return " ".join(f"{x:.2f}" for x in os.getloadavg())


def processor():
    try:
        names = [l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")]
        return names[0] if names else platform.machine()
    except OSError:
        return platform.machine()


def main():
    options = read_options()
    chosen = [r for r in all_rows() if not options.rows or any(
        r.name.startswith(w) or r.group == w for w in options.rows.split(",") if w)]
    options.out.mkdir(parents=True, exist_ok=True)
    if not chosen:
        sys.exit("no such rows; there are: " + " ".join(r.name for r in all_rows()))
    rounds = 3 if options.quick else 9
    report = {"processor": processor(), "cpus": os.cpu_count(), "threads": options.threads, "rounds": rounds,
              "load_before": load(), "rows": [], "groups": []}
    print(f"{report['processor']}, {report['cpus']} CPUs, load {load()}; each may use {options.threads}, {rounds} rounds")
    fx, jax = start(options)
    line("", ["fx", "JAX", "OpenBLAS", "ratio"], "bar")
    for group in dict.fromkeys(r.group for r in chosen):
        rows = [r for r in chosen if r.group == group]
        results = (measure_compiler(rows, rounds) if group.startswith("tu_")
                   else [measure(r, fx, jax, rounds) for r in rows])
        for r in results:
            judge(r)
        report["rows"] += results
        report["groups"].append(print_group(group, results))
    if options.trace:
        fx.ask("trace", "compile_digits", options.trace.resolve())
        print(f"{options.trace}: three training steps of the digits, each compiled anew (ui.perfetto.dev shows it)")
    if not options.no_roofline:
        report["ceilings"], report["kernels"] = roofline.measure(fx, [r.name for r in chosen])
        roofline.print_table(report["ceilings"], report["kernels"])
        roofline.write_svg(options.out / "roofline.svg", report["ceilings"], report["kernels"])
    report["load_after"] = load()
    held = [g["holds"] for g in report["groups"] if g["holds"] is not None]
    print(f"{sum(held)} of {len(held)} bars hold; load {load()}")
    (options.out / "results.json").write_text(json.dumps(report, indent=1) + "\n")
    for peer in filter(None, (fx, jax)):
        peer.close()
    wrong = any("differs" in r or "fx" not in r for r in report["rows"])
    sys.exit(1 if wrong or (options.strict and not all(held)) else 0)


if __name__ == "__main__":
    main()
