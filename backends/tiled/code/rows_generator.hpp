// code/rows_generator.hpp -- RowsGenerator: the machine code of a RowsBody, section by section of its plan.
#pragma once
#include "generator_loop.hpp"
#include "rows.hpp"
#include "rows_plan.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

class RowsGenerator : Generator {
 public:
  RowsGenerator(const RowsBody& body, const Recorded& recorded, Span<const int> outputs, int lanes, bool avx512);
  RowsCode make();

 private:
  static constexpr Gpr registers[] = {rbp, r14, rcx, rdx, rsi, rdi, r8, r9, r10};
  static constexpr Gpr steps_left = r13;
  // On the stack: how many contexts there are now, the first one, and those left in a loop over them.
  static constexpr Mem contexts{rsp, -1, 1, 0}, first_context{rsp, -1, 1, 8}, contexts_left{rsp, -1, 1, 16};
  static constexpr int most_accumulators = 8, unordered = 3, ordered = 7;
  // What follows the read of a value: a fold, a store into a port, or the frame.
  struct Act {
    enum What : std::uint8_t { none, fold, store, keep } what = none;
    int at = -1;
  };
  // A fold of the pass at hand: its accumulators, which are registers or lie in the frame, and what has seen a NaN.
  struct Folding {
    const RowsFold* f;
    int count = 0;  // of accumulators
    int reg = -1;   // the first of `count`; -1: in the frame
    int slot = -1;
    int seen = -1;  // AVX2: a register, or in the frame; AVX-512: a mask register
    int seen_slot = -1;
  };
  const RowsBody& b_;
  RowsCode code_of_;
  RowsPlan plan_;
  Vec<int> slot_;  // of each register that a row has once: in the frame
  Vec<Act> act_;   // of each entry of seq_
  Vec<Gpr> base_;  // of each port in this section
  Vec<Folding> folding_;
  bool row_ = false;  // the section has no columns

  Gpr base(int port) override;
  void check();
  void begin(const RowsSection& s, bool row);
  void order(const RowsSection& s);
  void choose_bases();
  void choose_registers();
  void group(int parts, int first, bool masked);
  void walk(std::int64_t count);
  void pass(const RowsSection& s);
  void row_section(const RowsSection& s);
  int choose_together() const;
  template <class F>
  void each_context(F&& f);
  void next_row();
  void row_inputs();
  void find_row(const RowsGather& g);
  bool is_table(int port) const;
  void keep(int v);
  void store_one(int v, int port);

  // rows_fold.hpp
  bool watches(const RowsFold& f) const { return is_float(f.dtype) && (f.op == FoldOp::max || f.op == FoldOp::min); }
  bool folds(const RowsFold& f) const;
  void start_folds();
  void reset(const Folding& f);
  void take(Folding& f, int v, int u);
  void fold_into(const RowsFold& f, int to, int a, const Rm& x, int length, int spare, Masking m = {});
  void see_nan(const Folding& f, int x, int spare, int lanes);
  void close_block(const Folding& f);
  void finish(const Folding& f);
};

FX_INLINE RowsGenerator::RowsGenerator(const RowsBody& body, const Recorded& recorded, Span<const int> outputs,
                                       int lanes, bool avx512)
    : Generator(recorded, outputs, lanes, avx512), b_(body), plan_(body, recorded, code_, needed_) {
  code_of_.missing = nullptr;
  check();
}

FX_INLINE void RowsGenerator::check() {
  for (int at = 0; at < code_.size(); ++at)
    if (needed_[at] && called(code_[at])) code_of_.missing = "it has an operation that is a call";
  for (const RowsFold& f : b_.folds)
    if (!folds(f)) code_of_.missing = "it has a reduction that has no code";
  for (const RowsSection& s : plan_.sections) {
    int watching = 0;
    for (int k : s.folds) watching += watches(b_.folds[k]);
    if (avx512_ && watching > 2) code_of_.missing = "it has too many reductions at once";
  }
}

