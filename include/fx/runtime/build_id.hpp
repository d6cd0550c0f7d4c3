// runtime/build_id.hpp -- which build of a program or shared object an address belongs to.
#pragma once
#include "../base/digest.hpp"

namespace fx::inline v0::detail {

// Adds the builds that hold the addresses to h, in the order of loading. False: one of them cannot be told.
bool add_builds(Hasher& h, Span<const void* const> addresses);

}  // namespace fx::inline v0::detail

#if FX_BODIES
#if defined(__linux__)
#include <link.h>
#include <sys/stat.h>
#endif
#include <cstring>

namespace fx::inline v0::detail {

#if defined(__linux__)
struct BuildSearch {
  Hasher& h;
  Span<const void* const> addresses;
  int found = 0;
  bool ok = true;
};

// The identifier that the linker computed of the contents (ELF note NT_GNU_BUILD_ID), or false.
inline bool add_build_note(Hasher& h, const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& part = object.dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(object.dlpi_addr + part.p_vaddr);
    const char* const end = at + part.p_memsz;
    const std::size_t align = part.p_align == 8 ? 8 : 4;
    auto padded = [&](std::size_t n) { return (n + align - 1) / align * align; };
    ElfW(Nhdr) note;
    while (std::size_t(end - at) >= sizeof note) {
      std::memcpy(&note, at, sizeof note);
      const std::size_t name = sizeof note, value = name + padded(note.n_namesz), next = value + padded(note.n_descsz);
      if (std::size_t(end - at) < value + note.n_descsz) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at + name, "GNU", 4) == 0) {
        h.text({at + value, note.n_descsz});
        return true;
      }
      if (std::size_t(end - at) < next) break;
      at += next;
    }
  }
  return false;
}
// Without that note: the file, and when it was written.
inline bool add_file(Hasher& h, const char* path) {
  struct stat s {};
  if (stat(*path ? path : "/proc/self/exe", &s) != 0) return false;
  for (std::int64_t n : {std::int64_t(s.st_dev), std::int64_t(s.st_ino), std::int64_t(s.st_size),
                         std::int64_t(s.st_mtim.tv_sec), std::int64_t(s.st_mtim.tv_nsec)})
    h.word(std::uint64_t(n));
  return true;
}

inline int look_at_object(dl_phdr_info* object, std::size_t, void* data) {
  BuildSearch& search = *static_cast<BuildSearch*>(data);
  int inside = 0;
  for (const void* address : search.addresses) {
    const std::uint64_t at = reinterpret_cast<std::uintptr_t>(address) - object->dlpi_addr;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const auto& part = object->dlpi_phdr[i];
      if (part.p_type == PT_LOAD && at - part.p_vaddr < part.p_memsz) {
        ++inside;
        break;
      }
    }
  }
  search.found += inside;
  if (inside) search.ok = search.ok && (add_build_note(search.h, *object) || add_file(search.h, object->dlpi_name));
  return 0;
}

FX_INLINE bool add_builds(Hasher& h, Span<const void* const> addresses) {
  BuildSearch search{h, addresses};
  dl_iterate_phdr(&look_at_object, &search);
  return search.ok && search.found == addresses.size();
}
#else
FX_INLINE bool add_builds(Hasher&, Span<const void* const>) { return false; }
#endif

}  // namespace fx::inline v0::detail
#endif
