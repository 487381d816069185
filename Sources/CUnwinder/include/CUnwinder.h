// Unwinds the stacks of another process's threads with libunwind, in a child process that may fail.

#ifndef LEAKTRACE_UNWINDER_H
#define LEAKTRACE_UNWINDER_H

#include "CSandboxedChild.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A range of the process's memory whose contents the caller has.
struct lt_unwinder_memory {
  uint64_t start, end;  ///< addresses in the process
  const uint8_t *bytes; ///< the contents of the range, in the caller's memory
};

/// Code that has unwind information.
struct lt_unwinder_image {
  uint64_t start, end; ///< addresses in the process
  uint64_t table;      ///< address of its `.eh_frame_hdr` (PT_GNU_EH_FRAME)
};

/// The memory and the images of the process whose stacks are unwound.
struct lt_unwinder_input {
  /// The process whose memory is read. If it is 0, `memory` is used, which must be in order of address, without
  /// overlaps.
  pid_t process;
  const struct lt_unwinder_memory *memory;
  size_t memoryCount;
  const struct lt_unwinder_image *images; ///< in order of address, without overlaps
  size_t imageCount;
};

enum { LT_UNWINDER_REGISTERS = 17 };

/// A question: a thread's registers by their DWARF numbers (System V ABI, AMD64: rax, rdx, rcx, rbx, rsi, rdi, rbp,
/// rsp, r8 to r15, and the program counter).
struct lt_unwinder_question {
  uint64_t registers[LT_UNWINDER_REGISTERS];
};

enum lt_unwinder_end {
  LT_UNWINDER_COMPLETE, ///< the thread began in the last frame
  LT_UNWINDER_CUT,      ///< there are more frames than LT_UNWINDER_MOST_FRAMES
  LT_UNWINDER_NO_RULES, ///< the last frame's code has no unwind information
  LT_UNWINDER_UNSOUND,  ///< memory is missing, or is not a stack
};

/// The start of an answer. `count` frames follow it, the innermost first.
struct lt_unwinder_answer {
  uint32_t end;
  uint32_t count;
};

struct lt_unwinder_frame {
  uint64_t address;      ///< the executing address, or the return address
  uint64_t stackPointer; ///< the frame's memory is from here up to the next frame's stack pointer
  uint64_t isExact;      ///< 1 if `address` is the executing address; 0 if it is the return address
};

enum { LT_UNWINDER_MOST_FRAMES = 4096 };

/// Starts the child. Returns 0 or an errno: ENOSYS on an unsupported machine. The input is not needed after the call.
int lt_unwinder_start(struct lt_child *child, const struct lt_unwinder_input *input);

#endif
