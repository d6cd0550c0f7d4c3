// runtime/disk_cache_files.hpp -- CacheFiles: contents by key in one directory, safe among processes.
//
// An entry is written to a file of another name first and then renamed, so that a reader sees all of it or none. What
// is read back is what was written: a header holds the key, the length and a digest. The time of modification is that
// of the last use.
#pragma once
#include <mutex>
#include <string>

#include "../base/bytes.hpp"
#include "../base/ref.hpp"

namespace fx::inline v0::detail {

class CacheFiles : public Shared {
 public:
  enum class Found { yes, no, bad };
  struct Read {
    Found found = Found::no;
    std::string file;  // header and content
    Span<const std::uint8_t> content() const {
      return {reinterpret_cast<const std::uint8_t*>(file.data()) + header_bytes, int(file.size()) - header_bytes};
    }
  };
  static constexpr int header_bytes = 48;
  static constexpr std::int64_t largest = std::int64_t(1) << 30;

  // The directory is made if it is not there. Not open: `why` says what is wrong.
  CacheFiles(const std::string& directory, std::int64_t bytes, std::string& why);
  CacheFiles(const CacheFiles&) = delete;
  CacheFiles& operator=(const CacheFiles&) = delete;
  ~CacheFiles();

  Read read(const Digest& key) const;
  // False: it was not written. `evicted` grows by the entries that had to go.
  bool write(const Digest& key, Span<const std::uint8_t> content, std::int64_t& evicted);

 private:
  int directory_ = -1;
  std::int64_t limit_ = 0;
  std::mutex mutex_;
  std::int64_t total_ = -1;  // bytes of all entries as last seen, and what was written since; -1: not looked at yet

  static std::string name(const Digest& key);
  static std::string header(const Digest& key, Span<const std::uint8_t> content);
  static bool all_written(int file, const void* data, std::size_t n);
  std::int64_t trim();
};

}  // namespace fx::inline v0::detail

#if FX_BODIES
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace fx::inline v0::detail {

// Whoever may write to it may have its content executed: that must be the user of this process alone.
inline bool only_ours(const struct stat& s) { return s.st_uid == geteuid() && (s.st_mode & 022) == 0; }

inline void make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    mkdir(path.substr(0, end).c_str(), 0700);
    if (end == std::string::npos) return;
  }
}

FX_INLINE CacheFiles::CacheFiles(const std::string& directory, std::int64_t bytes, std::string& why) : limit_(bytes) {
  constexpr int how = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  int d = open(directory.c_str(), how);
  if (d < 0 && errno == ENOENT) {
    make_directories(directory);
    d = open(directory.c_str(), how);
  }
  struct stat s {};
  if (d < 0 || fstat(d, &s) != 0) {
    why = "it cannot be opened or made: " + std::string(std::strerror(errno));
  } else if (s.st_uid != geteuid()) {
    why = "it belongs to another user, and what lies in it would be executed; name a directory of your own";
  } else if (!only_ours(s)) {
    why = "others may write to it, and what lies in it would be executed; chmod go-w takes that from them";
  } else {
    directory_ = d;
    return;
  }
  if (d >= 0) close(d);
}

FX_INLINE CacheFiles::~CacheFiles() {
  if (directory_ >= 0) close(directory_);
}

FX_INLINE std::string CacheFiles::name(const Digest& key) {
  Str s;
  put(s, key);
  s += ".fx";
  return std::string(s.view());
}
FX_INLINE std::string CacheFiles::header(const Digest& key, Span<const std::uint8_t> content) {
  const Digest sum = digest_bytes(content);
  ByteWriter w;
  for (char c : {'f', 'x', ' ', 'c', 'o', 'd', 'e', '1'}) w.raw({std::uint8_t(c)});
  for (std::uint64_t n : {key.hi, key.lo, std::uint64_t(content.size()), sum.hi, sum.lo}) w.fixed(n);
  return {reinterpret_cast<const char*>(w.bytes().data()), std::size_t(w.bytes().size())};
}

