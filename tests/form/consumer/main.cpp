// A user's program, built in every way the scripts beside this folder know. Its exit status is the result.
#include <fx/fx.hpp>

static_assert(FX_VERSION_MAJOR * 100 + FX_VERSION_MINOR >= 1);
static_assert(fx::grad([](auto x) { return x * x; })(3.0) == 6.0);

struct Model {
  fx::Array w, b;
};

int main() {
  const Model m{fx::Array(2.0), fx::Array(1.0)};
  auto loss = [](const Model& p, const fx::Array& x) { return (p.w * x + p.b) * p.w; };
  const Model g = fx::jit(fx::grad(loss))(m, 3.0);  // dw = 2 w x + b = 13, db = w = 2
  return g.w.item<double>() == 13.0 && g.b.item<double>() == 2.0 ? 0 : 1;
}
