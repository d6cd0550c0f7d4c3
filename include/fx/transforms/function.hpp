// transforms/function.hpp -- fx::Function: any function of Arrays as one type, so that transforms combine in run-time
// loops.
#pragma once
#include "call.hpp"

namespace fx::inline v0 {

// A function from a list of Arrays to a list of Arrays. Transforms take it like any other, and their results convert
// back: `fx::Function g = fx::vmap(fx::Function(f));`
class Function {
  struct Base : Shared {
    virtual ~Base() = default;
    virtual std::vector<Array> call(const std::vector<Array>& args) const = 0;
  };
  template <class F>
  struct Holder : Base {
    F f;
    explicit Holder(F g) : f(std::move(g)) {}
    std::vector<Array> call(const std::vector<Array>& args) const override {
      if constexpr (std::is_convertible_v<decltype(f(args)), std::vector<Array>>)
        return f(args);
      else
        return {f(args)};
    }
  };
  Ref<const Base> f_;

 public:
  template <class F>
  requires(!std::is_same_v<F, Function> && requires(const F& f, const std::vector<Array>& a) { f(a); }) Function(F f)
      : f_(new Holder<F>(std::move(f))) {}
  std::vector<Array> operator()(const std::vector<Array>& args) const { return f_->call(args); }
};

}  // namespace fx::inline v0
