// runtime/executables_cache.hpp -- the bodies of runtime/executables.hpp.
#pragma once
#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "disk_cache.hpp"
#include "executables.hpp"
#include "profile.hpp"

namespace fx::inline v0 {
namespace detail {

// A place for an executable: made under its own mutex, so that others wait for this one only.
struct ExecutableEntry : Shared {
  std::mutex making;
  ExecutableRef made;
  std::atomic<std::int64_t> used{0};
};

struct ExecutableCache {
  struct Hash {
    std::size_t operator()(const Digest& d) const { return std::size_t(d.lo); }
  };
  std::mutex mutex;
  std::unordered_map<Digest, Ref<ExecutableEntry>, Hash> entries;
  std::size_t limit = 4096;
  std::atomic<std::int64_t> clock{0}, compilations{0}, hits{0};

  Ref<ExecutableEntry> entry(const Digest& key) {
    std::lock_guard<std::mutex> lock(mutex);
    Ref<ExecutableEntry>& e = entries[key];
    if (!e) {
      e = Ref<ExecutableEntry>(new ExecutableEntry);
      e->used = ++clock;
      Ref<ExecutableEntry> kept = e;
      trim();
      return kept;
    }
    e->used = ++clock;
    return e;
  }

  // Drops the oldest eighth and what is above the limit; the mutex is held.
  void trim() {
    if (entries.size() <= limit) return;
    std::vector<std::int64_t> ages;
    for (const auto& [key, e] : entries) ages.push_back(e->used);
    const std::size_t drop = entries.size() - limit + limit / 8;
    std::nth_element(ages.begin(), ages.begin() + std::ptrdiff_t(drop - 1), ages.end());
    const std::int64_t oldest_kept = ages[drop - 1];
    for (auto it = entries.begin(); it != entries.end();)
      it = it->second->used <= oldest_kept ? entries.erase(it) : std::next(it);
  }
};
// Leaked on purpose, like the backends.
FX_SHARED FX_INLINE ExecutableCache& executable_cache() {
  static ExecutableCache* c = new ExecutableCache;
  return *c;
}
}  // namespace detail

FX_INLINE ExecutableRef executable_for(const Graph& g, const Backend& b) {
  Hasher h;
  h.digest(digest(g));
  h.digest(fingerprint(b.target()));
  detail::ExecutableCache& cache = detail::executable_cache();
  const Digest key = h.finish();
  const Ref<detail::ExecutableEntry> e = cache.entry(key);
  std::lock_guard<std::mutex> lock(e->making);
  if (e->made) {
    ++cache.hits;
    detail::profile_instant(detail::ProfileKind::cache, "executable found");
    return e->made;
  }
  const detail::ProfileSpan span(detail::ProfileKind::compile, "executable");
  e->made = detail::compile_or_load(g, b, key);
  ++cache.compilations;
  return e->made;
}
FX_INLINE ExecutableRef executable_for(const Graph& g) { return executable_for(g, cpu_backend()); }

FX_INLINE ExecutableStats executable_stats() {
  detail::ExecutableCache& c = detail::executable_cache();
  std::lock_guard<std::mutex> lock(c.mutex);
  return {c.compilations, c.hits, int(c.entries.size())};
}
FX_INLINE void limit_executables(int entries) {
  detail::ExecutableCache& c = detail::executable_cache();
  std::lock_guard<std::mutex> lock(c.mutex);
  c.limit = entries < 1 ? 1 : std::size_t(entries);
  c.trim();
}

FX_INLINE void run(const Executable& e, Span<const Ref<Storage>> in, Span<const Type> out_types,
                   Span<Ref<Storage>> out) {
  for (int k = 0; k < out.size(); ++k) {
    if (out[k]) continue;
    const std::int64_t n = numel(out_types[k]);
    out[k] = allocate(n < 0 ? n : detail::checked_mul(n, size_of(out_types[k].dtype)));
  }
  // A handful of arrays is the rule: no memory for the lists of them then.
  constexpr int few = 24;
  Buffer local[2 * few];
  Vec<Buffer> many(in.size() + out.size() > 2 * few ? in.size() + out.size() : 0);
  Buffer* buffers = many.empty() ? local : many.data();
  for (int i = 0; i < in.size(); ++i) buffers[i] = {in[i]->data, in[i]->bytes};
  for (int k = 0; k < out.size(); ++k) buffers[in.size() + k] = {out[k]->data, out[k]->bytes};
  detail::Workspace workspace(e.workspace());
  detail::ProfileName name;
  detail::ProfileCall(name, "run").run(e, {buffers, in.size()}, {buffers + in.size(), out.size()}, workspace.data());
}

}  // namespace fx::inline v0
