// reference/run.cpp -- the two worlds of fx that run a Graph.
#include "reference/run.hpp"

#include <cstdlib>
#include <cstring>
#include <fx/backends/tiled/backend.hpp>
#include <fx/passes/evaluate.hpp>
#include <memory>
#include <stdexcept>

namespace reference {
namespace {

// Aligned memory with the slack that fx asks for, full of nonsense at first (the beginning of it, if it is large).
class Memory {
  std::unique_ptr<void, decltype(&std::free)> block_;
  std::int64_t bytes_;

 public:
  explicit Memory(std::int64_t bytes)
      : block_(std::aligned_alloc(64, std::size_t((bytes + 64 + 63) / 64 * 64)), &std::free), bytes_(bytes) {
    std::memset(block_.get(), 0xA5, std::size_t(std::min<std::int64_t>(bytes + 64, 1 << 16)));
  }
  char* data() const { return static_cast<char*>(block_.get()); }
  fx::Buffer buffer() const { return {block_.get(), bytes_}; }
};
std::int64_t bytes_of(const fx::Type& t) { return fx::numel(t) * fx::size_of(t.dtype); }

void store(const Value& v, char* to) {
  const std::size_t size = std::size_t(fx::size_of(v.type.dtype));
  for (std::size_t i = 0; i < v.at.size(); ++i) {
    const std::uint64_t bits = to_bits(v.type.dtype, v.at[i]);
    std::memcpy(to + i * size, &bits, size);  // little-endian
  }
}
Value load(const fx::Type& t, const char* from) {
  Value v = zeros(t);
  const std::size_t size = std::size_t(fx::size_of(t.dtype));
  for (std::size_t i = 0; i < v.at.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from + i * size, size);
    if (t.dtype == fx::boolean && bits > 1) throw std::logic_error("a boolean that is neither 0 nor 1");
    v.at[i] = from_bits(t.dtype, bits);
  }
  return v;
}

}  // namespace

Values run(const fx::Graph& g, const Values& in) {
  const fx::ExecutableRef x = fx::cpu_backend().compile(g);  // past the cache: a test may change a rule
  std::vector<Memory> memory;
  std::vector<fx::Buffer> ins, outs;
  for (const Value& v : in) {
    memory.emplace_back(bytes_of(v.type));
    store(v, memory.back().data());
    ins.push_back(memory.back().buffer());
  }
  for (int v : g.outs) {
    memory.emplace_back(bytes_of(g.type(v)));
    outs.push_back(memory.back().buffer());
  }
  const Memory workspace(x->workspace());
  x->run({ins.data(), int(ins.size())}, {outs.data(), int(outs.size())}, workspace.data());
  Values r;
  for (int j = 0; j < g.outs.size(); ++j)
    r.push_back(load(g.type(g.outs[j]), static_cast<const char*>(outs[std::size_t(j)].data)));
  for (std::size_t k = 0; k < in.size(); ++k)
    if (std::string s = bit_difference(in[k], load(in[k].type, static_cast<const char*>(ins[k].data))); !s.empty())
      throw std::logic_error("input " + std::to_string(k) + " was written: " + s);
  return r;
}

Values run_constant(const fx::Graph& g, const Values& in) {
  fx::Vec<fx::Elements> ins;
  for (const Value& v : in) {
    fx::Elements bits;
    for (const Element& x : v.at) bits.push_back(to_bits(v.type.dtype, x));
    ins.push_back(bits);
  }
  const fx::Vec<fx::Elements> outs = fx::evaluate(g, ins);
  Values r;
  for (int j = 0; j < outs.size(); ++j) {
    const fx::Type& t = g.type(g.outs[j]);
    Value v{t, {}};
    for (std::uint64_t bits : outs[j]) v.at.push_back(from_bits(t.dtype, bits));
    r.push_back(v);
  }
  return r;
}

}  // namespace reference
