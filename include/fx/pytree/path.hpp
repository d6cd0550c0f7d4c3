// pytree/path.hpp -- patterns of leaf paths, as in the `.in` of vmap.
#pragma once
#include <cstddef>
#include <string_view>

#include "../config.hpp"

namespace fx::inline v0 {
namespace detail {

// The end of the component of a path that starts at `from`: "[...]", or a name with the dot before it.
constexpr std::size_t component_end(std::string_view s, std::size_t from) {
  std::size_t i = from + 1;
  if (s[from] != '[') {
    while (i < s.size() && s[i] != '.' && s[i] != '[') ++i;
    return i;
  }
  for (bool quoted = false; i < s.size() && (quoted || s[i] != ']'); ++i) {
    if (quoted && s[i] == '\\')
      ++i;
    else if (s[i] == '"')
      quoted = !quoted;
  }
  return i < s.size() ? i + 1 : s.size();
}
constexpr bool component_matches(std::string_view pattern, std::string_view component) {
  if (pattern.starts_with('.')) pattern.remove_prefix(1);
  if (component.starts_with('.')) component.remove_prefix(1);
  return pattern == "*" || pattern == component || (pattern == "[*]" && component.starts_with('['));
}
// Whether `pattern` names `path` or a subtree around it: "layers" and "layers[*].w" match "layers[0].w". "*" stands for
// one component, "[*]" for one index or key; "*" alone and "" match everything.
constexpr bool path_matches(std::string_view pattern, std::string_view path) {
  if (pattern == "*") return true;
  while (!pattern.empty()) {
    if (path.empty()) return false;
    const std::size_t p = component_end(pattern, 0), q = component_end(path, 0);
    if (!component_matches(pattern.substr(0, p), path.substr(0, q))) return false;
    pattern.remove_prefix(p);
    path.remove_prefix(q);
  }
  return true;
}

}  // namespace detail
}  // namespace fx::inline v0
