// xtensor's expressions to Arrays and back: dtypes, layouts, zero sizes, what views share, and what is an error.
#include <doctest/doctest.h>

#include <fx/fx.hpp>
#include <fx/xtensor.hpp>
#include <limits>
#include <type_traits>
#include <xtensor/xadapt.hpp>
#include <xtensor/xbroadcast.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xindex_view.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xrandom.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>

using fx::Array;
using fx::Dims;

namespace {

// a has the shape of `want` and its elements in row-major order; both ways back give the same.
template <class T>
void compare(const Array& a, const xt::xarray<T>& want) {
  CHECK(a.dtype() == fx::dtype_of<T>);
  const std::vector<std::int64_t> shape(want.shape().begin(), want.shape().end());
  CHECK(std::vector<std::int64_t>(a.shape().begin(), a.shape().end()) == shape);
  CHECK(fx::to_xtensor<T>(a) == want);
  CHECK(fx::xview<T>(a) == want);
  const auto elements = a.view<T>();
  REQUIRE(elements.size() == want.size());
  CHECK(std::equal(elements.begin(), elements.end(), want.data()));
}
template <class E>
void round_trip(const xt::xexpression<E>& e) {
  compare<std::remove_cv_t<typename E::value_type>>(fx::from_xtensor(e), e);
}

template <class T>
xt::xarray<T> numbers(const std::vector<std::size_t>& shape) {
  xt::xarray<T> r(shape);
  std::size_t i = 0;
  for (auto& v : r) v = T(++i % 3 ? double(i) : 0.0);
  return r;
}

#define TYPES \
  bool, signed char, short, int, long, long long, unsigned char, unsigned short, unsigned, unsigned long, float, double

// The error of f, which is thrown at `line`.
template <class F>
void fails(fx::ErrorCode code, int line, const char* text, F f) {
  try {
    f();
    FAIL("no error");
  } catch (const fx::Error& e) {
    CHECK(e.code == code);
    CHECK(e.where.line == line);
    CHECK(std::string(e.where.file).find("xtensor.cpp") != std::string::npos);
    CHECK_MESSAGE(std::string(e.what()).find(text) != std::string::npos, e.what());
  }
}

}  // namespace

TEST_CASE_TEMPLATE("xtensor: every dtype there and back", T, TYPES) {
  for (const auto& shape :
       std::vector<std::vector<std::size_t>>{{}, {1}, {7}, {2, 3}, {2, 1, 4}, {1, 2, 1, 3, 1, 2, 1, 2}})
    round_trip(numbers<T>(shape));
  xt::xtensor<T, 1> extremes{std::numeric_limits<T>::lowest(), T(0), std::numeric_limits<T>::max()};
  round_trip(extremes);
}

TEST_CASE_TEMPLATE("xtensor: zero sizes", T, bool, short, float, double) {
  for (const auto& shape : std::vector<std::vector<std::size_t>>{{0}, {0, 3}, {3, 0}, {2, 0, 4}, {0, 0}}) {
    round_trip(xt::xarray<T>(shape));
    round_trip(xt::xarray<T, xt::layout_type::column_major>(shape));
  }
  round_trip(xt::xtensor<T, 2>(std::array<std::size_t, 2>{0, 5}));
  CHECK(fx::to_xtensor<T, 2>(fx::from_xtensor(xt::xarray<T>(std::vector<std::size_t>{4, 0}))).shape(0) == 4);
}

