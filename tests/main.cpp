// doctest's main, once for all test binaries; every CHECK stands in the other files.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