FX_INLINE Gpr RowsGenerator::base(int port) {
  if (base_[port] != no_gpr) return base_[port];
  e_.mov(r11, port_data(port));
  return r11;
}

// The values that a section sees.
FX_INLINE void RowsGenerator::begin(const RowsSection& s, bool row) {
  row_ = row;
  simd_.fixed = 0;
  mask_.fixed = 1;
  seq_.clear();
  act_.clear();
  folding_.clear();
  for (int v = 0; v < values_.size(); ++v) {
    Value& x = values_[v];
    x = {};
    x.dtype = r_.dtype(v);
    if (const int def = r_.def[v]; def >= 0 && code_[def].op == Instr::constant) {
      if (needed_[def]) add_constant(v, code_[def]);
    } else if (!plan_.is_vector(v) && slot_[v] >= 0) {
      x.where = Value::uniform;
      x.at = slot_[v];
    }
  }
  for (const RowsSection::Stored& l : s.loads) values_[l.reg].where = Value::port, values_[l.reg].at = l.port;
  for (int at : s.ops) values_[code_[at].dst].where = Value::computed;
  order(s);
  collect_uses();
  choose_bases();
  for (int k : s.folds) folding_.push_back({&b_.folds[k]});
}

// A value is folded and stored as soon as it is there.
FX_INLINE void RowsGenerator::order(const RowsSection& s) {
  auto add = [&](Item::What what, int index, Act act) {
    seq_.push_back({what, index});
    act_.push_back(act);
  };
  auto acts_of = [&](int reg) {
    for (int k = 0; k < s.folds.size(); ++k)
      if (r_.same[b_.folds[s.folds[k]].operand] == reg) add(Item::hold, reg, {Act::fold, k});
    for (const RowsSection::Stored& o : s.stores)
      if (o.reg == reg) add(Item::hold, reg, {Act::store, o.port});
    for (int kept : s.kept)
      if (kept == reg) add(Item::hold, reg, {Act::keep, reg});
  };
  Vec<char> made(values_.size(), char(0));
  for (int at : s.ops) {
    add(Item::op, at, {});
    made[code_[at].dst] = 1;
    acts_of(code_[at].dst);
  }
  Vec<int> others;  // that are read as they are
  auto read = [&](int reg) {
    if (made[reg]) return;
    made[reg] = 1;
    others.push_back(reg);
  };
  for (int k : s.folds) read(r_.same[b_.folds[k].operand]);
  for (const RowsSection::Stored& o : s.stores) read(o.reg);
  for (int reg : others) acts_of(reg);
}

// The ports of a section have registers while there are some.
FX_INLINE void RowsGenerator::choose_bases() {
  base_ = Vec<Gpr>(b_.ports.size() + plan_.scratch.size() + 1, no_gpr);
  int n = 0;
  auto use = [&](int port) {
    if (base_[port] != no_gpr || n == int(sizeof registers / sizeof registers[0])) return;
    base_[port] = registers[n++];
    e_.mov(base_[port], port_data(port));
  };
  for (const Value& x : values_)
    if (x.where == Value::port && x.count > 0) use(x.at);
  for (const Act& a : act_)
    if (a.what == Act::store) use(a.at);
}

