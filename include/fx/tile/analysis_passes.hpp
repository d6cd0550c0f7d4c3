// tile/analysis_passes.hpp -- the passes of Analysis: roles and views, levels, sinking, groups, what is stored.
#pragma once
#include "../ops/record.hpp"
#include "analysis.hpp"

namespace fx::inline v0::tile {

FX_INLINE Analysis::Analysis(const Graph& graph) : g(graph) {
  classify();
  find_levels();
  sink();
  number_groups();
  find_stored();
}

FX_INLINE View Analysis::view(int v) const {
  v = canon_[v];
  return view_at_[v] >= 0 ? views_[view_at_[v]] : whole(v, g.type(v).dims);
}

FX_INLINE bool Analysis::computed_in(int o, int group) const {
  o = canon_[o];
  const int e = defined_by(o);
  return e >= 0 && view_at_[o] < 0 && group_[e] == group && role_[e] == Role::fused;
}

FX_INLINE bool Analysis::fuses_operands(int eqn) const {
  return role_[eqn] == Role::fused || g.eqns[eqn].prim->kind == Kind::reduce;
}

// Whether the result is the operand, bit for bit: its recorded body computes nothing.
FX_INLINE bool Analysis::changes_nothing(const Eqn& e, Vec<std::uint64_t>& changing) const {
  if (e.n_in != 1 || e.n_out != 1 || !e.prim->record || !(g.type(g.in(e)[0]) == g.type(e.out))) return false;
  for (std::uint64_t id : changing)
    if (id == e.prim->id) return false;
  Recorder r;
  const DType d = g.type(e.out).dtype;
  const int in = r.push({Instr::input, d}, d);
  RecordCtx c{r, {&d, 1}, {&in, 1}, {&d, 1}, attrs(g, e)};
  e.prim->record(c);
  if (c.out[0] == in) return true;
  if (e.n_attrs == 0) changing.push_back(e.prim->id);
  return false;
}

FX_INLINE void Analysis::classify() {
  const int n = g.vars.size();
  canon_.resize(n);
  for (int v = 0; v < n; ++v) canon_[v] = v;
  literal_ = Vec<int>(n, -1);
  for (int v = 0; v < n; ++v)
    if (g.is_literal(v)) literal_[v] = v;
  view_at_ = Vec<int>(n, -1);
  role_ = Vec<Role>(g.eqns.size(), Role::alone);
  Vec<std::uint64_t> changing;
  for (int i = 0; i < g.eqns.size(); ++i) {
    const Eqn& e = g.eqns[i];
    const int first = e.n_in > 0 ? canon_[g.in(e)[0]] : -1;
    if (e.prim->kind == Kind::elementwise) {
      if (changes_nothing(e, changing)) {
        role_[i] = Role::gone;
        canon_[e.out] = first;
      } else {
        role_[i] = e.n_in == 0 ? Role::trivial : Role::fused;
      }
    } else if (e.prim->kind == Kind::layout) {
      View r;
      if (first < 0 || !compose(view(first), g, e, r)) continue;
      role_[i] = Role::view;
      literal_[e.out] = literal_[first];
      view_at_[e.out] = views_.size();
      views_.push_back(r);
    }
  }
}

FX_INLINE int Analysis::available(int v) const {
  v = canon_[v];
  if (literal_[v] >= 0) return 0;
  if (view_at_[v] >= 0) v = views_[view_at_[v]].base;
  const int e = defined_by(v);
  return e < 0 ? 0 : level_[e] + 1;
}

FX_INLINE void Analysis::find_levels() {
  level_ = Vec<int>(g.eqns.size(), 0);
  for (int i = 0; i < g.eqns.size(); ++i)
    for (int o : g.in(g.eqns[i])) {
      const int v = canon_[o], e = defined_by(v);
      const bool direct = role_[i] == Role::fused && e >= 0 && view_at_[v] < 0 && role_[e] == Role::fused;
      const bool again = fuses_operands(i) && e >= 0 && role_[e] == Role::trivial;
      const int level = direct ? level_[e] : again ? 0 : available(v);
      if (level > level_[i]) level_[i] = level;
    }
}

FX_INLINE int Analysis::find(int eqn) {
  while (parent_[eqn] != eqn) eqn = parent_[eqn] = parent_[parent_[eqn]];
  return eqn;
}
FX_INLINE void Analysis::join(int a, int b) {
  a = find(a), b = find(b);
  if (a == b) return;
  if (size_[a] < size_[b]) std::swap(a, b);
  parent_[b] = a;
  size_[a] += size_[b];
}

// From the last equation to the first, so that the readers of an equation have found their place before it.
FX_INLINE void Analysis::sink() {
  const int n = g.eqns.size();
  parent_.resize(n);
  for (int i = 0; i < n; ++i) parent_[i] = i;
  size_ = Vec<int>(n, 1);
  // Of the readers seen so far: the least and greatest level of elementwise ones, the one reduction (-2: several),
  // whether another kernel reads it.
  struct Readers {
    int least = 1 << 30, greatest = -1, reduction = -1;
    bool other = false, output = false;
  };
  Vec<Readers> readers(n);
  Vec<int> reduction(n, -1);  // the reduction whose kernel computes an equation
  auto fused_operand = [&](int o) {
    const int v = canon_[o], e = defined_by(v);
    return e >= 0 && view_at_[v] < 0 && role_[e] == Role::fused ? e : -1;
  };
  auto read_by = [&](int e, int reader, int set) {
    Readers& r = readers[e];
    if (set >= 0) {
      r.reduction = r.reduction == -1 || r.reduction == set ? set : -2;
    } else {
      if (level_[reader] < r.least) r.least = level_[reader];
      if (level_[reader] > r.greatest) r.greatest = level_[reader];
    }
  };
  for (int v : g.outs)
    if (const int e = defined_by(view(v).base); e >= 0) readers[e].output = true;
  for (int i = n - 1; i >= 0; --i) {
    const Eqn& e = g.eqns[i];
    int set = -1;  // reduction[i]
    if (role_[i] == Role::fused) {
      const Readers& r = readers[i];
      const bool elementwise = r.greatest >= 0;
      if (!r.other && !r.output && !elementwise && r.reduction >= 0 && size_[find(r.reduction)] < max_fused) {
        join(i, r.reduction);
        reduction[i] = set = r.reduction;
      } else if (!r.other && r.reduction == -1 && elementwise && r.least == r.greatest) {
        level_[i] = r.least;
      }
    } else if (e.prim->kind == Kind::reduce) {
      reduction[i] = set = i;
    }
    for (int o : g.in(e)) {
      if (const int d = fused_operand(o); d >= 0 && fuses_operands(i))
        read_by(d, i, set);
      else if (const int b = defined_by(view(o).base); b >= 0)
        readers[b].other = true;
    }
  }
  Vec<int> reader(g.vars.size(), -1);  // the latest elementwise reader of a variable as a whole
  for (int i = 0; i < n; ++i) {
    if (role_[i] != Role::fused || reduction[i] >= 0) continue;
    for (int o : g.in(g.eqns[i])) {
      if (const int d = fused_operand(o); d >= 0 && reduction[d] < 0 && level_[d] == level_[i]) join(i, d);
      const int v = canon_[o];  // what is read once may as well serve both
      if (literal_[v] >= 0 || view_at_[v] >= 0) continue;
      if (reader[v] >= 0 && level_[reader[v]] == level_[i]) join(i, reader[v]);
      reader[v] = i;
    }
  }
}

FX_INLINE void Analysis::number_groups() {
  const int n = g.eqns.size();
  group_ = Vec<int>(n, -1);
  Vec<int> current(n, -1), equations(n, 0), operands(n, 0);  // by set: the group being filled
  for (int i = 0; i < n; ++i)
    if (g.eqns[i].prim->kind == Kind::reduce) current[find(i)] = group_[i] = n_groups_++;
  for (int i = 0; i < n; ++i) {
    if (role_[i] == Role::trivial || (role_[i] == Role::alone && group_[i] < 0)) group_[i] = n_groups_++;
    if (role_[i] != Role::fused) continue;
    const int s = find(i);
    const bool closed = current[s] >= 0 && equations[s] == 0;  // a reduction's: is never split
    if (!closed && (current[s] < 0 || equations[s] == max_fused || operands[s] >= max_operands)) {
      current[s] = n_groups_++;
      equations[s] = operands[s] = 0;
    }
    group_[i] = current[s];
    if (closed) continue;
    ++equations[s];
    for (int o : g.in(g.eqns[i])) operands[s] += literal(o) < 0 && !computed_in(o, current[s]);
  }
}

FX_INLINE void Analysis::find_stored() {
  stored_ = Vec<char>(g.vars.size(), 0);
  auto store = [&](int v) { stored_[view(v).base] = 1; };
  for (int i = 0; i < g.eqns.size(); ++i) {
    if (role_[i] == Role::gone || role_[i] == Role::view) continue;
    for (int o : g.in(g.eqns[i])) {
      const int v = canon_[o], e = defined_by(v);
      const bool again = fuses_operands(i) && e >= 0 && role_[e] == Role::trivial;
      if (literal(o) < 0 && !again && !(fuses_operands(i) && computed_in(v, group_[i]))) store(v);
    }
  }
  for (int v : g.outs) store(v);
}

}  // namespace fx::inline v0::tile
