// Finds the words of memory that are Swift metadata records: a reader needs them to know the fields of objects in a
// heap image.

#ifndef LEAKTRACE_METADATA_COPY_H
#define LEAKTRACE_METADATA_COPY_H

#include "address_index.h"
#include "exact_words.h"
#include "type_set.h"

/// Adds the metadata of the types, of their superclasses and generic arguments, and their value witness tables. False
/// without memory.
bool lt_metadata_copy(struct lt_exact_words *words, const struct lt_scanned_type *types, uint32_t typeCount);

#endif
