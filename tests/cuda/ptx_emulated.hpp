// cuda/ptx_emulated.hpp -- Emulated: the machine of ptx_machine.hpp as a device of ptx_walk.hpp.
#pragma once
#include "ptx_machine.hpp"
#include "ptx_walk.hpp"

namespace ptx_test {

struct Emulated {
  ptx_machine::Machine machine;
  cuda::PtxTarget t = cuda::sm_90;
  const cuda::PtxTarget& target() const { return t; }
  void set_target(const cuda::PtxTarget& target) { t = target; }
  void load(const std::string& text) { machine.load(text); }
  std::string launch(Launch& l) {
    std::vector<ptx_machine::Span> memory;
    std::vector<char*> params;
    for (std::vector<char>& r : l.regions) memory.push_back({r.data(), r.size()});
    for (int p : l.params) params.push_back(l.regions[std::size_t(p)].data());
    try {
      machine.run(l.entry->name, l.entry->grid, l.entry->block, memory, params);
    } catch (const std::exception& e) { return e.what(); }
    return "";
  }
};

}  // namespace ptx_test
