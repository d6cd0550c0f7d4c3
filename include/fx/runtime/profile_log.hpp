// runtime/profile_log.hpp -- the bodies of runtime/profile.hpp: what threads write down, and the file made of it.
//
// A thread alone writes its log. Whoever ends the file first turns it off, then waits until nobody is inside `add`.
#pragma once
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "profile.hpp"
#include "profile_json.hpp"

namespace fx::inline v0 {
namespace detail {

struct ProfileEvent {
  std::int64_t begin = 0, end = 0;
  double flops = -1, bytes = -1;
  std::uint32_t name = 0;
  ProfileKind kind = ProfileKind::trace;
};

struct ProfileLog : Shared {
  static constexpr std::uint32_t recent = 1 << 15;
  std::vector<ProfileEvent> calls = std::vector<ProfileEvent>(recent);  // the last calls and kernels
  std::uint64_t count = 0;                                              // of all of them
  std::vector<ProfileEvent> rest;
};

struct Profile {
  std::mutex mutex;  // of what follows
  std::FILE* file = nullptr;
  std::string path;
  pid_t process = 0;
  std::vector<Ref<ProfileLog>> logs;
  std::map<std::string, std::uint32_t, std::less<>> numbers;
  std::vector<std::string> names;

  std::atomic<std::uint32_t> generation{0};  // the number of the file
  std::atomic<int> writers{0};               // threads inside `add`
  std::int64_t start = 0;
};
// Leaked on purpose: calls may happen while static objects die.
FX_SHARED FX_INLINE Profile& profile_state() {
  static Profile* p = new Profile;
  return *p;
}

struct ProfileOfThread {
  ProfileLog* log = nullptr;
  std::uint32_t generation = 0;
};
FX_SHARED FX_INLINE ProfileOfThread& profile_here() {
  static thread_local ProfileOfThread t;
  return t;
}

FX_INLINE std::int64_t profile_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

FX_INLINE std::uint32_t profile_file() { return profile_state().generation.load(std::memory_order_relaxed); }
// 0, which is of no file, where there is no memory: what is written down never makes the program fail.
FX_INLINE ProfileId profile_id(std::string_view name) try {
  Profile& p = profile_state();
  const std::lock_guard<std::mutex> lock(p.mutex);
  auto found = p.numbers.find(name);
  if (found == p.numbers.end()) {
    found = p.numbers.emplace(std::string(name), std::uint32_t(p.names.size())).first;
    p.names.emplace_back(name);
  }
  return std::uint64_t(p.generation) << 32 | found->second;
} catch (const std::bad_alloc&) { return 0; }
FX_INLINE ProfileId ProfileName::of(std::string_view name) {
  ProfileId id = known_.load(std::memory_order_relaxed);
  if (id >> 32 != profile_file()) {
    id = profile_id(name);
    known_.store(id, std::memory_order_relaxed);
  }
  return id;
}

// The event goes to the log of this thread; where there is no memory for it, nowhere.
FX_INLINE void profile_keep(Profile& p, std::uint32_t file, const ProfileEvent& e) try {
  ProfileOfThread& here = profile_here();
  if (here.generation != file) {
    const std::lock_guard<std::mutex> lock(p.mutex);
    p.logs.push_back(Ref<ProfileLog>(new ProfileLog));
    here = {p.logs.back().get(), file};
  }
  ProfileLog& log = *here.log;
  if (e.kind == ProfileKind::call || e.kind == ProfileKind::kernel)
    log.calls[log.count++ % ProfileLog::recent] = e;
  else
    log.rest.push_back(e);
} catch (const std::bad_alloc&) {}

FX_INLINE void profile_add(ProfileKind kind, ProfileId name, std::int64_t begin, std::int64_t end, double flops,
                           double bytes) {
  Profile& p = profile_state();
  p.writers.fetch_add(1);
  const std::uint32_t file = p.generation.load(std::memory_order_relaxed);
  if (profile_is_on.load() && name >> 32 == file && begin >= p.start)
    profile_keep(p, file, {begin, end, flops, bytes, std::uint32_t(name), kind});
  p.writers.fetch_sub(1);
}

FX_INLINE ProfileSpan::ProfileSpan(ProfileKind kind, std::string_view name, std::string_view detail) : kind_(kind) {
  if (!profiled_from_start()) return;
  begin_ = profile_now();
  std::string s(name);
  if (!detail.empty()) (s += ' ') += detail;
  name_ = profile_id(s);
}
FX_INLINE void profile_instant(ProfileKind kind, std::string_view name) {
  if (!profiled_from_start()) return;
  const std::int64_t now = profile_now();
  profile_add(kind, profile_id(name), now, now);
}

FX_INLINE bool profiled_from_start() {
  static const bool looked = [] {
    if (const char* path = secure_getenv("FX_TRACE_FILE"); path && *path) {
      try {
        profile::start(path);
        std::atexit([] {
          try {
            profile::stop();
          } catch (const Error& e) { std::fprintf(stderr, "%s\n", e.what()); }
        });
      } catch (const Error& e) { std::fprintf(stderr, "%s\n", e.what()); }
    }
    return true;
  }();
  (void)looked;
  return profiled();
}

FX_INLINE void write_profile(std::FILE* f, const Profile& p) {
  constexpr const char* kinds[] = {"trace", "pass", "compile", "cache", "call", "kernel"};
  ProfileJson json(f);
  json.metadata("process_name", 0, "fx");
  for (std::size_t t = 0; t < p.logs.size(); ++t) {
    const ProfileLog& log = *p.logs[t];
    const int thread = int(t) + 1;
    json.metadata("thread_name", thread, ("thread " + std::to_string(thread)).c_str());
    const std::uint64_t lost = log.count > ProfileLog::recent ? log.count - ProfileLog::recent : 0;
    std::vector<ProfileEvent> all(log.rest);
    for (std::uint64_t n = lost; n < log.count; ++n) all.push_back(log.calls[n % ProfileLog::recent]);
    // What is inside of something comes after it.
    std::sort(all.begin(), all.end(), [](const ProfileEvent& a, const ProfileEvent& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end > b.end : a.kind < b.kind;
    });
    for (const ProfileEvent& e : all)
      json.event(p.names[e.name], kinds[int(e.kind)], thread, e.begin - p.start, e.end - e.begin, e.flops, e.bytes);
    if (lost) json.lost(thread, lost);
  }
  json.finish();
}
}  // namespace detail

FX_INLINE void profile::start(const std::string& path, Loc where) {
  detail::Profile& p = detail::profile_state();
  const std::lock_guard<std::mutex> lock(p.mutex);
  if (p.file)
    fail(ErrorCode::state, "a trace file is being made already, \"" + p.path + "\": profile::stop() ends it", where);
  p.file = std::fopen(path.c_str(), "we");
  if (!p.file) fail(ErrorCode::value, "the trace file \"" + path + "\" cannot be written", where);
  p.path = path;
  p.process = getpid();
  p.start = detail::profile_now();
  p.names.clear();
  p.numbers.clear();
  ++p.generation;
  detail::profile_is_on.store(true);
}

FX_INLINE void profile::stop(Loc where) {
  detail::Profile& p = detail::profile_state();
  detail::profile_is_on.store(false);
  while (p.writers.load() != 0) usleep(10);
  const std::lock_guard<std::mutex> lock(p.mutex);
  if (!p.file) return;
  std::FILE* const f = p.file;
  p.file = nullptr;
  const bool own = p.process == getpid();  // a process that was forked leaves the file to its parent
  if (own) detail::write_profile(f, p);
  p.logs.clear();
  bool written = std::ferror(f) == 0;
  written = std::fclose(f) == 0 && written;
  if (own && !written) fail(ErrorCode::value, "the trace file \"" + p.path + "\" could not be written", where);
}
FX_INLINE profile::Scope::~Scope() {
  try {
    stop();
  } catch (const Error&) {}
}

}  // namespace fx::inline v0
