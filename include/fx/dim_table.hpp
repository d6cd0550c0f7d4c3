// dim_table.hpp -- the process-wide table of symbolic dimensions: canonical polynomials with integer coefficients.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "dim.hpp"

namespace fx::inline v0::detail {

// A monomial is its sorted factor names joined by '*'; the empty one is the constant term.
using Polynomial = std::map<std::string, std::int64_t>;

struct DimTable {
  std::mutex mutex;
  std::map<std::string, std::int64_t> handle;  // canonical text -> handle (negative)
  std::vector<Polynomial> poly;                // of handle INT64_MIN + i
};

// Leaked on purpose: Dims may be used by destructors of static objects.
FX_SHARED FX_INLINE DimTable& dim_table() {
  static DimTable* t = new DimTable;
  return *t;
}

FX_INLINE std::string polynomial_text(const Polynomial& p) {
  std::string s;
  for (auto it = p.rbegin(); it != p.rend(); ++it) {
    auto [name, c] = *it;
    if (!s.empty()) s += c < 0 ? "-" : "+";
    if (s.empty() && c < 0) s += "-";
    std::string mag = std::to_string(c < 0 ? -c : c);
    if (name.empty())
      s += mag;
    else if (mag != "1")
      s += mag + "*" + name;
    else
      s += name;
  }
  return s;
}

FX_INLINE Polynomial polynomial(Dim d) {
  if (d.is_static() || d.is_negative()) return d.v ? Polynomial{{"", d.v}} : Polynomial{};
  DimTable& t = dim_table();
  std::lock_guard<std::mutex> lock(t.mutex);
  return t.poly[std::size_t(d.v - INT64_MIN)];
}

FX_INLINE Dim intern(Polynomial p) {
  for (auto it = p.begin(); it != p.end();) it = it->second == 0 ? p.erase(it) : std::next(it);
  if (p.empty()) return Dim(0);
  if (p.size() == 1 && p.begin()->first.empty()) {
    if (p.begin()->second < 0)
      fail(ErrorCode::shape, "a dimension became negative: " + std::to_string(p.begin()->second));
    return Dim(p.begin()->second);
  }
  DimTable& t = dim_table();
  std::lock_guard<std::mutex> lock(t.mutex);
  auto [it, fresh] = t.handle.try_emplace(polynomial_text(p), INT64_MIN + std::int64_t(t.poly.size()));
  if (fresh) t.poly.push_back(std::move(p));
  return Dim(it->second);
}

// p += a * b * name.
FX_INLINE void add_term(Polynomial& p, const std::string& name, std::int64_t a, std::int64_t b) {
  std::int64_t& sum = p[name];
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r) || __builtin_add_overflow(sum, r, &r) || r == INT64_MIN)
    fail(ErrorCode::shape, "a dimension exceeds 64 bits");
  sum = r;
}

FX_INLINE Dim dim_add(Dim a, Dim b, std::int64_t sign) {
  Polynomial p = polynomial(a);
  for (auto& [name, c] : polynomial(b)) add_term(p, name, sign, c);
  return intern(std::move(p));
}

FX_INLINE std::string merge_factors(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  std::multimap<std::string, int> factors;
  for (const std::string& m : {a, b})
    for (std::size_t i = 0, j; i <= m.size(); i = j + 1) {
      j = std::min(m.find('*', i), m.size());
      factors.emplace(m.substr(i, j - i), 0);
    }
  std::string r;
  for (auto& [name, unused] : factors) r += (r.empty() ? "" : "*") + name;
  return r;
}

FX_INLINE Dim dim_mul(Dim a, Dim b) {
  Polynomial p, q = polynomial(b);
  for (auto& [na, ca] : polynomial(a))
    for (auto& [nb, cb] : q) add_term(p, merge_factors(na, nb), ca, cb);
  return intern(std::move(p));
}

FX_INLINE Str dim_text(Dim d) { return Str(polynomial_text(polynomial(d))); }

}  // namespace fx::inline v0::detail

namespace fx::inline v0 {
FX_INLINE Dim dim(std::string_view name, Loc loc) {
  bool ok = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name)
    ok = ok && (c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
  if (!ok)
    fail(ErrorCode::value, "dim: '" + std::string(name) + "' is no name for a dimension; use letters, digits and _",
         loc);
  return detail::intern({{std::string(name), 1}});
}
}  // namespace fx::inline v0
