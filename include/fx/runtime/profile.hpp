// runtime/profile.hpp -- a trace file of what fx does, for Perfetto (ui.perfetto.dev) and chrome://tracing.
//
// On from `profile::start` to `profile::stop`, or for the whole process where the environment variable FX_TRACE_FILE
// names a file. It holds, for each thread: traces of functions, passes, fusion, compilation kernel by kernel, entries
// that caches had or lacked, calls, and in each call its kernels with their arithmetic and bytes (those inside a loop
// are part of the loop's). While it is off a call reads one atomic variable for it. While it is on a call allocates
// nothing: a thread keeps its last 32768 calls and kernels, and the file says how many were lost before them.
#pragma once
#include <atomic>
#include <string>

#include "../backend.hpp"

namespace fx::inline v0 {

namespace profile {
// Errors (value): the file cannot be written. Errors (state): there is one already.
void start(const std::string& path, Loc where = Loc::here());
// Writes the file. Nothing happens if there is none. Errors (value): it could not be written to its end.
void stop(Loc where = Loc::here());

// From here to the end of the block.
class Scope {
 public:
  explicit Scope(const std::string& path, Loc where = Loc::here()) { start(path, where); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();
};
}  // namespace profile

namespace detail {
// Whether a trace file is being made.
FX_SHARED inline std::atomic<bool> profile_is_on{false};
inline bool profiled() { return __builtin_expect(profile_is_on.load(std::memory_order_relaxed), false); }
// Begins the file that the environment asks for, at the first call.
bool profiled_from_start();

enum class ProfileKind : std::uint8_t { trace, pass, compile, cache, call, kernel };

// A name: the number of the file above its number in it. Of another file, it is of no use.
using ProfileId = std::uint64_t;
ProfileId profile_id(std::string_view name);

// The id of a name, looked up once for each file. A copy looks it up again.
class ProfileName {
  std::atomic<ProfileId> known_{0};

 public:
  ProfileName() = default;
  ProfileName(const ProfileName&) {}
  ProfileName& operator=(const ProfileName&) { return *this; }
  ProfileId of(std::string_view name);
};

std::int64_t profile_now();  // nanoseconds
// What happened from `begin` to `end`; equal: at once. flops, bytes: negative where there are none.
void profile_add(ProfileKind kind, ProfileId name, std::int64_t begin, std::int64_t end, double flops = -1,
                 double bytes = -1);
// The number of the file that is being made.
std::uint32_t profile_file();

// What happens until the end of the block, at times that are no call's: names are made while it is on.
class ProfileSpan {
  ProfileKind kind_;
  ProfileId name_ = 0;
  std::int64_t begin_ = 0;

 public:
  explicit ProfileSpan(ProfileKind kind, std::string_view name, std::string_view detail = {});
  ProfileSpan(const ProfileSpan&) = delete;
  ProfileSpan& operator=(const ProfileSpan&) = delete;
  ~ProfileSpan() {
    if (begin_) profile_add(kind_, name_, begin_, profile_now());
  }
};
void profile_instant(ProfileKind kind, std::string_view name);

// A call of an executable until the end of the block.
class ProfileCall {
  std::int64_t begin_ = -1;
  ProfileName& id_;
  std::string_view name_;

 public:
  ProfileCall(ProfileName& id, std::string_view name) : id_(id), name_(name) {
    if (profiled()) begin_ = profile_now();
  }
  ProfileCall(const ProfileCall&) = delete;
  ProfileCall& operator=(const ProfileCall&) = delete;
  ~ProfileCall() {
    if (begin_ >= 0) profile_add(ProfileKind::call, id_.of(name_), begin_, profile_now());
  }
  void run(const Executable& e, Span<const Buffer> in, Span<const Buffer> out, void* workspace) const {
    if (begin_ >= 0)
      e.run_profiled(in, out, workspace);
    else
      e.run(in, out, workspace);
  }
};
}  // namespace detail

}  // namespace fx::inline v0

#if FX_BODIES
#include "profile_log.hpp"
#endif
