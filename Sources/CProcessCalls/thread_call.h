// Makes a stopped thread of another process call functions, as the kernel makes a thread call a signal handler.

#ifndef LEAKTRACE_THREAD_CALL_H
#define LEAKTRACE_THREAD_CALL_H

#include "stopped_thread.h"

#if LT_CAN_STOP_THREADS

#include <sys/user.h>

enum {
  LT_MAX_STATE_BYTES = 16384, ///< the most bytes of a thread's floating point and vector registers
  LT_CALL_TEXT_BYTES = 24576, ///< the most bytes of data that is passed to the functions
};

/// Addresses in the process that called functions return to.
struct lt_return_code {
  uint64_t restorer;  ///< code that makes the kernel restore everything, as after a signal handler
  uint64_t call;      ///< a `syscall` instruction in a function that returns after it; 0 if there is none
  uint64_t returning; ///< the `ret` instruction of that function
};

/// A thread that interrupts its own work to make calls for its tracer. Everything that the thread needs to resume
/// without the tracer is in its own memory, below its stack pointer. A called function returns to code that makes the
/// kernel restore everything, even without the tracer.
struct lt_thread_visit {
  pid_t thread;
  struct lt_return_code code;
  uint64_t context; ///< the stack pointer for the system call that restores everything
  uint64_t text;    ///< the address of the data that is passed to functions
  struct user_regs_struct before;
  uint64_t mask;
  bool isUnderWay;   ///< the registers have been changed
  bool isAtRestorer; ///< the function has returned to the restorer
  size_t stateSize;
  unsigned char state[LT_MAX_STATE_BYTES];
};

enum lt_visit_error {
  LT_VISIT_DONE = 0,
  LT_VISIT_NOT_BEGUN, ///< the thread is unchanged
  LT_VISIT_GONE,      ///< the thread has ended
  LT_VISIT_LATE,      ///< the call takes too long; it continues without a tracer
  LT_VISIT_FAULT,     ///< a signal of the processor or the kernel ended the function; the thread continues its work
};

/// Returns the bytes below the stack pointer that a visit takes, without the stack of the called functions.
size_t lt_visit_size(void);

/// Prepares calls: writes the data for them, including `size` bytes of `text`, below the thread's stack pointer. The
/// thread's registers do not change yet.
int lt_visit_begin(struct lt_thread_visit *visit, pid_t thread, const struct lt_return_code *code, const void *text,
                   size_t size);

/// Calls a function with two arguments, and waits until it returns or until `deadline`. Signals are blocked during the
/// call, except those that the processor and the kernel send for errors. The function's result is not read.
int lt_visit_call(struct lt_thread_visit *visit, uint64_t function, uint64_t first, uint64_t second, uint64_t deadline);

/// Calls a function without arguments, and stores the pointer that it returns. Must not be used for a function that may
/// return a small number. If the tracer ends during the call, the thread makes the system call with that number.
/// Returns LT_VISIT_NOT_BEGUN if the process does not have the code at `call` and `returning`.
int lt_visit_ask(struct lt_thread_visit *visit, uint64_t function, uint64_t deadline, uint64_t *pointer);

/// Restores everything, and resumes the thread. `outcome` is the outcome of the last call.
void lt_visit_end(struct lt_thread_visit *visit, int outcome);

#endif
#endif
