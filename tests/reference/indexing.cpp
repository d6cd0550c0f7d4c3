// reference/indexing.cpp -- gather, scatter, scatter_add, dynamic_slice, dynamic_update_slice.
#include <cmath>
#include <map>

#include "reference/reference.hpp"

namespace reference {
namespace {

using Index = std::vector<std::int64_t>;

// An index as a number; beyond 2^62 it is far outside anyway.
std::int64_t position(fx::DType d, const Element& x) {
  if (!is_signed(d) && x.whole > (std::uint64_t(1) << 62)) return std::int64_t(1) << 62;
  return std::int64_t(x.whole);
}
std::int64_t clamped(std::int64_t i, std::int64_t last) { return i < 0 ? 0 : i > last ? last : i; }

struct Numbers {
  fx::Dims window_dims, collapsed, index_map, window, operand_batch, index_batch;
  bool clamp = false;
};
Numbers numbers(const fx::Attrs& a) {
  return {a.dims(0), a.dims(1), a.dims(2), a.dims(3), a.dims(4), a.dims(5), a.flag(6)};
}

// For each position of the result (or updates), in row-major order of the indices: f(that position, the operand's,
// whether the window lies inside, whether the indices are known).
template <class F>
void each_position(const Call& c, const fx::Dims& result, F&& f) {
  const Numbers n = numbers(c.attrs());
  const fx::Dims &x = c[0].type.dims, &rows = c[1].type.dims;
  std::multimap<Index, std::int64_t> order;  // the dimensions of `rows` but the last -> positions
  for (std::int64_t i = 0; i < fx::numel(result); ++i) {
    const Index at = unravel(i, result);
    Index row;
    for (int k = 0; k < result.n; ++k)
      if (!n.window_dims.contains(k)) row.push_back(at[k]);
    order.emplace(row, i);
  }
  for (const auto& [row, i] : order) {
    const Index at = unravel(i, result);
    Index offset, start(x.n), place(x.n);
    for (std::int64_t k : n.window_dims) offset.push_back(at[k]);
    bool inside = true, known = true;
    for (int j = 0; j < n.index_map.n; ++j) {
      Index full = row;
      full.push_back(j);
      const Element& e = c[1].at[ravel(full, rows)];
      known = known && e.error == 0;
      const int dim = int(n.index_map[j]);
      const std::int64_t last = x[dim] - n.window[dim];
      start[dim] = position(c[1].type.dtype, e);
      if (n.clamp) start[dim] = clamped(start[dim], last);
      inside = inside && start[dim] >= 0 && start[dim] <= last;
    }
    for (int j = 0; j < n.operand_batch.n; ++j) start[n.operand_batch[j]] = row[n.index_batch[j]];
    std::size_t o = 0;
    for (int k = 0; k < x.n; ++k) {
      const bool in_window = !n.collapsed.contains(k) && !n.operand_batch.contains(k);
      place[k] = start[k] + (in_window ? offset[o++] : 0);
    }
    f(i, inside ? ravel(place, x) : 0, inside, known);
  }
}

Values gather(const Call& c) {
  Value out = zeros(c.out_type());
  each_position(c, out.type.dims, [&](std::int64_t i, std::int64_t from, bool inside, bool known) {
    if (inside) out.at[i] = c[0].at[from];
    if (!known) out.at[i].error = infinity;
  });
  return {out};
}

// The last update of a place stays.
template <class F>
Values scattered(const Call& c, F&& combine) {
  Value out = c[0];
  bool all_known = true;
  each_position(c, c[2].type.dims, [&](std::int64_t i, std::int64_t to, bool inside, bool known) {
    all_known = all_known && known;
    if (inside) out.at[to] = combine(out.at[to], c[2].at[i]);
  });
  if (!all_known)
    for (Element& x : out.at) x.error = infinity;
  return {out};
}
Values scatter(const Call& c) {
  return scattered(c, [](const Element&, const Element& update) { return update; });
}
Values scatter_add(const Call& c) {
  const fx::DType d = c.out_type().dtype;
  return scattered(c, [&](const Element& old, const Element& update) {
    if (!fx::is_float(d)) return Element{0, wrap(d, old.whole + update.whole), old.error + update.error};
    Element r;
    r.real = in_precision(
        d, c.mode == Mode::wide, [](auto a, auto b) { return a + b; }, old.real, update.real);
    r.error = old.error + update.error;
    if (r.error > 0) r.error += ulp(d, r.real);
    return r;
  });
}

// The start of a box of the given size, clamped; from operand `first` on.
Index box(const Call& c, int first, const fx::Dims& size, bool& known) {
  Index start;
  for (int k = 0; k < size.n; ++k) {
    const Value& v = c[first + k];
    known = known && v.at[0].error == 0;
    start.push_back(clamped(position(v.type.dtype, v.at[0]), c[0].type.dims[k] - size[k]));
  }
  return start;
}
Index sum(Index a, const Index& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
  return a;
}

Values dynamic_slice(const Call& c) {
  Value out = zeros(c.out_type());
  bool known = true;
  const Index start = box(c, 1, out.type.dims, known);
  for (std::size_t i = 0; i < out.at.size(); ++i) {
    out.at[i] = c[0].at[ravel(sum(unravel(std::int64_t(i), out.type.dims), start), c[0].type.dims)];
    if (!known) out.at[i].error = infinity;
  }
  return {out};
}

Values dynamic_update_slice(const Call& c) {
  Value out = c[0];
  bool known = true;
  const Index start = box(c, 2, c[1].type.dims, known);
  for (std::size_t i = 0; i < c[1].at.size(); ++i)
    out.at[ravel(sum(unravel(std::int64_t(i), c[1].type.dims), start), out.type.dims)] = c[1].at[i];
  if (!known)
    for (Element& x : out.at) x.error = infinity;
  return {out};
}

}  // namespace

void add_indexing(Rules& rules) {
  rules.insert(rules.end(), {{"gather", gather},
                             {"scatter", scatter},
                             {"scatter_add", scatter_add},
                             {"dynamic_slice", dynamic_slice},
                             {"dynamic_update_slice", dynamic_update_slice}});
}

}  // namespace reference
