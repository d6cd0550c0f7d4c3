// backends/code_util.hpp -- running machine code in memory that ends where the operands do.
#pragma once
#include <memory>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "backends/tile_util.hpp"

namespace tile_test {

// Memory right before a page that may not be touched.
class Guarded {
  char* all_ = nullptr;
  std::size_t size_ = 0;

 public:
  char* data = nullptr;
  explicit Guarded(std::int64_t bytes) {
#if defined(__linux__)
    const std::int64_t page = 4096, body = (bytes + page - 1) / page * page;
    size_ = std::size_t(body + page);
    void* p = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(p != MAP_FAILED);
    all_ = static_cast<char*>(p);
    REQUIRE(mprotect(all_ + body, std::size_t(page), PROT_NONE) == 0);
    data = all_ + body - bytes;
#else
    all_ = data = new char[std::size_t(bytes)];
#endif
    std::memset(data, 0xAB, std::size_t(bytes));
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() {
#if defined(__linux__)
    munmap(all_, size_);
#else
    delete[] all_;
#endif
  }
};

// One run that counts nothing, so that loops may be one function.
inline Vec<Elements> run(const tiled::TiledExecutable& e, const Graph& g, const Vec<Elements>& in) {
  std::vector<std::unique_ptr<Guarded>> memory;
  Vec<Buffer> ins, outs;
  auto buffer = [&](const Type& t) {
    const std::int64_t bytes = numel(t) * size_of(t.dtype);
    memory.push_back(std::make_unique<Guarded>(bytes));
    return Buffer{memory.back()->data, bytes};
  };
  auto elements = [](const Type& t, const Buffer& b) {
    const int size = size_of(t.dtype);
    Elements x(int(numel(t)), 0);
    for (int i = 0; i < x.size(); ++i) std::memcpy(&x[i], static_cast<char*>(b.data) + i * size, std::size_t(size));
    return x;
  };
  for (int k = 0; k < g.ins.size(); ++k) {
    ins.push_back(buffer(g.type(g.ins[k])));
    const int size = size_of(g.type(g.ins[k]).dtype);
    for (int i = 0; i < in[k].size(); ++i)
      std::memcpy(static_cast<char*>(ins[k].data) + i * size, &in[k][i], std::size_t(size));
  }
  for (int v : g.outs) outs.push_back(buffer(g.type(v)));
  Ref<Storage> workspace = allocate(e.workspace());
  std::memset(workspace->data, 0xCD, std::size_t(workspace->bytes));
  e.run(ins, outs, workspace->data);
  for (int k = 0; k < g.ins.size(); ++k) CHECK(elements(g.type(g.ins[k]), ins[k]) == in[k]);
  Vec<Elements> r;
  for (int k = 0; k < g.outs.size(); ++k) r.push_back(elements(g.type(g.outs[k]), outs[k]));
  return r;
}

inline int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace tile_test
