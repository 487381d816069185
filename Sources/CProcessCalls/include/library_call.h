// Makes a running process load the recorder's library, and call a function of that library.

#ifndef LEAKTRACE_LIBRARY_CALL_H
#define LEAKTRACE_LIBRARY_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Reasons why a process has not called the function. Other possible reasons are the values of lt_copy_error.
enum lt_library_call_error {
  LT_CALL_DONE = 0,
  LT_CALL_STATIC = 100,  ///< no dynamic loader
  LT_CALL_OTHER_LIBC,    ///< not glibc
  LT_CALL_NO_FUNCTIONS,  ///< glibc, but a needed function was not found
  LT_CALL_STOPPED,       ///< the process is stopped, so its threads cannot release their locks
  LT_CALL_BUSY,          ///< the call was not possible at any time; `obstacles` says why
  LT_CALL_NOT_LOADED,    ///< the library could not be loaded; `text` says why
  LT_CALL_NOT_THERE,     ///< the process has not loaded the library, and `libraries` is empty
  LT_CALL_OTHER_LIBRARY, ///< a library with the recorder's name is loaded, but does not have the function
  LT_CALL_LATE,          ///< the call has not ended in time; it continues
  LT_CALL_FORBIDDEN,     ///< a seccomp filter forbids a system call that is needed; `text` is its name
  LT_CALL_FILTER_UNSEEN, ///< there is a seccomp filter that the caller may not read or cannot judge
  LT_CALL_FAULT,         ///< a processor fault ended the call; the thread continues its work
};

enum { LT_MAX_LIBRARIES = 4, LT_LIBRARY_CALL_TEXT = 512 };

struct lt_library_call {
  /// The library's possible paths, as the process sees them. They are tried in turn until one can be loaded. The first
  /// NULL ends the list. The paths are not used if the library is already loaded.
  const char *libraries[LT_MAX_LIBRARIES];
  /// The name of a function with the type `void (const char *argument, int *result)`.
  const char *function;
  const char *argument;
  uint32_t waitMilliseconds; ///< the longest wait until the call can be made
  uint32_t callMilliseconds; ///< the longest time for the call
};

/// The numbers of threads that were in states that prevent a call, at the last try.
struct lt_call_obstacles {
  uint32_t inLoader, inFork, atExit, notStopped; ///< a single thread in one of these states delays the call
  /// Threads that could not make the call themselves: in the allocator, in a signal handler, or elsewhere in the C
  /// library. The last two counts are of threads on a stack without room, and on a stack that cannot be unwound.
  uint32_t inAllocator, inHandler, inLibrary, withoutRoom, unknown;
};

struct lt_library_call_outcome {
  int result; ///< stored by the function
  int reason; ///< errno, if there is one
  pid_t tracer;
  pid_t thread; ///< the thread that made the call
  uint32_t tries;
  uint64_t pauseNanoseconds; ///< the longest time that all threads were stopped
  struct lt_call_obstacles obstacles;
  char text[LT_LIBRARY_CALL_TEXT];
};

/// Makes one thread of `process` call the function.
///
/// All threads are stopped for a moment. The call is possible if no thread is in the loader, and if one thread is
/// suitable. A suitable thread is outside the allocator and signal handlers, holds no lock of the C library, and has
/// room on its stack. It makes the call after the other threads have resumed. If the call is not possible, all threads
/// resume, and the call is tried again.
///
/// A guardian process does the work. If the caller or the guardian is killed, `process` continues, and the calling
/// thread still returns to its own work. Blocks for at most a little longer than `waitMilliseconds` and
/// `callMilliseconds` together. Returns 0, an lt_library_call_error, an lt_copy_error or −errno.
int lt_call_in_library(pid_t process, const struct lt_library_call *call, struct lt_library_call_outcome *outcome);

#endif
