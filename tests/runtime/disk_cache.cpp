// runtime/disk_cache.cpp -- executables kept in a directory: the same bits and texts, whatever happens to the files.
#include "runtime/disk_cache.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fx/fx.hpp>

#include "errors/errors.hpp"
using namespace disk_cache_test;

TEST_CASE("disk cache: a hit is the same executable") {
  if (!makes_images()) return;
  Directory d;
  use_disk_cache({d.path.string()});
  const Graph g = some_graph(1);
  ExecutableRef first, second;
  DiskCacheStats s = counted([&] { first = take(g); });
  CHECK(s.misses == 1);
  CHECK(s.written == 1);
  s = counted([&] { second = take(g); });
  CHECK(s.hits == 1);
  CHECK(s.written == 0);
  CHECK(!(first == second));
  for (const char* what : {"ir", "tile", "asm"}) CHECK(first->text(what) == second->text(what));
  CHECK(counted([&] { take(some_graph(2)); }).misses == 1);
}

TEST_CASE("disk cache: simplification may write primitives that the Graph has not") {
  if (!makes_images()) return;
  Directory d;
  use_disk_cache({d.path.string()});
  Builder b;
  const Val x = b.input({f32, {5}}), y = b.input({f32, {5}});
  Val v;
  SUBCASE("add") { v = b.bind(prim<Sub>, {x, -y}); }
  SUBCASE("sub") { v = b.bind(prim<Add>, {x, -y}); }
  SUBCASE("neg") { v = x * -1.0; }
  const Graph g = b.finish(Vec<Val>{v, exp(x) * sin(y)});
  take(g);
  CHECK(counted([&] { take(g); }).hits == 1);
}

TEST_CASE("disk cache: jit goes through it, single operations do not") {
  if (!makes_images()) return;
  Directory d;
  use_disk_cache({d.path.string()});
  const Array x(std::vector<float>{1, 2, 3});
  const DiskCacheStats s = counted([&] {
    (void)(x + 41.5f);
    const auto soft = fx::jit([](Array a) { return fx::nn::softmax(a * 41.5f); }, {.name = "soft"});
    CHECK(soft(x).shape() == Dims{3});
    CHECK(soft.explain().find("\n  disk cache " + d.path.string() + ": ") != std::string::npos);
  });
  CHECK(s.misses == 1);
  CHECK(s.written == 1);
}

TEST_CASE("disk cache: modes of what it makes") {
  if (!makes_images()) return;
  Directory d;
  const fs::path inner = d.path / "a" / "b";
  use_disk_cache({inner.string()});
  take(some_graph(1));
  for (const fs::path& p : {d.path / "a", inner}) CHECK(fs::status(p).permissions() == fs::perms::owner_all);
  for (const auto& e : fs::directory_iterator(inner))
    CHECK(e.status().permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("disk cache: an entry with any byte changed, or cut anywhere, is made again") {
  if (!makes_images()) return;
  Directory d;
  use_disk_cache({d.path.string()});
  const Graph g = some_graph(3);
  take(g);
  const fs::path file = d.entry();
  const std::string good = bytes_of(file);
  CacheFiles files(d.path.string(), 1 << 20, *std::make_unique<std::string>());
  const std::string hex = file.stem().string();
  const Digest key{std::stoull(hex.substr(0, 16), nullptr, 16), std::stoull(hex.substr(16), nullptr, 16)};
  REQUIRE(files.read(key).found == CacheFiles::Found::yes);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = char(bad[at] ^ (1 << at % 8));
    write_bytes(file, bad);
    CHECK(files.read(key).found == CacheFiles::Found::bad);
    write_bytes(file, good.substr(0, at));
    CHECK(files.read(key).found == CacheFiles::Found::bad);
  }
  for (const std::string& bad : {std::string(), good.substr(0, 20), good + "x", "\1" + good.substr(1)}) {
    write_bytes(file, bad);
    const DiskCacheStats s = counted([&] { take(g); });
    CHECK(s.rejected == 1);
    CHECK(s.written == 1);
    CHECK(bytes_of(file) == good);
  }
  // Another entry under this one's name.
  take(some_graph(4));
  for (const fs::path& p : d.entries())
    if (p != file) fs::rename(p, file);
  CHECK(counted([&] { take(g); }).rejected == 1);
}

TEST_CASE("disk cache: whatever an image says, reading it stays inside it") {
  if (!makes_images()) return;
  const tiled::TiledBackend backend;
  Builder b;
  Val x = b.input({f32, {6, 5}}), i = b.input({i32, {6}});
  Val rows = reduce_sum(exp(x) * x, {1});
  const Graph g = b.finish(
      Vec<Val>{rows / (rows + 1.0), bind(prim<Div>, {i, i + i}), x - broadcast_to(reshape(rows, {6, 1}), {6, 5})});
  ByteWriter w;
  backend.compile(g, w);
  const std::string good(reinterpret_cast<const char*>(w.bytes().data()), std::size_t(w.bytes().size()));
  int read = 0;
  auto load = [&](const std::string& image) {
    // Exactly as long as the image, so that a sanitizer sees each byte that is read beyond.
    const std::vector<std::uint8_t> own(image.begin(), image.end());
    read += bool(backend.load(g, {own.data(), int(own.size())}));
  };
  load(good);
  CHECK(read == 1);
  for (std::size_t n = 0; n < good.size(); ++n) load(good.substr(0, n));
  CHECK(read == 1);
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int change : {1, 2, 0x40, 0x80, 0xff}) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ change);
      load(bad);
    }
  Random r{7};
  for (int n = 0; n < 2000; ++n) {
    std::string bad = good;
    for (int k = 0; k < 3; ++k) bad[std::size_t(r.below(int(bad.size())))] = char(r.next());
    load(bad);
  }
}

