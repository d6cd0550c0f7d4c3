// ops/layout.cpp -- broadcast_in_dim reshape transpose rev slice pad concatenate iota.
#include "ops/layout.hpp"

#include <doctest/doctest.h>

TEST_CASE("layout: types, values, derivatives, batches, special values, shapes, dtypes") {
  const int tested = reference::check_all(
      tables::layout(), [](const std::string& what, const std::string& why) { FAIL_CHECK(what << ": " << why); });
  CHECK(tested > 0);
}
