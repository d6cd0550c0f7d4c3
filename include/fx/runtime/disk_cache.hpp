// runtime/disk_cache.hpp -- what was compiled, kept in a directory for later processes.
//
// Off unless the environment variable FX_CACHE_DIR or use_disk_cache names a directory. An entry is found by the digest
// of the Graph, the target, fx's version and the build of the program that made it, and taken as if compiled here only
// if all of it is as it was written; else it is made anew. Whatever goes wrong with files costs time, never a result.
#pragma once
#include <string>

#include "registry.hpp"

namespace fx::inline v0 {

struct DiskCacheOptions {
  std::string directory;                         // made if it is not there; empty: no cache on disk
  std::int64_t bytes = std::int64_t(256) << 20;  // of all entries: those not used for the longest time go first
};
// From now on. Errors (value): `bytes` is not positive; the directory cannot be made or opened, or others than its
// owner, who must be the user of this process, may write to it: entries are executed.
void use_disk_cache(const DiskCacheOptions& options, Loc where = Loc::here());

struct DiskCacheStats {
  std::int64_t hits = 0, misses = 0;  // entries taken; entries that were not there
  std::int64_t rejected = 0;          // entries that were not as they were written, or not understood
  std::int64_t written = 0, failed = 0, evicted = 0;
};
DiskCacheStats disk_cache_stats();
// One line: the directory and the counts, or why there is none.
std::string explain_disk_cache();

namespace detail {
// Whether a directory was named, also one that will not do.
bool disk_cache_named();
// g compiled by b, from the cache on disk if that is on and has it. key: of g and b's target.
ExecutableRef compile_or_load(const Graph& g, const Backend& b, const Digest& key);
}  // namespace detail

}  // namespace fx::inline v0

#if FX_BODIES
#include "disk_cache_entry.hpp"
#endif