TEST_CASE("disk cache: the least recently used entries go when there are too many") {
  if (!makes_images()) return;
  Directory d;
  use_disk_cache({d.path.string()});
  take(some_graph(0));
  const std::int64_t one = std::int64_t(fs::file_size(d.entry()));
  const fs::path oldest = d.entry();
  take(some_graph(1));
  fs::path second;
  for (const fs::path& p : d.entries())
    if (p != oldest) second = p;
  const auto hour = std::chrono::hours(1);
  fs::last_write_time(oldest, fs::last_write_time(oldest) - 2 * hour);
  fs::last_write_time(second, fs::last_write_time(second) - hour);
  CHECK(counted([&] { take(some_graph(0)); }).hits == 1);  // so the second is the one that nobody used
  use_disk_cache({d.path.string(), one * 5 / 2});
  const DiskCacheStats s = counted([&] { take(some_graph(2)); });
  CHECK(s.evicted == 1);
  CHECK(fs::exists(oldest));
  CHECK(!fs::exists(second));
  use_disk_cache({d.path.string(), one / 2});  // too small for one
  CHECK(counted([&] { take(some_graph(5)); }).failed == 1);
}

TEST_CASE("disk cache: what dead processes left goes") {
  if (!makes_images()) return;
  Directory d;
  use_disk_cache({d.path.string()});
  for (const char* name : {".new-1-1", ".new-2-2", "notes.txt"}) write_bytes(d.path / name, "left");
  for (const char* name : {".new-1-1", "notes.txt"})
    fs::last_write_time(d.path / name, fs::last_write_time(d.path / name) - std::chrono::hours(2));
  take(some_graph(1));
  CHECK(!fs::exists(d.path / ".new-1-1"));
  CHECK(fs::exists(d.path / ".new-2-2"));
  CHECK(fs::exists(d.path / "notes.txt"));
}

TEST_CASE("disk cache: directories that will not do") {
  Directory d;
  const std::string path = d.path.string();
  const std::string start = "the directory \"";
  chmod(path.c_str(), 0777);
  CHECK_ERROR(value,
              start + path +
                  "\" cannot hold compiled code: others may write to it, and what lies in it would be executed; chmod "
                  "go-w takes that from them",
              use_disk_cache({path}));
  CHECK(explain_disk_cache() ==
        "disk cache: off; the directory \"" + path +
            "\" cannot hold compiled code: others may write to it, and what lies in it would be executed; chmod go-w "
            "takes that from them");
  take(some_graph(1));
  CHECK(d.entries().empty());
  chmod(path.c_str(), 0700);
  CHECK_ERROR(value, start + path + "\" cannot hold compiled code: entries may take -1 bytes: it must be more than 0",
              use_disk_cache({path, -1}));
  write_bytes(d.path / "file", "");
  CHECK_ERROR(value,
              start + path + "/file/inner\" cannot hold compiled code: it cannot be opened or made: Not a directory",
              use_disk_cache({path + "/file/inner"}));
  if (geteuid() == 0) {
    CHECK(chown(path.c_str(), 65534, 65534) == 0);
    CHECK_ERROR(value,
                start + path +
                    "\" cannot hold compiled code: it belongs to another user, and what lies in it would be executed; "
                    "name a directory of your own",
                use_disk_cache({path}));
    CHECK(chown(path.c_str(), 0, 0) == 0);
  }
  use_disk_cache({});
  CHECK(explain_disk_cache() == "disk cache: off; FX_CACHE_DIR or fx::use_disk_cache names a directory");
}

