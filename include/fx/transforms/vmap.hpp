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
  const ProfileSpan span(ProfileKind::pass, "vmap");
  return at_line(where, [&] { return detail::batched_graph(g, in_axes, size, out_axes, where); });
}
#endif
}  // namespace door
constexpr Graph vmap_graph(const Graph& g, Span<const int> in_axes, Dim size, Span<const int> out_axes, Loc where) {
  if (FX_CONSTANT_EVALUATED()) return batched_graph(g, in_axes, size, out_axes, where);
  return door::batched_graph(g, in_axes, size, out_axes, where);
}

// The axis that the first matching pattern gives to leaf `leaf` of the tree.
template <class T>
MappedAxis axis_by_path(const AxisSpec& spec, std::string_view what, int number, const T& tree, int leaf, Loc loc) {
  const std::string path = tree::paths(tree)[std::size_t(leaf)];
  for (const PathAxis& p : spec.paths)
    if (path_matches(p.path, path)) return p.axis;
  Str s("vmap: no path given for ");
  s += what;
  if (number >= 0) (s += ' ').num(number);
  ((s += " matches its leaf ") += path) += "; add {\"*\", axis}";
  fail(ErrorCode::tree, s, loc);
}
template <class T>
[[noreturn]] void fail_axis(std::string_view what, int number, const T& tree, int leaf, const Type& t, int axis,
                            Loc loc) {
  Str s("vmap: ");
  put_leaf(s, what, number, tree, leaf);
  s += " is ";
  put(s, t);
  (s += ", which has no axis ").num(axis) += "; use fx::none for what is not mapped";
  fail(ErrorCode::shape, s, loc);
}
// Appends the axis of each leaf of one tree, with negative axes counted from the end; -1: not mapped. specs: one for
// all leaves, or one for each. A leaf has `extra` more dimensions than it shows.
template <class T>
constexpr void leaf_axes(std::string_view what, int number, const T& tree, Span<const AxisSpec> specs, int extra,
                         Vec<int>& out, Loc loc) {
  for_each_full_leaf(what, number, tree, loc, [&](const Array& a, int leaf) {
    const AxisSpec& spec = specs[specs.size() == 1 ? 0 : leaf];
    const MappedAxis m = spec.paths.empty() ? spec.all : axis_by_path(spec, what, number, tree, leaf, loc);
    const int rank = a.rank(loc) + extra, axis = m.axis < 0 ? m.axis + rank : m.axis;
    if (m.mapped && (axis < 0 || axis >= rank)) fail_axis(what, number, tree, leaf, a.type(loc), m.axis, loc);
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
    ((leaf_axes("argument", number, args, {options.in.empty() ? &front : &options.in[number], 1}, 0, axes, where),
      ++number),
     ...);
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
    Span<const AxisSpec> specs(options.out);
    if (specs.empty()) specs = {&front, 1};
    if (specs.size() > 1 && specs.size() != tree::leaf_count(out)) {
      Str s("vmap: .out has ");
      s.num(specs.size()) += " entries for ";
      s.num(tree::leaf_count(out)) += " results";
      fail(ErrorCode::tree, s, where);
    }
    leaf_axes("the result", -1, out, specs, 1, axes, where);
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
    if (first < 0 && options.axis_size < 0)
      fail(ErrorCode::value, "vmap: no argument is mapped; map one, or give axis_size", where);
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
