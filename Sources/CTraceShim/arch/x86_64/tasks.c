// The recorder's own tasks, calls on another stack, and thread-local memory.

#ifdef __x86_64__

#include "arch/arch.h"
#include "check.h"

#include <sys/syscall.h>

// --- clone -----------------------------------------------------------------------------------------------------------

// Starts the recorder's own tasks, without the C library.

/// The new task finds the function and its argument on its stack.
__attribute__((naked)) long lt_clone_call(long flags, void *top, void (*run)(void *), void *argument, void *childThread,
                                          uintptr_t threadPointer) {
  __asm__("subq $16, %%rsi\n"
          "movq %%rdx, (%%rsi)\n"
          "movq %%rcx, 8(%%rsi)\n"
          "xorl %%edx, %%edx\n"
          "movq %%r8, %%r10\n"
          "movq %%r9, %%r8\n"
          "movl %[clone], %%eax\n"
          ".globl lt_clone_instruction\n"
          ".hidden lt_clone_instruction\n"
          "lt_clone_instruction:\n"
          "syscall\n"
          "testq %%rax, %%rax\n"
          "jnz 1f\n"
          "xorl %%ebp, %%ebp\n"
          "movq (%%rsp), %%rax\n" // leave both words there for the next task
          "movq 8(%%rsp), %%rdi\n"
          "callq *%%rax\n"
          "movl %[exit], %%eax\n"
          "xorl %%edi, %%edi\n"
          "syscall\n"
          "hlt\n"
          "1:\n"
          "retq\n" ::[clone] "i"(SYS_clone),
          [exit] "i"(SYS_exit));
}

extern const char lt_clone_instruction[] __attribute__((visibility("hidden")));

void lt_clone_prepare(struct lt_clone_registers *registers, void *top, void (*run)(void *), void *argument) {
  uintptr_t *words = (uintptr_t *)top - 2;
  words[0] = (uintptr_t)run;
  words[1] = (uintptr_t)argument;
  registers->call = (uintptr_t)lt_clone_instruction;
  registers->stack = (uintptr_t)words;
}

// --- stack switch ----------------------------------------------------------------------------------------------------

// Calls a function on another stack.

__asm__(".text\n"
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

// --- thread-local memory ---------------------------------------------------------------------------------------------

// Thread-local variables lie below the thread pointer. The word at the thread pointer holds its own address (System V
// ABI for x86-64, "Thread-Local Storage").

enum { CONTROL_BLOCK_SIZE = 8192, LIMIT = 1 << 20 };

/// Returns the bytes from the start of the variable's page to the thread pointer.
static size_t size_below(const void *variable) {
  return (lt_thread_pointer() - (uintptr_t)variable + lt_page_size() - 1) & ~(uintptr_t)(lt_page_size() - 1);
}

size_t lt_thread_local_size(const void *variable) {
  return lt_thread_pointer() - (uintptr_t)variable > LIMIT ? 0 : size_below(variable) + CONTROL_BLOCK_SIZE;
}

uintptr_t lt_thread_local_make(uint8_t *memory, const void *variable) {
  const uintptr_t *own = (const uintptr_t *)lt_thread_pointer();
  uintptr_t *made = (uintptr_t *)(memory + size_below(variable));
  LT_CHECK((uint8_t *)made > memory && (uintptr_t)made % lt_page_size() == 0);
  made[0] = made[2] = (uintptr_t)made; // for the ABI, and for glibc
  made[5] = own[5];                    // the stack guard
  return (uintptr_t)made;
}

#endif
