// ops/control.cpp -- jit and scan.
#include "ops/control.hpp"

#include <doctest/doctest.h>

TEST_CASE("control: types, values, derivatives, batches, special values, shapes, dtypes") {
  const int tested = reference::check_all(
      tables::control(), [](const std::string& what, const std::string& why) { FAIL_CHECK(what << ": " << why); });
  CHECK(tested > 0);
}
