// ops/arithmetic.cpp -- add sub mul div neg rem abs sign floor max min integer_pow.
#include "ops/arithmetic.hpp"

#include <doctest/doctest.h>

TEST_CASE("arithmetic: types, values, derivatives, batches, special values, shapes, dtypes") {
  const int tested = reference::check_all(
      tables::arithmetic(), [](const std::string& what, const std::string& why) { FAIL_CHECK(what << ": " << why); });
  CHECK(tested > 0);
}
