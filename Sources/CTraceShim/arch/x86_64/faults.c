// What a copy of the process needs to read pages that raise signals.

#include "arch/arch.h"

#include <cpuid.h>
#include <sys/syscall.h>

__attribute__((naked)) void lt_signal_return(void) {
  __asm__("movl %[number], %%eax\n"
          "syscall\n"
          "hlt\n" ::[number] "i"(SYS_rt_sigreturn));
}

void lt_allow_protected_memory(void) {
  // The kernel has switched protection keys on: OSPKE (Intel SDM, CPUID leaf 7).
  enum { FEATURES = 7, KEYS_ARE_ON = 1 << 4 };
  unsigned a, b, c, d;
  if (!__get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) || !(c & KEYS_ARE_ON)) return;
  // WRPKRU with 0: every key allows everything.
  __asm__ volatile(".byte 0x0f, 0x01, 0xef" ::"a"(0), "c"(0), "d"(0) : "memory");
}
