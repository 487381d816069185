// Stacks of the recorder's own: who has which, and the way there and back. Memory is mapped when a stack is first needed, and kept.

#include "own_stack.h"

#include "thread_state.h"

#include <signal.h>

enum { PAGE = 4096, STACK_LIMIT = 1024 };

static struct own_stack {
  _Atomic uint32_t isTaken;
  _Atomic(uint8_t *) memory; ///< NULL until it is first needed
} stacks[STACK_LIMIT];

/// Calls `function(argument)` on the stack that ends at `top`. Its highest word is where the caller's stack was left, below all registers that calls preserve.
/// The frame is found by rbp, from either side.
void lt_call_on_stack(void (*function)(void *), void *argument, void *top) __attribute__((visibility("hidden")));
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl lt_call_on_stack\n"
    ".hidden lt_call_on_stack\n"
    ".type lt_call_on_stack, @function\n"
    "lt_call_on_stack:\n"
    "  .cfi_startproc\n"
    "  pushq %rbp\n"
    "  .cfi_def_cfa_offset 16\n"
    "  .cfi_offset %rbp, -16\n"
    "  movq %rsp, %rbp\n"
    "  .cfi_def_cfa_register %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  .cfi_offset %rbx, -24\n"
    "  .cfi_offset %r12, -32\n"
    "  .cfi_offset %r13, -40\n"
    "  .cfi_offset %r14, -48\n"
    "  .cfi_offset %r15, -56\n"
    "  movq %rsp, -8(%rdx)\n"
    "  leaq -16(%rdx), %rsp\n"
    "  movq %rdi, %rax\n"
    "  movq %rsi, %rdi\n"
    "  callq *%rax\n"
    "  leaq -40(%rbp), %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  .cfi_def_cfa %rsp, 8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size lt_call_on_stack, .-lt_call_on_stack\n");

static uint8_t *memory_of(struct own_stack *stack) {
  uint8_t *memory = atomic_load_explicit(&stack->memory, memory_order_relaxed);
  if (LT_LIKELY(memory)) return memory;
  memory = lt_map_private(LT_OWN_STACK_SIZE);
  if (!memory) return NULL;
  // A page that faults is better than one that belongs to somebody else. Where the kernel refuses, it stays what it is.
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
  // Faults are not held back: those of the recorder's are the host's to see, as ever.
  enum { FIRST = 1 };
  uint64_t held = ~(1ull << (SIGSEGV - FIRST) | 1ull << (SIGBUS - FIRST) | 1ull << (SIGILL - FIRST) | 1ull << (SIGFPE - FIRST) | 1ull << (SIGTRAP - FIRST) |
                    1ull << (SIGSYS - FIRST)), before;
  lt_syscall6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&held, (long)&before, sizeof held, 0, 0);
  struct own_stack *stack = take();
  if (stack) {
    lt_tls.ownStack = stack;
    lt_call_on_stack(function, argument, atomic_load_explicit(&stack->memory, memory_order_relaxed) + LT_OWN_STACK_SIZE);
    lt_tls.ownStack = NULL;
    atomic_store(&stack->isTaken, 0);
  }
  lt_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before, 0, 0);
  return stack != NULL;
}

uintptr_t lt_own_stack_left_at(uintptr_t stackPointer) {
  for (uint32_t i = 0; i < STACK_LIMIT; i++) {
    uintptr_t memory = (uintptr_t)atomic_load_explicit(&stacks[i].memory, memory_order_acquire);
    if (memory && stackPointer >= memory && stackPointer < memory + LT_OWN_STACK_SIZE) return *(const uintptr_t *)(memory + LT_OWN_STACK_SIZE - 8);
  }
  return stackPointer;
}

void lt_own_stack_reset_after_fork(void) {
  for (uint32_t i = 0; i < STACK_LIMIT; i++)
    if (&stacks[i] != lt_tls.ownStack) atomic_store(&stacks[i].isTaken, 0);
}
