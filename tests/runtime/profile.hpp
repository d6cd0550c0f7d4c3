// runtime/profile.hpp -- what the tests of trace files share: a reader of JSON that knows nothing of who writes it, and
// the events of a file.
#pragma once
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace profile_test {

// RFC 8259. A failed CHECK tells where the text is none.
struct Json {
  enum Kind { null, boolean, number, text, list, object } kind = null;
  bool truth = false;
  double value = 0;
  std::string string;
  std::vector<Json> elements;
  std::map<std::string, Json> members;
  const Json& operator[](const std::string& key) const {
    static const Json none;
    const auto found = members.find(key);
    return found == members.end() ? none : found->second;
  }
  bool has(const std::string& key) const { return members.count(key) == 1; }
};

class JsonReader {
  const std::string& s_;
  std::size_t at_ = 0;
  bool ok_ = true;

  void space() {
    while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\n' || s_[at_] == '\t' || s_[at_] == '\r')) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= s_.size() || s_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!ok_ || take(c)) return;
    ok_ = false;
    FAIL_CHECK("no '" << c << "' at byte " << at_ << " of " << s_.substr(at_ < 40 ? 0 : at_ - 40, 80));
  }
  std::string text() {
    std::string r;
    expect('"');
    while (ok_ && at_ < s_.size() && s_[at_] != '"') {
      const unsigned char c = static_cast<unsigned char>(s_[at_++]);
      if (c < 0x20) FAIL_CHECK("a control character in a string");
      if (c != '\\') {
        r += char(c);
        continue;
      }
      const char e = at_ < s_.size() ? s_[at_++] : '?';
      if (e == 'u') {
        r += "<" + s_.substr(at_, 4) + ">";
        at_ += 4;
      } else {
        CHECK(std::string("\"\\/bfnrt").find(e) != std::string::npos);
        r += e;
      }
    }
    expect('"');
    return r;
  }
  Json number() {
    Json j;
    j.kind = Json::number;
    const std::size_t start = at_;
    while (at_ < s_.size() && std::string("+-0123456789.eE").find(s_[at_]) != std::string::npos) ++at_;
    char* end = nullptr;
    const std::string digits = s_.substr(start, at_ - start);
    j.value = std::strtod(digits.c_str(), &end);
    ok_ = !digits.empty() && !*end;
    CHECK(ok_);
    return j;
  }

 public:
  explicit JsonReader(const std::string& s) : s_(s) {}
  Json value() {
    Json j;
    space();
    if (!ok_ || at_ >= s_.size()) return j;
    const char c = s_[at_];
    if (c == '{') {
      j.kind = Json::object;
      expect('{');
      if (take('}')) return j;
      do {
        space();
        const std::string key = text();
        expect(':');
        CHECK(!j.has(key));
        j.members[key] = value();
      } while (ok_ && take(','));
      expect('}');
    } else if (c == '[') {
      j.kind = Json::list;
      expect('[');
      if (take(']')) return j;
      do j.elements.push_back(value());
      while (ok_ && take(','));
      expect(']');
    } else if (c == '"') {
      j.kind = Json::text;
      j.string = text();
    } else {
      return number();
    }
    return j;
  }
  bool at_end() {
    space();
    return ok_ && at_ == s_.size();
  }
};

struct Event {
  std::string name, category, phase;
  int thread = 0;
  double start = 0, end = 0, flops = -1, bytes = -1;
};

struct TraceFile {
  std::filesystem::path path;
  TraceFile() {
    static int n = 0;
    path = std::filesystem::temp_directory_path() /
           ("fx_trace_" + std::to_string(getpid()) + "_" + std::to_string(n++) + ".json");
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile() { std::filesystem::remove(path); }
  std::string content() const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // All but the names of process and threads; what one thread did is nested.
  std::vector<Event> events() const {
    const std::string all = content();
    JsonReader reader(all);
    const Json j = reader.value();
    CHECK(reader.at_end());
    CHECK(j["traceEvents"].kind == Json::list);
    std::vector<Event> r;
    std::map<int, std::vector<double>> open;  // where those around end
    for (const Json& e : j["traceEvents"].elements) {
      if (e["ph"].string == "M") continue;
      Event x{e["name"].string, e["cat"].string, e["ph"].string, int(e["tid"].value), e["ts"].value, 0};
      x.end = x.start + e["dur"].value;
      CHECK(e.has("dur") == (x.phase == "X"));
      CHECK((x.phase == "X" || x.phase == "i"));
      if (e.has("args") && e["args"].has("flops")) {
        x.flops = e["args"]["flops"].value;
        x.bytes = e["args"]["bytes"].value;
      }
      r.push_back(x);
      if (x.name == "earlier calls and kernels were lost") continue;
      const double slack = 1e-6;  // times are decimal
      std::vector<double>& around = open[x.thread];
      while (!around.empty() && around.back() <= x.start + slack) around.pop_back();
      if (!around.empty()) CHECK(x.end <= around.back() + slack);
      around.push_back(x.end);
    }
    return r;
  }
};

// Those of a category whose name holds `part`.
inline std::vector<Event> having(const std::vector<Event>& all, const std::string& category, const std::string& part) {
  std::vector<Event> r;
  for (const Event& e : all)
    if (e.category == category && e.name.find(part) != std::string::npos) r.push_back(e);
  return r;
}

}  // namespace profile_test
