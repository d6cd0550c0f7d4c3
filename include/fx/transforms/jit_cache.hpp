// transforms/jit_cache.hpp -- JitCache: what one jit object has traced and compiled, found without locks.
//
// A key is the C++ types, structure and types of the arguments. Its entry stays for as long as the cache lives; the
// code behind it is replaced when a captured Array was reassigned, and freed once no call is inside.
#pragma once
#include <atomic>
#include <mutex>

#include "../print.hpp"
#include "../run.hpp"
#include "../runtime/disk_cache.hpp"
#include "../runtime/table.hpp"
#include "call.hpp"

namespace fx::inline v0::detail {

struct OutHolder : Shared {
  virtual ~OutHolder() = default;
};
template <class Out>
struct OutLike : OutHolder {
  Out like;
  explicit OutLike(Out o) : like(std::move(o)) {}
};

// What tracing for one key made.
struct JitCode : Shared {
  Graph graph;
  Callee callee;
  Vec<NodeRef> captured;
  Vec<char> older;  // captured Arrays that existed before the trace
  Ref<OutHolder> out;

  // An older captured Array is held by the cache alone: the variable holds another one now.
  bool reassigned() const {
    for (int i = 0; i < captured.size(); ++i)
      if (older[i] && captured[i].get()->use_count() == 1) return true;
    return false;
  }
};
using JitCodeRef = Ref<const JitCode>;

struct JitKey {
  const void* signature;  // the C++ types of the arguments
  std::uint64_t structure;
  Span<const CallInput> in;
};

struct JitEntry {
  std::uint64_t hash = 0;
  const void* signature = nullptr;
  std::uint64_t structure = 0;
  Vec<std::uint32_t> types;
  std::atomic<const JitCode*> code{nullptr};      // holds a reference
  std::atomic<std::int64_t> entered{0}, left{0};  // calls that found it

  bool has(const JitKey& k) const {
    bool same = signature == k.signature && structure == k.structure && types.size() == k.in.size();
    for (int i = 0; same && i < types.size(); ++i) same = types[i] == k.in[i].node->type_id;
    return same;
  }
};

// The cache of one jit object, or of all with one type.
class JitCache : public Shared {
  std::atomic<JitEntry*> last_{nullptr};
  Table<JitEntry> table_;
  std::atomic<std::int64_t> misses_{0}, spoiled_{0}, donated_{0};  // spoiled: entered, and left because of captures
  std::mutex mutex_;                                               // of the rest
  Vec<JitEntry*> entries_;
  struct Retired {
    const JitEntry* entry = nullptr;
    JitCodeRef code;
  };
  Vec<Retired> retired_;
  std::int64_t traces_ = 0, reassigned_ = 0;

  void replace(JitEntry& e, const JitCode* with);

 public:
  JitCache() = default;
  JitCache(const JitCache&) = delete;
  JitCache& operator=(const JitCache&) = delete;
  ~JitCache();

  // The code for a key, during a call; null: there is none, trace.
  class Hit {
    JitEntry* entry_ = nullptr;
    const JitCode* code_ = nullptr;

   public:
    Hit(JitCache& cache, const JitKey& key);
    Hit(const Hit&) = delete;
    Hit& operator=(const Hit&) = delete;
    ~Hit() {
      if (code_) entry_->left.fetch_add(1);
    }
    explicit operator bool() const { return code_; }
    const JitCode& operator*() const { return *code_; }
  };
  void enter(const JitKey& key, const JitCodeRef& code);
  // Runs code on arguments.
  void call(const JitCode& code, Span<const CallInput> in, Span<NodeRef> out, Loc where);

