// Tile programs as PTX: what the text says, that its meaning is that of the processor's kernels, and, where NVIDIA's
// assembler is installed, that it takes the text without a word.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <fx/tile/record_body.hpp>

#include "cuda/ptx_emulated.hpp"
using namespace ptx_test;

namespace {
std::string text_of(const Case& c, const cuda::PtxTarget& t) {
  const auto e = compile(c.graph, target_of(c.on_chip));
  return cuda::ptx_module(e->program(), kernels_with_ptx(e->program()), t).text;
}
bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return true;
}
}  // namespace

TEST_CASE("ptx: the machine gives the bits of the processor, also with intermediates outside of shared memory") {
  Tally all;
  std::map<std::string, int> used;
  for (std::int64_t shared : {48 << 10, 0}) {
    Emulated device;
    device.t.shared = shared;
    for (const Case& c : cases()) {
      if (numel(c.graph.type(c.graph.ins[0])) > 200000) continue;
      if (shared == 0 && c.name.find("row tiles") == std::string::npos) continue;
      INFO(c.name);
      const Tally t = run_case(device, c);
      CHECK(t.wrong == 0);
      CHECK(t.checked > 0);
      all += t;
    }
    for (const auto& [op, n] : device.machine.used()) used[op] += n;
  }
  MESSAGE(all.checked << " of " << all.kernels << " kernels, " << all.values << " values, " << used.size()
                      << " instructions");
  CHECK(used["bar.sync"] > 0);
  CHECK(used["shfl.sync.down.b32"] > 0);
}

namespace {
void count_operations(const tile::Program& p, int* counts) {
  for (const tile::Kernel& k : p.kernels) {
    if (k.loop) count_operations(*k.loop, counts);
    if (!k.body) continue;
    Dims own;
    for (int d = 0; d < k.space.n; ++d) own.push_back(d);
    for (const Instr& i : tile::record_body(*k.body, own).r.code) ++counts[i.op];
  }
}
}  // namespace

TEST_CASE("ptx: the programs of these tests use every recorded instruction") {
  int counts[Instr::lookup + 1] = {};
  for (const Case& c : cases()) count_operations(compile(c.graph, target_of(c.on_chip))->program(), counts);
  for (int op = 0; op <= Instr::lookup; ++op) {
    INFO("instruction " << op);
    CHECK(counts[op] > 0);
  }
}

TEST_CASE("ptx: text of an elementwise kernel") {
  Builder b;
  Val x = b.input({f32, {8, 16}}), y = b.input({f32, {16}});
  const Graph g = b.finish(Vec<Val>{x * broadcast_in_dim(y, {8, 16}, {1}) + x});
  const auto e = compile(g, tile::host());
  const std::string s = cuda::ptx(e->program());
  has(s, ".version 7.0\n.target sm_80\n.address_size 64\n");
  has(s, "// kernel 0: map space=(8,16), blocks 1, threads 256\n");
  has(s, ".visible .entry fx_0_map(\n  .param .u64 p0,\n  .param .u64 p1,\n  .param .u64 p2)\n.maxntid 256, 1, 1\n{\n");
  has(s, "// p1: b1 f32[16]\n");
  has(s, "mul.rn.f32");
  has(s, "add.rn.f32");
  CHECK(s.find("fma") == std::string::npos);
  CHECK(s.find("ftz") == std::string::npos);
  CHECK(s.find("sm_90") == std::string::npos);
  has(cuda::ptx(e->program(), cuda::sm_90), ".version 7.8\n.target sm_90\n");
}

TEST_CASE("ptx: a reduction folds lanes of a warp in halves, and loops over blocks of 4096") {
  Builder b;
  Val x = b.input({f32, {3, 5000}});
  const Graph g = b.finish(Vec<Val>{reduce_sum(x, {1})});
  const auto e = compile(g, tile::host());
  const std::string s = cuda::ptx(e->program());
  has(s, ".visible .entry fx_0_reduce(");
  for (std::string_view distance : {", 16, 0x1f, 0xffffffff;", ", 8, 0x1f, 0xffffffff;", ", 1, 0x1f, 0xffffffff;"})
    has(s, distance);
  has(s, ", 4096;");
  has(s, "0x80000000;");  // starts from -0
}

