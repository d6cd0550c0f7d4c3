// ops/reduce.cpp -- reduce_sum reduce_prod reduce_max reduce_min argmax argmin cumsum, sort, dot_general.
#include "ops/reduce.hpp"

#include <doctest/doctest.h>

namespace {
void check(const reference::Table& table) {
  CHECK(reference::check_all(
            table, [](const std::string& what, const std::string& why) { FAIL_CHECK(what << ": " << why); }) > 0);
}
}  // namespace

TEST_CASE("reductions and running sums") { check(tables::reduce()); }
TEST_CASE("sort") { check(tables::sort()); }
TEST_CASE("dot_general") { check(tables::dot()); }
