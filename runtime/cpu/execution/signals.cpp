// Handles signals in running kernels. A handler cannot end a lane itself: it runs on top of the lane's stack,
// which may be exhausted. It makes the thread continue in another function on another stack instead, and that
// function ends the lane in the usual way.
#include "runtime/cpu/execution/signals.h"

#include "runtime/cpu/device/held_lock.h"
#include "runtime/cpu/execution/block.h"
#include "runtime/host/recorder.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <set>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

namespace warplens::cpu {

namespace {

constexpr std::size_t signal_stack_bytes = 256 * 1024;
constexpr std::array faults{SIGSEGV, SIGBUS, SIGILL};
constexpr std::array endings{SIGINT, SIGTERM};

std::array<struct sigaction, 65> handled_before{};
std::atomic<int> ending = 0; ///< the signal that requested the program's end
sem_t end_requested;

struct Code {
  std::uint64_t begin, end;
};
/// The ranges of lowered code, filled before any kernel runs, or while a library is loaded; handlers read
/// them, so entries are never reused.
std::array<Code, 4096> code;
std::atomic<std::size_t> code_count = 0;

/// The threads that take part in a launch, once for each launch.
struct Threads {
  std::mutex mutex;
  std::multiset<pthread_t> all;
};
Threads& threads() {
  static Threads& instance = *new Threads;
  return instance;
}
pid_t owner = 0;

thread_local char* stack_of_this_thread = nullptr;
thread_local int stopped_by = 0;
thread_local std::uint64_t fault_address = 0;

bool in_lowered_code(std::uint64_t place) {
  const std::size_t count = code_count;
  for (std::size_t i = 0; i < count; ++i)
    if (place >= code[i].begin && place < code[i].end)
      return true;
  return false;
}

[[noreturn]] void stop_lane() {
  Block& block = Block::running_here();
  if (stopped_by == SIGINT || stopped_by == SIGTERM)
    block.fail("interrupted", BlockStatus::interrupted);
  block.fail_by_fault(stopped_by, fault_address);
}

/// Makes the thread continue in stop_lane() with an empty stack.
void divert(void* context, int signal, std::uint64_t address) {
  stopped_by = signal;
  fault_address = address;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&stop_lane);
  // The alignment after a call: the ABI requires a multiple of 16 before it.
  registers[REG_RSP] = reinterpret_cast<greg_t>(stack_of_this_thread + signal_stack_bytes / 2 - 8);
}

/// Ends the program after a fault while the thread holds a lock: the lane cannot be ended alone, and no
/// function that takes a lock may be called any more.
[[noreturn]] void end_at_once(std::uint64_t address) {
  std::array<char, 512> line;
  const int length = std::snprintf(
      line.data(), line.size(),
      "warplens: the runtime accesses unmapped memory at %#llx, while it holds a lock for a "
      "kernel: has "
      "the kernel overwritten the program's memory? The program ends (--memcheck may report the line)\n",
      static_cast<unsigned long long>(address));
  static_cast<void>(!write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length)));
  _exit(1);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const Block* const block = Block::current();
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  const bool in_kernel = stack_of_this_thread && block && block->in_kernel();
  if (!in_kernel) // the signal will be raised again
    sigaction(signal, &handled_before[static_cast<std::size_t>(signal)], nullptr);
  else if (Holding::any())
    end_at_once(address);
  else
    divert(context, signal, address);
}

void on_ending(int signal, siginfo_t*, void* context) {
  const auto place =
      static_cast<std::uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  if (getpid() != owner) { // a child of fork() has no thread that would end it
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  int none = 0;
  if (ending.compare_exchange_strong(none, signal))
    sem_post(&end_requested);
  if (stack_of_this_thread && in_lowered_code(place))
    divert(context, signal, 0);
}

/// Interrupts threads until none takes part in a launch: they can only be stopped in lowered code, or between
/// two lanes.
void end_program() {
  while (sem_wait(&end_requested) != 0) {
  }
  constexpr auto interval = std::chrono::milliseconds(10);
  constexpr int patience = 300;
  for (int attempt = 0; attempt < patience; ++attempt) {
    {
      const std::lock_guard lock(threads().mutex);
      if (threads().all.empty())
        break;
      for (const pthread_t thread : threads().all)
        pthread_kill(thread, ending);
    }
    std::this_thread::sleep_for(interval);
  }
  runtime::Recorder::instance().finish();
  std::signal(ending, SIG_DFL);
  raise(ending);
}

/// The stack on which handlers run that interrupt the calling OS thread, and on which it ends a lane.
class SignalStack {
public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

private:
  char* memory_ = nullptr;
};

SignalStack::SignalStack() {
  void* memory = mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return; // signals then keep their default effect
  memory_ = static_cast<char*>(memory);
  // Handlers use the upper half, stop_lane() the lower one.
  stack_t stack{}, before{};
  stack.ss_sp = memory_ + signal_stack_bytes / 2;
  stack.ss_size = signal_stack_bytes / 2;
  sigaltstack(nullptr, &before);
  if (before.ss_flags & SS_DISABLE)
    sigaltstack(&stack, nullptr);
  stack_of_this_thread = memory_;
}

SignalStack::~SignalStack() {
  if (!memory_)
    return;
  stack_of_this_thread = nullptr;
  stack_t now{};
  sigaltstack(nullptr, &now);
  if (now.ss_sp == memory_ + signal_stack_bytes / 2) {
    now.ss_flags = SS_DISABLE;
    sigaltstack(&now, nullptr);
  }
  munmap(memory_, signal_stack_bytes);
}

} // namespace

bool interrupted() {
  return ending.load(std::memory_order_relaxed) != 0;
}

void wait_for_program_end() {
  for (;;)
    pause();
}

/// Installs the handlers at the first call; signals that concern no kernel are handled as before.
static void watch_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    owner = getpid();
    sem_init(&end_requested, 0, 0);
    std::thread(end_program).detach();
    const auto take_over = [](int signal, auto* handler, int flags, bool always) {
      struct sigaction action{};
      struct sigaction& before = handled_before[static_cast<std::size_t>(signal)];
      sigaction(signal, nullptr, &before);
      if (!always && before.sa_handler != SIG_DFL)
        return; // a signal that the program itself handles
      action.sa_sigaction = handler;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK | flags;
      sigaction(signal, &action, nullptr);
    };
    for (const int signal : faults)
      take_over(signal, on_fault, SA_NODEFER, true);
    for (const int signal : endings)
      take_over(signal, on_ending, SA_RESTART, false);
  });
}

LaunchParticipation::LaunchParticipation() {
  watch_signals();
  static thread_local const SignalStack stack;
  const std::lock_guard lock(threads().mutex);
  threads().all.insert(pthread_self());
}

LaunchParticipation::~LaunchParticipation() {
  const std::lock_guard lock(threads().mutex);
  threads().all.erase(threads().all.find(pthread_self()));
}

} // namespace warplens::cpu

void __warplens_cpu_register_code(const void* begin, const void* end) {
  using namespace warplens::cpu;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto first = reinterpret_cast<std::uint64_t>(begin), last = reinterpret_cast<std::uint64_t>(end);
  const std::size_t count = code_count;
  for (std::size_t i = 0; i < count; ++i)
    if (code[i].begin == first) // each object of a program registers all of them
      return;
  if (count == code.size())
    return; // lanes in the remaining code can only be stopped between two of them
  code[count] = {first, last};
  code_count = count + 1;
}
