// test_random.cpp -- fx::random: every number against JAX's (tests/golden/jax_random.txt), keys as leaves, tracing,
// errors.
#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <fx/fx.hpp>
#include <map>
#include <string>
#include <vector>

namespace {

using fx::Array;
using fx::Key;
namespace np = fx::numpy;
namespace random = fx::random;

// seed -> what -> values as bits.
using Golden = std::map<std::string, std::map<std::string, std::vector<std::uint64_t>>>;

Golden read_golden() {
  std::ifstream in("tests/golden/jax_random.txt");
  Golden g;
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> words(1);
    for (char c : line) {
      if (c == ' ')
        words.emplace_back();
      else
        words.back() += c;
    }
    for (std::size_t i = 3; i < words.size(); ++i) g[words[0]][words[1]].push_back(std::stoull(words[i], nullptr, 16));
  }
  return g;
}
const Golden& golden() {
  static const Golden g = read_golden();
  return g;
}

std::vector<std::uint64_t> bits_of(const Array& x) {
  std::vector<std::uint64_t> r;
  const auto put = [&]<class T>(T) {
    for (T v : x.view<T>()) r.push_back(fx::detail::to_bits(v));
  };
  switch (x.dtype()) {
    case fx::u32: put(std::uint32_t()); break;
    case fx::u64: put(std::uint64_t()); break;
    case fx::i32: put(std::int32_t()); break;
    case fx::i64: put(std::int64_t()); break;
    case fx::f32: put(float()); break;
    case fx::f64: put(double()); break;
    default: put(bool()); break;
  }
  return r;
}
// Steps between neighbouring floats from a to b.
template <class T, class I>
std::uint64_t ulps(std::uint64_t a, std::uint64_t b) {
  const auto order = [](std::uint64_t bits) {
    const I i = static_cast<I>(bits);
    return i < 0 ? -(std::int64_t(i) - std::int64_t(I(std::uint64_t(1) << (8 * sizeof(I) - 1)))) : std::int64_t(i);
  };
  const std::int64_t d = order(a) - order(b);
  return std::uint64_t(d < 0 ? -d : d);
}

// Fails with the first number that differs.
void check_same(const std::string& seed, const std::string& what, const Array& got) {
  CAPTURE(seed);
  CAPTURE(what);
  const std::vector<std::uint64_t>& want = golden().at(seed).at(what);
  const std::vector<std::uint64_t> own = bits_of(got);
  REQUIRE(own.size() == want.size());
  std::uint64_t worst = 0;
  std::size_t wrong = 0, first = want.size();
  const bool normal = what.substr(0, 6) == "normal";
  for (std::size_t i = 0; i < want.size(); ++i) {
    std::uint64_t apart = own[i] != want[i];
    if (normal)
      apart = got.dtype() == fx::f32 ? ulps<float, std::int32_t>(own[i], want[i])
                                     : ulps<double, std::int64_t>(own[i], want[i]);
    if (apart > worst) worst = apart;
    wrong += apart != 0;
    if (apart && first == want.size()) first = i;
  }
  CAPTURE(wrong);
  CAPTURE(first);
  CHECK(worst <= (normal ? 4u : 0u));
}

std::string error_text(auto&& f) {
  try {
    f();
  } catch (const fx::Error& e) { return e.what(); }
  return "no error";
}
std::string first_line(const std::string& s) { return s.substr(0, s.find('\n')); }

const std::map<std::string, std::int64_t> seeds = {{"0", 0}, {"42", 42}, {"1099511627783", 1099511627783}};

}  // namespace

TEST_CASE("keys, split and fold_in are JAX's") {
  REQUIRE(golden().size() == seeds.size());
  for (const auto& [name, seed] : seeds) {
    const Key k = random::key(seed);
    check_same(name, "key_data", k.data);
    const auto [a, b] = random::split<2>(k);
    check_same(name, "split2", np::concatenate({a.data, b.data}));
    std::vector<Array> five;
    for (const Key& one : random::split(k, 5)) five.push_back(one.data);
    check_same(name, "split5", np::concatenate(five));
    check_same(name, "split5", random::keys(k, 5).data);
    check_same(name, "fold_in_0", random::fold_in(k, 0).data);
    check_same(name, "fold_in_123456", random::fold_in(k, 123456).data);
    check_same(name, "fold_in_123456", random::fold_in(k, Array(std::int64_t(123456))).data);
    check_same(name, "key_data", random::key(Array(seed)).data);
  }
}

