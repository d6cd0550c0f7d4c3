// ops/logic.cpp -- comparisons, logic, shifts, select, convert, bitcast, stop_gradient.
#include "ops/logic.hpp"

#include <doctest/doctest.h>

TEST_CASE("logic: types, values, derivatives, batches, special values, shapes, dtypes") {
  const int tested = reference::check_all(
      tables::logic(), [](const std::string& what, const std::string& why) { FAIL_CHECK(what << ": " << why); });
  CHECK(tested > 0);
}
