// base/bytes.hpp -- values as bytes and back, for what is stored; a reader trusts no length that it reads.
#pragma once
#include <cstring>

#include "digest.hpp"

namespace fx::inline v0 {

// Integers take as many bytes as they need (LEB128: seven bits a byte, least first; signed ones zigzag).
class ByteWriter {
  Vec<std::uint8_t> bytes_;

 public:
  const Vec<std::uint8_t>& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }
  void word(std::uint64_t w) {
    for (; w >= 128; w >>= 7) bytes_.push_back(std::uint8_t(w | 128));
    bytes_.push_back(std::uint8_t(w));
  }
  void number(std::int64_t n) { word((std::uint64_t(n) << 1) ^ std::uint64_t(n >> 63)); }
  // Eight bytes, whatever the value.
  void fixed(std::uint64_t w) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(std::uint8_t(w >> (8 * i)));
  }
  void raw(Span<const std::uint8_t> b) { bytes_.append(b); }
  void text(std::string_view s) {
    word(s.size());
    for (char c : s) bytes_.push_back(std::uint8_t(c));
  }
};

// Reads in the order of writing. What does not fit makes it fail: from then on it gives zeros, and lists are empty.
class ByteReader {
  Span<const std::uint8_t> bytes_;
  int at_ = 0;
  bool ok_ = true;

 public:
  explicit ByteReader(Span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  int left() const { return ok_ ? bytes_.size() - at_ : 0; }
  bool fail() { return ok_ = false; }
  // Fails unless `holds`.
  bool check(bool holds) { return ok_ = ok_ && holds; }

  std::uint64_t word() {
    std::uint64_t w = 0;
    for (int shift = 0; shift < 64 && check(at_ < bytes_.size()); shift += 7) {
      const std::uint64_t b = bytes_[at_++];
      w |= (b & 127) << shift;
      if (b < 128) return check(shift < 63 || b < 2) ? w : 0;
    }
    fail();
    return 0;
  }
  std::int64_t number() {
    const std::uint64_t w = word();
    return std::int64_t(w >> 1) ^ -std::int64_t(w & 1);
  }
  std::uint64_t fixed() {
    std::uint64_t w = 0;
    for (std::uint8_t b : raw(8)) w = w >> 8 | std::uint64_t(b) << 56;
    return w;
  }
  // A number from 0 to `most`.
  int below(int most) {
    const std::uint64_t w = word();
    return check(w <= std::uint64_t(most)) ? int(w) : 0;
  }
  // How many elements follow, of at least one byte each.
  int count() { return below(left()); }
  Span<const std::uint8_t> raw(int n) {
    if (!check(n >= 0 && n <= left())) return {};
    at_ += n;
    return bytes_.sub(at_ - n, n);
  }
  std::string_view text() {
    const Span<const std::uint8_t> s = raw(count());
    return {reinterpret_cast<const char*>(s.data()), std::size_t(s.size())};
  }
};

// A 128-bit digest of bytes at several bytes a nanosecond: four chains of Hasher's kind side by side.
inline Digest digest_bytes(Span<const std::uint8_t> bytes) {
  std::uint64_t lane[4] = {1, 2, 3, 4};
  auto step = [&](const std::uint8_t* p) {
    for (int i = 0; i < 4; ++i) {
      std::uint64_t w;
      std::memcpy(&w, p + 8 * i, 8);
      lane[i] = (lane[i] ^ w) * 0xFF51AFD7ED558CCDull;
      lane[i] ^= lane[i] >> 32;
    }
  };
  int at = 0;
  for (; at + 32 <= bytes.size(); at += 32) step(bytes.data() + at);
  std::uint8_t rest[32] = {};
  if (at < bytes.size()) std::memcpy(rest, bytes.data() + at, std::size_t(bytes.size() - at));
  step(rest);
  Hasher h;
  h.word(std::uint64_t(bytes.size()));
  for (std::uint64_t l : lane) h.word(l);
  return h.finish();
}

}  // namespace fx::inline v0
