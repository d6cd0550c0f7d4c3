// ops/index.cpp -- gather scatter scatter_add dynamic_slice dynamic_update_slice.
#include "ops/index.hpp"

#include <doctest/doctest.h>

TEST_CASE("index: types, values, derivatives, batches, special values, shapes, dtypes") {
  const int tested = reference::check_all(
      tables::index(), [](const std::string& what, const std::string& why) { FAIL_CHECK(what << ": " << why); });
  CHECK(tested > 0);
}
