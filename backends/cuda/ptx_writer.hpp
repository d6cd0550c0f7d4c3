// cuda/ptx_writer.hpp -- Writer: the text of one entry while it grows, its registers and labels.
#pragma once
#include <fx/base/str.hpp>
#include <fx/type.hpp>
#include <initializer_list>

namespace fx::inline v0::cuda {

// A virtual register: a truth value, or 32 or 64 bits of any type.
struct Reg {
  enum Class : std::uint8_t { pred, word, quad } cls = word;
  int number = -1;
};
constexpr Reg::Class class_of(DType d) { return d == boolean ? Reg::pred : size_of(d) == 8 ? Reg::quad : Reg::word; }

// An operand as it is written.
struct Arg {
  enum Kind : std::uint8_t { reg, number, bits, memory, name } kind = reg;
  Reg r{};
  std::int64_t n = 0;
  std::string_view text{};
  constexpr Arg(Reg x) : r(x) {}
  constexpr Arg(std::int64_t v) : kind(number), n(v) {}
  constexpr Arg(int v) : kind(number), n(v) {}
  constexpr Arg(std::string_view s) : kind(name), text(s) {}
  constexpr Arg(const char* s) : kind(name), text(s) {}
};
constexpr Arg bits_of(std::uint64_t v) {
  Arg a(std::int64_t{});
  a.kind = Arg::bits;
  a.n = std::int64_t(v);
  return a;
}
constexpr Arg at(Reg address) {
  Arg a(address);
  a.kind = Arg::memory;
  return a;
}
struct Label {
  int number = -1;
};

class Writer {
 public:
  Reg fresh(Reg::Class c) { return {c, count_[c]++}; }
  Reg fresh(DType d) { return fresh(class_of(d)); }
  Label label() { return {labels_++}; }

  void line(std::string_view op, std::initializer_list<Arg> args);
  // The instruction runs where p is set, or (unless) is not.
  void guarded(Reg p, bool unless, std::string_view op, std::initializer_list<Arg> args);
  // A new register with the result of an instruction.
  Reg make(Reg::Class c, std::string_view op, std::initializer_list<Arg> operands);
  void move(Reg to, Reg from);
  void place(Label l);
  void jump(Label l);
  void jump_if(Reg p, Label l, bool unless = false);
  void comment(std::string_view s);
  void raw(std::string_view s) { text_ += s; }

  // The declarations of all registers, then the instructions.
  Str finish() const;

 private:
  Str text_;
  int count_[3]{}, labels_ = 0;

  void put(const Arg& a);
  void put(Reg r);
  void instruction(std::string_view op, const Arg* first, std::initializer_list<Arg> rest);
  void put(Label l) { (text_ += "$L").num(l.number); }
};

}  // namespace fx::inline v0::cuda

#if FX_BODIES
namespace fx::inline v0::cuda {

FX_INLINE void Writer::put(Reg r) {
  constexpr std::string_view prefix[] = {"%p", "%r", "%d"};
  (text_ += prefix[r.cls]).num(r.number);
}
FX_INLINE void Writer::put(const Arg& a) {
  switch (a.kind) {
    case Arg::reg: return put(a.r);
    case Arg::number: return void(text_.num(a.n));
    case Arg::bits: return void((text_ += "0x").hex(std::uint64_t(a.n)));
    case Arg::name: return void(text_ += a.text);
    case Arg::memory:
      text_ += '[';
      put(a.r);
      text_ += ']';
  }
}
FX_INLINE void Writer::instruction(std::string_view op, const Arg* first, std::initializer_list<Arg> rest) {
  text_ += op;
  bool any = false;
  auto add = [&](const Arg& a) {
    text_ += any ? ", " : " ";
    any = true;
    put(a);
  };
  if (first) add(*first);
  for (const Arg& a : rest) add(a);
  text_ += ";\n";
}
FX_INLINE void Writer::line(std::string_view op, std::initializer_list<Arg> args) {
  text_ += "  ";
  instruction(op, nullptr, args);
}
FX_INLINE void Writer::guarded(Reg p, bool unless, std::string_view op, std::initializer_list<Arg> args) {
  text_ += unless ? "  @!" : "  @";
  put(p);
  text_ += ' ';
  instruction(op, nullptr, args);
}
FX_INLINE Reg Writer::make(Reg::Class c, std::string_view op, std::initializer_list<Arg> operands) {
  const Reg r = fresh(c);
  const Arg first(r);
  text_ += "  ";
  instruction(op, &first, operands);
  return r;
}
FX_INLINE void Writer::move(Reg to, Reg from) {
  constexpr std::string_view op[] = {"mov.pred", "mov.b32", "mov.b64"};
  line(op[to.cls], {to, from});
}
FX_INLINE void Writer::place(Label l) {
  put(l);
  text_ += ":\n";
}
FX_INLINE void Writer::jump(Label l) {
  text_ += "  bra ";
  put(l);
  text_ += ";\n";
}
FX_INLINE void Writer::jump_if(Reg p, Label l, bool unless) {
  text_ += unless ? "  @!" : "  @";
  put(p);
  text_ += " bra ";
  put(l);
  text_ += ";\n";
}
FX_INLINE void Writer::comment(std::string_view s) {
  text_ += "  // ";
  text_ += s;
  text_ += '\n';
}
FX_INLINE Str Writer::finish() const {
  constexpr std::string_view declare[] = {"  .reg .pred %p<", "  .reg .b32 %r<", "  .reg .b64 %d<"};
  Str s;
  for (int c = 0; c < 3; ++c)
    if (count_[c]) (s += declare[c]).num(count_[c]) += ">;\n";
  s += text_;
  return s;
}

}  // namespace fx::inline v0::cuda
#endif
