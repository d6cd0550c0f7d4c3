// tile/parse_program.hpp -- the parser of tile programs.
#pragma once
#include "memory.hpp"
#include "parse.hpp"

namespace fx::inline v0::tile::detail {

class ProgramParser : fx::detail::TextScanner {
  Span<const Prim* const> extra_;
  static constexpr int most_nested = 100;

 public:
  ProgramParser(std::string_view text, Span<const Prim* const> extra, Loc loc)
      : TextScanner(text, loc), extra_(extra) {}

  Ref<const Program> run() {
    Ref<const Program> p = program(0);
    if (here().at < text_.size()) fail(pos_, "the end of the text");
    return p;
  }

 private:
  // `b12`
  int buffer_number() {
    const Cursor start = here();
    const std::string_view w = word();
    bool negative = false;
    std::uint64_t n = 0;
    if (w.size() < 2 || w[0] != 'b' || !fx::detail::read_integer(w.substr(1), negative, n) || n > 1u << 30)
      fail(start, "a buffer such as 'b0'");
    return int(n);
  }
  Vec<int> buffer_list() {
    Vec<int> r;
    expect('(', "'('");
    while (!take(')')) {
      r.push_back(buffer_number());
      if (peek() != ')') expect(',', "',' or ')'");
    }
    return r;
  }
  void assign(std::string_view name) {
    keyword(name);
    expect('=', "'='");
  }
  Dims dims() {
    const Cursor start = here();
    const Vec<std::int64_t> l = list('(', ')', false);
    if (l.size() > max_rank) error(start, "found " + std::to_string(l.size()) + " numbers, expected at most 8");
    return Dims(l);
  }
  BufferDecl buffer(int expected) {
    const Cursor start = here();
    if (buffer_number() != expected) fail(start, "buffer b" + std::to_string(expected) + ": they stand in order");
    BufferDecl d;
    const Cursor at = here();
    const std::string_view w = word();
    if (w == "input")
      d.place = BufferDecl::input;
    else if (w == "output")
      d.place = BufferDecl::output;
    else if (w == "workspace")
      d.place = BufferDecl::workspace;
    else
      fail(at, "'input', 'output' or 'workspace'");
    d.at = integer();
    d.type = type();
    return d;
  }
  // What the program's numbers say again, for people: passed over.
  void skip_list() {
    expect('(', "'('");
    while (pos_.at < text_.size() && text_[pos_.at] != ')') ++pos_.at;
    expect(')', "')'");
  }
  bool next_is(std::string_view w) {
    const Cursor start = here();
    if (word() == w) return true;
    pos_ = start;
    return false;
  }
  Access access() {
    Access a;
    a.buffer = buffer_number();
    keyword("offset");
    a.offset = integer();
    keyword("stride");
    a.stride = dims();
    if (next_is("block")) skip_list();
    return a;
  }

  // The text from '{' to the '}' that closes it.
  std::string_view braces() {
    const Cursor start = here();
    if (peek() != '{') fail(start, "'{'");
    int depth = 0;
    bool label = false;
    for (std::size_t i = start.at; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\n') {
        ++pos_.line;
        pos_.line_start = i + 1;
      }
      if (label && c == '\\')
        ++i;
      else if (c == '"')
        label = !label;
      else if (!label && c == '{')
        ++depth;
      else if (!label && c == '}' && --depth == 0) {
        pos_.at = i + 1;
        return text_.substr(start.at, pos_.at - start.at);
      }
    }
    error(start, "found '{' without the '}' that closes it");
  }
  GraphRef graph() {
    const Cursor start = here();
    const std::string_view t = braces();
    try {
      return GraphRef(new Graph(fx::parse(t, extra_, loc_)));
    } catch (const Error& e) { error(start, "in the graph that starts here: " + message_of(e)); }
  }

  KernelKind kind(std::string_view w) {
    for (int k = 0; k < kernel_kinds; ++k)
      if (w == name(KernelKind(k))) return KernelKind(k);
    return KernelKind(kernel_kinds);
  }
  void kernel(Kernel& k, int depth) {
    assign("space"), k.space = dims();
    if (next_is("order")) expect('=', "'='"), k.order = dims();
    assign("block"), k.block = dims();
    if (next_is("grid")) expect('=', "'='"), skip_list();
    if (k.kind == KernelKind::scan) {
      assign("consts"), k.consts = int(integer());
      assign("carries"), k.carries = int(integer());
      assign("reverse");
      const Cursor at = here();
      const std::string_view w = word();
      if (w != "true" && w != "false") fail(at, "'true' or 'false'");
      k.reverse = w == "true";
    }
    if (next_is("cost")) expect('=', "'='"), skip_list();
    while (next_is("in")) k.in.push_back(access());
    while (next_is("out")) k.out.push_back(access());
    if (next_is("lhs")) k.made[0] = graph();
    if (next_is("rhs")) k.made[1] = graph();
    if (next_is("body")) k.body = graph();
    if (next_is("op")) k.op = graph();
    if (next_is("loop")) k.loop = program(depth + 1);
  }

  Ref<const Program> program(int depth) {
    if (depth > most_nested) error(here(), "found more than 100 nested loops");
    const Cursor start = here();
    Program* p = new Program;
    Ref<const Program> owner(p);
    expect('{', "'{ tile'");
    keyword("tile");
    assign("target"), p->target = std::string(word());
    assign("ins"), p->ins = buffer_list();
    assign("outs"), p->outs = buffer_list();
    assign("workspace"), p->workspace = integer();
    while (next_is("buffer")) p->buffers.push_back(buffer(p->buffers.size()));
    while (!take('}')) {
      const Cursor at = here();
      Kernel k;
      k.kind = kind(word());
      if (int(k.kind) == kernel_kinds)
        fail(at, "a kernel: map, reduce, dot, cumulative, sort, copy, index or scan; or '}'");
      kernel(k, depth);
      p->kernels.push_back(std::move(k));
    }
    for (Kernel& k : p->kernels)
      if (k.kind == KernelKind::scan && k.loop && k.carries <= k.loop->outs.size() &&
          k.consts + k.carries <= k.loop->ins.size())
        k.in_place = carries_in_place(*k.loop, k.consts, k.carries);
    if (const std::string wrong = verify(*p); !wrong.empty()) error(start, "this program cannot run: " + wrong);
    return owner;
  }
};

}  // namespace fx::inline v0::tile::detail

namespace fx::inline v0::tile {
FX_INLINE Ref<const Program> parse_program(std::string_view text, Span<const Prim* const> extra, Loc loc) {
  return detail::ProgramParser(text, extra, loc).run();
}
}  // namespace fx::inline v0::tile
