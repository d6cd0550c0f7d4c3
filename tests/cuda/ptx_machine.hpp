// cuda/ptx_machine.hpp -- Machine: reads the PTX that fx prints and runs it thread by thread, so that its meaning is
// tested where there is no GPU. Every access is checked against the memory that the entry was given.
#pragma once
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "ptx_machine_ops.hpp"

namespace ptx_machine {

struct Span {
  char* data = nullptr;
  std::size_t bytes = 0;
};

class Machine {
 public:
  // Parses a module. Throws std::runtime_error where it does not know something.
  void load(const std::string& text);
  void run(const std::string& entry, std::int64_t grid, int block, const std::vector<Span>& memory,
           const std::vector<char*>& params);
  const std::map<std::string, int>& used() const { return used_; }

 private:
  struct Operand {
    enum Kind { none, reg, value, thread, block, shared } kind = none;
    int index = 0;
    Bits bits = 0;
  };
  struct Instruction {
    enum Kind { compute, read, write, param, branch, barrier, shuffle, leave } kind = compute;
    Compute f = nullptr;
    int guard = -1, result = -1, bytes = 0, target = 0;
    bool unless = false;
    Operand in[4];
  };
  struct Entry {
    std::vector<Instruction> code;
    int first[3]{}, registers = 0;
    std::size_t shared = 0;
    std::vector<Bits> mask;  // of each register
  };
  struct Thread {
    std::vector<Bits> reg;
    int pc = 0;
    bool waits = false, left = false;
  };
  struct Block {
    const Entry& e;
    const std::vector<Span>& memory;
    const std::vector<char*>& params;
    std::vector<char> shared;
    std::vector<Thread> threads;
    std::int64_t number = 0;
  };

  Operations operations_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::vector<char>> tables_;
  std::map<std::string, int> used_;

