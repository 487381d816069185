// Stops a running process, copies it, and resumes it.

#ifndef LEAKTRACE_PROCESS_COPY_H
#define LEAKTRACE_PROCESS_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Reasons why a process cannot be stopped or copied. Negative numbers are errors of the kernel, as −errno.
enum lt_copy_error {
  LT_COPY_DONE = 0,
  LT_COPY_GONE,          ///< the process does not exist, or ended in the meantime
  LT_COPY_ZOMBIE,        ///< it has ended, and its parent has not waited for it
  LT_COPY_KERNEL_THREAD, ///< it has no memory of its own
  LT_COPY_NOT_ALLOWED,   ///< another user's process, ptrace_scope, a container without the capability
  LT_COPY_TRACED,        ///< the process `tracer` already traces it
  LT_COPY_OTHER_MACHINE, ///< 32-bit code, or an unsupported machine
  LT_COPY_FILTERED,      ///< a seccomp filter limits it, and may end it when it makes an unexpected call
  LT_COPY_NO_CALL,       ///< no thread made the call in many tries; `reason` is the lt_copy_obstacle of the last try
  LT_COPY_REFUSED,       ///< it may not create a process (limit of processes, memory); `reason` is the errno
  LT_COPY_LOST,          ///< the guardian ended before it answered
};

/// Temporary obstacles to a copy, after which the copy is tried again.
enum lt_copy_obstacle {
  LT_OBSTACLE_NONE,
  LT_OBSTACLE_OTHER_PROGRAM, ///< the process executed another program
  LT_OBSTACLE_STOP,          ///< no thread stopped: all wait for a processor, or sleep and cannot be interrupted
  LT_OBSTACLE_PLACE,         ///< threads stopped where they must not be disturbed
  LT_OBSTACLE_PROCESSOR,     ///< the thread that was to make the copy got no processor
  LT_OBSTACLE_KERNEL,        ///< the kernel took too long for the copy
};

enum lt_copy_mode {
  LT_COPY_MODE_COPY, ///< stop the process, copy it, and resume it
  LT_COPY_MODE_HOLD, ///< keep the process stopped until lt_process_copy_end
};

struct lt_copy_options {
  enum lt_copy_mode mode;
  /// The longest time in milliseconds that stopped threads wait for the last threads to stop. 0 means the default, 10.
  /// Late threads wait for a processor, or sleep and cannot be interrupted. They run no code of the program before they
  /// stop, so the copy is made without them. Their registers are noted when they stop, after the other threads have
  /// resumed. Threads that have still not stopped a while later have the state LT_THREAD_NOT_MET.
  uint32_t stopMilliseconds;
  /// A thread's seccomp filter also applies to the calls that the thread makes for the copy. Without this flag, the
  /// filter is suspended for those calls, which requires CAP_SYS_ADMIN. With this flag, the filter must allow `clone`,
  /// `wait4` and `close_range`, or answer them with an error. A filter that answers by killing the process would kill
  /// it.
  bool allowFiltered;
};

enum lt_thread_state {
  LT_THREAD_COMPUTING,
  LT_THREAD_IN_CALL, ///< in a system call
  LT_THREAD_NOT_MET, ///< did not stop in time, so its registers are unknown
};

/// General registers of this processor in the order of DWARF's numbers. x86-64: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp,
/// r8 to r15 (System V ABI, AMD64). arm64: x0 to x30, sp (DWARF for the Arm 64-bit Architecture).
#if defined(__aarch64__)
enum { LT_GENERAL_REGISTERS = 32 };
#else
enum { LT_GENERAL_REGISTERS = 16 };
#endif
enum { LT_THREAD_NAME_SIZE = 16 };

/// The first argument of a call that has lost it: on arm64, the result of a call replaces its first argument.
#define LT_UNKNOWN_ARGUMENT (~0ull)

struct lt_copied_thread {
  pid_t thread; ///< its number in the caller's PID namespace
  uint32_t state;
  uint64_t general[LT_GENERAL_REGISTERS];
  uint64_t programCounter;
  uint64_t stackPointer;
  uint64_t threadPointer;   ///< x86-64: fs_base; arm64: tpidr_el0
  int64_t call;             ///< the number of the thread's system call; −1 if it is in none
  uint64_t callInstruction; ///< address of the instruction that made the call; 0 if the thread is in none
  int64_t result;           ///< the call's result so far; see LT_RESTART and the numbers after it
  uint64_t firstArgument;   ///< the call's first argument; or LT_UNKNOWN_ARGUMENT
  char name[LT_THREAD_NAME_SIZE];
};

/// A copied or held process. The target's pause begins before its first thread stops. The pause ends when all threads
/// have resumed, except the thread that made the copy. That thread resumes as soon as it gets a processor. The copy or
/// hold ends with lt_process_copy_end, which must be called once, or when the caller's process ends.
struct lt_process_copy {
  pid_t target;
  pid_t memory;                           ///< the process whose memory to read: the copy, or the target if it is held
  uint64_t pauseNanoseconds;              ///< the target's longest pause; 0 while the target is held
  uint64_t copyNanoseconds;               ///< the time that the kernel took to make the copy
  const struct lt_copied_thread *threads; ///< owned by this structure
  size_t threadCount;
  pid_t tracer; ///< set for LT_COPY_TRACED
  int reason;   ///< errno or lt_copy_obstacle, if there is one
  // For this library only.
  pid_t guardian;
  int control, answer;
  void *exchange;
};

/// Stops all threads of `process`, notes their registers, and copies the process or holds it.
///
/// A guardian process does the work. If the caller ends for any reason, the guardian resumes the threads and ends the
/// copy. The copy never runs: it is traced, has no descriptors, and the kernel kills it when the guardian ends. The
/// copy's end sends no signal to the target, and the target's own calls of `wait` do not see the copy. Returns 0, an
/// lt_copy_error or −errno. `copy` must be ended only if the result is 0. Only on Linux on x86-64 and arm64;
/// LT_COPY_OTHER_MACHINE elsewhere.
int lt_process_copy_begin(pid_t process, const struct lt_copy_options *options, struct lt_process_copy *copy);

/// Ends the copy, or resumes the held process. Returns 0, or LT_COPY_NO_CALL if the target could not be made to reap
/// the copy. Then the copy's entry in the process table stays until the target ends.
int lt_process_copy_end(struct lt_process_copy *copy);

#endif