// Accumulators have registers if one vector at least can go through the pass beside them; more vectors, if they divide
// the accumulators. What is left is for constants and what the row has.
FX_INLINE void RowsGenerator::choose_registers() {
  int accumulators = 0, least = most_accumulators, masks = 0;
  for (Folding& f : folding_) {
    f.count = reduce_lanes(f.f->dtype) / lanes_;
    least = f.count < least ? f.count : least;
    accumulators += f.count + (watches(*f.f) && !avx512_);
    masks += watches(*f.f) && avx512_;
  }
  const Fullest most = fullest();
  auto fits = [&](int parts, int beside) {
    return parts * most.simd + temporaries + 1 + beside <= simd_.size &&
           (!avx512_ || parts * most.mask + masks < mask_.size);
  };
  parts_ = folding_.empty() ? max_parts : least < 2 ? 1 : 2;
  while (parts_ > 1 && !fits(parts_, accumulators)) --parts_;
  const bool in_registers = fits(parts_, accumulators);
  if (!in_registers) {
    parts_ = folding_.empty() ? max_parts : least < 2 ? 1 : 2;
    while (parts_ > 1 && !fits(parts_, 0)) --parts_;
  }
  int next = simd_.size, mask = mask_.size;
  for (Folding& f : folding_) {
    if (in_registers) {
      f.reg = next -= f.count;
      for (int k = 0; k < f.count; ++k) simd_.fixed |= 1u << (f.reg + k);
    } else {
      f.slot = slot();
      for (int k = 1; k < f.count; ++k) slot();
    }
    if (!watches(*f.f)) continue;
    if (avx512_) {
      f.seen = --mask;
      mask_.fixed |= 1u << mask;
    } else if (in_registers) {
      f.seen = --next;
      simd_.fixed |= 1u << next;
    } else {
      f.seen_slot = slot();
    }
  }
  fix_shared(simd_.size - parts_ * most.simd - temporaries - 1 - (in_registers ? accumulators : 0));
}

// The items for `parts` vectors, the first of them number `first` after `element`.
FX_INLINE void RowsGenerator::group(int parts, int first, bool masked) {
  forget_all();
  const int frame_before = frame_;
  active_ = parts;
  first_ = first;
  masked_ = masked;
  for (pos_ = 0; pos_ < seq_.size(); ++pos_) {
    const Item& s = seq_[pos_];
    const Act& act = act_[pos_];
    for (int u = 0; u < parts; ++u) {
      if (s.what == Item::op) {
        emit(code_[s.index], u);
        end_part();
        continue;
      }
      if (act.what == Act::fold) take(folding_[act.at], s.index, u);
      if (act.what == Act::store) row_ ? store_one(s.index, act.at) : store_value(s.index, act.at, u);
      if (act.what == Act::keep) keep(s.index);
      if (!values_[s.index].shared() && dies(s.index, u)) drop(s.index, u);
      end_part();
    }
  }
  first_ = 0;
  frame_ = frame_before;
}

// `count` columns from `element` on, which moves behind them.
FX_INLINE void RowsGenerator::walk(std::int64_t count) {
  int together = folding_.empty() ? parts_ : 4;  // vectors in a step
  for (const Folding& f : folding_) together = f.count > together ? f.count : together;
  const int step = together * lanes_;
  auto vectors = [&](int n) {
    for (int k = 0; k < n;) {
      const int parts = n - k >= parts_ ? parts_ : 1;
      group(parts, k, false);
      k += parts;
    }
  };
  if (const std::int64_t steps = count / step; steps > 1) {
    const Label loop = e_.label();
    e_.mov(steps_left, std::uint64_t(steps));
    e_.bind(loop);
    vectors(together);
    e_.add(element, step);
    e_.decrement(steps_left);
    e_.jump_if(Encoder::not_equal, loop);
    count -= steps * step;
  }
  const int whole = int(count / lanes_);
  vectors(whole);
  if (count % lanes_) group(1, whole, true);
  e_.add(element, whole * lanes_);
}

FX_INLINE void RowsGenerator::pass(const RowsSection& s) {
  begin(s, false);
  const int frame_before = frame_;
  choose_registers();
  load_fixed(Value::constant);
  load_fixed(Value::uniform);
  start_folds();
  e_.zero(element);
  if (folding_.empty()) {
    walk(b_.cols);
  } else {
    const std::int64_t blocks = b_.cols / reduce_block, rest = b_.cols % reduce_block;
    const int blocks_left = slot();
    if (blocks > 0) {
      const Label next = e_.label();
      e_.mov(rax, std::uint64_t(blocks));
      e_.mov(in_frame(blocks_left), rax);
      e_.bind(next);
      walk(reduce_block);
      for (const Folding& f : folding_) {
        close_block(f);
        reset(f);
      }
      e_.decrement(in_frame(blocks_left));
      e_.jump_if(Encoder::not_equal, next);
    }
    if (rest > 0) {
      walk(rest);
      for (const Folding& f : folding_) close_block(f);
    }
    for (const Folding& f : folding_) finish(f);
  }
  frame_ = frame_before;
}

