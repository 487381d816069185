// Finds an instruction that another process can use for a system call that its tracer requests.

#ifndef LEAKTRACE_EXIT_CALL_H
#define LEAKTRACE_EXIT_CALL_H

#include <stdint.h>
#include <sys/types.h>

/// Returns the address of the last system call instruction of libc's `_exit` in a process; 0 if it is not found. If a
/// process continues after this instruction by mistake, the code there ends the process.
uint64_t lt_find_exit_call(pid_t process);

#endif
