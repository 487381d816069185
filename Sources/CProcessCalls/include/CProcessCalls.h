// Calls on other processes that Swift cannot make: tracing, and changing a word that is shared with them.

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

/// A thread for another process to create: the registers for its call of clone, and the address of the `syscall`
/// instruction. Addresses are the process's.
struct lt_thread_order {
  uint64_t call; ///< of a `syscall` instruction, after which the new thread finds its way on its stack
  uint64_t flags;
  uint64_t stack;
  uint64_t threadWord; ///< where the kernel writes the thread's number, and 0 when it has ended
  uint64_t threadPointer;
};

/// Makes another process create a thread, without a signal. One of its threads, which must be in a system call, is
/// stopped for a moment. It calls clone with every signal blocked, and then resumes its own call.
///
/// `thread` is the kernel's number of the thread to stop. Returns 0 or −errno: −EPERM where tracing is not allowed,
/// −EAGAIN if the thread computes, −EFAULT if there is no such instruction. −EBUSY means that the thread is stopped
/// already, is limited by a filter of system calls, or does not stop in time. Blocks for up to a second, and then until
/// the thread has made the call. Linux on x86-64 only: −ENOSYS elsewhere.
int lt_order_thread(pid_t thread, const struct lt_thread_order *order);

/// Changes a word in shared memory from `expected` to `desired`. False if it is another. Atomic.
bool lt_change_word(uint32_t *word, uint32_t expected, uint32_t desired);

#endif