TEST_CASE("disk cache: entries that others may write to are not executed") {
  if (!makes_images()) return;
  Directory d;
  use_disk_cache({d.path.string()});
  take(some_graph(1));
  chmod(d.entry().c_str(), 0622);
  CHECK(counted([&] { take(some_graph(1)); }).rejected == 1);
  CHECK(fs::status(d.entry()).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  // Nor is what a link names, or no file at all.
  const fs::path file = d.entry(), elsewhere = d.path / "elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  CHECK(counted([&] { take(some_graph(1)); }).rejected == 1);
  CHECK(!fs::is_symlink(file));
  fs::remove(file);
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  CHECK(counted([&] { take(some_graph(1)); }).rejected == 1);
  CHECK(counted([&] { take(some_graph(1)); }).hits == 1);
}

TEST_CASE("disk cache: nothing can be written") {
  if (!makes_images()) return;
  Directory d;
  use_disk_cache({d.path.string()});
  // A full disk: files of more than 100 bytes fail.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  void (*const signalled)(int) = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const DiskCacheStats s = counted([&] { take(some_graph(1)); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, signalled);
  CHECK(s.misses == 1);
  CHECK(s.failed == 1);
  CHECK(d.entries().empty());
  // The directory is gone.
  fs::remove_all(d.path);
  CHECK(counted([&] { take(some_graph(1)); }).failed == 1);
  if (geteuid() == 0) return;  // may write everywhere
  fs::create_directory(d.path);
  use_disk_cache({d.path.string()});
  chmod(d.path.c_str(), 0500);
  CHECK(counted([&] { take(some_graph(1)); }).failed == 1);
  chmod(d.path.c_str(), 0700);
}

// The same computation in processes of their own: the code lies elsewhere, and so do the loops that it calls.
namespace {
struct Mix : Unary<Mix> {
  static constexpr std::string_view name = "test_disk_mix";
  static constexpr bool flat = true;
  static constexpr DTypes takes = numbers;
  template <class V>
  static constexpr V emit(V x) {
    return x * x - x;
  }
};
Graph far_graph() {
  Builder b;
  Val x = b.input({f64, {4, 6}}), i = b.input({i64, {7}}), w = b.input({f32, {6, 5}});
  Val big = bind(prim<Sin>, {x * 1e7}), product = dot_general(convert(x, f32), w, {{1}, {0}, {}, {}});
  return b.finish(Vec<Val>{big, bind(prim<Div>, {i, i + 3.0}), bind(prim<Mix>, {product}), reduce_max(product, {0})});
}
}  // namespace
TEST_CASE("disk cache: in another process" * doctest::skip()) {
  const char* asked = std::getenv("FX_TEST_WANTS");
  if (!asked) return;
  const std::string want = asked;
  const DiskCacheStats s = counted([] { take(far_graph()); });
  CHECK(s.hits == (want == "hit"));
  CHECK(s.misses == (want == "miss"));
  CHECK(s.rejected == 0);
}
TEST_CASE("disk cache: a size that is none" * doctest::skip()) {
  const char* d = std::getenv("FX_CACHE_DIR");
  if (!d) return;
  CHECK(explain_disk_cache() == "disk cache: off; the directory \"" + std::string(d) +
                                    "\" cannot hold compiled code: FX_CACHE_BYTES is \"256M\": it must be a number of "
                                    "bytes, more than 0");
  take(far_graph());
}
TEST_CASE("disk cache: sizes in the environment") {
  Directory d;
  const pid_t child = fork();
  if (child == 0) {
    setenv("FX_CACHE_DIR", d.path.c_str(), 1);
    setenv("FX_CACHE_BYTES", "256M", 1);
    execl("/proc/self/exe", "fx_tests", "--no-skip", "--minimal", "--test-case=disk cache: a size that is none",
          nullptr);
    _exit(127);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(d.entries().empty());
}
TEST_CASE("disk cache: later processes hit") {
  if (!makes_images()) return;
  Directory d;
  for (const char* want : {"miss", "hit", "hit"}) {
    INFO(want);
    const pid_t child = fork();
    if (child == 0) {
      setenv("FX_CACHE_DIR", d.path.c_str(), 1);
      setenv("FX_TEST_WANTS", want, 1);
      execl("/proc/self/exe", "fx_tests", "--no-skip", "--minimal", "--test-case=disk cache: in another process",
            nullptr);
      _exit(127);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  CHECK(d.entries().size() == 1);
}
