// Has a process that runs load the recorder's library, and call a function of it.

#ifndef LEAKTRACE_LIBRARY_CALL_H
#define LEAKTRACE_LIBRARY_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Reasons why a process has not called the function; beside those of lt_copy_error, from 0 on.
enum lt_library_call_error {
  LT_CALL_DONE = 0,
  LT_CALL_STATIC = 100,  ///< no dynamic loader
  LT_CALL_OTHER_LIBC,    ///< not glibc
  LT_CALL_NO_FUNCTIONS,  ///< glibc without the functions that are needed
  LT_CALL_STOPPED,       ///< it is stopped as a whole: its threads cannot give back what they hold
  LT_CALL_BUSY,          ///< there was no moment for it: `obstacles` says why
  LT_CALL_NOT_LOADED,    ///< the library could not be loaded: `text` says why
  LT_CALL_NOT_THERE,     ///< the process has not loaded the library, and was not to
  LT_CALL_OTHER_LIBRARY, ///< a library of that name is loaded, and has no such function
  LT_CALL_LATE,          ///< the call has not ended in time; it goes on
  LT_CALL_FORBIDDEN,     ///< a filter of system calls does not allow one that is needed: `text` is its name
  LT_CALL_FILTER_UNSEEN, ///< a filter of system calls limits it, which this process may not look at, or cannot judge
  LT_CALL_FAULT,         ///< the call has ended by an error of the processor, and the thread goes on
};

enum { LT_MOST_LIBRARIES = 4, LT_LIBRARY_CALL_TEXT = 512 };

struct lt_library_call {
  /// Paths as the process sees them, tried in turn until one can be loaded; from the first NULL on there are none. None
  /// is used if the library is loaded already.
  const char *libraries[LT_MOST_LIBRARIES];
  /// Of type `void (const char *argument, int *result)`.
  const char *function;
  const char *argument;
  uint32_t waitMilliseconds; ///< for a moment to make the call in
  uint32_t callMilliseconds; ///< for the call
};

/// Threads as they were when a call was tried for the last time.
struct lt_call_obstacles {
  uint32_t inLoader, inFork, atExit, notStopped; ///< for which all wait
  /// That did not make the call: they were in the allocator, a handler of a signal, elsewhere in the C library, on a
  /// stack without room or that cannot be followed.
  uint32_t inAllocator, inHandler, inLibrary, withoutRoom, unknown;
};

struct lt_library_call_outcome {
  int result; ///< what the function has stored
  int reason; ///< errno, where there is one
  pid_t tracer;
  pid_t thread; ///< that made the call
  uint32_t tries;
  uint64_t pauseNanoseconds; ///< the longest for which all threads stood still
  uint64_t callNanoseconds;  ///< for which the one thread was away
  struct lt_call_obstacles obstacles;
  char text[LT_LIBRARY_CALL_TEXT];
};

/// Has one thread of `process` call the function.
///
/// All threads are stopped for a moment. If none is in the loader, and one is outside of the allocator, of handlers of
/// signals and of locks of the C library, with room on its stack, then that one makes the call, and the others go on
/// meanwhile. If not, all go on, and it is tried again. A guardian process does it. The process goes on, and the thread
/// finds its way back, when this process or the guardian is killed. Blocks for both times at most, and a little longer.
/// Returns 0, an error of either kind, or −errno.
int lt_call_in_library(pid_t process, const struct lt_library_call *call, struct lt_library_call_outcome *outcome);

#endif