TEST_CASE("bits, uniform, normal, randint, bernoulli and permutation are JAX's") {
  for (const auto& [name, seed] : seeds) {
    const Key k = random::key(seed);
    check_same(name, "bits_uint32", random::bits(k, {257}));
    check_same(name, "bits_uint32_3x5", random::bits(k, {3, 5}));
    check_same(name, "bits_uint64", random::bits(k, {257}, fx::u64));
    check_same(name, "uniform_float32", random::uniform(k, {257}));
    check_same(name, "uniform_float64", random::uniform(k, {257}, {.dtype = fx::f64}));
    check_same(name, "uniform_m2_3_float32", random::uniform(k, {257}, {.min = -2, .max = 3}));
    check_same(name, "uniform_m2_3_float64", random::uniform(k, {257}, {.dtype = fx::f64, .min = -2, .max = 3}));
    check_same(name, "normal_float32", random::normal(k, {257}));
    check_same(name, "normal_float64", random::normal(k, {257}, {.dtype = fx::f64}));
    check_same(name, "randint_m5_100_int32", random::randint(k, {257}, -5, 100));
    check_same(name, "randint_m5_100_int64", random::randint(k, {257}, -5, 100, {.dtype = fx::i64}));
    check_same(name, "bernoulli_0.3", random::bernoulli(k, 0.3, {257}));
    check_same(name, "permutation_20", random::permutation(k, 20));
  }
}

TEST_CASE("seeds: every C++ integer") {
  CHECK(bits_of(random::key(-1).data) == std::vector<std::uint64_t>{0xffffffff, 0xffffffff});
  CHECK(bits_of(random::key(7u).data) == std::vector<std::uint64_t>{0, 7});
  CHECK(bits_of(random::key(std::uint64_t(5) << 32).data) == std::vector<std::uint64_t>{5, 0});
  CHECK(bits_of(random::key(Array(-1)).data) == std::vector<std::uint64_t>{0, 0xffffffff});  // 32 bits, as JAX
}

TEST_CASE("keys are leaves, and functions of keys trace and map") {
  const Key k = random::key(42);
  CHECK(fx::tree::leaf_count(std::pair(k, k)) == 2);
  CHECK(bits_of(random::keys(k, 3).data) ==
        bits_of(
            np::concatenate({random::split<3>(k)[0].data, random::split<3>(k)[1].data, random::split<3>(k)[2].data})));
  // One key per row: each row has the numbers of its own key.
  const Array rows = fx::vmap([](const Key& one) { return random::normal(one, {4}); })(random::keys(k, 3));
  CHECK(rows.shape() == fx::Dims{3, 4});
  const std::vector<Key> each = random::split(k, 3);
  for (int i = 0; i < 3; ++i) CHECK(bits_of(rows(i)) == bits_of(random::normal(each[std::size_t(i)], {4})));
  // Sorting, fold_in and split under vmap.
  const auto deal = [](const Key& one, const Array& i) {
    const auto [a, b] = random::split<2>(random::fold_in(one, i));
    return random::permutation(a, 6) + random::randint(b, {6}, 0, 1000);
  };
  const Array hands = fx::vmap(deal)(random::keys(k, 3), np::arange(3));
  for (int i = 0; i < 3; ++i) CHECK(bits_of(hands(i)) == bits_of(deal(each[std::size_t(i)], Array(i))));
  // The numbers are constants of a gradient.
  const auto noisy = [&](const Array& x) { return np::sum(x * random::uniform(k, {3}, {.dtype = fx::f64})); };
  CHECK(bits_of(fx::grad(noisy)(np::array({1.0, 2.0, 3.0}))) == bits_of(random::uniform(k, {3}, {.dtype = fx::f64})));
}

