// ops/arithmetic.cpp -- add sub mul div neg rem abs sign floor max min integer_pow.
#include "ops/arithmetic.hpp"

#include <doctest/doctest.h>

TEST_CASE("arithmetic: value, derivatives, batching, special values, shapes, dtypes") {
  reference::check_all(tables::arithmetic(), [](const std::string& what, const std::string& why) { FAIL_CHECK(what << ": " << why); });
}
