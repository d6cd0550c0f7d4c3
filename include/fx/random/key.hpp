// random/key.hpp -- Key: what random numbers are made from; a value, and one leaf of a pytree.
#pragma once
#include "../array.hpp"
#include "../pytree.hpp"

namespace fx::inline v0 {

// A random key: `data` is u32[2]; several keys under vmap are u32[n, 2]. Made by random::key, random::split and
// fold_in.
class Key {
 public:
  Array data;
};

namespace detail {
constexpr Array& key_array(Key& k) { return k.data; }
constexpr const Array& key_array(const Key& k) { return k.data; }
}  // namespace detail

}  // namespace fx::inline v0
