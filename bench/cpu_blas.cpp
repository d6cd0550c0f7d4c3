// cpu_blas.cpp -- OpenBLAS's matrix products, where the library is found; rows "blas_" and the name of fx's row.
#include <dlfcn.h>

#include <memory>
#include <sstream>

#include "rows.hpp"

namespace bench {
namespace {

template <class T>
using Gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
constexpr int row_major = 101, as_it_is = 111;

template <class T>
Gemm<T> gemm(const char* symbol) {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  void* f = library ? dlsym(library, symbol) : nullptr;
  if (!f) throw std::runtime_error("no OpenBLAS");
  return reinterpret_cast<Gemm<T>>(f);
}

template <class T>
Work product(const char* symbol, int m, int n, int k) {
  const Gemm<T> f = gemm<T>(symbol);
  const Array a = filled(8, {m, k}, 1, fx::dtype_of<T>), b = filled(9, {k, n}, 1, fx::dtype_of<T>);
  auto c = std::make_shared<std::vector<T>>(std::size_t(m) * std::size_t(n));
  auto call = [=](long calls) {
    const T *pa = a.view<T>().data(), *pb = b.view<T>().data();
    for (long i = 0; i < calls; ++i) f(row_major, as_it_is, as_it_is, m, n, k, 1, pa, k, pb, n, 0, c->data(), n);
  };
  return {call, [=] {
            call(1);
            return std::vector<Array>{Array(*c, {m, n})};
          }};
}
}  // namespace

void add_blas(Rows& rows) {
  Rows added;
  for (const auto& [name, unused] : rows) {
    std::istringstream in(name);
    std::string word, dtype;
    int m = 0, n = 0, k = 0;
    char x = 0;
    std::getline(in, word, '_');
    std::getline(in, dtype, '_');
    in >> m >> x >> n >> x >> k;
    if (word != "matmul") continue;
    added["blas_" + name] = [=, single = dtype == "f32"] {
      return single ? product<float>("cblas_sgemm", m, n, k) : product<double>("cblas_dgemm", m, n, k);
    };
  }
  rows.merge(added);
}

}  // namespace bench
