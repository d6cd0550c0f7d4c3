// code/dump.hpp -- machine code as text: its bytes in hexadecimal, with offsets.
#pragma once
#include <cstdint>
#include <fx/base/vec.hpp>
#include <string>

namespace fx::inline v0::tiled::code {

// "portable" if there is none; else the number of bytes, and 16 of them in a line.
std::string dump(Span<const std::uint8_t> bytes);

#if FX_BODIES
FX_INLINE std::string dump(Span<const std::uint8_t> bytes) {
  if (bytes.empty()) return "portable\n";
  constexpr const char* digits = "0123456789abcdef";
  std::string s = std::to_string(bytes.size()) + " bytes";
  for (int i = 0; i < bytes.size(); ++i) {
    if (i % 16 == 0) {
      s += "\n  ";
      for (int shift = 16; shift >= 0; shift -= 4) s += digits[i >> shift & 15];
      s += ' ';
    }
    ((s += ' ') += digits[bytes[i] >> 4]) += digits[bytes[i] & 15];
  }
  return s += '\n';
}
#endif

}  // namespace fx::inline v0::tiled::code
