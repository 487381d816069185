// The callers of a stopped thread of another process, by libunwind.

#ifndef LEAKTRACE_THREAD_FRAMES_H
#define LEAKTRACE_THREAD_FRAMES_H

#include "process_copy.h"
#include "remote_images.h"

/// A thread of more frames counts as one whose stack cannot be unwound: the process is stopped while it is unwound.
enum { LT_MOST_FRAMES = 1024 };

struct lt_thread_frames {
  /// Code addresses, innermost frame first. For a caller, this is the byte before its return address, which is inside
  /// the calling function.
  uint64_t addresses[LT_MOST_FRAMES];
  size_t count;
  bool isComplete;     ///< unwound to the thread's beginning
  bool hasSignalFrame; ///< it is in a handler of a signal
  uint64_t lastStack;  ///< the stack pointer of the last frame
};

/// Unwinds stacks of one process. Memory that was read is kept until `lt_unwinding_forget`.
struct lt_unwinding;

/// NULL without memory. `images` must live as long.
struct lt_unwinding *lt_unwinding_begin(const struct lt_remote_images *images);
/// Drops the kept memory: call this when the process has run since.
void lt_unwinding_forget(struct lt_unwinding *unwinding);
void lt_unwinding_end(struct lt_unwinding *unwinding);

/// Unwinds the stack of a stopped thread.
void lt_thread_frames(struct lt_unwinding *unwinding, const struct lt_copied_thread *thread,
                      struct lt_thread_frames *frames);

#endif
