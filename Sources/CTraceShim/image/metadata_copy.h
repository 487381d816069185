// Finds the words of memory that are Swift metadata records: a reader needs them to know the fields of objects in a
// heap image.

#ifndef LEAKTRACE_METADATA_COPY_H
#define LEAKTRACE_METADATA_COPY_H

#include "image/exact_words.h"

/// Adds the metadata of all types that were seen being allocated, of their superclasses and generic arguments, and
/// their value witness tables. Takes no lock; nothing may run beside it. False without memory.
bool lt_metadata_copy(struct lt_exact_words *words);

#endif
