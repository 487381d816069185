#ifndef LEAKTRACE_TYPE_NAME_H
#define LEAKTRACE_TYPE_NAME_H

#include "scanned_memory.h"

/// Writes the readable name of a type, such as `App.Outer.Box<Swift.Int>`, and ends it with a zero. Only reads
/// metadata: takes no lock of the Swift runtime and calls none of its functions. Returns the length; 0 if the metadata
/// has no name.
size_t lt_type_name(const struct lt_memory *memory, uint64_t metadata, char *buffer, size_t size);

#endif
