// The Swift types of a process's objects, found only from its memory.

#ifndef LEAKTRACE_OBJECT_TYPES_H
#define LEAKTRACE_OBJECT_TYPES_H

#include "check.h"
#include "type_description.h"
#include "type_set.h"

/// A type that was found, and its description.
struct lt_met_type {
  uint32_t number;
  uint32_t superclass; ///< number of the superclass's type; 0 without
  uint64_t metadata;
  const struct lt_type_description *description;
};

struct lt_type_number;

/// Distinguishes Swift objects from other blocks, and describes their types. For one thread at a time. The caller's
/// input must not change.
struct lt_object_types {
  const struct lt_memory *memory;
  /// In order of address, none overlapping.
  const struct lt_snapshot_region *regions;
  uint32_t regionCount;
  uint32_t firstNumber; ///< of the first type that is found; from 1
  /// Called for each type when it is first found, superclasses before their subclasses.
  void (*met)(struct lt_object_types *types, const struct lt_met_type *type);
  void *context; ///< the caller's

  // Results.
  struct lt_scanned_type *scanned; ///< for the scan of the memory
  uint32_t count;                  ///< of `scanned`; types are numbered from `firstNumber` on

  // The set's own state.
  uint32_t *instanceSizes; ///< 0 where instances may continue after their fields, or the size is not known
  struct lt_type_number *numbers;
  uint32_t numberCount; ///< used places in `numbers`: half of them at most
  uint32_t lastRegion;  ///< a guess: the region of the last address
};

/// False without memory; lt_object_types_free must be called in any case, unless the process ends.
bool lt_object_types_init(struct lt_object_types *types);
void lt_object_types_free(struct lt_object_types *types);

/// The number of an object's type; 0 if the block is no object. `first` and `second`: its words. `size`: its bytes.
uint32_t lt_object_type(struct lt_object_types *types, uint64_t first, uint64_t second, uint64_t size);
/// Bytes of an instance; 0 where instances may continue after their fields, or the size is not known.
uint64_t lt_instance_size(const struct lt_object_types *types, uint32_t type);
/// The bytes of a block that its object uses. The allocator rounds up: the rest of the block has stale contents.
uint64_t lt_object_size(const struct lt_object_types *types, uint32_t type, uint64_t usableSize);

#endif
