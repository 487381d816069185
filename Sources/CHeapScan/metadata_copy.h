// Finds the words of memory that are Swift metadata records. A reader of a heap image needs them to find the fields of
// objects.

#ifndef LEAKTRACE_METADATA_COPY_H
#define LEAKTRACE_METADATA_COPY_H

#include "address_index.h"
#include "type_set.h"
#include "verbatim_words.h"

/// Adds the metadata of the types, of their superclasses and of their generic arguments. Also adds the value witness
/// tables of all these. Returns false if there is no memory.
bool lt_metadata_copy(struct lt_verbatim_words *words, const struct lt_scanned_type *types, uint32_t typeCount);

#endif
