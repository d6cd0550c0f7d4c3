// ops/transcendental.cpp -- exp log log1p tanh sin cos sqrt rsqrt logistic erf_inv pow, threefry2x32.
#include "ops/transcendental.hpp"

#include <doctest/doctest.h>

TEST_CASE("transcendental: types, values, derivatives, batches, special values, shapes, dtypes") {
  const int tested = reference::check_all(tables::transcendental(), [](const std::string& what, const std::string& why) { FAIL_CHECK(what << ": " << why); });
  CHECK(tested > 0);
}
