// Building blocks for threads of the recorder's own, which the C library does not know.

#ifndef LEAKTRACE_OWN_THREAD_H
#define LEAKTRACE_OWN_THREAD_H

#include <linux/sched.h>
#include <stdint.h>

/// Flags of clone(2) that make a thread of the process.
enum {
  LT_CLONE_THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS
};

/// Makes thread-local memory for a new thread, with this library's variables all zero, and with the parts of the
/// control block that compilers use. Returns the thread pointer, or 0.
uintptr_t lt_make_thread_local(void);

#endif
