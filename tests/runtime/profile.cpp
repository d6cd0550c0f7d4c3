// runtime/profile.cpp -- trace files: valid JSON, nested, and what was done is in them.
#include "runtime/profile.hpp"

#include <sys/wait.h>

#include <fx/fx.hpp>

#include "errors/errors.hpp"
using namespace profile_test;
using fx::Array;

namespace {
// A product of 8x16 and 16x4, and a fused kernel.
Array step(const Array& w, const Array& x) {
  auto loss = [](const Array& v, const Array& y) { return fx::numpy::mean(fx::tanh(fx::numpy::matmul(y, v))); };
  return w - 0.5f * fx::grad(loss)(w, x);
}
}  // namespace

TEST_CASE("profile: a step is traced, rewritten, fused, prepared and called") {
  const TraceFile file;
  const Array w = fx::numpy::ones({16, 4}), x = fx::numpy::ones({8, 16});
  const auto f = fx::jit(&step, {.name = "step"});
  {
    const fx::profile::Scope scope(file.path.string());
    for (int i = 0; i < 3; ++i) f(w, x);
  }
  f(w, x);  // after the end
  const std::vector<Event> all = file.events();
  CHECK(having(all, "trace", "trace step").size() == 1);
  CHECK(having(all, "pass", "value_and_grad").size() == 1);
  CHECK(having(all, "pass", "simplify").size() == 1);
  CHECK(having(all, "compile", "fuse").size() == 1);
  CHECK(having(all, "call", "step").size() == 3);
  const std::vector<Event> calls = having(all, "call", "step"), kernels = having(all, "kernel", ""),
                           prepared = having(all, "compile", "prepare "), dots = having(all, "kernel", "dot_general");
  CHECK(kernels.size() == 3 * prepared.size());
  // Each kernel lies in a call, and says what it does: a product of m x k and k x n takes 2 m n k operations.
  for (const Event& k : kernels) {
    int inside = 0;
    for (const Event& c : calls) inside += c.start <= k.start && k.end <= c.end + 1e-6;
    CHECK(inside == 1);
    CHECK(k.flops >= 0);
    CHECK(k.bytes > 0);
  }
  REQUIRE(dots.size() == 6);
  for (const Event& d : dots) CHECK(d.flops == 2 * 8 * 4 * 16);
}

TEST_CASE("profile: caches and single operations") {
  const TraceFile file;
  fx::profile::start(file.path.string());
  const Array x(std::vector<float>{1, 2, 3});
  fx::vmap([](Array a) { return a * 77.0f; })(x);
  fx::vmap([](Array a) { return a * 77.0f; })(x);
  (void)(x + x);
  fx::profile::stop();
  const std::vector<Event> all = file.events();
  CHECK(having(all, "pass", "vmap").size() == 2);
  CHECK(having(all, "compile", "executable").size() >= 1);
  CHECK(having(all, "cache", "executable found").size() >= 1);
  CHECK(having(all, "call", "function").size() == 2);
  CHECK(having(all, "call", "add").size() == 1);
}

TEST_CASE("profile: names are JSON, whatever they hold") {
  const TraceFile file;
  const Array x(std::vector<float>{1, 2, 3});
  {
    const fx::profile::Scope scope(file.path.string());
    fx::jit([](Array a) { return a + 1.0f; }, {.name = "a \"quoted\" \\ name\n\x01"})(x);
    fx::jit([](Array a) { return a + 2.0f; }, {.name = "caf\xc3\xa9 \xe2\x88\x91 \xf0\x9f\x98\x80"})(x);
    fx::jit([](Array a) { return a + 3.0f; }, {.name = "bad \xff\xc3 \xed\xa0\x80 \xc0\xaf."})(x);
  }
  const std::vector<Event> all = file.events();
  CHECK(having(all, "call", "a \"quoted\" \\ name<000a><0001>").size() == 1);
  CHECK(having(all, "call", "caf\xc3\xa9 \xe2\x88\x91 \xf0\x9f\x98\x80").size() == 1);
  CHECK(having(all, "call", "bad <fffd><fffd> <fffd><fffd><fffd> <fffd><fffd>.").size() == 1);
}

TEST_CASE("profile: the last calls are kept, and the file says how many are not") {
  const TraceFile file;
  const Array x(std::vector<float>{1, 2, 3});
  const auto f = fx::jit([](Array a) { return a * 3.0f; }, {.name = "many"});
  fx::profile::start(file.path.string());
  for (int i = 0; i < 20000; ++i) f(x);  // a call and a kernel each
  fx::profile::stop();
  const std::vector<Event> all = file.events();
  CHECK(having(all, "trace", "trace many").size() == 1);
  CHECK(having(all, "call", "many").size() + having(all, "kernel", "").size() == 32768);
  CHECK(having(all, "call", "lost").size() == 1);
  CHECK(file.content().find("\"args\":{\"events\":7232}") != std::string::npos);
}

TEST_CASE("profile: one after the other") {
  const Array x(std::vector<float>{1, 2, 3});
  const auto f = fx::jit([](Array a) { return a * 5.0f; }, {.name = "again"});
  for (int i = 0; i < 3; ++i) {
    const TraceFile file;
    const fx::profile::Scope scope(file.path.string());
    f(x);
    fx::profile::stop();
    fx::profile::stop();  // there is none
    const std::vector<Event> all = file.events();
    CHECK(having(all, "call", "again").size() == 1);
    CHECK(having(all, "trace", "").size() == (i == 0));
  }
}

TEST_CASE("profile: mistakes") {
  CHECK_ERROR(value, "the trace file \"/no/such/place.json\" cannot be written",
              fx::profile::start("/no/such/place.json"));
  const TraceFile file;
  const fx::profile::Scope scope(file.path.string());
  CHECK_ERROR(state, "a trace file is being made already, \"" + file.path.string() + "\": profile::stop() ends it",
              fx::profile::start("other.json"));
}

TEST_CASE("profile: a full disk") {
  if (!std::filesystem::exists("/dev/full")) return;
  fx::profile::start("/dev/full");
  CHECK_ERROR(value, "the trace file \"/dev/full\" could not be written", fx::profile::stop());
}

TEST_CASE("profile: a forked process leaves the file to its parent") {
  const TraceFile file;
  const Array x(std::vector<float>{1, 2, 3});
  fx::profile::start(file.path.string());
  (void)(x * 2.0f);
  const pid_t child = fork();
  if (child == 0) {
    (void)(x * 3.0f);
    fx::profile::stop();
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  fx::profile::stop();
  CHECK(having(file.events(), "call", "mul").size() == 1);
}

TEST_CASE("profile: in another process" * doctest::skip()) {
  if (!std::getenv("FX_TRACE_FILE")) return;
  const Array w = fx::numpy::ones({16, 4}), x = fx::numpy::ones({8, 16});
  fx::jit(&step, {.name = "step"})(w, x);
}
TEST_CASE("profile: the environment names the file") {
  const TraceFile file;
  const pid_t child = fork();
  if (child == 0) {
    setenv("FX_TRACE_FILE", file.path.c_str(), 1);
    execl("/proc/self/exe", "fx_tests", "--no-skip", "--minimal", "--test-case=profile: in another process", nullptr);
    _exit(127);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  const std::vector<Event> all = file.events();
  CHECK(having(all, "trace", "trace step").size() == 1);
  CHECK(having(all, "call", "step").size() == 1);
}