  std::int64_t calls();
  std::int64_t traces();
  std::string explain(std::string_view name);
};
template <class... A>
inline constexpr char signature_of = 0;

// Functions without state share a cache by type, plain functions by address.
template <class F>
Ref<JitCache> cache_for(F f) {
  if constexpr (std::is_empty_v<F>) {
    static const Ref<JitCache>* shared = new Ref<JitCache>(new JitCache);
    return *shared;
  } else if constexpr (std::is_pointer_v<F>) {
    static std::mutex mutex;
    static auto* all = new std::vector<std::pair<F, Ref<JitCache>>>;
    std::lock_guard<std::mutex> lock(mutex);
    for (auto& [g, cache] : *all)
      if (g == f) return cache;
    all->emplace_back(f, Ref<JitCache>(new JitCache));
    return all->back().second;
  } else {
    return Ref<JitCache>(new JitCache);
  }
}
void check_unchanged(const JitCode& code, const Trace::Closed& again, std::string_view name, Loc where);

#if FX_BODIES
FX_INLINE std::uint64_t hash_of(const JitKey& k) {
  std::uint64_t h = k.structure;
  mix_hash(h, reinterpret_cast<std::uintptr_t>(k.signature));
  for (const CallInput& i : k.in) mix_hash(h, i.node->type_id);
  return h;
}

FX_INLINE JitCache::Hit::Hit(JitCache& cache, const JitKey& key) {
  JitEntry* e = cache.last_.load(std::memory_order_acquire);
  if (!e || !e->has(key)) {
    e = cache.table_.find(hash_of(key), [&](const JitEntry& other) { return other.has(key); });
    if (e) cache.last_.store(e, std::memory_order_release);
  }
  if (e) {
    e->entered.fetch_add(1);
    const JitCode* code = e->code.load();
    if (code && !code->reassigned()) {
      entry_ = e;
      code_ = code;
      return;
    }
    e->left.fetch_add(1);
    cache.spoiled_.fetch_add(1, std::memory_order_relaxed);
    std::lock_guard<std::mutex> lock(cache.mutex_);
    if (code && e->code.load() == code) {
      cache.replace(*e, nullptr);
      ++cache.reassigned_;
    }
  }
  cache.misses_.fetch_add(1, std::memory_order_relaxed);
}
// The mutex is held. `left` is read first: if it equals what has entered since, nobody was inside in between, and who
// comes later finds the new code.
FX_INLINE void JitCache::replace(JitEntry& e, const JitCode* with) {
  if (with) with->retain();
  if (const JitCode* old = e.code.exchange(with)) {
    retired_.push_back({&e, JitCodeRef(old)});
    old->release();
  }
  int kept = 0;
  for (Retired& r : retired_) {
    const std::int64_t left = r.entry->left.load();
    if (left != r.entry->entered.load()) std::swap(retired_[kept++], r);
  }
  while (retired_.size() > kept) {
    retired_.back() = {};
    retired_.pop_back();
  }
}
FX_INLINE void JitCache::enter(const JitKey& key, const JitCodeRef& code) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++traces_;
  const std::uint64_t hash = hash_of(key);
  JitEntry* e = table_.find(hash, [&](const JitEntry& other) { return other.has(key); });
  if (e) {  // two codes that capture one Array would hide from each other that its variable holds another one
    const JitCode* now = e->code.load();
    if (!now || now->reassigned()) replace(*e, code.get());
    return;
  }
  e = new JitEntry;
  e->hash = hash;
  e->signature = key.signature;
  e->structure = key.structure;
  for (const CallInput& i : key.in) e->types.push_back(i.node->type_id);
  entries_.push_back(e);
  replace(*e, code.get());
  table_.insert(e);
}
FX_INLINE JitCache::~JitCache() {
  for (JitEntry* e : entries_) {
    replace(*e, nullptr);
    delete e;
  }
}

FX_INLINE void JitCache::call(const JitCode& code, Span<const CallInput> in, Span<NodeRef> out, Loc where) {
  std::int64_t given = 0;
  for (const CallInput& i : in) given += i.donated;
  if (given) donated_.fetch_add(given, std::memory_order_relaxed);
  run_on_nodes(code.callee, in, code.captured, out, where);
}

FX_INLINE std::int64_t JitCache::calls() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::int64_t n = misses_ - spoiled_;
  for (const JitEntry* e : entries_) n += e->entered;
  return n;
}
FX_INLINE std::int64_t JitCache::traces() {
  std::lock_guard<std::mutex> lock(mutex_);
  return traces_;
}
FX_INLINE std::string JitCache::explain(std::string_view name) {
  const std::int64_t all = calls();
  std::lock_guard<std::mutex> lock(mutex_);
  Str s("jit ");
  s += name;
  s += ": ";
  s.num(all) += " calls, ";
  s.num(traces_) += " traces, ";
  s.num(all - misses_) += " hits, ";
  s.num(donated_) += " buffers donated, ";
  s.num(reassigned_) += " retraces because a captured Array was reassigned";
  for (const JitEntry* e : entries_) {
    const JitCode* c = e->code;
    if (!c) continue;
    s += "\n  (";
    for (int i = 0; i < e->types.size(); ++i) {
      if (i) s += ", ";
      put(s, c->graph.type(c->graph.ins[i]));
    }
    s += "): ";
    s.num(c->graph.eqns.size()) += " equations, ";
    s.num(c->captured.size()) += " captured Arrays";
  }
  if (disk_cache_named()) (s += "\n  ") += explain_disk_cache();
  return std::string(s.view());
}

// Whether two Arrays are one, or concrete with equal elements.
FX_INLINE bool same_value(const Node& a, const Node& b) {
  if (&a == &b) return true;
  if (a.kind != Node::concrete || b.kind != Node::concrete || !(a.type == b.type)) return false;
  return __builtin_memcmp(a.storage->data, b.storage->data, std::size_t(a.storage->bytes)) == 0;
}
FX_INLINE void check_unchanged(const JitCode& code, const Trace::Closed& again, std::string_view name, Loc where) {
  bool same = digest(code.graph) == digest(again.graph);
  for (int i = 0; same && i < code.captured.size(); ++i) same = same_value(*code.captured[i], *again.captured[i]);
  if (same) return;
  Str s("jit ");
  s += name;
  s += " (checked): the function traces differently than before, so it depends on something that is no argument; pass "
       "that as an argument";
  fail(ErrorCode::trace, s, where);
}
#endif

}  // namespace fx::inline v0::detail
