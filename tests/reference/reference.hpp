// reference/reference.hpp -- a naive evaluator of Graphs: one plain loop per primitive, found by name, on long doubles.
//
// It shares nothing with fx's emission, fold orders or backends. With every element it carries a bound of how far an
// honest evaluation may lie from it: 0 where rounding is prescribed, some ulp after a transcendental function, what
// follows from these further on, and infinity where a discontinuity may have been crossed.
#pragma once
#include <cstdint>
#include <functional>
#include <fx/prim.hpp>
#include <string>
#include <vector>

#include "reference/number.hpp"

namespace reference {

struct Element {
  long double real = 0;     // of a float
  std::uint64_t whole = 0;  // of an integer or boolean: modulo 2^64, signed ones extended
  long double error = 0;    // 0: the same bits are expected; infinity: nothing is known
};

struct Value {
  fx::Type type;
  std::vector<Element> at;  // row-major
};
using Values = std::vector<Value>;

// Whether each result is rounded to its dtype, or floats stay long doubles throughout (for differences).
enum class Mode { rounded, wide };

// One equation to evaluate.
struct Call {
  const fx::Graph& g;
  const fx::Eqn& e;
  std::vector<const Value*> in;
  Mode mode;
  fx::Attrs attrs() const { return fx::attrs(g, e); }
  const fx::Type& out_type(int j = 0) const { return g.type(e.out + j); }
  const Value& operator[](int k) const { return *in[k]; }
  bool literal(int k) const { return g.is_literal(g.in(e)[k]); }
};
using Rule = std::function<Values(const Call&)>;
using Rules = std::vector<std::pair<std::string, Rule>>;

// Adds a primitive of a test's own.
void define(const std::string& name, Rule rule);
// A function of floats (of x[0], x[1]...), which fx computes with that many ulp of error.
Rule real_function(std::function<long double(const long double*)> f, double ulps);

Values evaluate(const fx::Graph& g, const Values& ins, Mode mode = Mode::rounded);

// The rules of the families, for reference.cpp.
void add_arithmetic(Rules& rules);
void add_bits(Rules& rules);
void add_movement(Rules& rules);
void add_reduction(Rules& rules);
void add_ordering(Rules& rules);
void add_indexing(Rules& rules);

// An empty Value of a type, zero everywhere.
Value zeros(const fx::Type& t);
// Float and integer elements; a float is rounded to d.
Element real(fx::DType d, long double x);
Element whole(fx::DType d, std::uint64_t x);
// The bits of an element in memory, zero-extended, and back.
std::uint64_t to_bits(fx::DType d, const Element& x);
Element from_bits(fx::DType d, std::uint64_t bits);

// Positions in an array of the given shape.
std::vector<std::int64_t> unravel(std::int64_t i, const fx::Dims& shape);
std::int64_t ravel(const std::vector<std::int64_t>& index, const fx::Dims& shape);

// "" or the first element of `got` that lies outside the error of `expected`.
std::string difference(const Value& expected, const Value& got);
// "" or the first bit that differs (NaNs are all equal).
std::string bit_difference(const Value& a, const Value& b);
std::string difference(const Values& expected, const Values& got);
std::string bit_difference(const Values& a, const Values& b);
std::string text(const Value& v);

}  // namespace reference
