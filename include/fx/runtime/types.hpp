// runtime/types.hpp -- a number for every type that an Array has had, so that keys compare numbers.
#pragma once
#include "../type.hpp"

namespace fx::inline v0::detail {

// The number of a type in this process, never 0: equal types, equal numbers.
std::uint32_t type_id(const Type& t);
constexpr std::uint32_t scalar_type_id(DType d) { return 1 + std::uint32_t(d); }

}  // namespace fx::inline v0::detail

#if FX_BODIES
#include <mutex>

#include "../base/atom.hpp"
#include "table.hpp"

namespace fx::inline v0::detail {

struct KnownType {
  std::uint64_t hash = 0;
  std::uint32_t id = 0;
  Type type;
};
struct KnownTypes {
  std::mutex mutex;
  Table<const KnownType> table;
  std::uint32_t count = dtype_count;  // the scalars have theirs
};
// Leaked on purpose, like the buffers.
FX_SHARED FX_INLINE KnownTypes& known_types() {
  static KnownTypes* k = new KnownTypes;
  return *k;
}

FX_INLINE std::uint32_t type_id(const Type& t) {
  if (t.rank() == 0) return scalar_type_id(t.dtype);
  std::uint64_t hash = std::uint64_t(t.dtype);
  for (std::int64_t v : t.dims) mix_hash(hash, std::uint64_t(v));
  KnownTypes& all = known_types();
  auto same = [&](const KnownType& k) { return k.type == t; };
  if (const KnownType* k = all.table.find(hash, same)) return k->id;
  std::lock_guard<std::mutex> lock(all.mutex);
  if (const KnownType* k = all.table.find(hash, same)) return k->id;
  all.table.insert(new KnownType{hash, ++all.count, t});
  return all.count;
}

}  // namespace fx::inline v0::detail
#endif
