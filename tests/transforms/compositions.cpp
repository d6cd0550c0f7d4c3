// transforms/compositions.cpp -- every one, pair and triple of jit, grad, jvp, vjp and vmap, in run-time loops over
// fx::Function, against the same compositions of loops and differences in long double.
#include "transforms.hpp"

using namespace transforms;

namespace {

using Arrays = std::vector<Array>;
using fx::Function;

// ---- the same on plain numbers: each Array is a row of long doubles ----

using Number = long double;
using Row = std::vector<Number>;
using Rows = std::vector<Row>;
using Plain = std::function<Rows(const Rows&)>;

Rows shifted(Rows x, const Rows& dx, Number h) {
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < x[i].size(); ++k) x[i][k] += h * dx[i][k];
  return x;
}
// a + s * b
Rows plus(Rows a, Number s, const Rows& b) { return shifted(std::move(a), b, s); }
Rows scaled(Rows a, Number s) {
  for (Row& r : a)
    for (Number& v : r) v *= s;
  return a;
}
// The derivative along dx: central differences with steps h, h/2, h/4, extrapolated to O(h^6).
Rows derivative(const Plain& f, const Rows& x, const Rows& dx) {
  auto slope = [&](Number h) { return scaled(plus(f(shifted(x, dx, h)), -1, f(shifted(x, dx, -h))), 1 / (2 * h)); };
  const Number h = 0.03L;
  const Rows a = slope(h), b = slope(h / 2), c = slope(h / 4);
  const Rows ab = plus(scaled(b, 4 / 3.0L), -1 / 3.0L, a), bc = plus(scaled(c, 4 / 3.0L), -1 / 3.0L, b);
  return plus(scaled(bc, 16 / 15.0L), -1 / 15.0L, ab);
}
Number dot(const Rows& a, const Rows& b) {
  Number s = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].size(); ++k) s += a[i][k] * b[i][k];
  return s;
}
// The cotangents of x for those of f(x).
Rows pulled_back(const Plain& f, const Rows& x, const Rows& ct) {
  Rows r = x;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < x[i].size(); ++k) {
      Rows unit = scaled(x, 0);
      unit[i][k] = 1;
      r[i][k] = dot(derivative(f, x, unit), ct);
    }
  return r;
}

// ---- the transforms, as fx has them and on plain numbers; each result is again a function of the same arguments ----

struct Transform {
  std::string name;
  Function (*of)(Function);
  Plain (*plain)(Plain);
};

// The sum of all elements, those of result i counted i + 1 times.
Array total(const Arrays& y) {
  Array s = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) s = s + np::sum(y[i]) * double(i + 1);
  return s;
}
const Transform transforms_of_all[] = {
    {"jit", [](Function f) -> Function { return fx::jit(f); }, [](Plain f) { return f; }},
    {"grad", [](Function f) -> Function { return fx::grad([f](const Arrays& x) { return total(f(x)); }); },
     [](Plain f) -> Plain {
       return [f](const Rows& x) {
         Rows ct = f(x);
         for (std::size_t i = 0; i < ct.size(); ++i) ct[i].assign(ct[i].size(), Number(i + 1));
         return pulled_back(f, x, ct);
       };
     }},
    {"jvp",
     [](Function f) -> Function {
       return Function([f](const Arrays& x) {
         Arrays dx;
         for (const Array& a : x) dx.push_back(cos(a));
         auto [y, dy] = fx::jvp(f, std::tuple(x), std::tuple(dx));
         y.insert(y.end(), dy.begin(), dy.end());
         return y;
       });
     },
     [](Plain f) -> Plain {
       return [f](const Rows& x) {
         Rows dx = x, y = f(x);
         for (Row& r : dx)
           for (Number& v : r) v = std::cos(v);
         const Rows dy = derivative(f, x, dx);
         y.insert(y.end(), dy.begin(), dy.end());
         return y;
       };
     }},
    {"vjp",
     [](Function f) -> Function {
       return Function([f](const Arrays& x) {
         auto [y, back] = fx::vjp(f, std::tuple(x));
         Arrays ct;
         for (const Array& a : y) ct.push_back(1.0 + 0.5 * a);
         return back(ct);
       });
     },
     [](Plain f) -> Plain {
       return [f](const Rows& x) {
         Rows ct = f(x);
         for (Row& r : ct)
           for (Number& v : r) v = 1 + v / 2;
         return pulled_back(f, x, ct);
       };
     }},
    {"vmap",
     [](Function f) -> Function {
       return Function([f](const Arrays& x) {
         Arrays batch;
         for (const Array& a : x) batch.push_back(np::stack({a, a * 0.5, a + 0.25}));
         Arrays y = fx::vmap(f)(batch);
         for (Array& a : y) a = np::sum(a, {.axis = 0});
         return y;
       });
     },
     [](Plain f) -> Plain {
       return [f](const Rows& x) {
         Rows more = x;
         for (Row& r : more)
           for (Number& v : r) v += 0.25L;
         return plus(plus(f(x), 1, f(scaled(x, 0.5L))), 1, f(more));
       };
     }},
};

