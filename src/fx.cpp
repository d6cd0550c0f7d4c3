// fx.cpp -- the bodies of fx once, for the target fx::compiled: its users see declarations only.
#define FX_SOURCE
#include <fx/backends/cuda/ptx.hpp>
#include <fx/fx.hpp>
