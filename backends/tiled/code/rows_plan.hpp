// code/rows_plan.hpp -- RowsPlan: the passes over a row, and what is computed once for the row before and after them.
//
// Section 2 s computes what the row has once, section 2 s + 1 is a pass over its columns; a fold in it is read from
// section 2 s + 2 on. Operations stand in the first section that has their operands, or as late as their readers allow
// where that saves memory. What a later pass reads too is stored, or computed again if that is as cheap.
#pragma once
#include "../kernels/recorded.hpp"
#include "rows_body.hpp"

namespace fx::inline v0::tiled::code {

struct RowsSection {
  struct Stored {
    int reg, port;
  };
  Vec<int> ops;        // instructions
  Vec<Stored> loads;   // elements of columns, from their ports
  Vec<int> folds;      // of RowsBody::folds
  Vec<Stored> stores;  // into ports
  Vec<int> kept;       // of a row's section: what later ones read
  bool empty() const { return ops.empty() && folds.empty() && stores.empty(); }
};

class RowsPlan {
 public:
  // `code` and `needed`: the instructions as the generator makes them.
  RowsPlan(const RowsBody& body, const Recorded& recorded, const Vec<Instr>& code, const Vec<char>& needed);

  Vec<RowsSection> sections;
  Vec<DType> scratch;  // of ports after those of the body: one row each
  bool is_vector(int reg) const { return vector_[reg]; }

 private:
  const RowsBody& b_;
  const Recorded& r_;
  const Vec<Instr>& code_;
  const Vec<char>& needed_;
  Vec<char> vector_;
  Vec<int> level_, leaf_, home_, loaded_;  // of registers: section; port if it is an input; port where it is stored;
                                           // the last section that loads it

