// runtime/registry.hpp -- the backends of this process by name; "cpu" is the default one.
#pragma once
#include "../backend.hpp"

namespace fx::inline v0 {

// The backend for this processor, always there. (backends/tiled/backend.hpp has its body.)
const Backend& cpu_backend();

// The backend of a name. Errors (value): there is none; the text lists those there are.
const Backend& backend(std::string_view name);
// Adds a backend, which must live for ever. Errors (value): the name is taken by another one.
void register_backend(std::string_view name, const Backend& b);

// What of a backend's target shapes its code: part of the key of all it compiles.
Digest fingerprint(const Target& t);

}  // namespace fx::inline v0

#if FX_BODIES
#include <mutex>
#include <vector>

namespace fx::inline v0 {
namespace detail {
struct Registry {
  std::mutex mutex;
  std::vector<std::pair<std::string, const Backend*>> backends;
};
FX_SHARED FX_INLINE Registry& registry() {
  static Registry* r = new Registry;
  return *r;
}
}  // namespace detail

FX_INLINE const Backend& backend(std::string_view name) {
  if (name == "cpu") return cpu_backend();
  detail::Registry& r = detail::registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  std::string known = "\"cpu\"";
  for (const auto& [own, b] : r.backends) {
    if (own == name) return *b;
    known += ", \"" + own + "\"";
  }
  fail(ErrorCode::value, "no backend is called \"" + std::string(name) + "\"; there are " + known);
}

FX_INLINE void register_backend(std::string_view name, const Backend& b) {
  detail::Registry& r = detail::registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  bool taken = name == "cpu";
  for (const auto& [own, other] : r.backends) {
    if (own == name && other == &b) return;
    taken = taken || own == name;
  }
  if (taken) fail(ErrorCode::value, "a backend called \"" + std::string(name) + "\" exists already");
  r.backends.emplace_back(std::string(name), &b);
}

FX_INLINE Digest fingerprint(const Target& t) {
  Hasher h;
  h.text(t.name);
  h.text(t.isa);
  h.word(std::uint64_t(t.on_chip));
  for (int n : {t.sublanes, t.lanes, t.matrix, t.cores}) h.word(std::uint64_t(n));
  return h.finish();
}
}  // namespace fx::inline v0
#endif