TEST_CASE("permutation of rows; probabilities as an Array; empty shapes") {
  const Key k = random::key(0);
  const Array x = np::reshape(np::arange(12), {6, 2});
  CHECK(bits_of(random::permutation(k, x)) == bits_of(np::take(x, random::permutation(k, 6), {.axis = 0})));
  CHECK(bits_of(random::permutation(k, 1)) == std::vector<std::uint64_t>{0});
  CHECK(random::permutation(k, 0).shape() == fx::Dims{0});
  const Array all = random::bernoulli(k, np::array({0.0, 1.0}), {3, 2});
  CHECK(bits_of(all) == std::vector<std::uint64_t>{0, 1, 0, 1, 0, 1});
  CHECK(random::normal(k, {2, 0}).shape() == fx::Dims{2, 0});
  CHECK(random::normal(k, {}).rank() == 0);
  // The whole range of a dtype.
  CHECK(random::randint(k, {2}, INT32_MIN, std::int64_t(INT32_MAX) + 1).dtype() == fx::i32);
  CHECK(bits_of(random::randint(k, {3}, 7, 8, {.dtype = fx::u64})) == std::vector<std::uint64_t>{7, 7, 7});
}

TEST_CASE("moments") {
  const Array u = random::uniform(random::key(1), {2000}), n = random::normal(random::key(2), {2000});
  CHECK(np::mean(u).item<double>() == doctest::Approx(0.5).epsilon(0.03));
  CHECK(np::var(u).item<double>() == doctest::Approx(1.0 / 12).epsilon(0.05));
  CHECK(std::abs(np::mean(n).item<double>()) < 0.06);
  CHECK(np::var(n).item<double>() == doctest::Approx(1).epsilon(0.06));
}

TEST_CASE("errors") {
  const Key k = random::key(0);
  CHECK(first_line(error_text([&] { random::normal(random::keys(k, 3), {2}); })) ==
        "fx: random::normal: u32[3,2] is not one key (u32[2]); map over several keys with fx::vmap");
  CHECK(first_line(error_text([&] { random::normal(k, {-2}); })) ==
        "fx: random::normal: size -2 of axis 0 is negative");
  CHECK(first_line(error_text([&] { random::uniform(k, {2}, {.dtype = fx::i32}); })) ==
        "fx: random::uniform: gives f32 or f64, not i32");
  CHECK(first_line(error_text([&] { random::randint(k, {2}, 5, 5); })) ==
        "fx: random::randint: 5 to 5 holds no integer");
  CHECK(first_line(error_text([&] { random::randint(k, {2}, -1, 5, {.dtype = fx::u32}); })) ==
        "fx: random::randint: -1 to 5 does not fit u32");
  CHECK(first_line(error_text([&] { random::bits(k, {2}, fx::f32); })) == "fx: random::bits: gives u32 or u64");
  CHECK(first_line(error_text([&] { random::fold_in(k, 0.5); })) ==
        "fx: the number 0.5 is not representable as u32, the dtype of its partner; convert the Array with fx::convert");
  CHECK(first_line(error_text([&] { random::permutation(k, -1); })) ==
        "fx: random::permutation: the size is negative or above 2^31 - 1");
  try {
    random::normal(Key{}, {2});
    CHECK(false);
  } catch (const fx::Error& e) {
    CHECK(e.code == fx::ErrorCode::state);
    CHECK(e.where.line == __LINE__ - 4);
  }
}

namespace {
constexpr bool constant_bits() {
  const Key k = random::key(0);
  const Array bits = random::bits(k, {3});
  return np::all(bits == np::array({4070199207u, 4202968722u, 1427181096u})).item<bool>();
}
static_assert(constant_bits());
constexpr bool constant_split() {
  const auto [a, b] = random::split<2>(random::key(0));
  return np::all(b.data == np::array({928981903u, 3453687069u})).item<bool>() &&
         np::all(random::randint(random::key(0), {3}, -5, 100) == np::array({59, 25, 57})).item<bool>();
}
static_assert(constant_split());
}  // namespace
