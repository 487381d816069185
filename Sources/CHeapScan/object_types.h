// Finds the Swift types of a process's objects, using only the process's memory.

#ifndef LEAKTRACE_OBJECT_TYPES_H
#define LEAKTRACE_OBJECT_TYPES_H

#include "check.h"
#include "type_description.h"
#include "type_set.h"

/// A type that was found, and its description.
struct lt_met_type {
  uint32_t number;
  uint32_t superclass; ///< the number of the superclass; 0 if there is none
  uint64_t metadata;
  const struct lt_type_description *description;
};

struct lt_type_number;

/// Distinguishes Swift objects from other blocks, and describes their types. Only one thread at a time may use it. The
/// caller's input must not change.
struct lt_object_types {
  const struct lt_memory *memory;
  /// In order of address, none overlapping.
  const struct lt_snapshot_region *regions;
  uint32_t regionCount;
  uint32_t firstNumber; ///< the number for the first type that is found; at least 1
  /// Called once for each type, when it is found. The call for a superclass precedes the calls for its subclasses.
  void (*met)(struct lt_object_types *types, const struct lt_met_type *type);
  void *context; ///< for the caller's use

  // Results.
  struct lt_scanned_type *scanned; ///< the types found, as the memory scan needs them
  uint32_t count;                  ///< number of types in `scanned`; they are numbered from `firstNumber` on

  // Internal state.
  uint32_t *instanceSizes; ///< 0 if instances may have memory after their fields, or if the size is unknown
  struct lt_type_number *numbers;
  uint32_t numberCount; ///< number of used places in `numbers`; at most half of all places
  uint32_t lastRegion;  ///< the region of the previous address, where the next search starts
};

/// Returns false if there is no memory. Call lt_object_types_free in either case, unless the process ends.
bool lt_object_types_init(struct lt_object_types *types);
void lt_object_types_free(struct lt_object_types *types);

/// Returns the number of an object's type; 0 if the block is not an object. `first` and `second` are the block's first
/// two words; `size` is its size in bytes.
uint32_t lt_object_type(struct lt_object_types *types, uint64_t first, uint64_t second, uint64_t size);
/// Returns the bytes of an instance; 0 if instances may have memory after their fields, or if the size is unknown.
uint64_t lt_instance_size(const struct lt_object_types *types, uint32_t type);
/// Returns how many bytes of a block its object uses. The allocator rounds sizes up, so the rest of the block holds
/// stale contents.
uint64_t lt_object_size(const struct lt_object_types *types, uint32_t type, uint64_t usableSize);

#endif
