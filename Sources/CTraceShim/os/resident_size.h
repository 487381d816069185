#ifndef LEAKTRACE_RESIDENT_SIZE_H
#define LEAKTRACE_RESIDENT_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/// Resident bytes of the process; 0 when unknown. Opens a file, apart.
uint64_t lt_resident_size(void);
/// Reads a process's resident bytes from its file `statm`, and how many of them are of files and shared memory. False
/// if the kernel does not say. Opens the file in the calling task: apart, or in a copy.
bool lt_read_resident_size(const char *path, uint64_t *resident, uint64_t *other);

#endif
