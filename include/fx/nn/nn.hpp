// nn/nn.hpp -- fx::nn, functions of neural networks.
#pragma once
#include "activations.hpp"
#include "softmax.hpp"
