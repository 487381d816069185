// What a type's metadata says of it.

#ifndef LEAKTRACE_TYPE_DESCRIPTION_H
#define LEAKTRACE_TYPE_DESCRIPTION_H

#include "scanned_memory.h"
#include "storage_kind.h"

enum { LT_TYPE_NAME_SIZE = 1024 };

struct lt_type_description {
  unsigned kind;                ///< LT_TYPE_
  uint32_t storage;             ///< LT_STORAGE_
  uint64_t descriptor;          ///< its context descriptor, or a closure's or box's capture descriptor; 0 without
  uint64_t superclass;          ///< its metadata; 0 without
  char name[LT_TYPE_NAME_SIZE]; ///< empty if there is none to be had
};

/// Reads metadata only: takes no lock of the runtime and calls nothing of it.
void lt_describe_type(const struct lt_memory *memory, uint64_t metadata, struct lt_type_description *description);

#endif
