// The callers of a stopped thread of another process, by libunwind.

#ifndef LEAKTRACE_THREAD_FRAMES_H
#define LEAKTRACE_THREAD_FRAMES_H

#include "process_copy.h"
#include "remote_images.h"

/// A thread of more frames counts as one whose stack cannot be followed: the process stands still meanwhile.
enum { LT_MOST_FRAMES = 1024 };

struct lt_thread_frames {
  /// Where code is at: that of the innermost frame first. Of callers, the byte before the one they go on at, which is
  /// in the function that called.
  uint64_t addresses[LT_MOST_FRAMES];
  size_t count;
  bool isComplete;     ///< up to where the thread began
  bool hasSignalFrame; ///< it is in a handler of a signal
  uint64_t lastStack;  ///< the stack pointer of the last frame
};

/// Follows stacks of one process. Memory that was read is kept until `lt_unwinding_forget`.
struct lt_unwinding;

/// NULL without memory. `images` must live as long.
struct lt_unwinding *lt_unwinding_begin(const struct lt_remote_images *images);
/// The process has run meanwhile.
void lt_unwinding_forget(struct lt_unwinding *unwinding);
void lt_unwinding_end(struct lt_unwinding *unwinding);

/// Follows the stack of a thread that is stopped.
void lt_thread_frames(struct lt_unwinding *unwinding, const struct lt_copied_thread *thread,
                      struct lt_thread_frames *frames);

#endif
