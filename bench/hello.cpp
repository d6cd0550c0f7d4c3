// hello.cpp -- the smallest file that uses fx; bench/run times how long it takes to compile.
#include <cstdio>
#include <fx/fx.hpp>

int main() {
  auto f = [](auto x) { return x * sin(x); };
  std::printf("%s\n", fx::make_jaxpr(f)(fx::type(fx::f64)).str().c_str());
  std::printf("%g\n", fx::jit(fx::grad(f))(1.5).item<double>());
}
