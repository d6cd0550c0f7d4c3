// transforms/vmap.hpp -- vmap: a function of one example becomes a function of a batch of them.
#pragma once
#include "call.hpp"

namespace fx::inline v0 {

namespace detail {
// A mapped axis, or none.
struct MappedAxis {
  int axis = 0;
  bool mapped = true;
  constexpr MappedAxis() = default;
  constexpr MappedAxis(int a) : axis(a) {}
  constexpr MappedAxis(None) : mapped(false) {}
};
struct PathAxis {
  std::string_view path;
  MappedAxis axis;
};
// The axes of one argument: one for all leaves, or by path (the first pattern that matches).
struct AxisSpec {
  MappedAxis all;
  Vec<PathAxis> paths;
  constexpr AxisSpec() = default;
  constexpr AxisSpec(int a) : all(a) {}
  constexpr AxisSpec(None n) : all(n) {}
  constexpr AxisSpec(std::initializer_list<PathAxis> l) : paths(l) {}
};
}  // namespace detail

struct VmapOptions {
  Vec<detail::AxisSpec> in = {};   // per argument; empty: axis 0 of everything
  Vec<detail::AxisSpec> out = {};  // one for the result, or one per leaf; empty: axis 0
  std::int64_t axis_size = -1;     // needed only if nothing is mapped
};

namespace detail {
// g with mapped inputs and outputs: axis k of input i, or -1; likewise for outputs.
constexpr Graph batched_graph(const Graph& g, Span<const int> in_axes, Dim size, Span<const int> out_axes, Loc where) {
  Builder b(true);
  Vec<Val> ins;
  Vec<char> mapped, out_mapped;
  for (int i = 0; i < g.ins.size(); ++i) {
    Type t = g.type(g.ins[i]);
    const bool m = in_axes[i] >= 0;
    if (m) t.dims.insert(in_axes[i], size);
    Val v = b.input(t);
    ins.push_back(m ? move_dim(v, in_axes[i], 0) : v);
    mapped.push_back(m);
  }
  for (int axis : out_axes) out_mapped.push_back(axis >= 0);
  const Vec<char> wanted(out_mapped);
  Vec<Val> outs = batch_into(b, g, mapped, ins, size, out_mapped);
  for (int j = 0; j < outs.size(); ++j) {
    if (!wanted[j] && out_mapped[j]) {
      Str s("vmap: result ");
      s.num(j) += " depends on the mapped axis, and its out axis is fx::none; reduce it, or give it an axis";
      fail(ErrorCode::value, s, where);
    }
    if (wanted[j]) outs[j] = move_dim(outs[j], 0, out_axes[j]);
  }
  return b.finish(outs);
}
namespace door {
Graph batched_graph(const Graph& g, Span<const int> in_axes, Dim size, Span<const int> out_axes, Loc where);
#if FX_BODIES
FX_INLINE Graph batched_graph(const Graph& g, Span<const int> in_axes, Dim size, Span<const int> out_axes, Loc where) {
  return at_line(where, [&] { return detail::batched_graph(g, in_axes, size, out_axes, where); });
}
#endif
}  // namespace door
constexpr Graph vmap_graph(const Graph& g, Span<const int> in_axes, Dim size, Span<const int> out_axes, Loc where) {
  if (FX_CONSTANT_EVALUATED()) return batched_graph(g, in_axes, size, out_axes, where);
  return door::batched_graph(g, in_axes, size, out_axes, where);
}

// The axis of each leaf of one tree, with negative axes counted from the end; -1: not mapped.
template <class T>
constexpr void leaf_axes(const T& tree, const AxisSpec& spec, Vec<int>& out, std::string_view what, int number, int extra, Loc loc) {
  std::vector<std::string> paths;
  if (!spec.paths.empty()) paths = tree::paths(tree);
  int leaf = 0;
  tree::for_each_leaf(tree, [&](const Array& a) {
    MappedAxis m = spec.all;
    if (!spec.paths.empty()) {
      bool found = false;
      for (const PathAxis& p : spec.paths) {
        if (!path_matches(p.path, paths[std::size_t(leaf)])) continue;
        m = p.axis;
        found = true;
        break;
      }
      if (!found) {
        Str s("vmap: no path of ");
        s += what;
        s.num(number) += " matches its leaf ";
        s += paths[std::size_t(leaf)];
        s += "; add {\"*\", axis}";
        fail(ErrorCode::tree, s, loc);
      }
    }
    ++leaf;
    const int rank = a.rank(loc) + extra, axis = m.axis < 0 ? m.axis + rank : m.axis;
    if (m.mapped && (axis < 0 || axis >= rank)) {
      Str s("vmap: ");
      s += what;
      s.num(number) += " is ";
      put(s, a.type(loc));
      s += ", which has no axis ";
      s.num(m.axis) += "; use fx::none for what is not mapped";
      fail(ErrorCode::shape, s, loc);
    }
    out.push_back(m.mapped ? axis : -1);
  });
}

template <class F>
struct Vmap {
  using Traces = F;
  F f;
  VmapOptions options;
  Loc where;

