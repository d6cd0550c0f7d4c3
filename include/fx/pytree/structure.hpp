// pytree/structure.hpp -- the structure of a pytree as canonical text and as a hash.
#pragma once
#include <cstdint>
#include <string_view>

#include "../base/atom.hpp"
#include "../base/digest.hpp"
#include "../base/str.hpp"
#include "walk.hpp"

namespace fx::inline v0 {
namespace detail {

// (Params{layers:[Layer{w:*,b:*}],act:1}, *)
// Cold, or code and compile time of each tree would be several times as large.
struct StructureText : TreeVisitor {
  static constexpr bool names = true, values = true;
  Str& out;
  bool first = true;
  constexpr explicit StructureText(Str& o) : out(o) {}
  FX_COLD constexpr void separate(const char* by) {
    if (!first) out += by;
    first = false;
  }
  FX_COLD constexpr void leaf(const Array&) { out += '*'; }
  FX_COLD constexpr void key(const Array&) { out += "key"; }
  FX_COLD constexpr void open(const TreeGroup& g) {
    out += g.name;
    out += g.open;
    first = true;
  }
  FX_COLD constexpr void index(const TreeGroup& g, int) { separate(g.open == '(' ? ", " : ","); }
  FX_COLD constexpr void field(const TreeGroup&, std::string_view name) {
    separate(",");
    out += name;
    out += ':';
  }
  FX_COLD constexpr void entry(const TreeGroup&, const Atom& key) {
    separate(",");
    print_atom(out, key);
    out += ':';
  }
  FX_COLD constexpr void close(const TreeGroup& g) {
    out += g.close;
    first = false;
  }
  FX_COLD constexpr void present(bool nested) {
    if (nested) out += "some ";
  }
  FX_COLD constexpr void absent() { out += "none"; }
  FX_COLD constexpr void atom(const Atom& a) { print_atom(out, a); }
};

template <class T>
inline constexpr std::uint64_t type_text_hash = name_id(pretty_type<T>());

// What the type does not say: lengths, keys, which optionals are there, static values.
struct StructureHash : TreeVisitor {
  static constexpr bool values = true;
  std::uint64_t& h;
  constexpr explicit StructureHash(std::uint64_t& hash) : h(hash) {}
  constexpr void leaf(const Array&) {}
  constexpr void key(const Array&) {}
  constexpr void open(const TreeGroup& g) {
    if (g.counted) mix_hash(h, std::uint64_t(g.n));
  }
  constexpr void entry(const TreeGroup&, const Atom& key) { mix_hash_atom(h, key); }
  constexpr void present(bool) { mix_hash(h, 1); }
  constexpr void absent() { mix_hash(h, 2); }
  constexpr void atom(const Atom& a) { mix_hash_atom(h, a); }
};

}  // namespace detail
}  // namespace fx::inline v0
