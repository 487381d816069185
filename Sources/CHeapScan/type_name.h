#ifndef LEAKTRACE_TYPE_NAME_H
#define LEAKTRACE_TYPE_NAME_H

#include "scanned_memory.h"

/// Writes the readable name of a type, such as `App.Outer.Box<Swift.Int>`, and ends it with a zero. Reads metadata
/// only: takes no lock of the runtime and calls nothing of it. Returns the length; 0 when there is no name to be had.
size_t lt_type_name(const struct lt_memory *memory, uint64_t metadata, char *buffer, size_t size);

#endif
