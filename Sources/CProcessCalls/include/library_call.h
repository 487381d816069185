// Makes a running process load the recorder's library, and call a function of it.

#ifndef LEAKTRACE_LIBRARY_CALL_H
#define LEAKTRACE_LIBRARY_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Reasons why a process has not called the function. The values of lt_copy_error are possible, too.
enum lt_library_call_error {
  LT_CALL_DONE = 0,
  LT_CALL_STATIC = 100,  ///< no dynamic loader
  LT_CALL_OTHER_LIBC,    ///< not glibc
  LT_CALL_NO_FUNCTIONS,  ///< glibc without the functions that are needed
  LT_CALL_STOPPED,       ///< it is stopped as a whole: its threads cannot release their locks
  LT_CALL_BUSY,          ///< no moment allowed the call: `obstacles` says why
  LT_CALL_NOT_LOADED,    ///< the library could not be loaded: `text` says why
  LT_CALL_NOT_THERE,     ///< the process has not loaded the library, and `libraries` names none
  LT_CALL_OTHER_LIBRARY, ///< a library of that name is loaded, and has no such function
  LT_CALL_LATE,          ///< the call has not ended in time; it goes on
  LT_CALL_FORBIDDEN,     ///< a filter of system calls forbids a call that is needed: `text` is its name
  LT_CALL_FILTER_UNSEEN, ///< a filter of system calls limits it that this process may not read or cannot judge
  LT_CALL_FAULT,         ///< a processor fault ended the call, and the thread goes on
};

enum { LT_MOST_LIBRARIES = 4, LT_LIBRARY_CALL_TEXT = 512 };

struct lt_library_call {
  /// Paths as the process sees them, tried in turn until one can be loaded. The first NULL ends the list. None is used
  /// if the library is loaded already.
  const char *libraries[LT_MOST_LIBRARIES];
  /// Of type `void (const char *argument, int *result)`.
  const char *function;
  const char *argument;
  uint32_t waitMilliseconds; ///< to wait for a moment at which the call can be made
  uint32_t callMilliseconds; ///< for the call
};

/// The states of threads at the last try of a call.
struct lt_call_obstacles {
  uint32_t inLoader, inFork, atExit, notStopped; ///< each of these delays the call
  /// Threads that could not make the call: in the allocator, in a signal handler, elsewhere in the C library, on a
  /// stack without room, or on a stack that cannot be unwound.
  uint32_t inAllocator, inHandler, inLibrary, withoutRoom, unknown;
};

struct lt_library_call_outcome {
  int result; ///< stored by the function
  int reason; ///< errno, where there is one
  pid_t tracer;
  pid_t thread; ///< that made the call
  uint32_t tries;
  uint64_t pauseNanoseconds; ///< the longest time that all threads were stopped
  uint64_t callNanoseconds;  ///< the time that the one thread was away from its own work
  struct lt_call_obstacles obstacles;
  char text[LT_LIBRARY_CALL_TEXT];
};

/// Makes one thread of `process` call the function.
///
/// All threads are stopped for a moment. The call is possible if no thread is in the loader, and one thread is outside
/// the allocator, signal handlers and locks of the C library, with room on its stack. That thread makes the call, and
/// the others resume before it begins. If it is not possible, all resume, and it is tried again.
///
/// A guardian process does the work. If this process or the guardian is killed, the process goes on, and the calling
/// thread still returns to its own work. Blocks for the sum of both times at most, and a little longer. Returns 0, an
/// error of either kind, or −errno.
int lt_call_in_library(pid_t process, const struct lt_library_call *call, struct lt_library_call_outcome *outcome);

#endif
