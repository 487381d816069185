// Tasks of the recorder's own, made without the C library.

#include "arch/arch.h"

#include <sys/syscall.h>

/// The task finds on its stack where to go on.
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
          "movq (%%rsp), %%rax\n" // and leaves both words for the next task
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
