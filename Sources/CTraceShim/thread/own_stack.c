// Stacks of the recorder's own: the user of each, and the switch to it and back. Memory is mapped when a stack is first
// needed, and kept.

#include "thread/own_stack.h"

#include "check.h"
#include "thread/thread_state.h"

#include <signal.h>

enum { PAGE = 4096, STACK_LIMIT = 1024 };

static struct own_stack {
  _Atomic uint32_t isTaken;  ///< 1 while a thread uses the stack
  _Atomic(uint8_t *) memory; ///< NULL until it is first needed; never changes after that
} stacks[STACK_LIMIT];

static uint8_t *memory_of(struct own_stack *stack) {
  uint8_t *memory = atomic_load_explicit(&stack->memory, memory_order_relaxed);
  if (LT_LIKELY(memory)) return memory;
  memory = lt_map_private(LT_OWN_STACK_SIZE);
  if (!memory) return NULL;
  LT_CHECK(atomic_load(&stack->isTaken) == 1 && (uintptr_t)memory % PAGE == 0);
  // A page that faults is better than an overflow into other memory. If the kernel refuses, the page stays accessible.
  lt_syscall(SYS_mprotect, memory, PAGE, 0);
  atomic_store_explicit(&stack->memory, memory, memory_order_release);
  return memory;
}

static struct own_stack *take(void) {
  for (uint32_t i = 0; i < STACK_LIMIT; i++) {
    uint32_t free = 0;
    if (atomic_load_explicit(&stacks[i].isTaken, memory_order_relaxed)) continue;
    if (!atomic_compare_exchange_strong(&stacks[i].isTaken, &free, 1)) continue;
    if (memory_of(&stacks[i])) return &stacks[i];
    atomic_store(&stacks[i].isTaken, 0);
    return NULL;
  }
  return NULL;
}

bool lt_on_own_stack(void (*function)(void *), void *argument) {
  if (lt_tls.ownStack) {
    function(argument);
    return true;
  }
  // Faults are not blocked: the host still sees the recorder's.
  enum { FIRST = 1 };
  uint64_t held = ~(1ull << (SIGSEGV - FIRST) | 1ull << (SIGBUS - FIRST) | 1ull << (SIGILL - FIRST) |
                    1ull << (SIGFPE - FIRST) | 1ull << (SIGTRAP - FIRST) | 1ull << (SIGSYS - FIRST));
  uint64_t before = lt_block_signals(held);
  struct own_stack *stack = take();
  if (stack) {
    LT_CHECK(!lt_tls.ownStack && stack->memory);
    lt_tls.ownStack = stack;
    lt_call_on_stack(function, argument,
                     atomic_load_explicit(&stack->memory, memory_order_relaxed) + LT_OWN_STACK_SIZE);
    LT_CHECK(lt_tls.ownStack == stack);
    LT_CHECK(atomic_load(&stack->isTaken) == 1);
    lt_tls.ownStack = NULL;
    atomic_store(&stack->isTaken, 0);
  }
  lt_restore_signals(before);
  return stack != NULL;
}

uintptr_t lt_own_stack_left_at(uintptr_t stackPointer) {
  for (uint32_t i = 0; i < STACK_LIMIT; i++) {
    uintptr_t memory = (uintptr_t)atomic_load_explicit(&stacks[i].memory, memory_order_acquire);
    if (memory && stackPointer >= memory && stackPointer < memory + LT_OWN_STACK_SIZE) {
      // The thread writes the word before it moves the stack pointer. The word never points into this stack.
      LT_CHECK(*(const uintptr_t *)(memory + LT_OWN_STACK_SIZE - 8) - memory >= LT_OWN_STACK_SIZE);
      return *(const uintptr_t *)(memory + LT_OWN_STACK_SIZE - 8);
    }
  }
  return stackPointer;
}

void lt_own_stack_reset_after_fork(void) {
  for (uint32_t i = 0; i < STACK_LIMIT; i++)
    if (&stacks[i] != lt_tls.ownStack) atomic_store(&stacks[i].isTaken, 0);
}
