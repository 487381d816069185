// The state of each thread, the switch that turns hooks on and off, and the recorder's own stacks and thread-local
// memory.

#include "thread/thread_state.h"

#include "CTraceFormat.h"
#include "arch/arch.h"
#include "check.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

// --- state -----------------------------------------------------------------------------------------------------------

__thread struct lt_tls lt_tls;

static struct {
  _Atomic(struct lt_thread *) first;
  _Atomic uint32_t lastNumber; ///< a counter, which needs no order
} threads;

// Sequentially consistent: pairs with the exchange in lt_thread_list. A thread that changed a setting before this load
// sees every thread that read the old setting after it was listed.
struct lt_thread *lt_thread_first(void) {
  return atomic_load(&threads.first);
}

struct lt_thread *lt_thread_self(void) {
  return lt_tls.thread && lt_tls.thread->number ? lt_tls.thread : NULL;
}

uint32_t lt_thread_take_number(void) { return atomic_fetch_add(&threads.lastNumber, 1) + 1; }

uint32_t lt_thread_count(void) { return atomic_load_explicit(&threads.lastNumber, memory_order_relaxed); }

/// True if the state is in the list of threads.
LT_INVARIANT bool is_listed(const struct lt_thread *t) {
  for (const struct lt_thread *listed = lt_thread_first(); listed; listed = atomic_load(&listed->next))
    if (listed == t) return true;
  return false;
}

void lt_thread_list(struct lt_thread *t) {
  LT_CHECK(t && !is_listed(t));
  struct lt_thread *first = lt_thread_first();
  // The exchange publishes the state, and pairs with the load in lt_thread_first.
  do atomic_store(&t->next, first);
  while (!atomic_compare_exchange_weak(&threads.first, &first, t));
}

void lt_thread_send_to_prepare(void) {
  // Comes after the caller's store of the setting, and pairs with the store in make_ready.
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) atomic_store(&t->isReady, 0);
}

struct lt_thread *lt_thread_unlist_all(void) {
  atomic_store(&threads.lastNumber, 0);
  return atomic_exchange(&threads.first, NULL);
}

void lt_thread_reset_after_fork(void) {
  // The fork wiped these states, so drop them instead of reusing them.
  lt_thread_unlist_all();
  LT_CHECK(!lt_thread_first());
  void *ownStack = lt_tls.ownStack;
  memset(&lt_tls, 0, sizeof lt_tls);
  lt_tls.ownStack = ownStack;
}

// --- hook switch -----------------------------------------------------------------------------------------------------

LT_HOOK_DATA _Atomic uint32_t lt_hook_mode;
static _Atomic uint32_t neverPaused = LT_SWITCH_RECORD, hooksOff = LT_SWITCH_PAUSED;
LT_HOOK_DATA _Atomic(_Atomic uint32_t *) lt_pause_switch = &hooksOff;
static _Atomic uint32_t *liveSwitch = &neverPaused; ///< used only by the thread that begins or ends the recording

/// Points lt_pause_switch to the word that hooks must check now.
static void connect_switch(void) {
  _Atomic uint32_t *word = atomic_load(&lt_hook_mode) == LT_HOOKS_OFF ? &hooksOff : liveSwitch;
  LT_CHECK(word != NULL);
  // Release: pairs with the dependent loads in lt_pause_state. The word was set before.
  atomic_store_explicit(&lt_pause_switch, word, memory_order_release);
  LT_CHECK(atomic_load(&hooksOff) == LT_SWITCH_PAUSED && atomic_load(&neverPaused) == LT_SWITCH_RECORD);
}

void lt_hooks_set(enum lt_hook_mode mode) {
  LT_CHECK(mode == LT_HOOKS_OFF || mode == LT_HOOKS_ON);
  // Pairs with the loads in lt_thread_prepare and is_on: they see all settings from before LT_HOOKS_ON.
  atomic_store(&lt_hook_mode, mode);
  connect_switch();
}

void lt_hooks_connect(_Atomic uint32_t *pauseSwitch) {
  liveSwitch = pauseSwitch ? pauseSwitch : &neverPaused;
  connect_switch();
}

// --- the recorder's stacks -------------------------------------------------------------------------------------------

// The recorder's own stacks: which thread uses each one, and the switch to a stack and back. A stack is mapped at its
// first use and then kept.

enum { STACK_LIMIT = 1024 };

static struct own_stack {
  _Atomic uint32_t isTaken;  ///< 1 while a thread uses the stack
  _Atomic(uint8_t *) memory; ///< NULL until the first use; does not change after that
} stacks[STACK_LIMIT];

static uint8_t *memory_of(struct own_stack *stack) {
  uint8_t *memory = atomic_load_explicit(&stack->memory, memory_order_relaxed);
  if (LT_LIKELY(memory)) return memory;
  memory = lt_map_private(LT_OWN_STACK_SIZE);
  if (!memory) return NULL;
  LT_CHECK(atomic_load(&stack->isTaken) == 1 && lt_is_page_aligned((uintptr_t)memory));
  // The lowest page is inaccessible: a fault is better than an overflow into other memory. If the kernel refuses, the
  // page stays accessible.
  lt_syscall(SYS_mprotect, memory, lt_page_size(), 0);
  // Release: pairs with the acquire in lt_own_stack_left_at.
  atomic_store_explicit(&stack->memory, memory, memory_order_release);
  return memory;
}

static struct own_stack *take(void) {
  for (uint32_t i = 0; i < STACK_LIMIT; i++) {
    uint32_t free = 0;
    if (atomic_load_explicit(&stacks[i].isTaken, memory_order_relaxed)) continue;
    // Pairs with the stores of 0: this thread sees all that the stack's last user wrote.
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
  // Fault signals stay unblocked, so the host still sees faults of the recorder.
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
      // The thread writes the word before it switches to this stack. So the word never points into this stack.
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

// --- the recorder's threads ------------------------------------------------------------------------------------------

uintptr_t lt_make_thread_local(void) {
  size_t size = lt_thread_local_size(&lt_tls);
  LT_CHECK(lt_is_page_aligned(size));
  uint8_t *memory = size ? lt_map_private(size) : NULL;
  return memory ? lt_thread_local_make(memory, &lt_tls) : 0;
}
