// reference/reduction.cpp -- reductions, running sums and contractions.
//
// A sum of n floats may round n times whatever its order: it is known up to n u sum|x| (u: half the spacing at 1). The
// order of cumsum and of dot_general along one dimension is prescribed: those are followed, and exact.
#include <cmath>

#include "reference/reference.hpp"

namespace reference {
namespace {

using Index = std::vector<std::int64_t>;
using Elements = std::vector<Element>;

// The elements of operand 0 that fold into each result element, in row-major order of the reduced dimensions.
template <class F>
Value folded(const Call& c, const fx::Dims& axes, F&& fold) {
  const Value& x = c[0];
  std::vector<Elements> groups(fx::numel(c.out_type()));
  for (std::size_t i = 0; i < x.at.size(); ++i) {
    const Index index = unravel(std::int64_t(i), x.type.dims);
    Index kept;
    for (int k = 0; k < x.type.rank(); ++k)
      if (!axes.contains(k)) kept.push_back(index[k]);
    groups[ravel(kept, c.out_type().dims)].push_back(x.at[i]);
  }
  Value out = zeros(c.out_type());
  for (std::size_t i = 0; i < groups.size(); ++i) out.at[i] = fold(groups[i]);
  return out;
}

Element sum(fx::DType d, Mode mode, const Elements& xs) {
  Element r;
  if (!fx::is_float(d)) {
    for (const Element& x : xs) r.whole = wrap(d, r.whole + x.whole), r.error += x.error;
    return r;
  }
  r.real = xs.empty() ? 0 : -0.0L;
  long double size = 0;
  for (const Element& x : xs) {
    r.real += x.real;
    r.error += x.error;
    if (std::isfinite(x.real)) size += std::fabs(x.real);
  }
  if (mode == Mode::wide) return {r.real, 0, 0};
  if (size > largest(d)) r.error = infinity;  // a partial sum may overflow
  if (xs.size() > 1) r.error += static_cast<long double>(xs.size()) * unit_roundoff(d) * size;
  r.real = round_to(d, r.real);
  return r;
}

Element product(fx::DType d, Mode mode, const Elements& xs) {
  Element r{1, 1, 0};
  if (!fx::is_float(d)) {
    for (const Element& x : xs) r.whole = wrap(d, r.whole * x.whole), r.error += x.error;
    return {0, r.whole, r.error};
  }
  long double big = 1, small = 1, relative = 0;
  bool inexact_zero = false;
  for (const Element& x : xs) {
    r.real *= x.real;
    const long double m = std::fabs(x.real);
    if (m > 1 && std::isfinite(m)) big *= m + x.error;
    if (m < 1 && m > 0) small *= m;
    if (x.error > 0 && m > x.error) relative += x.error / (m - x.error);
    if (x.error > 0 && !(m > x.error)) inexact_zero = true;
  }
  if (mode == Mode::wide) return {r.real, 0, 0};
  r.whole = 0;
  relative += 2 * static_cast<long double>(xs.size()) * unit_roundoff(d);
  const long double v = r.real;
  r.real = round_to(d, v);
  if (xs.size() > 1 && std::isfinite(v) && v != 0)
    r.error = std::fabs(v) * relative + ulp(d, 0) * static_cast<long double>(xs.size());
  if (xs.size() == 1) r.error = xs[0].error;
  // A partial product may overflow, or lose bits below the normal numbers that a large factor brings up again.
  const long double tiny = 4 * ulp(d, 0) / unit_roundoff(d);
  if (xs.size() > 1 && (inexact_zero || big > largest(d) || (small < tiny && big > 1) || relative > 0.1L))
    r.error = infinity;
  return r;
}

// The greater (or, negated, lesser) of all.
Element extremum(fx::DType d, bool greatest, const Elements& xs) {
  if (fx::is_float(d)) {
    Element r{greatest ? -infinity : infinity, 0, 0};
    for (const Element& x : xs) {
      r.error = std::max(r.error, x.error);
      if (std::isnan(r.real)) continue;
      const bool zero = x.real == 0 && r.real == 0;
      const bool wins = zero ? std::signbit(greatest ? r.real : x.real) && !std::signbit(greatest ? x.real : r.real)
                        : greatest ? x.real > r.real
                                   : x.real < r.real;
      if (std::isnan(x.real) || wins) r.real = x.real;
    }
    return r;
  }
  const std::uint64_t top = is_signed(d) ? (std::uint64_t(1) << (width_of(d) - 1)) - 1 : wrap(d, ~std::uint64_t(0));
  const std::uint64_t bottom = is_signed(d) ? wrap(d, std::uint64_t(1) << (width_of(d) - 1)) : 0;
  Element r{0, greatest ? bottom : top, 0};
  for (const Element& x : xs) {
    r.error += x.error;
    if (greatest ? whole_less(d, r.whole, x.whole) : whole_less(d, x.whole, r.whole)) r.whole = x.whole;
  }
  return r;
}

// The first extremum; a NaN is one.
Element position(fx::DType d, fx::DType to, bool greatest, const Elements& xs) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < xs.size(); ++i) {
    const Element &b = xs[best], &x = xs[i];
    bool wins = false;
    if (!fx::is_float(d))
      wins = greatest ? whole_less(d, b.whole, x.whole) : whole_less(d, x.whole, b.whole);
    else if (!std::isnan(b.real))
      wins = std::isnan(x.real) || (greatest ? x.real > b.real : x.real < b.real);
    if (wins) best = i;
  }
  Element r = whole(to, best);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const long double e = xs[i].error + xs[best].error;
    if (i != best && e > 0 && !(std::fabs(xs[i].real - xs[best].real) > e)) r.error = infinity;
    if (e == infinity) r.error = infinity;
  }
  return r;
}

