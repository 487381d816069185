// Operations on other processes that Swift cannot do itself: tracing them, and changing a word that is shared with
// them.

#ifndef LEAKTRACE_PROCESS_CALLS_H
#define LEAKTRACE_PROCESS_CALLS_H

#include "interrupted_calls.h"
#include "library_call.h"
#include "page_presence.h"
#include "process_copy.h"
#include "process_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// A thread that another process is to create. Contains the arguments of clone, and the address of the system call
/// instruction. All addresses are in that process.
struct lt_thread_order {
  uint64_t call; ///< address of a system call instruction; the code after it starts the new thread from its stack
  uint64_t flags;
  uint64_t stack;
  uint64_t threadWord; ///< where the kernel writes the thread's number, and 0 when the thread has ended
  uint64_t threadPointer;
};

/// Makes another process create a thread, without a signal. One thread of the process, which must be in a system call,
/// is stopped for a moment. It calls clone with every signal blocked, and then resumes its own call.
///
/// `thread` is the kernel's number of the thread to stop. Returns 0 or −errno. −EPERM: tracing is not allowed. −EAGAIN:
/// the thread is not in a system call. −EFAULT: there is no such instruction. −EBUSY: the thread is already
/// stopped, is limited by a seccomp filter, or does not stop in time. Blocks for up to a second, and then until the
/// thread has made the call. Only on Linux on x86-64 and arm64; −ENOSYS elsewhere.
int lt_order_thread(pid_t thread, const struct lt_thread_order *order);

/// Atomically changes a word in shared memory from `expected` to `desired`. Returns false if the word has another
/// value.
bool lt_change_word(uint32_t *word, uint32_t expected, uint32_t desired);

#endif
