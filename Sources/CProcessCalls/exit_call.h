// The instruction at which another process makes a call for its tracer.

#ifndef LEAKTRACE_EXIT_CALL_H
#define LEAKTRACE_EXIT_CALL_H

#include <stdint.h>
#include <sys/types.h>

/// The address of the last `syscall` instruction of libc's `_exit` in a process, 0 if it is not found. What follows it
/// ends a process that goes astray there.
uint64_t lt_find_exit_call(pid_t process);

#endif
