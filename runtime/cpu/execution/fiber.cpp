#include "runtime/cpu/execution/fiber.h"

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace warplens::cpu {

namespace context = boost::context::detail;

// Announces each change of stack to the address sanitizer (sanitizer/common_interface_defs.h).
static void about_to_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                            [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
#endif
}
static void switched([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** old_bottom,
                     [[maybe_unused]] std::size_t* old_bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, old_bottom, old_bytes);
#endif
}

/// Clears the sanitizer's marks around the locals of a fiber that was abandoned.
static void forget_locals([[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(bottom, bytes);
#endif
}

// The thread sanitizer keeps a stack of calls for each fiber (sanitizer/tsan_interface.h).
#if defined(__SANITIZE_THREAD__)
void SanitizedFiber::begin() {
  end();
  handle_ = __tsan_create_fiber(0);
}
void SanitizedFiber::end() {
  if (handle_)
    __tsan_destroy_fiber(std::exchange(handle_, nullptr));
}
void* SanitizedFiber::enter() const {
  void* const before = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(handle_, 0);
  return before;
}
void SanitizedFiber::go_back_to(void* before) {
  __tsan_switch_to_fiber(before, 0);
}
#else
void SanitizedFiber::begin() {}
void SanitizedFiber::end() {}
void* SanitizedFiber::enter() const {
  return nullptr;
}
void SanitizedFiber::go_back_to(void*) {}
#endif

void StackPool::release() {
  if (base_)
    munmap(base_ - guard_bytes, guard_bytes + count_ * stride_);
  base_ = nullptr;
  count_ = stride_ = 0;
}

void StackPool::reserve(std::size_t count, std::size_t bytes) {
  const std::size_t stride = ((bytes + 4095) & ~std::size_t{4095}) + largest_stagger;
  if (count <= count_ && stride <= stride_)
    return;
  const std::size_t new_count = std::max(count, count_), new_stride = std::max(stride, stride_);
  release();
  const std::size_t size = guard_bytes + new_count * new_stride;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  if (mprotect(memory, guard_bytes, PROT_NONE) != 0) {
    munmap(memory, size);
    throw std::bad_alloc();
  }
  base_ = static_cast<char*>(memory) + guard_bytes;
  count_ = new_count;
  stride_ = new_stride;
  // A lane uses a page or two of its stack: huge pages would back all stacks completely.
  madvise(base_, count_ * stride_, MADV_NOHUGEPAGE);
}

char* StackPool::top(std::size_t index) const {
  constexpr std::size_t places = 16;
  return base_ + (index + 1) * stride_ - (index % places) * (largest_stagger / places);
}

StackPool::Place StackPool::place_of(std::uint64_t address) const {
  const std::size_t index = (address - reinterpret_cast<std::uint64_t>(base_)) / stride_;
  return {index, reinterpret_cast<std::uint64_t>(top(index)) - address};
}

struct Fiber::Start {
  static void run(context::transfer_t from) {
    auto* fiber = static_cast<Fiber*>(from.data);
    switched(nullptr, &fiber->resumers_bottom_, &fiber->resumers_bytes_);
    fiber->resumer_ = from.fctx;
    fiber->entry_(fiber->argument_);
    std::abort(); // the entry returned
  }
};

void Fiber::prepare(char* stack_top, std::size_t stack_bytes, Entry entry, void* argument) {
  entry_ = entry;
  argument_ = argument;
  stack_bottom_ = stack_top - stack_bytes;
  stack_bytes_ = stack_bytes;
  fake_stack_ = nullptr;
  forget_locals(stack_bottom_, stack_bytes);
  sanitized_.begin();
  fiber_ = context::make_fcontext(stack_top, stack_bytes, Start::run);
}

void Fiber::resume() {
  about_to_switch(&resumers_fake_stack_, stack_bottom_, stack_bytes_);
  resumers_sanitized_ = sanitized_.enter();
  fiber_ = context::jump_fcontext(fiber_, this).fctx;
  switched(resumers_fake_stack_, nullptr, nullptr);
}

void Fiber::suspend() {
  about_to_switch(&fake_stack_, resumers_bottom_, resumers_bytes_);
  SanitizedFiber::go_back_to(resumers_sanitized_);
  resumer_ = context::jump_fcontext(resumer_, nullptr).fctx;
  switched(fake_stack_, &resumers_bottom_, &resumers_bytes_);
}

} // namespace warplens::cpu
