// cuda/ptx_driver.hpp -- Driver: an NVIDIA GPU through the few functions of libcuda.so.1 that running an entry takes,
// declared here so that nothing of CUDA is needed to build.
#pragma once
#include <dlfcn.h>

#include <stdexcept>

#include "ptx_walk.hpp"

namespace ptx_test {

// Throws std::runtime_error where a call fails; not there(): no driver or no GPU, and why.
class Driver {
 public:
  explicit Driver(const cuda::PtxTarget& t) : target_(t) { open(); }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  bool there() const { return missing_.empty(); }
  const std::string& missing() const { return missing_; }
  const std::string& name() const { return name_; }
  const cuda::PtxTarget& target() const { return target_; }
  void set_target(const cuda::PtxTarget& t) { target_ = t; }

  void load(const std::string& text);
  // What is wrong, or nothing.
  std::string launch(Launch& l);

 private:
  using Result = int;
  using Address = unsigned long long;
  using Handle = void*;
  cuda::PtxTarget target_;
  std::string missing_, name_;
  Handle module_ = nullptr;

  // cuda.h
  Result (*init)(unsigned) = nullptr;
  Result (*device_get)(int*, int) = nullptr;
  Result (*device_name)(char*, int, int) = nullptr;
  Result (*retain)(Handle*, int) = nullptr;
  Result (*set_current)(Handle) = nullptr;
  Result (*module_load)(Handle*, const void*, unsigned, int*, void**) = nullptr;
  Result (*module_unload)(Handle) = nullptr;
  Result (*get_function)(Handle*, Handle, const char*) = nullptr;
  Result (*allocate)(Address*, std::size_t) = nullptr;
  Result (*release)(Address) = nullptr;
  Result (*to_device)(Address, const void*, std::size_t) = nullptr;
  Result (*to_host)(void*, Address, std::size_t) = nullptr;
  Result (*launch_kernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                          void**) = nullptr;
  Result (*synchronize)() = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;

  void open();
  bool find_functions(void* library);
  void check(Result r, const std::string& what) const {
    const char* s = nullptr;
    if (r != 0 && error_name) error_name(r, &s);
    if (r != 0) throw std::runtime_error(what + ": " + (s ? s : "error " + std::to_string(r)));
  }
  void run(Launch& l, const std::vector<Address>& at);
};

inline bool Driver::find_functions(void* library) {
  bool all = true;
  auto find = [&](auto& f, const char* symbol) {
    void* p = dlsym(library, symbol);
    std::memcpy(&f, &p, sizeof p);
    all = all && p;
  };
  find(init, "cuInit");
  find(device_get, "cuDeviceGet");
  find(device_name, "cuDeviceGetName");
  find(retain, "cuDevicePrimaryCtxRetain");
  find(set_current, "cuCtxSetCurrent");
  find(module_load, "cuModuleLoadDataEx");
  find(module_unload, "cuModuleUnload");
  find(get_function, "cuModuleGetFunction");
  find(allocate, "cuMemAlloc_v2");
  find(release, "cuMemFree_v2");
  find(to_device, "cuMemcpyHtoD_v2");
  find(to_host, "cuMemcpyDtoH_v2");
  find(launch_kernel, "cuLaunchKernel");
  find(synchronize, "cuCtxSynchronize");
  find(error_name, "cuGetErrorName");
  return all;
}

inline void Driver::open() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return void(missing_ = "no libcuda.so.1");
  if (!find_functions(library)) return void(missing_ = "libcuda.so.1 lacks a function");
  int device = 0;
  char name[256] = {};
  if (init(0) != 0 || device_get(&device, 0) != 0) return void(missing_ = "no device");
  check(device_name(name, int(sizeof name), device), "cuDeviceGetName");
  Handle context = nullptr;
  check(retain(&context, device), "cuDevicePrimaryCtxRetain");
  check(set_current(context), "cuCtxSetCurrent");
  name_ = name;
}

inline void Driver::load(const std::string& text) {
  if (module_) check(module_unload(module_), "cuModuleUnload");
  module_ = nullptr;
  std::vector<char> log(1 << 14, char(0));
  int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const Result r = module_load(&module_, text.c_str(), 2, options, values);
  check(r, std::string("cuModuleLoadDataEx: ") + log.data());
}

inline void Driver::run(Launch& l, const std::vector<Address>& at) {
  Handle function = nullptr;
  check(get_function(&function, module_, l.entry->name.c_str()), "cuModuleGetFunction");
  for (std::size_t i = 0; i < at.size(); ++i)
    if (!l.regions[i].empty()) check(to_device(at[i], l.regions[i].data(), l.regions[i].size()), "cuMemcpyHtoD");
  std::vector<Address> values;
  std::vector<void*> params;
  for (int p : l.params) values.push_back(at[std::size_t(p)]);
  for (Address& v : values) params.push_back(&v);
  check(launch_kernel(function, unsigned(l.entry->grid), 1, 1, unsigned(l.entry->block), 1, 1, 0, nullptr,
                      params.data(), nullptr),
        "cuLaunchKernel");
  check(synchronize(), "cuCtxSynchronize");
  for (std::size_t i = 0; i < at.size(); ++i)
    if (!l.regions[i].empty()) check(to_host(l.regions[i].data(), at[i], l.regions[i].size()), "cuMemcpyDtoH");
}

inline std::string Driver::launch(Launch& l) {
  std::vector<Address> at;
  std::string error;
  try {
    for (const std::vector<char>& r : l.regions) {
      at.push_back(0);
      check(allocate(&at.back(), r.size() + 64), "cuMemAlloc");
    }
    run(l, at);
  } catch (const std::exception& e) { error = e.what(); }
  for (Address a : at)
    if (a && release(a) != 0 && error.empty()) error = "cuMemFree";
  return error;
}

}  // namespace ptx_test