  [[noreturn]] static void fail(const std::string& s) { throw std::runtime_error("PTX machine: " + s); }
  void table(const std::string& line);
  Entry parse(const std::vector<std::string>& lines);
  Instruction instruction(const Entry& e, std::string line, const std::map<std::string, int>& labels);
  Operand operand(const Entry& e, std::string text);
  static int register_of(const Entry& e, const std::string& text);
  Bits get(const Block& b, int t, const Operand& o) const;
  char* checked(Block& b, Bits address, int bytes) const;
  void step(Block& b, int t) const;
  bool exchange(Block& b) const;
};

inline std::vector<std::string> split(const std::string& s, char at) {
  std::vector<std::string> r;
  std::istringstream in(s);
  for (std::string part; std::getline(in, part, at);) {
    const std::size_t from = part.find_first_not_of(" \t"), to = part.find_last_not_of(" \t;");
    r.push_back(from == std::string::npos ? "" : part.substr(from, to + 1 - from));
  }
  return r;
}

inline void Machine::load(const std::string& text) {
  entries_.clear();
  tables_.clear();
  std::string name;
  std::vector<std::string> lines;
  bool inside = false;
  for (const std::string& line : split(text, '\n')) {
    if (line.rfind(".global", 0) == 0) table(line);
    if (line.rfind(".visible .entry ", 0) == 0) name = line.substr(16, line.find('(') - 16);
    if (line == "{") {
      inside = true;
    } else if (line == "}") {
      entries_[name] = parse(lines);
      lines.clear();
      inside = false;
    } else if (inside && !line.empty() && line.rfind("//", 0) != 0) {
      lines.push_back(line);
    }
  }
}

inline void Machine::table(const std::string& line) {
  const bool wide = line.find(".b64") != std::string::npos;
  const std::size_t name = line.find("table"), open = line.find('{'), close = line.find('}');
  std::vector<char>& t = tables_[line.substr(name, line.find('[') - name)];
  for (const std::string& v : split(line.substr(open + 1, close - open - 1), ',')) {
    const Bits b = std::stoull(v, nullptr, 0);
    const char* p = reinterpret_cast<const char*>(&b);
    t.insert(t.end(), p, p + (wide ? 8 : 4));
  }
}

inline Machine::Entry Machine::parse(const std::vector<std::string>& lines) {
  Entry e;
  std::vector<std::string> code;
  std::map<std::string, int> labels;
  for (const std::string& line : lines) {
    if (line.rfind(".reg", 0) == 0) {
      const int cls = line.find("%p") != std::string::npos ? 0 : line.find("%r") != std::string::npos ? 1 : 2;
      const int n = std::stoi(line.substr(line.find('<') + 1));
      e.first[cls] = e.registers;
      e.registers += n;
      e.mask.resize(std::size_t(e.registers), cls == 0 ? 1 : cls == 1 ? 0xffffffff : ~Bits(0));
    } else if (line.rfind(".shared", 0) == 0) {
      e.shared = std::stoul(line.substr(line.find('[') + 1));
    } else if (line.back() == ':') {
      labels[line.substr(0, line.size() - 1)] = int(code.size());
    } else {
      code.push_back(line);
    }
  }
  for (const std::string& line : code) e.code.push_back(instruction(e, line, labels));
  return e;
}

inline int Machine::register_of(const Entry& e, const std::string& text) {
  const int cls = text[1] == 'p' ? 0 : text[1] == 'r' ? 1 : 2;
  return e.first[cls] + std::stoi(text.substr(2));
}

inline Machine::Operand Machine::operand(const Entry& e, std::string text) {
  if (text.front() == '[') text = text.substr(1, text.size() - 2);
  if (text == "%tid.x") return {Operand::thread};
  if (text == "%ctaid.x") return {Operand::block};
  if (text == "strip") return {Operand::shared};
  if (text.front() == '%') return {Operand::reg, register_of(e, text)};
  if (tables_.count(text)) return {Operand::value, 0, reinterpret_cast<Bits>(tables_[text].data())};
  if (text.front() == 'p') return {Operand::value, 0, std::stoull(text.substr(1))};
  if (text.front() == '-') return {Operand::value, 0, Bits(std::stoll(text))};
  return {Operand::value, 0, std::stoull(text, nullptr, 0)};
}

inline Machine::Instruction Machine::instruction(const Entry& e, std::string line,
                                                 const std::map<std::string, int>& labels) {
  Instruction i;
  if (line.front() == '@') {
    i.unless = line[1] == '!';
    const std::size_t space = line.find(' ');
    i.guard = register_of(e, line.substr(i.unless ? 2 : 1, space));
    line = line.substr(space + 1);
  }
  const std::size_t space = line.find(' ');
  const std::string op = line.substr(0, space);
  std::vector<std::string> args;
  if (space != std::string::npos) args = split(line.substr(space + 1), ',');
  ++used_[op];
  const bool loads = op.rfind("ld.", 0) == 0, stores = op.rfind("st.", 0) == 0;
  if (op == "ret") {
    i.kind = Instruction::leave;
  } else if (op == "bra") {
    i.kind = Instruction::branch;
    i.target = labels.at(args[0]);
  } else if (op == "bar.sync") {
    i.kind = Instruction::barrier;
  } else if (loads || stores) {
    i.kind = op == "ld.param.u64" ? Instruction::param : loads ? Instruction::read : Instruction::write;
    i.bytes = op.find(".u8") != std::string::npos ? 1 : op.find("32") != std::string::npos ? 4 : 8;
    if (loads) i.result = register_of(e, args[0]);
    i.in[0] = operand(e, args[loads ? 1 : 0]);
    if (stores) i.in[1] = operand(e, args[1]);
  } else {
    i.kind = op == "shfl.sync.down.b32" ? Instruction::shuffle : Instruction::compute;
    if (i.kind == Instruction::compute && !operations_.all.count(op)) fail("no instruction " + op);
    if (i.kind == Instruction::compute) i.f = operations_.all.at(op);
    i.result = register_of(e, args[0]);
    for (std::size_t k = 1; k < args.size(); ++k) i.in[k - 1] = operand(e, args[k]);
  }
  return i;
}

inline Bits Machine::get(const Block& b, int t, const Operand& o) const {
  switch (o.kind) {
    case Operand::reg: return b.threads[std::size_t(t)].reg[std::size_t(o.index)];
    case Operand::thread: return Bits(t);
    case Operand::block: return Bits(b.number);
    case Operand::shared: return reinterpret_cast<Bits>(b.shared.data());
    default: return o.bits;
  }
}

inline char* Machine::checked(Block& b, Bits address, int bytes) const {
  char* p = reinterpret_cast<char*>(address);
  auto holds = [&](char* data, std::size_t size) { return p >= data && p + bytes <= data + size; };
  if (address % Bits(bytes) != 0) fail("an access that is not aligned");
  if (holds(b.shared.data(), b.shared.size())) return p;
  for (const Span& s : b.memory)
    if (holds(s.data, s.bytes)) return p;
  for (const auto& [name, t] : tables_)
    if (holds(const_cast<char*>(t.data()), t.size())) return p;
  fail("an access outside of all memory");
}

// Runs thread t until it leaves or waits.
inline void Machine::step(Block& b, int t) const {
  Thread& th = b.threads[std::size_t(t)];
  while (true) {
    const Instruction& i = b.e.code.at(std::size_t(th.pc));
    if (i.kind == Instruction::barrier || i.kind == Instruction::shuffle) return void(th.waits = true);
    ++th.pc;
    if (i.guard >= 0 && (th.reg[std::size_t(i.guard)] & 1) == Bits(i.unless)) continue;
    Bits result = 0;
    switch (i.kind) {
      case Instruction::leave: return void(th.left = true);
      case Instruction::branch: th.pc = i.target; continue;
      case Instruction::write: {
        const Bits v = get(b, t, i.in[1]);
        std::memcpy(checked(b, get(b, t, i.in[0]), i.bytes), &v, std::size_t(i.bytes));
        continue;
      }
      case Instruction::read:
        std::memcpy(&result, checked(b, get(b, t, i.in[0]), i.bytes), std::size_t(i.bytes));
        break;
      case Instruction::param: result = reinterpret_cast<Bits>(b.params.at(std::size_t(i.in[0].bits))); break;
      default: result = i.f(get(b, t, i.in[0]), get(b, t, i.in[1]), get(b, t, i.in[2]));
    }
    th.reg[std::size_t(i.result)] = result & b.e.mask[std::size_t(i.result)];
  }
}

// Lets threads go on that wait for each other: all of a warp, all of the block. False: none do.
inline bool Machine::exchange(Block& b) const {
  bool any = false;
  const int n = int(b.threads.size());
  auto together = [&](int from, int to) {
    for (int t = from; t < to; ++t)
      if (!b.threads[std::size_t(t)].waits || b.threads[std::size_t(t)].pc != b.threads[std::size_t(from)].pc)
        return false;
    return true;
  };
  for (int warp = 0; warp < n; warp += 32) {
    const Instruction& i = b.e.code[std::size_t(b.threads[std::size_t(warp)].pc) % b.e.code.size()];
    if (!together(warp, warp + 32) || i.kind != Instruction::shuffle) continue;
    std::vector<Bits> handed(32);
    for (int lane = 0; lane < 32; ++lane) {
      const Bits within = get(b, warp + lane, i.in[2]), segment = within >> 8 & 31,
                 last = (Bits(lane) & segment) | (within & 31 & ~segment);
      const Bits from = Bits(lane) + get(b, warp + lane, i.in[1]);
      handed[std::size_t(lane)] = get(b, warp + int(from <= last ? from : Bits(lane)), i.in[0]);
    }
    for (int lane = 0; lane < 32; ++lane) {
      Thread& th = b.threads[std::size_t(warp + lane)];
      th.reg[std::size_t(i.result)] = handed[std::size_t(lane)];
      ++th.pc;
      th.waits = false;
    }
    any = true;
  }
  if (!any && together(0, n) && b.e.code[std::size_t(b.threads[0].pc)].kind == Instruction::barrier) {
    for (Thread& th : b.threads) ++th.pc, th.waits = false;
    any = true;
  }
  return any;
}

inline void Machine::run(const std::string& name, std::int64_t grid, int block, const std::vector<Span>& memory,
                         const std::vector<char*>& params) {
  if (!entries_.count(name)) fail("no entry " + name);
  const Entry& e = entries_.at(name);
  for (std::int64_t k = 0; k < grid; ++k) {
    std::vector<char> shared(e.shared + 64, char(0x5A));
    Block b{e, memory, params, std::move(shared), std::vector<Thread>(std::size_t(block)), k};
    for (Thread& t : b.threads) t.reg.assign(std::size_t(e.registers), 0xDEADBEEFDEADBEEF);
    bool left = false;
    while (!left) {
      left = true;
      for (int t = 0; t < block; ++t) {
        Thread& th = b.threads[std::size_t(t)];
        if (!th.left && !th.waits) step(b, t);
        left = left && th.left;
      }
      if (!left && !exchange(b)) fail("threads wait for each other in " + name);
    }
  }
}

}  // namespace ptx_machine
