// A set of the types of objects in a heap image. The key is the address of a type's metadata.

#ifndef LEAKTRACE_TYPE_SET_H
#define LEAKTRACE_TYPE_SET_H

#include "check.h"
#include "enum_tags.h"

/// A type that has objects, or had some.
struct lt_scanned_type {
  uint64_t metadata;
  uint32_t storage; ///< LT_STORAGE_…
};

struct lt_known_type {
  uint64_t metadata; ///< 0 in a free place
  uint32_t storage;
  struct lt_enum_tags cases;
};

/// A hash table of types. Only `lt_type_set_add` changes it once it is built.
struct lt_type_set {
  struct lt_known_type *places;
  uint64_t placeCount;   ///< a power of two, at least twice the number of types
  uint32_t added;        ///< types that were added to the built set
  uint64_t filter[1024]; ///< one bit for each hash value: set if a type has it
};

/// Builds the set, and finds the words of each type's objects that may hold an enumeration's case. Returns false if
/// there is no memory.
bool lt_type_set_build(struct lt_type_set *set, const struct lt_memory *memory, const struct lt_scanned_type *types,
                       uint32_t count);
/// The number of types that can be added to a built set.
enum { LT_ADDED_TYPES = 16 };
/// Adds a type without cases of enumerations, or changes the storage of a type that the set has. After LT_ADDED_TYPES
/// additions, it adds nothing.
void lt_type_set_add(struct lt_type_set *set, uint64_t metadata, uint32_t storage);
void lt_type_set_free(struct lt_type_set *set, const struct lt_memory *memory);
/// Returns the type with this metadata; NULL if the set does not contain it.
const struct lt_known_type *lt_type_set_find(const struct lt_type_set *set, uint64_t metadata);

static inline uint32_t lt_type_filter_index(uint64_t metadata) {
  return (uint32_t)((metadata * LT_HASH_MULTIPLIER) >> 48);
}
/// A quick test: always true for metadata in the set, and false for most other words. Takes about a nanosecond.
static LT_ALWAYS_INLINE bool lt_type_set_may_have(const struct lt_type_set *set, uint64_t word) {
  uint32_t index = lt_type_filter_index(word);
  return set->filter[index >> 6] >> (index & 63) & 1;
}

#endif
