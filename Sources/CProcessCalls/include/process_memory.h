// Reads the memory of another process.

#ifndef LEAKTRACE_PROCESS_MEMORY_H
#define LEAKTRACE_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Copies memory of another process. Returns the number of bytes before the first byte that cannot be read; then
/// `errno` says why.
size_t lt_read_process(pid_t process, uint64_t address, void *buffer, size_t size);

/// Works like lt_read_process, but reads through a descriptor of /proc/PID/mem. So it does not increase the process's
/// memory. The call process_vm_readv does so since Linux 5.19: it duplicates pages that the process shares with another
/// process after a fork.
size_t lt_read_memory_file(int file, uint64_t address, void *buffer, size_t size);

#endif
