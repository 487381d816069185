// Stops a running process, copies it, and resumes it.

#ifndef LEAKTRACE_PROCESS_COPY_H
#define LEAKTRACE_PROCESS_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Reasons why a process cannot be stopped or copied. Negative numbers are the kernel's, as −errno.
enum lt_copy_error {
  LT_COPY_DONE = 0,
  LT_COPY_GONE,          ///< no such process, or it ended in the meantime
  LT_COPY_ZOMBIE,        ///< it has ended, and its parent has not waited for it
  LT_COPY_KERNEL_THREAD, ///< has no memory of its own
  LT_COPY_NOT_ALLOWED,   ///< another user's process, ptrace_scope, a container without the capability
  LT_COPY_TRACED,        ///< `tracer` traces it already
  LT_COPY_OTHER_MACHINE, ///< 32-bit code, or an unsupported machine
  LT_COPY_FILTERED,      ///< a filter of system calls limits it, which may end it at a call it does not expect
  LT_COPY_NO_CALL,       ///< no thread made the call, in many tries: `reason` is the enum lt_copy_obstacle of the last
  LT_COPY_REFUSED,       ///< the process may not make another (number of processes, memory): `reason` is the errno
  LT_COPY_LOST,          ///< the guardian ended before it answered
};

/// Obstacles to a copy that may pass, so that it is tried again.
enum lt_copy_obstacle {
  LT_OBSTACLE_NONE,
  LT_OBSTACLE_OTHER_PROGRAM, ///< the process became another program
  LT_OBSTACLE_STOP,          ///< no thread stopped: all sleep where no signal reaches them, or wait for a processor
  LT_OBSTACLE_PLACE,         ///< threads stopped where they must not be disturbed
  LT_OBSTACLE_PROCESSOR,     ///< the thread that was to make the copy got no processor
  LT_OBSTACLE_KERNEL,        ///< the kernel took too long for the copy
};

enum lt_copy_mode {
  LT_COPY_MODE_COPY, ///< stop, copy, go on
  LT_COPY_MODE_HOLD, ///< stop until lt_process_copy_end
};

struct lt_copy_options {
  enum lt_copy_mode mode;
  /// The longest time in milliseconds that threads stay stopped while the last ones are awaited; 0 for the default, 10.
  /// Late threads wait for a processor or sleep where no signal reaches them. They run no code of the program before
  /// they stop: the copy is made without them, and they are noted when they stop, after the others have resumed.
  /// Threads that have not stopped a while later are not met.
  uint32_t stopMilliseconds;
  /// A filter of system calls that limits a thread sees the calls that it makes for the copy. Without this flag the
  /// filter is suspended for those calls, which takes CAP_SYS_ADMIN. With it, the filter must allow `clone`, `wait4`
  /// and `close_range`, or answer with an error. A filter that kills the process would kill it.
  bool allowFiltered;
};

enum lt_thread_state {
  LT_THREAD_COMPUTING,
  LT_THREAD_IN_CALL, ///< of the system
  LT_THREAD_NOT_MET, ///< did not stop in time; its registers are not known
};

/// General registers in the order of DWARF's numbers (System V ABI, AMD64: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp,
/// r8 to r15).
enum { LT_GENERAL_REGISTERS = 16, LT_THREAD_NAME_SIZE = 16 };

struct lt_copied_thread {
  pid_t thread; ///< as the caller's namespace numbers it
  uint32_t state;
  uint64_t general[LT_GENERAL_REGISTERS];
  uint64_t programCounter;
  uint64_t stackPointer;
  uint64_t threadPointer; ///< fs_base
  int64_t call;           ///< the number of the system call it is in, −1 if in none
  char name[LT_THREAD_NAME_SIZE];
};

/// A copied or held process. The pause begins before the first thread stops. It ends when all threads but the one that
/// makes the copy have resumed. That thread follows when it has got a processor. Ended once by lt_process_copy_end, or
/// by the end of the process that made it.
struct lt_process_copy {
  pid_t target;
  pid_t memory;                           ///< the process whose memory is read: the copy, or the target when it is held
  uint64_t pauseNanoseconds;              ///< see above; 0 while the target is held
  uint64_t copyNanoseconds;               ///< the part taken by the kernel's call that makes the copy
  const struct lt_copied_thread *threads; ///< owned by the copy
  size_t threadCount;
  pid_t tracer; ///< for LT_COPY_TRACED
  int reason;   ///< errno or obstacle, where there is one
  // The library's own.
  pid_t guardian;
  int control, answer;
  void *exchange;
};

/// Stops all threads of `process`, notes their registers, and copies the process or holds it.
///
/// A guardian process does the work. If the caller ends for any reason, the guardian resumes the threads and ends the
/// copy. The copy never runs: it is traced, has no descriptors, and the kernel ends it with the guardian. It sends no
/// signal to the target, whose own calls of `wait` do not see it. Returns 0, one of lt_copy_error, or −errno; `copy`
/// must be ended only after 0. Linux on x86-64 only: LT_COPY_OTHER_MACHINE elsewhere.
int lt_process_copy_begin(pid_t process, const struct lt_copy_options *options, struct lt_process_copy *copy);

/// Ends the copy, or resumes the held process. Returns 0, or LT_COPY_NO_CALL if the target could not be made to reap
/// the copy: its entry in the process table then stays until the target ends.
int lt_process_copy_end(struct lt_process_copy *copy);

#endif