FX_INLINE CacheFiles::Read CacheFiles::read(const Digest& key) const {
  Read r;
  const int file = openat(directory_, name(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) {
    r.found = errno == ENOENT ? Found::no : Found::bad;
    return r;
  }
  r.found = Found::bad;
  struct stat s {};
  if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && only_ours(s) && s.st_size >= header_bytes && s.st_size <= largest) {
    r.file.resize(std::size_t(s.st_size));
    std::size_t at = 0;
    for (ssize_t n = 1; n > 0 && at < r.file.size(); at += std::size_t(n > 0 ? n : 0))
      n = ::read(file, &r.file[at], r.file.size() - at);
    const bool whole = at == r.file.size() && r.file.compare(0, header_bytes, header(key, r.content())) == 0;
    if (whole) r.found = Found::yes;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (whole && now.tv_sec - s.st_mtim.tv_sec > 60) futimens(file, nullptr);
  }
  close(file);
  return r;
}

FX_INLINE bool CacheFiles::all_written(int file, const void* data, std::size_t n) {
  for (const char* from = static_cast<const char*>(data); n > 0;) {
    const ssize_t done = ::write(file, from, n);
    if (done <= 0) return false;
    from += done;
    n -= std::size_t(done);
  }
  return true;
}

FX_INLINE bool CacheFiles::write(const Digest& key, Span<const std::uint8_t> content, std::int64_t& evicted) {
  const std::int64_t size = header_bytes + content.size();
  if (size > limit_ || size > largest) return false;
  static std::atomic<unsigned> number{0};
  char temporary[64];
  std::snprintf(temporary, sizeof temporary, ".new-%ld-%u", long(getpid()), number++);
  unlinkat(directory_, temporary, 0);  // of a process that had our number and died
  const int file = openat(directory_, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  const std::string head = header(key, content);
  bool ok =
      all_written(file, head.data(), head.size()) && all_written(file, content.data(), std::size_t(content.size()));
  ok = close(file) == 0 && ok;
  ok = ok && renameat(directory_, temporary, directory_, name(key).c_str()) == 0;
  if (!ok) unlinkat(directory_, temporary, 0);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ok && total_ >= 0) total_ += size;
  if (total_ < 0 || total_ > limit_) evicted += trim();
  return ok;
}

// Takes the entries that were not used for the longest time away, a little below the limit, so that the next ones have
// room; and what dead processes have left. Returns how many entries went. The mutex is held.
FX_INLINE std::int64_t CacheFiles::trim() {
  struct Entry {
    timespec used;
    std::int64_t bytes;
    std::string name;
  };
  std::vector<Entry> entries;
  const int again = openat(directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* d = again < 0 ? nullptr : fdopendir(again);
  if (!d) {
    if (again >= 0) close(again);
    return 0;
  }
  total_ = 0;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  while (const dirent* e = readdir(d)) {
    const std::string_view n = e->d_name;
    const bool entry = n.size() == 35 && n.substr(32) == ".fx", temporary = n.substr(0, 5) == ".new-";
    struct stat s {};
    if ((!entry && !temporary) || fstatat(directory_, e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (entry) {
      entries.push_back({s.st_mtim, std::int64_t(s.st_size), std::string(n)});
      total_ += s.st_size;
    } else if (now.tv_sec - s.st_mtim.tv_sec > 3600) {
      unlinkat(directory_, e->d_name, 0);
    }
  }
  closedir(d);
  if (total_ <= limit_) return 0;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
  });
  std::int64_t gone = 0;
  for (const Entry& e : entries) {
    if (total_ <= limit_ - limit_ / 8) break;
    if (unlinkat(directory_, e.name.c_str(), 0) != 0 && errno != ENOENT) continue;
    total_ -= e.bytes;
    ++gone;
  }
  return gone;
}

}  // namespace fx::inline v0::detail
#endif