  int same(int reg) const { return r_.same[reg]; }
  bool computed(int reg) const { return r_.def[reg] >= 0 && code_[r_.def[reg]].op != Instr::constant; }
  template <class F>
  void operands(int at, F&& f) const {
    r_.for_operands(code_[at], f);
  }
  void find_levels();
  void sink();
  void fill();
  int price(int reg, int section, int depth) const;
  void bring(int reg, int section);
  void make_home(int reg);
};

#if FX_BODIES
FX_INLINE RowsPlan::RowsPlan(const RowsBody& body, const Recorded& recorded, const Vec<Instr>& code,
                             const Vec<char>& needed)
    : b_(body), r_(recorded), code_(code), needed_(needed) {
  const int n = r_.def.size();
  vector_ = Vec<char>(n, char(0));
  level_ = Vec<int>(n, 0);
  leaf_ = home_ = loaded_ = Vec<int>(n, -1);
  for (const RowsValue& v : b_.inputs) {
    vector_[v.reg] = v.vector;
    if (v.vector) leaf_[v.reg] = v.port;
  }
  find_levels();
  sink();
  fill();
}

FX_INLINE void RowsPlan::find_levels() {
  int fold = 0;
  auto close_folds = [&](int at) {
    for (; fold < b_.folds.size() && b_.folds[fold].after <= at; ++fold) {
      const RowsFold& f = b_.folds[fold];
      level_[f.result] = (level_[same(f.operand)] | 1) + 1;
    }
  };
  for (int at = 0; at < code_.size(); ++at) {
    close_folds(at);
    if (!needed_[at] || code_[at].op == Instr::constant) continue;
    const int dst = code_[at].dst;
    operands(at, [&](int reg) {
      vector_[dst] |= vector_[reg];
      level_[dst] = level_[reg] > level_[dst] ? level_[reg] : level_[dst];
    });
    if (vector_[dst]) level_[dst] |= 1;
  }
  close_folds(code_.size());
}

// An operation on columns moves to its first reader's pass if no more than one operand must be stored for that.
FX_INLINE void RowsPlan::sink() {
  constexpr int never = 1 << 30;
  Vec<int> first(level_.size(), never);
  auto read = [&](int reg, int level) { first[reg] = level < first[reg] ? level : first[reg]; };
  for (const RowsFold& f : b_.folds) read(same(f.operand), level_[f.result] - 1);
  for (int at = code_.size() - 1; at >= 0; --at) {
    if (!needed_[at] || code_[at].op == Instr::constant) continue;
    const int dst = code_[at].dst;
    if (vector_[dst] && first[dst] != never && first[dst] > level_[dst]) {
      int stored = 0;
      operands(at, [&](int reg) { stored += vector_[reg] && leaf_[reg] < 0; });
      if (stored <= 1) level_[dst] = first[dst];
    }
    operands(at, [&](int reg) { read(reg, level_[dst]); });
  }
}

FX_INLINE void RowsPlan::make_home(int reg) {
  if (home_[reg] >= 0) return;
  home_[reg] = b_.ports.size() + scratch.size();
  scratch.push_back(r_.dtype(reg));
  sections[level_[reg]].stores.push_back({reg, home_[reg]});
}

// Loads and operations that it costs to compute a value of columns again in a later section.
FX_INLINE int RowsPlan::price(int reg, int section, int depth) const {
  constexpr int too_much = 100;
  if (!vector_[reg] || loaded_[reg] == section || level_[reg] == section) return 0;
  if (leaf_[reg] >= 0) return 1;
  const Instr& i = code_[r_.def[reg]];
  const bool cheap = i.op == Instr::add || i.op == Instr::sub || i.op == Instr::mul || i.op == Instr::neg;
  if (!cheap || depth == 0 || home_[reg] >= 0) return too_much;
  int n = 1;
  operands(r_.def[reg], [&](int o) { n += price(o, section, depth - 1); });
  return n;
}

// Makes a value of columns there in a section.
FX_INLINE void RowsPlan::bring(int reg, int section) {
  if (!vector_[reg] || loaded_[reg] == section) return;
  if (leaf_[reg] < 0 && level_[reg] == section) return;
  if (leaf_[reg] < 0 && price(reg, section, 2) <= 2) {
    operands(r_.def[reg], [&](int o) { bring(o, section); });
    loaded_[reg] = section;
    sections[section].ops.push_back(r_.def[reg]);
    return;
  }
  loaded_[reg] = section;
  if (leaf_[reg] < 0) make_home(reg);
  sections[section].loads.push_back({reg, leaf_[reg] >= 0 ? leaf_[reg] : home_[reg]});
}

FX_INLINE void RowsPlan::fill() {
  int last = 1;
  for (int at = 0; at < code_.size(); ++at)
    if (needed_[at]) last = level_[code_[at].dst] > last ? level_[code_[at].dst] : last;
  for (const RowsFold& f : b_.folds) last = level_[f.result] > last ? level_[f.result] : last;
  for (const RowsValue& v : b_.outputs)
    if (const int level = level_[same(v.reg)] | int(v.vector); level > last) last = level;
  sections.resize(last + 1);
  const int last_pass = (last + 1) / 2 * 2 - 1;
  auto place = [&](const RowsValue& v) {  // the section that has an output
    const int reg = same(v.reg);
    if (!v.vector) return leaf_[reg] < 0 && level_[reg] % 2 == 0 ? level_[reg] : last / 2 * 2;
    return vector_[reg] && leaf_[reg] < 0 ? level_[reg] : last_pass;
  };
  for (const RowsValue& v : b_.outputs) {
    const int reg = same(v.reg);
    sections[place(v)].stores.push_back({reg, v.port});
    if (v.vector && vector_[reg] && leaf_[reg] < 0) home_[reg] = v.port;
  }
  for (int k = 0; k < b_.folds.size(); ++k) sections[level_[b_.folds[k].result] - 1].folds.push_back(k);
  // In rising order: what a section brings may be stored in one before it.
  Vec<Vec<int>> ops(sections.size());
  for (int at = 0; at < code_.size(); ++at)
    if (needed_[at] && code_[at].op != Instr::constant) ops[level_[code_[at].dst]].push_back(at);
  for (int s = 0; s < sections.size(); ++s) {
    RowsSection& own = sections[s];
    for (int at : ops[s]) {
      operands(at, [&](int reg) { bring(reg, s); });
      own.ops.push_back(at);
    }
    for (int k : own.folds) bring(same(b_.folds[k].operand), s);
    for (int k = 0; k < own.stores.size(); ++k) bring(own.stores[k].reg, s);
  }
  // What a row has once is kept where another section reads it.
  Vec<char> kept(level_.size(), char(0));
  for (int s = 0; s < sections.size(); ++s) {
    auto read = [&](int reg) {
      if (vector_[reg] || kept[reg] || !computed(reg) || level_[reg] == s) return;
      kept[reg] = 1;
      sections[level_[reg]].kept.push_back(reg);
    };
    for (int at : sections[s].ops) operands(at, read);
    for (int k : sections[s].folds) read(same(b_.folds[k].operand));
    for (const RowsSection::Stored& o : sections[s].stores) read(o.reg);
  }
}
#endif

}  // namespace fx::inline v0::tiled::code
