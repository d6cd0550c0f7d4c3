// reference/ordering.cpp -- sort: several arrays along one dimension, stable, by the first of them; NaN last, -0 = +0.
#include <algorithm>
#include <cmath>

#include "reference/reference.hpp"

namespace reference {
namespace {

bool before(fx::DType d, const Element& a, const Element& b) {
  if (!fx::is_float(d)) return whole_less(d, a.whole, b.whole);
  if (std::isnan(a.real)) return false;
  return std::isnan(b.real) || a.real < b.real;
}

Values sort(const Call& c) {
  const int dim = int(c.attrs().integer(0)), keys = int(c.attrs().integer(1));
  const fx::Dims& shape = c[0].type.dims;
  Values out;
  for (const Value* v : c.in) out.push_back(*v);
  const std::int64_t n = shape[dim];
  for (std::int64_t line = 0; line < fx::numel(shape); ++line) {
    std::vector<std::int64_t> index = unravel(line, shape);
    if (index[dim] != 0) continue;
    std::vector<std::int64_t> from;  // where each element of this line stands
    for (index[dim] = 0; index[dim] < n; ++index[dim]) from.push_back(ravel(index, shape));
    std::vector<std::int64_t> order = from;
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
      for (int k = 0; k < keys; ++k) {
        const fx::DType d = c[k].type.dtype;
        if (before(d, c[k].at[i], c[k].at[j])) return true;
        if (before(d, c[k].at[j], c[k].at[i])) return false;
      }
      return false;
    });
    // Inexact keys so close that they may change places leave the line unknown.
    bool known = true;
    for (int k = 0; k < keys; ++k)
      for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
          const Element &x = c[k].at[order[i]], &y = c[k].at[order[j]];
          const long double e = x.error + y.error;
          if (e > 0 && !(std::fabs(x.real - y.real) > e)) known = false;
        }
    for (std::size_t k = 0; k < out.size(); ++k)
      for (std::size_t i = 0; i < order.size(); ++i) {
        out[k].at[from[i]] = c[int(k)].at[order[i]];
        if (!known) out[k].at[from[i]].error = infinity;
      }
  }
  return out;
}

}  // namespace

void add_ordering(Rules& rules) { rules.emplace_back("sort", sort); }

}  // namespace reference
