// numpy/numpy.hpp -- fx::numpy, NumPy's functions on fx::Array, and reading, writing and printing of Arrays.
#pragma once
#include "creation.hpp"
#include "joining.hpp"
#include "linear.hpp"
#include "list.hpp"
#include "reductions.hpp"
#include "selection.hpp"
#include "shape.hpp"