FX_INLINE RowsCode RowsGenerator::make() {
  if (code_of_.missing) return std::move(code_of_);
  slot_ = Vec<int>(values_.size(), -1);
  for (const RowsValue& v : b_.inputs)
    if (!v.vector) slot_[v.reg] = slot();
  for (const RowsFold& f : b_.folds) slot_[f.result] = slot();
  for (const RowsSection& s : plan_.sections)
    for (int reg : s.kept) slot_[reg] = slot();
  tail_count_ = slot();
  tail_four_ = slot();
  tail_eight_ = slot();
  bytes_slot_ = slot();
  code_of_.together = choose_together();
  prologue();
  e_.sub(rsp, 24);
  e_.mov(first_context, args);
  e_.mov(rax, std::uint64_t(code_of_.together));
  e_.mov(contexts, rax);
  if (const std::int64_t tail = b_.cols % lanes_)
    each_context([&] {
      e_.mov(columns, std::uint64_t(b_.cols));
      e_.mov(element, std::uint64_t(b_.cols - tail));
      make_tail_mask();
    });
  const Label rows = e_.label(), all = e_.label();
  e_.bind(rows);
  e_.mov(rax, arg(0));
  e_.cmp(rax, code_of_.together);
  e_.jump_if(Encoder::not_less, all);
  e_.mov(contexts, rax);
  e_.bind(all);
  each_context([&] {
    for (const RowsGather& g : b_.gathers) find_row(g);
    row_inputs();
  });
  for (int k = 0; k < plan_.sections.size(); ++k) {
    const RowsSection& s = plan_.sections[k];
    if (!s.empty()) each_context([&] { k % 2 ? pass(s) : row_section(s); });
  }
  each_context([&] { next_row(); });
  e_.mov(rax, arg(0));
  e_.sub(rax, code_of_.together);
  e_.mov(arg(0), rax);
  e_.cmp(rax, 0);
  e_.jump_if(Encoder::greater, rows);
  e_.add(rsp, 24);
  epilogue();
  e_.finish();
  RowsCode& c = code_of_;
  c.rows = b_.rows;
  c.cols = b_.cols;
  c.ports = b_.ports;
  c.gathers = b_.gathers;
  c.scratch = plan_.scratch;
  c.frame_bytes = frame_bytes_;
  c.bytes = e_.bytes();
  c.block = CodeBlock(c.bytes);
  if (!c.block) c.missing = "there is no executable memory left";
  return std::move(c);
}

FX_INLINE RowsCode make_rows(const tile::Kernel& scan, Level level) {
  RowsCode none;
  if (level == Level::baseline || !executable_memory()) return none;
  const RowsBody body(scan);
  none.missing = body.missing;
  if (body.missing) return none;
  Vec<int> inputs, outputs;
  int widest = 4;
  for (const RowsValue& v : body.inputs) inputs.push_back(v.reg);
  for (const RowsFold& f : body.folds) {
    inputs.push_back(f.result);
    outputs.push_back(f.operand);
  }
  for (const RowsValue& v : body.outputs) outputs.push_back(v.reg);
  for (DType d : body.r.regs) widest = size_of(d) > widest ? size_of(d) : widest;
  const bool avx512 = level == Level::avx512;
  return RowsGenerator(body, Recorded(body.r, inputs, outputs), outputs, (avx512 ? 64 : 32) / widest, avx512).make();
}

}  // namespace fx::inline v0::tiled::code
#include "rows_fold.hpp"
#include "rows_once.hpp"
#endif
