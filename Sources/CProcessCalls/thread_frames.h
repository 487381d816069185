// Finds the frames of a stopped thread of another process.

#ifndef LEAKTRACE_THREAD_FRAMES_H
#define LEAKTRACE_THREAD_FRAMES_H

#include "process_copy.h"
#include "remote_images.h"

#include "stack_unwinding.h"

/// The most frames of a thread. A stack with more frames counts as one that cannot be unwound. The process is stopped
/// during the unwinding, so the unwinding must not take long.
enum { LT_MAX_FRAMES = 1024 };

struct lt_thread_frames {
  /// Code addresses, innermost frame first. For a caller, this is the byte before its return address, which is inside
  /// the calling function.
  uint64_t addresses[LT_MAX_FRAMES];
  size_t count;
  bool isComplete;     ///< the stack was unwound to the thread's start
  bool hasSignalFrame; ///< the thread is in a signal handler
  uint64_t lastStack;  ///< the stack pointer of the last frame
};

/// Unwinds stacks of one process. Keeps the memory that was read until `lt_unwinding_forget`.
struct lt_unwinding;

/// Returns NULL if there is no memory. `images` must live until `lt_unwinding_end`.
struct lt_unwinding *lt_unwinding_begin(const struct lt_remote_images *images);
/// Drops the kept memory. Call this before unwinding again if the process has run.
void lt_unwinding_forget(struct lt_unwinding *unwinding);
void lt_unwinding_end(struct lt_unwinding *unwinding);

/// Unwinds the stack of a stopped thread.
void lt_thread_frames(struct lt_unwinding *unwinding, const struct lt_copied_thread *thread,
                      struct lt_thread_frames *frames);

#endif
