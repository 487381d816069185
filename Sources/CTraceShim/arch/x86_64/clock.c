// The time stamp counter.

#include "arch/arch.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/// Linux, arch/x86/include/uapi/asm/prctl.h.
enum { GET_CPUID = 0x1011, SET_CPUID = 0x1012 };

bool lt_may_ask_processor(void) {
  int counter = PR_TSC_ENABLE;
  lt_syscall(SYS_prctl, PR_GET_TSC, &counter, 0);
  return counter == PR_TSC_ENABLE && lt_syscall(SYS_arch_prctl, GET_CPUID, 0, 0) != 0;
}

bool lt_makes_identification_fail(long number, long option, long argument) {
  return number == SYS_arch_prctl && option == SET_CPUID && argument == 0;
}

bool lt_ticks_are_invariant(void) {
  uint32_t eax = 0x80000007, ebx, ecx = 0, edx;
  __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  return (edx >> 8) & 1;
}

bool lt_is_tick_clock(const char *clockSource) {
  return strncmp(clockSource, "tsc", 3) == 0 || strncmp(clockSource, "kvm-clock", 9) == 0 ||
         strncmp(clockSource, "hyperv", 6) == 0;
}

uint64_t lt_nominal_tick_rate(void) {
  uint32_t eax = 0x15, ebx, ecx = 0, edx;
  __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  if (eax == 0 || ebx == 0 || ecx == 0) return 0;
  return (uint64_t)ecx * ebx / eax;
}