TEST_CASE("xtensor: any layout, views that are not contiguous") {
  const xt::xarray<double> m = numbers<double>({4, 5, 6});
  const xt::xarray<double, xt::layout_type::column_major> c = m;
  const xt::xtensor<double, 3, xt::layout_type::column_major> s = m;
  xt::xarray<double, xt::layout_type::dynamic> d;
  d.resize({4, 5, 6}, xt::layout_type::column_major);
  xt::noalias(d) = m;
  round_trip(c);
  round_trip(s);
  round_trip(d);
  for (const Array& a : {fx::from_xtensor(c), fx::from_xtensor(s), fx::from_xtensor(d)})
    CHECK(fx::to_xtensor<double>(a) == m);
  round_trip(xt::view(m, xt::range(1, 4, 2), xt::all(), 3));
  round_trip(xt::view(c, xt::range(3, 0, -1), xt::newaxis(), xt::all(), xt::keep(0, 2, 5)));
  round_trip(xt::view(s, 1, xt::drop(2), xt::all()));
  round_trip(xt::transpose(m));
  round_trip(xt::transpose(xt::view(c, xt::all(), 2, xt::range(0, 6, 3))));
  round_trip(xt::strided_view(m, {xt::range(0, 4, 3), xt::ellipsis(), xt::newaxis(), 4}));
  round_trip(xt::flip(m, 1));
  round_trip(xt::broadcast(xt::view(m, 0, 0, xt::all()), {2, 3, 6}));
  round_trip(xt::index_view(m, std::vector<std::array<std::size_t, 3>>{{0, 0, 0}, {3, 4, 5}, {1, 2, 3}}));
  const xt::xtensor_fixed<float, xt::xshape<2, 3>> f{{1, 2, 3}, {4, 5, 6}};
  round_trip(f);
  round_trip(xt::transpose(f));
  std::vector<int> memory{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<std::size_t> shape{2, 2}, strides{4, 2};
  round_trip(xt::adapt(memory, shape, strides));
  CHECK(fx::from_xtensor(xt::adapt(memory, shape, strides)).to_vector<int>() == std::vector<int>{1, 3, 5, 7});
}

TEST_CASE("xtensor: expressions are evaluated") {
  const xt::xarray<double> m = numbers<double>({3, 4}), row = numbers<double>({4});
  round_trip(2.0 * m + xt::sin(row));
  round_trip(m > row);
  round_trip(xt::cast<float>(m) * 0.5f);
  round_trip(xt::cast<short>(m));
  round_trip(xt::where(m > 3.0, m, -row));
  round_trip(xt::sum(m, {1}));
  round_trip(xt::sum(m));
  round_trip(xt::amax(xt::view(m, xt::all(), xt::range(1, 3)), {0}));
  round_trip(xt::arange<int>(3, 20, 4));
  round_trip(xt::eye<double>(4));
  round_trip(xt::linspace<float>(0, 1, 5));
  round_trip(xt::concatenate(xt::xtuple(m, m), 1));
  round_trip(xt::xscalar<double>(3.0));
  CHECK(fx::from_xtensor(xt::xscalar<double>(3.0)).item<double>() == 3);
}

TEST_CASE("xtensor: an Array is a copy, a view is not") {
  xt::xarray<float> m = numbers<float>({2, 3});
  const Array a = fx::from_xtensor(m);
  m(0, 0) = 100;
  CHECK(a.view<float>()[0] == 1);
  xt::xarray<float> back = fx::to_xtensor<float>(a);
  back(0, 0) = 200;
  CHECK(a.view<float>()[0] == 1);
  CHECK(fx::xview<float>(a).data() == a.view<float>().data());
  const auto fixed = fx::xview<float, 2>(a);
  CHECK(fixed.data() == a.view<float>().data());
  static_assert(std::is_same_v<decltype(fx::xview<float>(a)(0, 0)), const float&>);
  static_assert(std::is_same_v<decltype(*fx::xview<float, 2>(a).begin()), const float&>);
  static_assert(std::is_same_v<decltype(fx::to_xtensor<float>(a)), xt::xarray<float>>);
  static_assert(std::is_same_v<decltype(fx::to_xtensor<float, 2>(a)), xt::xtensor<float, 2>>);
  CHECK(xt::sum(fixed * fx::xview<float>(a))() == 1 + 4 + 16 + 25);
  CHECK(xt::view(fixed, 1, xt::all())(1) == 5);
}

TEST_CASE("xtensor: a view keeps the memory of its Array, and its values") {
  auto view = fx::xview<double>(Array(std::vector<double>{1, 2, 3}) * 2.0);
  const auto copy = view;
  view = fx::xview<double>(Array(std::vector<double>{7}));
  CHECK(copy(1) == 4);
  CHECK(view(0) == 7);
  const auto lazy = fx::xview<double>(Array(std::vector<double>{1, 2}) + 1.0) * 10.0;  // holds the temporary view
  CHECK(lazy(1) == 30);

  // An Array that is given away while a view looks at it is not overwritten in place.
  Array a(std::vector<double>(1000, 1.0));
  const auto before = fx::xview<double>(a);
  const Array b = fx::jit([](const Array& x) { return x + 1.0; })(std::move(a));
  CHECK(xt::all(xt::equal(before, 1.0)));
  CHECK(xt::all(xt::equal(fx::xview<double>(b), 2.0)));
}

TEST_CASE("xtensor: errors name the user's line") {
  const Array a(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  using fx::ErrorCode, fx::to_xtensor, fx::xview;
  fails(ErrorCode::dtype, __LINE__, "has dtype f32 and is read as f64", [&] { to_xtensor<double>(a); });
  fails(ErrorCode::dtype, __LINE__, "has dtype f32 and is read as i32", [&] { xview<int, 2>(a); });
  fails(ErrorCode::shape, __LINE__, "f32[2,3], of rank 2, and rank 3", [&] { to_xtensor<float, 3>(a); });
  fails(ErrorCode::shape, __LINE__, "xview: the Array is f32[2,3]", [&] { xview<float, 0>(a); });
  fails(ErrorCode::state, __LINE__, "empty", [&] { to_xtensor<float>(Array()); });
  fails(ErrorCode::state, __LINE__, "only a type", [&] { xview<float>(fx::spec({fx::f32, {2}})); });
  const std::vector<std::size_t> nine(9, 1);
  fails(ErrorCode::shape, __LINE__, "has 9 dimensions", [&] { fx::from_xtensor(xt::xarray<float>(nine)); });
  const int line = __LINE__ + 1;
  auto read = [](const Array& x) { return to_xtensor<float>(x), x; };
  fails(ErrorCode::trace, line, "traced", [&] { fx::jit(read)(a); });
}

TEST_CASE("xtensor: what comes from outside is a constant of a trace") {
  const xt::xarray<double> w{1, 2, 3};
  const Array x(std::vector<double>{1, 1, 1});
  auto f = [&](const Array& v) { return fx::numpy::sum(v * v * fx::from_xtensor(w)); };
  CHECK(fx::xview<double>(fx::jit(fx::grad(f))(x)) == 2.0 * w);
}