  template <class... A>
  constexpr auto operator()(const A&... args) const {
    return call(as_tree(args, where)...);
  }

 private:
  template <class... T>
  constexpr auto call(const T&... args) const {
    if (!options.in.empty() && options.in.size() != int(sizeof...(T))) {
      Str s("vmap: .in has ");
      s.num(options.in.size()) += " entries for ";
      s.num(int(sizeof...(T))) += " arguments";
      fail(ErrorCode::tree, s, where);
    }
    Vec<NodeRef> in = argument_leaves(where, args...);
    Vec<int> axes;
    int number = 0;
    const AxisSpec front(0);
    ((leaf_axes(args, options.in.empty() ? front : options.in[number], axes, "argument ", number, 0, where), ++number), ...);
    Vec<Type> types;
    const Dim size = mapped_size(in, axes, types);
    Trace t(where, true);
    nest<F>(t, in);
    auto traced = trace_function(t, f, where, types.data(), args...);
    const Graph& g = traced.closed.graph;
    for (int i = axes.size(); i < g.ins.size(); ++i) axes.push_back(-1);
    Vec<int> out_axes;
    result_axes(traced.out, out_axes);
    in.append(traced.closed.captured);
    const Vec<NodeRef> r = call_graph(vmap_graph(g, axes, size, out_axes, where), in, where);
    int at = 0;
    return with_leaves(traced.out, r, at);
  }

  template <class Out>
  constexpr void result_axes(const Out& out, Vec<int>& axes) const {
    const AxisSpec front(0);
    if (options.out.size() <= 1) return leaf_axes(out, options.out.empty() ? front : options.out[0], axes, "result ", 0, 1, where);
    int leaf = 0;
    tree::for_each_leaf(out, [&](const Array& a) {
      if (leaf < options.out.size()) leaf_axes(a, options.out[leaf], axes, "result ", leaf, 1, where);
      ++leaf;
    });
    if (leaf == options.out.size()) return;
    Str s("vmap: .out has ");
    s.num(options.out.size()) += " entries for ";
    s.num(leaf) += " results";
    fail(ErrorCode::tree, s, where);
  }

  // The common size of the mapped axes; types: those of one example.
  constexpr Dim mapped_size(Span<const NodeRef> in, Span<const int> axes, Vec<Type>& types) const {
    Dim size(options.axis_size);
    int first = -1;
    for (int i = 0; i < in.size(); ++i) {
      Type t = in[i]->type;
      if (axes[i] >= 0) {
        const Dim own = t.dims.dim(axes[i]);
        if (first < 0 && options.axis_size < 0) size = own;
        if (!(own == size)) {
          Str s("vmap: mapped axes differ in size: ");
          if (first >= 0) {
            put(s, in[first]->type);
            s += " along axis ";
            s.num(axes[first]) += " and ";
          }
          put(s, t);
          s += " along axis ";
          s.num(axes[i]);
          if (first < 0) (s += ", and axis_size is ").num(options.axis_size);
          fail(ErrorCode::shape, s, where);
        }
        if (first < 0) first = i;
        t.dims.erase(axes[i]);
      }
      types.push_back(t);
    }
    if (first < 0 && options.axis_size < 0) fail(ErrorCode::value, "vmap: no argument is mapped; map one, or give axis_size", where);
    return size;
  }
};
}  // namespace detail

// f over a batch: each mapped leaf loses an axis inside f, and each result gains one. Axes are chosen by options.
// Errors: a leaf without the axis (shape), sizes that differ (shape), nothing mapped (value).
template <class F>
constexpr auto vmap(F f, VmapOptions options = {}, Loc where = Loc::here()) {
  return detail::Vmap<F>{std::move(f), std::move(options), where};
}

}  // namespace fx::inline v0
