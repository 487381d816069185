// Unwinds the stacks of another process's threads, in a child process that may fail.

#ifndef LEAKTRACE_UNWINDER_H
#define LEAKTRACE_UNWINDER_H

#include "CSandboxedChild.h"
#include "stack_unwinding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A range of the process's memory whose contents the caller has.
struct lt_unwinder_memory {
  uint64_t start, end;  ///< addresses in the process
  const uint8_t *bytes; ///< the contents of the range, in the caller's memory
};

/// The memory and the images of the process whose stacks are unwound. Memory comes from `process` if it is set, and
/// otherwise from `memory`.
struct lt_unwinder_input {
  uint16_t machine; ///< the processor of the process, as in ELF files (e_machine)
  pid_t process;
  const struct lt_unwinder_memory *memory; ///< in order of address, without overlaps
  size_t memoryCount;
  const struct lt_unwind_code *images; ///< in order of address, without overlaps
  size_t imageCount;
};

/// The start of an answer. `count` frames (struct lt_unwound_frame) follow it, the innermost first.
struct lt_unwinder_answer {
  uint32_t end; ///< enum lt_unwind_end
  uint32_t count;
};

enum { LT_UNWINDER_MAX_FRAMES = 4096 };

/// Returns the processor whose stacks this machine unwinds, as in ELF files (e_machine). Returns 0 if there is none.
uint16_t lt_unwinder_machine(void);

/// Starts the child. Each question to it is a struct lt_unwind_registers. Returns 0 or an errno: ENOSYS for
/// another processor than this machine's. The child has a copy of the arrays of the input, so the caller may free the
/// arrays after the call.
int lt_unwinder_start(struct lt_child *child, const struct lt_unwinder_input *input);

#endif
