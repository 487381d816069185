// Reading the memory of another process.

#ifndef LEAKTRACE_PROCESS_MEMORY_H
#define LEAKTRACE_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Copies memory of a process from outside. Returns how many bytes can be read before the first that cannot; `errno`
/// says why it went no further.
size_t lt_read_process(pid_t process, uint64_t address, void *buffer, size_t size);

/// Does the same through the process's file `mem`. Takes no memory from the process: since Linux 5.19 process_vm_readv
/// makes a copy of each page that the process shares with another after a fork.
size_t lt_read_memory_file(int file, uint64_t address, void *buffer, size_t size);

#endif
