// Which words of memory are Swift metadata records: what a reader needs to know the fields of the objects in a heap image.

#ifndef LEAKTRACE_METADATA_COPY_H
#define LEAKTRACE_METADATA_COPY_H

#include "exact_words.h"

/// Adds the metadata of all types that were seen being allocated, of their superclasses and generic arguments, and their value witness tables.
/// Takes no lock; nothing may run beside it. False without memory.
bool lt_metadata_copy(struct lt_exact_words *words);

#endif
