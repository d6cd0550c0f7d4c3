// plot.hpp -- line charts as an SVG file, for the examples.
#pragma once
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace plot {

struct Line {
  std::string name, color;
  std::vector<double> y;
};
struct Chart {
  std::string title, x_label;
  std::vector<Line> lines;
};

inline std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return text;
}

// Writes the charts one below the other. Returns false if the file cannot be written.
inline bool write(const std::string& path, const std::vector<Chart>& charts) {
  std::FILE* f = std::fopen(path.c_str(), "w");
  if (!f) return false;
  const int w = 720, h = 300, left = 64, right = 150, top = 36, bottom = 40;
  std::fprintf(
      f, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' font-size='12'>\n", w,
      h * int(charts.size()));
  std::fprintf(f, "<rect width='100%%' height='100%%' fill='white'/>\n");
  int y0 = 0;
  for (const Chart& c : charts) {
    double lo = 1e300, hi = -1e300;
    std::size_t n = 2;
    for (const Line& l : c.lines) {
      for (double v : l.y) lo = std::min(lo, v), hi = std::max(hi, v);
      n = std::max(n, l.y.size());
    }
    if (!(hi > lo)) hi = lo + 1;
    auto px = [&](double i) { return left + i / double(n - 1) * (w - left - right); };
    auto py = [&](double v) { return y0 + h - bottom - (v - lo) / (hi - lo) * (h - top - bottom); };
    std::fprintf(f, "<text x='%d' y='%d' font-size='15'>%s</text>\n", left, y0 + 22, c.title.c_str());
    for (int k = 0; k <= 4; ++k) {
      const double v = lo + (hi - lo) * k / 4;
      std::fprintf(f,
                   "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' stroke='#ddd'/><text x='%d' y='%.1f' "
                   "text-anchor='end'>%s</text>\n",
                   left, py(v), w - right, py(v), left - 6, py(v) + 4, number(v).c_str());
      std::fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%d</text>\n", px(double(n - 1) * k / 4),
                   y0 + h - bottom + 16, int(double(n - 1) * k / 4));
    }
    std::fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>%s</text>\n", (left + w - right) / 2, y0 + h - 6,
                 c.x_label.c_str());
    int legend = y0 + top + 10;
    for (const Line& l : c.lines) {
      std::fprintf(f, "<polyline fill='none' stroke='%s' stroke-width='1.5' points='", l.color.c_str());
      for (std::size_t i = 0; i < l.y.size(); ++i) std::fprintf(f, "%.1f,%.1f ", px(double(i)), py(l.y[i]));
      std::fprintf(f, "'/>\n<text x='%d' y='%d' fill='%s'>%s</text>\n", w - right + 8, legend, l.color.c_str(),
                   l.name.c_str());
      legend += 16;
    }
    y0 += h;
  }
  std::fprintf(f, "</svg>\n");
  return std::fclose(f) == 0;
}

}  // namespace plot
