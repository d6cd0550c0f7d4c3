// runtime/profile_json.hpp -- ProfileJson: events in the JSON form that trace viewers read ("Trace Event Format").
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

#include "../config.hpp"

namespace fx::inline v0::detail {

// `s` as a JSON string, without the quotes. Bytes that are no UTF-8 become U+FFFD.
std::string json_text(std::string_view s);

class ProfileJson {
  std::FILE* f_;
  bool first_ = true;
  void next() {
    std::fputs(first_ ? "\n" : ",\n", f_);
    first_ = false;
  }

 public:
  explicit ProfileJson(std::FILE* f) : f_(f) { std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f_); }
  void metadata(const char* what, int thread, const char* name);
  // Times in nanoseconds; a length of 0 is an instant. flops, bytes: none if negative.
  void event(const std::string& name, const char* kind, int thread, std::int64_t begin, std::int64_t length,
             double flops, double bytes);
  void lost(int thread, std::uint64_t events);
  void finish() { std::fputs("\n]}\n", f_); }
};

#if FX_BODIES
FX_INLINE std::string json_text(std::string_view s) {
  std::string r;
  for (std::size_t i = 0; i < s.size();) {
    const unsigned c = std::uint8_t(s[i]);
    const std::size_t n = c < 0x80                ? 1
                          : c >= 0xc2 && c < 0xe0 ? 2
                          : c >= 0xe0 && c < 0xf0 ? 3
                          : c >= 0xf0 && c < 0xf5 ? 4
                                                  : 0;
    bool whole = n > 0 && n <= s.size() - i;
    for (std::size_t k = 1; whole && k < n; ++k) whole = (std::uint8_t(s[i + k]) & 0xc0) == 0x80;
    // Forms that are longer than needed, surrogates, and what lies beyond U+10FFFF.
    const unsigned second = whole && n > 2 ? std::uint8_t(s[i + 1]) : 0;
    if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second >= 0xa0) || (c == 0xf0 && second < 0x90) ||
        (c == 0xf4 && second >= 0x90))
      whole = false;
    if (!whole) {
      r += "\\ufffd";
      ++i;
    } else if (c == '"' || c == '\\') {
      (r += '\\') += char(c);
      ++i;
    } else if (c < 0x20 || c == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      r += escaped;
      ++i;
    } else {
      r += s.substr(i, n);
      i += n;
    }
  }
  return r;
}

FX_INLINE void ProfileJson::metadata(const char* what, int thread, const char* name) {
  next();
  std::fprintf(f_, "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":\"%s\"}}", what, thread,
               name);
}
FX_INLINE void ProfileJson::event(const std::string& name, const char* kind, int thread, std::int64_t begin,
                                  std::int64_t length, double flops, double bytes) {
  next();
  auto micros = [&](const char* key, std::int64_t ns) {
    std::fprintf(f_, ",\"%s\":%lld.%03d", key, static_cast<long long>(ns / 1000), int(ns % 1000));
  };
  std::fprintf(f_, "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"%s\",\"pid\":1,\"tid\":%d", json_text(name).c_str(), kind,
               length ? "X" : "i", thread);
  micros("ts", begin);
  if (length)
    micros("dur", length);
  else
    std::fputs(",\"s\":\"t\"", f_);
  if (flops >= 0 && bytes >= 0) std::fprintf(f_, ",\"args\":{\"flops\":%.0f,\"bytes\":%.0f}", flops, bytes);
  std::fputc('}', f_);
}
FX_INLINE void ProfileJson::lost(int thread, std::uint64_t events) {
  next();
  std::fprintf(f_,
               "{\"name\":\"earlier calls and kernels were lost\",\"cat\":\"call\",\"ph\":\"i\",\"s\":\"t\",\"pid\":1,"
               "\"tid\":%d,\"ts\":0.000,\"args\":{\"events\":%llu}}",
               thread, static_cast<unsigned long long>(events));
}
#endif

}  // namespace fx::inline v0::detail
