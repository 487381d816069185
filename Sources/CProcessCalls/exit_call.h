// The instruction that another process uses for a call that its tracer requests.

#ifndef LEAKTRACE_EXIT_CALL_H
#define LEAKTRACE_EXIT_CALL_H

#include <stdint.h>
#include <sys/types.h>

/// The address of the last `syscall` instruction of libc's `_exit` in a process, 0 if it is not found. The code after
/// it ends a process that runs on from there by mistake.
uint64_t lt_find_exit_call(pid_t process);

#endif
