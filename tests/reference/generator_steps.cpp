// reference/generator_steps.cpp -- one random application of a primitive of each kind.
#include <fx/ops/all.hpp>

#include "reference/generator.hpp"

namespace reference {
namespace {

using fx::Params, fx::Type, fx::Val, fx::Dims, fx::DType;

constexpr fx::DTypes float_types = fx::floats & fx::computed, whole_types = fx::integers & fx::computed;

// The dtypes of the typed operands of elementwise primitives, by name.
fx::DTypes takes(std::string_view name) {
  for (std::string_view s : {"and", "or", "xor", "not"})
    if (name == s) return fx::bit_types & fx::computed;
  if (name.starts_with("shift")) return whole_types;
  if (name == "threefry2x32") return fx::only(fx::u32);
  if (name == "abs") return float_types | fx::only(fx::i32) | fx::only(fx::i64);
  for (std::string_view s :
       {"eq", "ne", "lt", "le", "gt", "ge", "max", "min", "select", "convert", "bitcast", "stop_gradient"})
    if (name == s) return fx::any_dtype & fx::computed;
  for (std::string_view s : {"neg", "add", "sub", "mul", "div", "rem", "sign", "integer_pow", "iota"})
    if (name == s) return fx::numbers & fx::computed;
  return float_types;
}

}  // namespace

bool Generator::elementwise(const fx::Prim& p) {
  const std::string_view name = p.name;
  const fx::DTypes set = takes(name);
  const Type t = type_of(set);
  const bool real = fx::is_float(t.dtype);
  if (name == "iota") {
    if (t.dims.n == 0) return false;
    keep(fx::iota(b_, t.dtype, t.dims, below(t.dims.n)));
  } else if (name == "threefry2x32") {
    const Val first = bind(p, {want(t), want(t), want(t), want(t)});
    keep(first);
    keep(Val(first.b, first.id + 1));
  } else if (name == "select") {
    keep(bind(p, {want({fx::boolean, t.dims}), want(t), want(t)}));
  } else if (name == "convert") {
    const DType to = pick(fx::any_dtype);
    const Val v = bind(p, {want(t)}, Params().dtype(to));
    keep(v, fx::is_float(to) && !real && t.dtype != fx::boolean ? 1e30 : 4);
  } else if (name == "bitcast") {
    if (t.dtype == fx::boolean) return false;
    DType to = pick(fx::numbers);
    while (fx::size_of(to) != fx::size_of(t.dtype)) to = pick(fx::numbers);
    if (real && to == t.dtype) return false;  // its derivative is 0, and differences say 1
    const Val v = bind(p, {want(t)}, Params().dtype(to));
    keep(fx::is_float(to) ? harmless(v) : real ? fx::bit_and(v, 255.0) : v);  // not to be cast back: as above
  } else if (name == "stop_gradient") {
    if (real) return false;  // the same; tested by itself
    keep(bind(p, {want(t)}));
  } else if (name == "integer_pow") {
    const int n = below(6) - 2;
    const Val x = real && n < 0 ? away_from_zero(t) : want(t);
    keep(bind(p, {x}, Params().integer(n)), std::pow(n < 0 ? 2 : 4, std::abs(n)));
  } else if (name == "div" || name == "rem") {
    const Val a = want(t), b = real ? away_from_zero(t) : want(t);
    keep(bind(p, {a, b}), name == "div" ? 8 : 4);
  } else if (name == "log" || name == "sqrt" || name == "rsqrt" || name == "log1p") {
    keep(bind(p, {positive(t)}), 2.5);
  } else if (name == "erf_inv") {
    keep(bind(p, {unit(t) * 0.75}), 1);
  } else if (name == "pow") {
    const Val a = positive(t), b = want(t);
    keep(bind(p, {a, b}), 400);
  } else if (name == "exp") {
    keep(bind(p, {want(t)}), 55);
  } else if (name == "mul") {
    const Val a = want(t), b = want(t);
    keep(bind(p, {a, b}), 16);
  } else if (name == "add" || name == "sub") {
    const Val a = want(t), b = want(t);
    keep(bind(p, {a, b}), 8);
  } else if (name == "eq" || name == "ne" || name == "lt" || name == "le" || name == "gt" || name == "ge" ||
             name == "and" || name == "or" || name == "xor" || name == "max" || name == "min" ||
             name.starts_with("shift")) {
    const Val a = want(t), b = want(t);
    keep(bind(p, {a, b}));
  } else {  // of one operand, and bounded by it
    keep(bind(p, {want(t)}));
  }
  return true;
}

bool Generator::layout(const fx::Prim& p) {
  const Val x = want(type_of(fx::any_dtype));
  const Type t = b_.type(x);
  const int rank = t.rank();
  if (p.name == "broadcast_in_dim") {
    Dims shape = t.dims, dims;
    for (int k = 0; k < rank; ++k)
      if (shape[k] == 1 && chance(50)) shape[k] = below(4);
    std::vector<int> where;  // of the operand's dimensions among the result's
    const int more = below(3);
    Dims out;
    for (int k = 0, left = more; k < rank || left > 0;) {
      if (left > 0 && (k == rank || chance(40))) {
        out.push_back(1 + below(3));
        --left;
      } else {
        dims.push_back(out.n);
        out.push_back(shape[k++]);
      }
    }
    keep(fx::broadcast_in_dim(x, out, dims));
  } else if (p.name == "reshape") {
    const std::int64_t n = fx::numel(t);
    const Dims shapes[] = {
        {n}, {1, n}, {n, 1, 1}, n % 2 == 0 ? Dims{2, n / 2} : Dims{n, 1}, n % 3 == 0 ? Dims{n / 3, 3} : Dims{1, n, 1}};
    keep(bind(p, {x}, Params().dims(n == 1 && chance(40) ? Dims{} : shapes[below(5)])));
  } else if (p.name == "transpose") {
    Dims perm;
    for (int k = 0; k < rank; ++k) perm.insert(below(perm.n + 1), k);
    keep(fx::transpose(x, perm));
  } else if (p.name == "rev") {
    Dims dims;
    for (int k = 0; k < rank; ++k)
      if (chance(50)) dims.push_back(k);
    keep(fx::rev(x, dims));
  } else if (p.name == "slice") {
    Dims start, limit, stride;
    for (int k = 0; k < rank; ++k) {
      const int n = int(t.dims[k]), from = below(n + 1);
      start.push_back(from);
      limit.push_back(from + below(n - from + 1));
      stride.push_back(1 + below(3));
    }
    keep(fx::slice(x, start, limit, stride));
  } else if (p.name == "pad") {
    Dims low, high, interior;
    for (int k = 0; k < rank; ++k) {
      const std::int64_t n = t.dims[k], gap = below(3);
      const std::int64_t inside = n > 1 ? n + (n - 1) * gap : n;
      std::int64_t before = below(4) - 1, after = below(4) - 1;
      if (inside + before + after < 0) before = after = 0;
      low.push_back(before);
      high.push_back(after);
      interior.push_back(gap);
    }
    keep(bind(p, {x, want({t.dtype, {}})}, Params().dims(low).dims(high).dims(interior)));
  } else {  // concatenate
    if (rank == 0) return false;
    const int dim = below(rank);
    std::vector<Val> parts{x};
    for (int more = below(3); more > 0; --more) {
      Type other = t;
      other.dims[dim] = below(3);
      parts.push_back(want(other));
    }
    keep(bind(p, parts, Params().integer(dim)));
  }
  return true;
}

bool Generator::reduce(const fx::Prim& p) {
  const std::string_view name = p.name;
  const bool any = name == "reduce_max" || name == "reduce_min" || name.starts_with("arg");
  const Type t = type_of(any ? fx::any_dtype : fx::numbers);
  const double n = double(fx::numel(t));
  if (name == "cumsum") {
    if (t.rank() == 0) return false;
    keep(bind(p, {want(t)}, Params().integer(below(t.rank())).flag(chance(50))), 4 * n);
    return true;
  }
  if (name.starts_with("arg")) {
    if (t.rank() == 0) return false;
    const int axis = below(t.rank());
    if (t.dims[axis] == 0) return false;
    keep(bind(p, {want(t)}, Params().ints({axis}).dtype(pick(whole_types))));
    return true;
  }
  Dims axes;
  bool empty = false;
  for (int k = 0; k < t.rank(); ++k)
    if (chance(60)) {
      axes.insert(below(axes.n + 1), k);
      empty = empty || t.dims[k] == 0;
    }
  if (empty && any && fx::is_float(t.dtype)) return false;  // infinite
  const bool product = name == "reduce_prod" && fx::is_float(t.dtype);
  keep(bind(p, {product ? unit(t) : want(t)}, Params().dims(axes)), product || any ? 4 : 4 * n);
  return true;
}

bool Generator::sort(const fx::Prim& p) {
  const Type t = type_of(fx::any_dtype);
  if (t.rank() == 0) return false;
  std::vector<Val> in{want(t)};
  for (int more = below(3); more > 0; --more) in.push_back(want({pick(fx::any_dtype), t.dims}));
  const Val first = bind(p, in, Params().integer(below(t.rank())).integer(1 + below(int(in.size()))));
  for (int k = 0; k < int(in.size()); ++k) keep(Val(first.b, first.id + k));
  return true;
}

bool Generator::dot(const fx::Prim& p) {
  // Each dimension of lhs and rhs: shared by both as batch or contracted, or free; then put in random order.
  fx::DotDims d;
  Dims a, b;
  double contracted = 1;
  struct Pair {
    int lhs, rhs, size;
    bool batch;
  };
  std::vector<Pair> pairs;
  const int free_a = below(2), free_b = below(2), shared = below(3);
  std::vector<int> order_a, order_b;
  for (int k = 0; k < shared + free_a; ++k) order_a.insert(order_a.begin() + below(int(order_a.size()) + 1), k);
  for (int k = 0; k < shared + free_b; ++k) order_b.insert(order_b.begin() + below(int(order_b.size()) + 1), k);
  std::vector<int> size_a(order_a.size()), size_b(order_b.size());
  for (int k = 0; k < shared + 1; ++k) {
    const int size = chance(5) ? 0 : 1 + below(3);
    const bool batch = chance(40);
    if (k == shared) {
      if (free_a) size_a[std::size_t(order_a[std::size_t(k)])] = size;
      if (free_b) size_b[std::size_t(order_b[std::size_t(k)])] = 1 + below(3);
      break;
    }
    const int l = order_a[std::size_t(k)], r = order_b[std::size_t(k)];
    size_a[std::size_t(l)] = size_b[std::size_t(r)] = size;
    (batch ? d.lhs_batch : d.lhs_contract).push_back(l);
    (batch ? d.rhs_batch : d.rhs_contract).push_back(r);
    if (!batch) contracted *= size;
  }
  for (int n : size_a) a.push_back(n);
  for (int n : size_b) b.push_back(n);
  const DType t = chance(60) ? pick(float_types) : pick(fx::numbers);
  const Val x = want({t, a}), y = want({t, b});
  keep(bind(p, {x, y}, fx::DotGeneral::params(d)), 16 * contracted);
  return true;
}

bool Generator::index(const fx::Prim& p) {
  fx::IndexDims d;
  d.clamp = chance(50);
  Dims rows, window_sizes;  // dimensions of the indices but the last; sizes of the window dimensions of the result
  for (int k = below(3); k > 0; --k) rows.push_back(chance(5) ? 0 : 1 + below(3));
  auto [t, x] = type_of(p.name == "scatter_add" ? fx::numbers : fx::any_dtype);
  std::vector<int> free_rows;
  for (int k = 0; k < rows.n; ++k) free_rows.push_back(k);
  for (int k = 0; k < x.n; ++k) {
    const int role = below(10);
    if (role < 2 && !free_rows.empty()) {  // shared with the indices
      const int at = below(int(free_rows.size()));
      d.operand_batch.push_back(k);
      d.index_batch.push_back(free_rows[std::size_t(at)]);
      x[k] = rows[free_rows[std::size_t(at)]];
      d.window.push_back(x[k] > 0 ? 1 : 0);
      free_rows.erase(free_rows.begin() + at);
    } else if (role < 6 && x[k] > 0) {  // one element
      d.collapsed.push_back(k);
      d.window.push_back(1);
      d.index_map.insert(below(d.index_map.n + 1), k);
    } else {  // a window, which may start anywhere or is the whole
      const bool whole = chance(50);
      const std::int64_t size = whole ? x[k] : below(int(x[k]) + 1);
      d.window.push_back(size);
      window_sizes.push_back(size);
      if (!whole || chance(30)) d.index_map.insert(below(d.index_map.n + 1), k);
    }
  }
  Dims result;
  const int rank = rows.n + window_sizes.n;
  std::vector<char> is_window(std::size_t(rank), 0);
  for (int left = window_sizes.n; left > 0;) {
    char& w = is_window[std::size_t(below(rank))];
    if (!w) w = 1, --left;
  }
  for (int k = 0, w = 0, r = 0; k < rank; ++k) {
    if (is_window[std::size_t(k)]) d.window_dims.push_back(k);
    result.push_back(is_window[std::size_t(k)] ? window_sizes[w++] : rows[r++]);
  }
  Dims indices = rows;
  indices.push_back(d.index_map.n);
  const Val operand = want({t, x});
  Val at = want({pick(whole_types), indices});
  if (chance(60)) at = fx::rem(at, 4.0);  // more often inside
  std::vector<Val> in{operand, at};
  if (p.name != "gather") in.push_back(want({t, result}));
  keep(bind(p, in, fx::detail::index_params(d)), p.name == "scatter_add" ? 4 + 4 * double(fx::numel(result)) : 4);
  return true;
}

bool Generator::dynamic(const fx::Prim& p) {
  const DType index = pick(whole_types);
  const auto [t, x] = type_of(fx::any_dtype);
  Dims sizes;
  for (std::int64_t n : x) sizes.push_back(below(int(n) + 1));
  std::vector<Val> in{want({t, x})};
  if (p.name == "dynamic_update_slice") in.push_back(want({t, sizes}));
  for (int k = 0; k < x.n; ++k) in.push_back(want({index, {}}));
  keep(bind(p, in, p.name == "dynamic_slice" ? Params().dims(sizes) : Params()));
  return true;
}

fx::GraphRef Generator::body(const std::vector<Type>& ins, const std::vector<Type>& outs, int more_outs) {
  Generator inner(random_, coverage_, depth_ + 1);
  for (const Type& t : ins) inner.input(t);
  for (int n = 1 + below(3); n > 0; --n) inner.step();
  fx::Vec<Val> r;
  for (const Type& t : outs) r.push_back(inner.want(t));
  const fx::Vec<Val> ends = inner.loose_ends();
  for (int j = 0; j < more_outs && j < ends.size(); ++j) r.push_back(ends[ends.size() - 1 - j]);
  return fx::GraphRef(new fx::Graph(inner.finish(r)));
}

bool Generator::control(const fx::Prim& p) {
  if (depth_ > 1 || (depth_ == 1 && chance(70))) return false;
  std::vector<Val> in;
  std::vector<Type> types;
  auto operand = [&](const Type& t) {
    in.push_back(want(t));
    types.push_back(t);
  };
  auto small_type = [&] { return type_of(fx::any_dtype, 2); };
  fx::Graph const* called = nullptr;
  Val first;
  if (p.form == fx::call_form) {
    for (int n = 1 + below(3); n > 0; --n) operand(small_type());
    const fx::GraphRef g = body(types, {}, 3);
    first = bind(p, in, Params().label("f").graph(g));
    called = g.get();
  } else {
    fx::Scan::View v{fx::Dim(below(4)), chance(50), below(3), below(3), {}};
    const int rows = below(3);
    std::vector<Type> carry;
    for (int k = 0; k < v.consts; ++k) operand(small_type());
    for (int k = 0; k < v.carry; ++k) {
      operand(small_type());
      carry.push_back(types.back());
    }
    for (int k = 0; k < rows; ++k) {
      Type t = small_type();
      types.push_back(t);
      t.dims.insert(0, v.length);
      in.push_back(want(t));
    }
    if (in.empty()) return false;
    v.body = body(types, carry, 2);
    first = bind(p, in, fx::Scan::params(v));
    called = v.body.get();
  }
  for (int j = 0; j < called->outs.size(); ++j) keep(Val(first.b, first.id + j));
  return true;
}

}  // namespace reference
