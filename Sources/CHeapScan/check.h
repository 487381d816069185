// Runtime checks of the recorder's own invariants. The shipped library contains none of them.
//
// Compile with -DLT_CHECKS to turn checks on. A check that fails writes one line to standard error and aborts.

#ifndef LEAKTRACE_CHECK_H
#define LEAKTRACE_CHECK_H

/// Marks a function that is called only in checks, and so is unused if checks are off.
#define LT_INVARIANT static __attribute__((unused))

#ifdef LT_CHECKS

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#if defined(__x86_64__) && defined(__linux__)
#define LT_CHECK_SPEAKS
static inline long lt_check_call(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__) && defined(__linux__)
#define LT_CHECK_SPEAKS
static inline long lt_check_call(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#endif

/// Writes the line and aborts the process. Safe in signal handlers, since it makes only raw system calls.
static _Noreturn __attribute__((cold, noinline, unused)) void lt_check_failed(const char *line, size_t size) {
#ifdef LT_CHECK_SPEAKS
  // The kernel's own layout is: handler, flags, restorer, mask. Zeros mean the default disposition.
  const unsigned long defaultAction[4] = {0}, abortSet = 1ul << (SIGABRT - 1);
  enum { STANDARD_ERROR = 2, UNBLOCK = 1 };
  lt_check_call(SYS_write, STANDARD_ERROR, (long)line, (long)size, 0);
  lt_check_call(SYS_rt_sigaction, SIGABRT, (long)defaultAction, 0, sizeof abortSet);
  lt_check_call(SYS_rt_sigprocmask, UNBLOCK, (long)&abortSet, 0, sizeof abortSet);
  lt_check_call(SYS_tgkill, lt_check_call(SYS_getpid, 0, 0, 0, 0), lt_check_call(SYS_gettid, 0, 0, 0, 0), SIGABRT, 0);
#else
  (void)line;
  (void)size;
#endif
  __builtin_trap();
}

#define LT_CHECK_TEXT_OF(number) #number
#define LT_CHECK_TEXT(number) LT_CHECK_TEXT_OF(number)
#define LT_CHECK_LINE(condition) \
  "leaktrace: check failed: " __FILE_NAME__ ":" LT_CHECK_TEXT(__LINE__) ": " condition "\n"

/// Aborts unless the condition holds.
///
/// The condition states an invariant of this code. It has no side effects and reads no memory that could fault. Bad
/// data from the program, the kernel or a file is not a reason to abort. The code must handle such data.
#define LT_CHECK(condition)                                                               \
  (__builtin_expect(!(condition), 0)                                                      \
       ? lt_check_failed(LT_CHECK_LINE(#condition), sizeof LT_CHECK_LINE(#condition) - 1) \
       : (void)0)

#else

/// Compiles the condition, but emits no code.
#define LT_CHECK(condition) ((void)sizeof(!(condition)))

#endif

#endif
