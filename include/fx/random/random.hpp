// random/random.hpp -- fx::random, random numbers as functions of a Key, identical to JAX's.
#pragma once
#include "bits.hpp"
#include "key.hpp"
#include "samplers.hpp"
