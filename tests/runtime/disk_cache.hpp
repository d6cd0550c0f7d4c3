// runtime/disk_cache.hpp -- what the tests of the cache on disk share: directories that come and go.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <fx/runtime/disk_cache.hpp>
#include <fx/runtime/disk_cache_files.hpp>

#include "backends/tile_util.hpp"

namespace disk_cache_test {
using namespace tile_test;
namespace fs = std::filesystem;
using fx::detail::CacheFiles;

// A directory that goes with everything in it; and no cache on disk after that.
struct Directory {
  fs::path path;
  Directory() {
    std::string name = (fs::temp_directory_path() / "fx_disk_cache_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    use_disk_cache({});
    fs::remove_all(path);
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const auto& e : fs::directory_iterator(path)) all.push_back(e.path());
    return all;
  }
  fs::path entry() const {
    const std::vector<fs::path> all = entries();
    REQUIRE(all.size() == 1);
    return all[0];
  }
};

inline std::string bytes_of(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_bytes(const fs::path& p, const std::string& bytes) {
  std::ofstream(p, std::ios::binary | std::ios::trunc) << bytes;
}

inline bool makes_images() { return tiled::level() != tiled::Level::baseline && tiled::code::executable_memory(); }

// A few equations, other ones for each n.
inline Graph some_graph(int n) {
  Builder b;
  Val x = b.input({f32, {3, 4}});
  return b.finish(Vec<Val>{reduce_sum(x * double(n) + x, {1}), x * x - 0.5});
}
inline Digest key_of(const Graph& g) {
  Hasher h;
  h.digest(digest(g));
  return h.finish();
}
// From the cache on disk, or compiled: the same bits.
inline ExecutableRef take(const Graph& g) {
  const ExecutableRef e = fx::detail::compile_or_load(g, cpu_backend(), key_of(g));
  const Vec<Elements> in = samples(g);
  check_same(g, evaluate(g, in), run_bits(static_cast<const tiled::TiledExecutable&>(*e), g, in).out);
  return e;
}

// What f adds to the counts.
template <class F>
DiskCacheStats counted(F&& f) {
  const DiskCacheStats a = disk_cache_stats();
  f();
  const DiskCacheStats b = disk_cache_stats();
  return {b.hits - a.hits,       b.misses - a.misses, b.rejected - a.rejected,
          b.written - a.written, b.failed - a.failed, b.evicted - a.evicted};
}

}  // namespace disk_cache_test
