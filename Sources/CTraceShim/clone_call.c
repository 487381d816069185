// Tasks of the recorder's own, made without the C library.

#include "clone_call.h"

#include <sys/syscall.h>

long lt_clone_call(long flags, void *stackTop, void (*run)(void *), void *argument, void *childThread, uintptr_t threadPointer) {
  uintptr_t *top = (uintptr_t *)stackTop - 2;
  top[0] = (uintptr_t)run;
  top[1] = (uintptr_t)argument;
  long result;
  register void *thread __asm__("r10") = childThread;
  register uintptr_t pointer __asm__("r8") = threadPointer;
  __asm__ volatile(
      "syscall\n"
      "testq %%rax, %%rax\n"
      "jnz 1f\n"
      "xorl %%ebp, %%ebp\n"
      "popq %%rax\n"
      "popq %%rdi\n"
      "callq *%%rax\n"
      "movl %[exit], %%eax\n"
      "xorl %%edi, %%edi\n"
      "syscall\n"
      "hlt\n"
      "1:\n"
      : "=a"(result)
      : "a"(SYS_clone), "D"(flags), "S"(top), "d"(0L), "r"(thread), "r"(pointer), [exit] "i"(SYS_exit)
      : "rcx", "r11", "memory");
  return result;
}