// ---- the functions ----

struct Case {
  std::string name;
  Function f;
  Plain plain;
};
std::vector<Case> cases() {
  auto smooth = [](const Arrays& x) {
    return Arrays{sin(x[0] * x[1]) + x[1] * x[1], exp(x[0] * 0.3) * x[1](0) / (2.0 + x[1](1))};
  };
  auto looped = [](const Arrays& x) {
    auto [c, ys] = fx::scan([&](Array s, Array r) { return std::pair(tanh(s + r) + x[0] * 0.1, s * r); }, x[0], x[1]);
    return Arrays{c, ys};
  };
  auto nested = [](const Arrays& x) {
    auto inner = fx::jit([&](Array b) { return where(b > 0.0, b * x[0], sin(b)); });
    return Arrays{np::sum(inner(x[1])) * fx::grad([&](Array a) { return a * a * x[0]; })(x[1](0))};
  };
  return {
      {"smooth", Function(smooth),
       [](const Rows& x) {
         const Number a = x[0][0], b = x[1][0], c = x[1][1];
         return Rows{{std::sin(a * b) + b * b, std::sin(a * c) + c * c}, {std::exp(a * 0.3L) * b / (2 + c)}};
       }},
      {"loop", Function(looped),
       [](const Rows& x) {
         Number s = x[0][0];
         Row ys;
         for (Number r : x[1]) ys.push_back(s * r), s = std::tanh(s + r) + x[0][0] * 0.1L;
         return Rows{{s}, ys};
       }},
      {"nested", Function(nested),
       [](const Rows& x) {
         const Number a = x[0][0], b = x[1][0], c = x[1][1];
         auto inner = [&](Number v) { return v > 0 ? v * a : std::sin(v); };
         return Rows{{(inner(b) + inner(c)) * 2 * b * a}};
       }},
  };
}

const Arrays at{Array(0.7), Array(Doubles{0.4, -0.9})};
const Rows plain_at{{0.7L}, {0.4L, -0.9L}};

Doubles flat(const Arrays& y) {
  Doubles r;
  for (const Array& a : y)
    for (double v : doubles(a)) r.push_back(v);
  return r;
}
Doubles flat(const Rows& y) {
  Doubles r;
  for (const Row& row : y)
    for (Number v : row) r.push_back(double(v));
  return r;
}

// Applies `list`, the last first, to f: the value must be that of the plain composition, and to the bit what it is
// under one more jit, and without the jits in it.
void check(const Case& c, const std::vector<const Transform*>& list) {
  std::string name = c.name;
  Function f = c.f, without = c.f;
  Plain plain = c.plain;
  for (auto t = list.rbegin(); t != list.rend(); ++t) {
    name = (*t)->name + "(" + name + ")";
    f = (*t)->of(f);
    plain = (*t)->plain(plain);
    if ((*t)->name != "jit") without = (*t)->of(without);
  }
  INFO(name);
  const Doubles value = flat(f(at));
  CHECK(close(value, flat(plain(plain_at)), 1e-8));
  CHECK(flat(fx::jit(f)(at)) == value);
  CHECK(flat(without(at)) == value);
}

TEST_CASE("one transform") {
  for (const Case& c : cases())
    for (const Transform& t : transforms_of_all) check(c, {&t});
}
TEST_CASE("every pair") {
  for (const Case& c : cases())
    for (const Transform& s : transforms_of_all)
      for (const Transform& t : transforms_of_all) check(c, {&s, &t});
}
TEST_CASE("every triple") {
  for (const Case& c : cases())
    for (const Transform& s : transforms_of_all)
      for (const Transform& t : transforms_of_all)
        for (const Transform& u : transforms_of_all) check(c, {&s, &t, &u});
}
TEST_CASE("fx::Function holds any function of a list of Arrays, and transforms give Functions back") {
  const Function one = [](const Arrays& x) { return x[0] * x[1]; };
  const Function d = fx::grad(one), dd = fx::grad([d](const Arrays&x) { return np::sum(d(x)[1]); });
  const Arrays g = d({Array(3.0), Array(5.0)});
  CHECK(close(g[0], 5.0));
  CHECK(close(g[1], 3.0));
  CHECK(close(dd({Array(3.0), Array(5.0)})[0], 1.0));
  const Function copy = one;
  CHECK(close(copy({Array(2.0), Array(4.0)})[0], 8.0));
  CHECK(fx::make_jaxpr(d)(Arrays{fx::spec(fx::type(fx::f64)), fx::spec(fx::type(fx::f64))}) ==
        "{ lambda ; a:f64[] b:f64[]. let\n  in (b, a) }");
}

}  // namespace
