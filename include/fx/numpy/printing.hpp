// numpy/printing.hpp -- to_string(x) and stream << x: the text NumPy's print gives; a traced Array prints its type.
#pragma once
#include <string>

#include "printing_number.hpp"

namespace fx::inline v0 {

// x as NumPy prints it: rows in brackets, columns aligned, 8 digits after the point, wrapped at 75 characters, and
// "..." for what is in the middle of more than 1000 elements. A traced Array gives "Traced<f32[3]>". Errors: empty
// (state).
Str text(const Array& x, Loc where = Loc::here());
inline std::string to_string(const Array& x, Loc where = Loc::here()) { return std::string(text(x, where).view()); }

// For any stream that takes std::string_view, so that no header of streams is needed here.
template <class S>
requires requires(S& s, std::string_view v) { s << v; }
S& operator<<(S& s, const Array& x) {
  s << text(x).view();
  return s;
}

#if FX_BODIES
namespace detail {

inline constexpr int print_width = 75, print_edge = 3, print_threshold = 1000;

// The layout of NumPy's array2string, on elements that `word` prints.
struct ArrayPrinter {
  const Node& n;
  const void* data;
  bool summary;
  ElementFormat format;

  bool cut(int axis) const { return summary && n.type.dims[axis] > 2 * print_edge; }
  // f(index) for each index shown along an axis; -1 stands for "...".
  template <class F>
  void for_each_shown(int axis, F&& f) const {
    const std::int64_t size = n.type.dims[axis];
    for (std::int64_t i = 0; i < size; ++i) {
      if (cut(axis) && i == print_edge) {
        f(std::int64_t(-1));
        i = size - print_edge;
      }
      f(i);
    }
  }
  // Measures every element that is shown.
  void measure(int axis, std::int64_t offset) {
    if (axis == n.type.rank()) return format.measure(n.type.dtype, data, offset);
    for_each_shown(axis, [&](std::int64_t i) {
      if (i >= 0) measure(axis + 1, offset * n.type.dims[axis] + i);
    });
  }

  struct Line {
    Str text;  // of finished lines
    Str line;
    int indent;
    void start() {
      line.clear();
      for (int k = 0; k < indent; ++k) line += ' ';
    }
    void word(const Str& w, int limit) {
      if (line.size() + w.size() > limit && line.size() > indent) {
        std::string_view l = line.view();
        while (!l.empty() && l.back() == ' ') l.remove_suffix(1);
        (text += l) += '\n';
        start();
      }
      line += w;
    }
  };
  // The last axis: words separated by spaces, on several lines if there are many.
  Str row(std::int64_t offset, int indent, int width) const {
    const int axis = n.type.rank() - 1;
    const std::int64_t last = n.type.dims[axis] - 1;
    Line l{{}, {}, indent};
    l.start();
    for_each_shown(axis, [&](std::int64_t i) {
      Str w;
      if (i < 0)
        w += "...";
      else
        format.put(w, n.type.dtype, data, offset * n.type.dims[axis] + i);
      l.word(w, width - 1);
      if (i != last) l.line += ' ';
    });
    l.text += l.line;
    return l.text;
  }
  // Brackets around what stands along an axis, at an indent that is not printed before the first bracket.
  void put_axis(Str& s, int axis, std::int64_t offset, int indent, int width) const {
    const int axes_left = n.type.rank() - axis;
    s += '[';
    if (axes_left == 1) {
      s += row(offset, indent, width).view().substr(std::size_t(indent));
    } else {
      bool first = true;
      for_each_shown(axis, [&](std::int64_t i) {
        for (int k = 0; !first && k < axes_left - 1; ++k) s += '\n';
        for (int k = 0; !first && k < indent; ++k) s += ' ';
        first = false;
        if (i < 0)
          s += "...";
        else
          put_axis(s, axis + 1, offset * n.type.dims[axis] + i, indent + 1, width - 1);
      });
    }
    s += ']';
  }
};

FX_INLINE void put_array(Str& s, const Node& n, Loc where) {
  const std::int64_t count = numel(n.type);
  const void* data = bytes(n, where);
  if (n.type.rank() == 0) return put_scalar(s, n.type.dtype, data);
  if (count == 0) return void(s += "[]");
  ArrayPrinter p{n, data, count > print_threshold, {}};
  p.measure(0, 0);
  p.format.decide(n.type.dtype);
  p.measure(0, 0);
  p.format.finish();
  p.put_axis(s, 0, 0, 1, print_width);
}
}  // namespace detail

FX_INLINE Str text(const Array& x, Loc where) {
  const detail::Node& n = detail::node(x, where);
  Str s;
  if (n.kind == detail::Node::concrete) {
    detail::put_array(s, n, where);
  } else {
    s += n.kind == detail::Node::traced ? "Traced<" : "Spec<";
    put(s, n.type);
    s += '>';
  }
  return s;
}
#endif

}  // namespace fx::inline v0
