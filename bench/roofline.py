"""The kernels of fx's compiled functions against what one core reaches: a table and an SVG. Used by compare.py.

The model: a kernel can be no faster than its arithmetic at the rate of multiply-adds, nor than its bytes at the rate of
copies in the smallest memory that holds all its arrays. Operations and bytes are those of the tile program's cost model,
in which exp, tanh and the like count 20 operations.
"""
import math

LEVELS = ["L1", "L2", "L3"]
COLORS = {"L1": "#2ca02c", "L2": "#1f77b4", "L3": "#9467bd", "memory": "#d62728"}


def ask_ceilings(fx):
    words = fx.ask("ceilings").split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def level(ceilings, working_set):
    return next((l for l in LEVELS if l in ceilings and working_set <= ceilings[l + "_bytes"]), "memory")


def judge(ceilings, row, number, words):
    kind, dtype, (flops, size, working_set, seconds) = words[0], words[1], map(float, words[2:])
    k = {"row": row, "number": number, "kind": kind, "dtype": dtype, "flops": flops, "bytes": size,
         "working_set": working_set, "seconds": seconds, "level": level(ceilings, working_set)}
    compute, copy = flops / ceilings["f64" if dtype == "f64" else "f32"], size / ceilings[k["level"]]
    k["bound"] = "compute" if compute > copy else k["level"]
    k["fraction"] = max(compute, copy) / seconds
    return k


def measure(fx, rows):
    ceilings, kernels = ask_ceilings(fx), []
    for row in rows:
        if row.startswith(("tu_", "compile_", "eager_")):
            continue
        try:
            answer = fx.ask("kernels", row)
        except RuntimeError as e:
            print(f"no kernels of {row}: {e}")
            continue
        for i, part in enumerate(filter(None, map(str.strip, answer.split(";")))):
            kernels.append(judge(ceilings, row, i, part.split()))
    return ceilings, kernels


def print_table(ceilings, kernels):
    rates = [f"{t} {ceilings[t] / 1e9:.3g} GFLOP/s" for t in ("f32", "f64")]
    rates += [f"{l} {ceilings[l] / 1e9:.3g} GB/s" for l in LEVELS + ["memory"] if l in ceilings]
    print("\nceilings of one core: " + ", ".join(rates))
    print(f"{'row':28}{'kernel':>13}{'GFLOP/s':>10}{'GB/s':>8}{'flop/byte':>11}{'time':>12}{'bound by':>10}{'reached':>9}")
    for k in kernels:
        rate, copied = k["flops"] / k["seconds"] / 1e9, k["bytes"] / k["seconds"] / 1e9
        intensity = k["flops"] / k["bytes"] if k["bytes"] else math.inf
        name = f"{k['number']} {k['kind']} {k['dtype']}"
        print(f"{k['row']:28}{name:>13}{rate:10.3g}{copied:8.3g}{intensity:11.3g}{k['seconds'] * 1e6:9.3g} us"
              f"{k['bound']:>10}{100 * k['fraction']:8.1f}%")


