// A user's program, built in every way the scripts beside this folder know. Its exit status is the result.
#include <fx/fx.hpp>

static_assert(FX_VERSION_MAJOR * 100 + FX_VERSION_MINOR >= 1);

int main() { return 0; }