void add_fold(Rules& rules, const char* name, Element (*fold)(fx::DType, Mode, const Elements&)) {
  rules.emplace_back(name, [fold](const Call& c) {
    return Values{
        folded(c, c.attrs().dims(0), [&](const Elements& xs) { return fold(c.out_type().dtype, c.mode, xs); })};
  });
}
void add_extremum(Rules& rules, const char* name, bool greatest) {
  rules.emplace_back(name, [greatest](const Call& c) {
    return Values{
        folded(c, c.attrs().dims(0), [&](const Elements& xs) { return extremum(c.out_type().dtype, greatest, xs); })};
  });
}
void add_position(Rules& rules, const char* name, bool greatest) {
  rules.emplace_back(name, [greatest](const Call& c) {
    return Values{folded(c, c.attrs().dims(0), [&](const Elements& xs) {
      return position(c[0].type.dtype, c.out_type().dtype, greatest, xs);
    })};
  });
}

// sum + x, in a chain of known order.
Element add_to(fx::DType d, Mode mode, const Element& sum, const Element& x) {
  if (!fx::is_float(d)) return {0, wrap(d, sum.whole + x.whole), sum.error + x.error};
  Element r;
  r.real = in_precision(
      d, mode == Mode::wide, [](auto a, auto b) { return a + b; }, sum.real, x.real);
  r.error = sum.error + x.error;
  if (r.error > 0) r.error += ulp(d, r.real);
  return r;
}

Values cumsum(const Call& c) {
  const int axis = int(c.attrs().integer(0));
  const bool reverse = c.attrs().flag(1);
  Value out = c[0];
  const fx::Dims& shape = out.type.dims;
  for (std::int64_t k = 1; k < shape[axis]; ++k)
    for (std::size_t i = 0; i < out.at.size(); ++i) {
      Index index = unravel(std::int64_t(i), shape);
      const std::int64_t here = reverse ? shape[axis] - 1 - k : k;
      if (index[axis] != here) continue;
      index[axis] = reverse ? here + 1 : here - 1;
      out.at[i] = add_to(out.type.dtype, c.mode, out.at[ravel(index, shape)], c[0].at[i]);
    }
  return {out};
}

// sum + a * b rounded once.
Element multiply_add(fx::DType d, Mode mode, const Element& sum, const Element& a, const Element& b) {
  if (!fx::is_float(d)) return {0, wrap(d, sum.whole + a.whole * b.whole), sum.error + a.error + b.error};
  Element r;
  r.real = in_precision(
      d, mode == Mode::wide, [](auto x, auto y, auto z) { return std::fma(x, y, z); }, a.real, b.real, sum.real);
  r.error = sum.error;
  if (b.error > 0) r.error += std::fabs(a.real) * b.error;
  if (a.error > 0) r.error += (std::fabs(b.real) + b.error) * a.error;
  if (std::isnan(r.error)) r.error = infinity;  // an infinite error times 0, or the reverse
  if (r.error > 0) r.error += ulp(d, r.real);
  return r;
}

Values dot_general(const Call& c) {
  const fx::Dims lc = c.attrs().dims(0), rc = c.attrs().dims(1), lb = c.attrs().dims(2), rb = c.attrs().dims(3);
  const Value &a = c[0], &b = c[1];
  fx::Dims contracted;
  for (std::int64_t k : lc) contracted.push_back(a.type.dims[int(k)]);
  Value out = zeros(c.out_type());
  for (std::size_t i = 0; i < out.at.size(); ++i) {
    const Index index = unravel(std::int64_t(i), out.type.dims);
    Index ia(a.type.rank()), ib(b.type.rank());
    int at = 0;
    for (int k = 0; k < lb.n; ++k) ia[lb[k]] = ib[rb[k]] = index[at++];
    for (int k = 0; k < a.type.rank(); ++k)
      if (!lc.contains(k) && !lb.contains(k)) ia[k] = index[at++];
    for (int k = 0; k < b.type.rank(); ++k)
      if (!rc.contains(k) && !rb.contains(k)) ib[k] = index[at++];
    Element sum;
    for (std::int64_t n = 0; n < fx::numel(contracted); ++n) {
      const Index k = unravel(n, contracted);
      for (int j = 0; j < contracted.n; ++j) {
        ia[lc[j]] = k[j];
        ib[rc[j]] = k[j];
      }
      sum = multiply_add(out.type.dtype, c.mode, sum, a.at[ravel(ia, a.type.dims)], b.at[ravel(ib, b.type.dims)]);
    }
    out.at[i] = sum;
  }
  return {out};
}

}  // namespace

void add_reduction(Rules& rules) {
  add_fold(rules, "reduce_sum", sum);
  add_fold(rules, "reduce_prod", product);
  add_extremum(rules, "reduce_max", true);
  add_extremum(rules, "reduce_min", false);
  add_position(rules, "argmax", true);
  add_position(rules, "argmin", false);
  rules.emplace_back("cumsum", cumsum);
  rules.emplace_back("dot_general", dot_general);
}

}  // namespace reference
