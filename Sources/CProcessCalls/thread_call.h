// Has a stopped thread of another process call functions, as the kernel has a thread call a handler of a signal.

#ifndef LEAKTRACE_THREAD_CALL_H
#define LEAKTRACE_THREAD_CALL_H

#include "stopped_thread.h"

#if LT_CAN_STOP_THREADS

#include <sys/user.h>

enum {
  LT_MOST_STATE_BYTES = 16384, ///< of a thread's floating point and vector registers
  LT_CALL_TEXT_BYTES = 24576,  ///< for what is passed to the functions
};

/// Code in the process to which functions return.
struct lt_return_code {
  uint64_t restorer;  ///< has the kernel put everything back, as after a handler of a signal
  uint64_t call;      ///< an instruction `syscall`, after which the function around it returns; 0 if there is none
  uint64_t returning; ///< that return
};

/// A thread between its own work and calls that it makes for its tracer. All that the thread needs to go on by itself
/// is in its own memory, below its stack: a call returns to code that has the kernel put everything back, so that no
/// tracer is needed.
struct lt_thread_visit {
  pid_t thread;
  struct lt_return_code code;
  uint64_t context; ///< the stack pointer with which the kernel is asked to put everything back
  uint64_t text;    ///< where what is passed to functions is
  struct user_regs_struct before;
  uint64_t mask;
  bool isUnderWay;   ///< the registers have been changed
  bool isAtRestorer; ///< the functions are over
  size_t stateSize;
  unsigned char state[LT_MOST_STATE_BYTES];
};

enum lt_visit_error {
  LT_VISIT_DONE = 0,
  LT_VISIT_NOT_BEGUN, ///< the thread is as it was
  LT_VISIT_GONE,      ///< it has ended
  LT_VISIT_LATE,      ///< the call takes too long. It goes on without a tracer
  LT_VISIT_FAULT,     ///< the function did what the processor or the kernel answers by a signal. The thread goes on
};

/// Bytes below a stack pointer that a visit takes before anything is called.
size_t lt_visit_size(void);

/// Prepares calls: writes below the thread's stack, with `size` bytes of `text` in it. The thread does not change yet.
int lt_visit_begin(struct lt_thread_visit *visit, pid_t thread, const struct lt_return_code *code, const void *text,
                   size_t size);

/// Calls a function with two arguments, and waits for its end until `deadline`. Signals are held back meanwhile, but
/// for those that the processor has for errors. What the function returns is not seen.
int lt_visit_call(struct lt_thread_visit *visit, uint64_t function, uint64_t first, uint64_t second, uint64_t deadline);

/// The same for a function without arguments, with the pointer that it returns. Not for a function that may return a
/// small number: without a tracer the kernel would take that for the number of a call. LT_VISIT_NOT_BEGUN where the
/// process has no code for it.
int lt_visit_ask(struct lt_thread_visit *visit, uint64_t function, uint64_t deadline, uint64_t *pointer);

/// Puts everything back, and lets the thread go on. `outcome`: of the last call.
void lt_visit_end(struct lt_thread_visit *visit, int outcome);

#endif
#endif