TEST_CASE("ptx: strips are thread blocks; their intermediates lie in shared memory, or in a scratch") {
  const Case c = row_tiles(f32, 64, 100, 1 << 14);
  const auto e = compile(c.graph, target_of(c.on_chip));
  const tile::Program& p = e->program();
  REQUIRE(p.kernels[0].kind == tile::KernelKind::scan);
  const cuda::PtxModule m = cuda::ptx_module(p, {0});
  REQUIRE(m.entries.size() == 1);
  CHECK(m.entries[0].name == "fx_0_strips");
  CHECK(m.entries[0].grid == p.kernels[0].space[0]);
  CHECK(m.entries[0].scratch == 0);
  has(m.text, ".shared .align 64 .b8 strip[");
  has(m.text, "bar.sync 0;");
  cuda::PtxTarget none = cuda::sm_80;
  none.shared = 0;
  const cuda::PtxModule outside = cuda::ptx_module(p, {0}, none);
  CHECK(outside.entries[0].scratch >= p.kernels[0].loop->workspace * p.kernels[0].space[0]);
  CHECK(outside.text.find(".shared") == std::string::npos);
  has(outside.text, ": scratch, bytes ");
}

TEST_CASE("ptx: a loop that runs backwards") {
  const Case c = row_tiles(f32, 64, 100, 1 << 14);
  std::string s = compile(c.graph, target_of(c.on_chip))->text("tile");
  for (std::size_t at; (at = s.find("reverse=false")) != std::string::npos;) s.replace(at, 13, "reverse=true");
  const Ref<const tiled::TiledExecutable> e(new tiled::TiledExecutable({}, tile::parse_program(s)));
  Emulated device;
  std::vector<std::vector<char>> inputs;
  for (int k = 0; k < c.graph.ins.size(); ++k) inputs.push_back(input_bytes(c, k));
  CHECK(Walk<Emulated>(device, e, false).run(inputs).wrong == 0);
}

TEST_CASE("ptx: kernels of other kinds are an Error that names them") {
  Builder b;
  Val x = b.input({f32, {8, 8}});
  const Graph g = b.finish(Vec<Val>{cumsum(x * 2.0, 1)});
  const auto e = compile(g, tile::host());
  try {
    cuda::ptx(e->program());
    FAIL("no Error");
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::unsupported);
    INFO(error.what());
    CHECK(std::string(error.what()).find("kernel 1 of the program (cumulative)") != std::string::npos);
  }
  CHECK(kernels_with_ptx(e->program()).size() == 1);
}

TEST_CASE("ptx: NVIDIA's assembler takes the text") {
  if (std::system("command -v ptxas >/dev/null 2>&1") != 0) {
    MESSAGE("skipped: no ptxas on the PATH");
    return;
  }
  char folder[] = "/tmp/fx_ptx_XXXXXX";
  REQUIRE(mkdtemp(folder));
  const std::string source = std::string(folder) + "/a.ptx", said = std::string(folder) + "/said";
  for (const cuda::PtxTarget& t : {cuda::sm_80, cuda::sm_90})
    for (const Case& c : cases()) {
      INFO(c.name << " for " << std::string(t.name));
      std::ofstream(source) << text_of(c, t);
      const std::string command =
          "ptxas -arch=" + std::string(t.name) + " " + source + " -o /dev/null >" + said + " 2>&1";
      CHECK(std::system(command.c_str()) == 0);
      std::ifstream in(said);
      const std::string diagnostics((std::istreambuf_iterator<char>(in)), {});
      CHECK(diagnostics == "");
    }
  for (const std::string& f : {source, said}) unlink(f.c_str());
  rmdir(folder);
}
