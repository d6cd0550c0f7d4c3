// numpy/numpy.hpp -- fx::numpy, NumPy's functions on fx::Array; reading, writing and printing of Arrays; tree::ravel.
#pragma once
#include "creation.hpp"
#include "dynamic.hpp"
#include "indexing.hpp"
#include "joining.hpp"
#include "linear.hpp"
#include "list.hpp"
#include "printing.hpp"
#include "ravel.hpp"
#include "reductions.hpp"
#include "selection.hpp"
#include "shape.hpp"