class Chart:
    """Log-log axes: operations per byte across, GFLOP/s up."""
    WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 560, 70, 230, 40, 50

    def __init__(self, x, y):
        self.x0, self.x1 = math.log10(x[0]), math.log10(x[1])
        self.y0, self.y1 = math.log10(y[0]), math.log10(y[1])
        self.parts = []

    def x(self, v):
        return self.LEFT + (math.log10(v) - self.x0) / (self.x1 - self.x0) * (self.WIDTH - self.LEFT - self.RIGHT)

    def y(self, v):
        return self.HEIGHT - self.BOTTOM - (math.log10(v) - self.y0) / (self.y1 - self.y0) * (
            self.HEIGHT - self.TOP - self.BOTTOM)

    def line(self, a, b, color, style=""):
        self.parts.append(f"<line x1='{self.x(a[0]):.1f}' y1='{self.y(a[1]):.1f}' x2='{self.x(b[0]):.1f}' "
                          f"y2='{self.y(b[1]):.1f}' stroke='{color}' {style}/>")

    def text(self, x, y, text, style=""):
        self.parts.append(f"<text x='{x:.1f}' y='{y:.1f}' {style}>{text}</text>")

    def axes(self):
        for e in range(math.ceil(self.x0), math.floor(self.x1) + 1):
            self.line((10**e, 10**self.y0), (10**e, 10**self.y1), "#eee")
            self.text(self.x(10**e), self.HEIGHT - self.BOTTOM + 16, f"{10.0**e:g}", "text-anchor='middle'")
        for e in range(math.ceil(self.y0), math.floor(self.y1) + 1):
            self.line((10**self.x0, 10**e), (10**self.x1, 10**e), "#eee")
            self.text(self.LEFT - 6, self.y(10**e) + 4, f"{10.0**e:g}", "text-anchor='end'")
        self.text(self.LEFT, 24, "Kernels of fx on one core: GFLOP/s against operations per byte", "font-size='15'")
        self.text((self.LEFT + self.WIDTH - self.RIGHT) / 2, self.HEIGHT - 12, "operations per byte",
                  "text-anchor='middle'")

    def svg(self):
        head = (f"<svg xmlns='http://www.w3.org/2000/svg' width='{self.WIDTH}' height='{self.HEIGHT}' "
                "font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' fill='white'/>\n")
        return head + "\n".join(self.parts) + "\n</svg>\n"


def draw_roofs(chart, ceilings):
    low, high = 10**chart.x0, 10**chart.x1
    peak = ceilings["f32"] / 1e9
    for l in [l for l in LEVELS + ["memory"] if l in ceilings]:
        rate = ceilings[l] / 1e9
        knee = peak / rate
        first = max(low, 10**chart.y0 / rate)
        chart.line((first, first * rate), (knee, peak), COLORS[l], "stroke-width='1.5'")
        chart.text(chart.x(first) + 4, chart.y(first * rate) - 6, f"{l} {rate:.3g} GB/s", f"fill='{COLORS[l]}'")
    for t in ("f32", "f64"):
        peak = ceilings[t] / 1e9
        chart.line((peak / (max(ceilings[l] for l in COLORS if l in ceilings) / 1e9), peak), (high, peak), "#444",
                   "stroke-width='1.5'" if t == "f32" else "stroke-width='1.5' stroke-dasharray='5 3'")
        chart.text(chart.x(high) - 4, chart.y(peak) - 5, f"{t} {peak:.3g} GFLOP/s", "text-anchor='end'")


def write_svg(path, ceilings, kernels):
    """Kernels without arithmetic have no place in the chart; they are in the table."""
    shown = [k for k in kernels if k["flops"] > 0 and k["bytes"] > 0]
    points = [(k["flops"] / k["bytes"], k["flops"] / k["seconds"] / 1e9) for k in shown]
    chart = Chart((min([0.05] + [p[0] / 2 for p in points]), max([1000] + [p[0] * 2 for p in points])),
                  (min([0.5] + [p[1] / 2 for p in points]), 2 * ceilings["f32"] / 1e9))
    chart.axes()
    draw_roofs(chart, ceilings)
    for i, (k, (x, y)) in enumerate(zip(shown, points), 1):
        color = COLORS[k["level"]]
        chart.parts.append(f"<circle cx='{chart.x(x):.1f}' cy='{chart.y(y):.1f}' r='4' fill='{color}' fill-opacity='0.7'>"
                           f"<title>{k['row']} {k['kind']} {100 * k['fraction']:.0f} %</title></circle>")
        chart.text(chart.x(x) + 5, chart.y(y) - 4, str(i), "font-size='9'")
        chart.text(chart.WIDTH - chart.RIGHT + 10, chart.TOP + 12 * i,
                   f"{i} {k['row']} {k['kind']} {100 * k['fraction']:.0f} %", f"font-size='9' fill='{color}'")
    chart.HEIGHT = max(chart.HEIGHT, chart.TOP + 12 * len(shown) + 20)
    path.write_text(chart.svg())
