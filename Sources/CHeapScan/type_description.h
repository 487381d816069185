// Describes a type by its metadata.

#ifndef LEAKTRACE_TYPE_DESCRIPTION_H
#define LEAKTRACE_TYPE_DESCRIPTION_H

#include "scanned_memory.h"
#include "storage_kind.h"

enum { LT_TYPE_NAME_SIZE = 1024 };

struct lt_type_description {
  unsigned kind;                ///< LT_TYPE_…
  uint32_t storage;             ///< LT_STORAGE_…
  uint64_t descriptor;          ///< context descriptor; capture descriptor of a closure or box; 0 if there is none
  uint64_t superclass;          ///< metadata of the superclass; 0 if there is none
  char name[LT_TYPE_NAME_SIZE]; ///< empty if the metadata has no name
};

/// Fills in the description. Only reads metadata: takes no lock of the Swift runtime and calls none of its functions.
void lt_describe_type(const struct lt_memory *memory, uint64_t metadata, struct lt_type_description *description);

#endif
