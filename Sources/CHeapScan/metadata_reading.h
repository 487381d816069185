// Reads Swift metadata records without trusting any address in them.

#ifndef LEAKTRACE_METADATA_READING_H
#define LEAKTRACE_METADATA_READING_H

#include "metadata_layout.h"
#include "scanned_memory.h"

/// Returns the target of the relative pointer at an address: the pointer is stored as a distance from this address.
/// Returns 0 if the pointer is null.
static inline uint64_t lt_relative_at(const struct lt_memory *memory, uint64_t address) {
  int32_t distance = (int32_t)lt_half_at(memory, address);
  return distance == 0 ? 0 : address + (uint64_t)(int64_t)distance;
}

/// Returns the target of a relative pointer that may be indirect. If the low bit of the distance is set, the distance
/// leads to an absolute pointer. The target of that pointer may be in another image.
static inline uint64_t lt_relative_indirectable_at(const struct lt_memory *memory, uint64_t address) {
  int32_t distance = (int32_t)lt_half_at(memory, address);
  if (distance & 1) return lt_word_at(memory, address + (uint64_t)(int64_t)(distance & ~1));
  return lt_relative_at(memory, address);
}

/// True if a context descriptor describes a generic type.
static inline bool lt_is_generic(const struct lt_memory *memory, uint64_t descriptor) {
  return lt_flags_are_generic(lt_half_at(memory, descriptor + SWIFT_DESCRIPTOR_FLAGS));
}

/// Returns the address of a class's generic arguments.
static inline uint64_t lt_class_arguments(const struct lt_memory *memory, uint64_t metadata, uint64_t descriptor) {
  uint32_t flags = lt_half_at(memory, descriptor + SWIFT_DESCRIPTOR_FLAGS);
  uint64_t bounds = descriptor + SWIFT_CLASS_BOUNDS;
  int64_t offset;
  if (lt_flags_have_resilient_superclass(flags)) {
    offset = (int64_t)lt_word_at(memory, lt_relative_at(memory, bounds));
  } else if (lt_flags_have_negative_members(flags)) {
    offset = -8 * (int64_t)lt_half_at(memory, bounds);
  } else {
    offset = 8 * ((int64_t)lt_half_at(memory, descriptor + SWIFT_CLASS_POSITIVE_WORDS) -
                  (int64_t)lt_half_at(memory, descriptor + SWIFT_CLASS_OWN_WORDS));
  }
  return metadata + (uint64_t)offset;
}

#endif
