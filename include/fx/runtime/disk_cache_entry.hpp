// runtime/disk_cache_entry.hpp -- the bodies of runtime/disk_cache.hpp: keys, counts, and when an entry is looked for.
#pragma once
#include <cstdlib>

#include "build_id.hpp"
#include "disk_cache.hpp"
#include "disk_cache_files.hpp"
#include "profile.hpp"

namespace fx::inline v0 {
namespace detail {

struct DiskCache {
  std::mutex mutex;  // of what follows; `files` is shared with who reads and writes
  Ref<CacheFiles> files;
  std::string directory, why;  // why there is none
  std::atomic<bool> on{false};
  std::atomic<std::int64_t> hits{0}, misses{0}, rejected{0}, written{0}, failed{0}, evicted{0};

  DiskCache() {
    const char* d = secure_getenv("FX_CACHE_DIR");
    const char* n = secure_getenv("FX_CACHE_BYTES");
    DiskCacheOptions options;
    if (d) options.directory = d;
    if (n && *n) {
      char* end = nullptr;
      options.bytes = std::strtoll(n, &end, 10);
      if (*end) options.bytes = 0;
    }
    use(options);
    if (!why.empty() && n && options.bytes <= 0)
      why = "FX_CACHE_BYTES is \"" + std::string(n) + "\": it must be a number of bytes, more than 0";
  }
  // Returns why it cannot be used, or nothing.
  std::string use(const DiskCacheOptions& options) {
    std::string wrong;
    Ref<CacheFiles> opened;
    const bool named = !options.directory.empty();
    if (named && options.bytes <= 0)
      wrong = "entries may take " + std::to_string(options.bytes) + " bytes: it must be more than 0";
    else if (named)
      opened = Ref<CacheFiles>(new CacheFiles(options.directory, options.bytes, wrong));
    const std::lock_guard<std::mutex> lock(mutex);
    files = wrong.empty() ? opened : Ref<CacheFiles>();
    directory = options.directory;
    why = wrong;
    on = bool(files);
    return wrong;
  }
  Ref<CacheFiles> get() {
    const std::lock_guard<std::mutex> lock(mutex);
    return files;
  }
};
// Leaked on purpose, like the executables.
FX_SHARED FX_INLINE DiskCache& disk_cache() {
  static DiskCache* c = new DiskCache;
  return *c;
}

FX_INLINE bool disk_cache_named() {
  DiskCache& c = disk_cache();
  const std::lock_guard<std::mutex> lock(c.mutex);
  return !c.directory.empty();
}

// A Graph of fewer equations, those of its sub-graphs included, is compiled as quickly as a file is read.
inline constexpr int least_cached_equations = 4;
inline bool worth_a_file(const Graph& g, int& equations) {
  equations += g.eqns.size();
  for (int i = 0; i < g.subs.size() && equations < least_cached_equations; ++i) worth_a_file(*g.subs[i], equations);
  return equations >= least_cached_equations;
}

// Where the code is that compiles g: the backend's (its table of virtual functions) and that of the primitives.
inline void add_code_of(const Graph& g, Vec<const void*>& at) {
  for (const Eqn& e : g.eqns) {
    const void* p =
        e.prim->record ? reinterpret_cast<const void*>(e.prim->record) : reinterpret_cast<const void*>(e.prim->type);
    bool known = false;
    for (const void* other : at) known = known || other == p;
    if (!known) at.push_back(p);
  }
  for (const GraphRef& s : g.subs) add_code_of(*s, at);
}
// False: no key can tell what compiles g from what did in another process.
inline bool disk_key(const Graph& g, const Backend& b, const Digest& key, Digest& result) {
  Hasher h;
  h.digest(key);
  h.text("fx image 1");
  for (int n : {FX_VERSION_MAJOR, FX_VERSION_MINOR, FX_VERSION_PATCH}) h.word(std::uint64_t(n));
  const void* table = nullptr;
  std::memcpy(&table, static_cast<const void*>(&b), sizeof table);
  Vec<const void*> code{table};
  add_code_of(g, code);
  const bool known = add_builds(h, code);
  result = h.finish();
  return known;
}

// Null: compile it.
inline ExecutableRef load_entry(DiskCache& c, const CacheFiles& files, const Graph& g, const Backend& b,
                                const Digest& id) {
  const ProfileSpan span(ProfileKind::cache, "disk cache: read");
  const CacheFiles::Read r = files.read(id);
  const bool there = r.found != CacheFiles::Found::no;
  ExecutableRef e;
  if (r.found == CacheFiles::Found::yes) e = b.load(g, r.content());
  ++(e ? c.hits : there ? c.rejected : c.misses);
  profile_instant(ProfileKind::cache, e ? "disk cache: hit" : there ? "disk cache: rejected" : "disk cache: miss");
  return e;
}

FX_INLINE ExecutableRef compile_or_load(const Graph& g, const Backend& b, const Digest& key) {
  DiskCache& c = disk_cache();
  Digest id;
  int equations = 0;
  if (!c.on.load(std::memory_order_relaxed) || !worth_a_file(g, equations) || !disk_key(g, b, key, id))
    return b.compile(g);
  const Ref<CacheFiles> files = c.get();
  if (!files) return b.compile(g);
  if (ExecutableRef e = load_entry(c, *files, g, b, id)) return e;
  ByteWriter image;
  ExecutableRef e = b.compile(g, image);
  if (image.bytes().empty()) return e;
  const ProfileSpan span(ProfileKind::cache, "disk cache: write");
  std::int64_t evicted = 0;
  ++(files->write(id, image.bytes(), evicted) ? c.written : c.failed);
  c.evicted += evicted;
  return e;
}
}  // namespace detail

FX_INLINE void use_disk_cache(const DiskCacheOptions& options, Loc where) {
  const std::string wrong = detail::disk_cache().use(options);
  if (!wrong.empty())
    fail(ErrorCode::value, "the directory \"" + options.directory + "\" cannot hold compiled code: " + wrong, where);
}
FX_INLINE DiskCacheStats disk_cache_stats() {
  detail::DiskCache& c = detail::disk_cache();
  return {c.hits, c.misses, c.rejected, c.written, c.failed, c.evicted};
}
FX_INLINE std::string explain_disk_cache() {
  detail::DiskCache& c = detail::disk_cache();
  const DiskCacheStats s = disk_cache_stats();
  const std::lock_guard<std::mutex> lock(c.mutex);
  if (c.directory.empty()) return "disk cache: off; FX_CACHE_DIR or fx::use_disk_cache names a directory";
  if (!c.files) return "disk cache: off; the directory \"" + c.directory + "\" cannot hold compiled code: " + c.why;
  auto count = [](std::int64_t n, const char* what) { return std::to_string(n) + what; };
  return "disk cache " + c.directory + ": " + count(s.hits, " hits, ") + count(s.misses, " misses, ") +
         count(s.rejected, " entries rejected, ") + count(s.written, " written, ") + count(s.failed, " not written, ") +
         count(s.evicted, " evicted");
}

}  // namespace fx::inline v0
