// reference/elementwise.hpp -- the loop over elements of one shape, and functions of floats with their errors.
#pragma once
#include "reference/reference.hpp"

namespace reference {

// A function of floats. `f` is given the dtype and whether to stay wide; what it returns is rounded unless wide.
struct RealFunction {
  std::function<long double(fx::DType, bool, const long double*)> f;
  double ulps = 0;                                                       // how far fx may be from it
  bool (*breaks)(const long double* x, const long double* e) = nullptr;  // a jump or pole may lie within the errors e
};
// f with the errors of its operands: they pass through as differences at the corners of the box they span.
Element apply(const RealFunction& f, fx::DType d, Mode mode, const Element* x, int n);

// f(elements of the operands at one place) for every place; a rank-0 literal stands for a whole operand.
template <class F>
Values elementwise(const Call& c, F&& f) {
  Value out = zeros(c.out_type());
  for (std::size_t i = 0; i < out.at.size(); ++i) {
    Element x[4];
    for (int k = 0; k < c.e.n_in; ++k) x[k] = c[k].at[c.literal(k) ? 0 : i];
    out.at[i] = f(x);
  }
  return {out};
}

}  // namespace reference
