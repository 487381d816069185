// Reads Swift metadata records without trusting any address in them. Their layout is part of the ABI. Source:
// swiftlang/swift, docs/ABI/TypeMetadata.rst and include/swift/ABI/Metadata.h.

#ifndef LEAKTRACE_METADATA_READING_H
#define LEAKTRACE_METADATA_READING_H

#include "scanned_memory.h"

enum lt_metadata_kind {
  KIND_CLASS = 0,
  KIND_STRUCT = 0x200,
  KIND_ENUM = 0x201,
  KIND_OPTIONAL = 0x202,
  KIND_FOREIGN_CLASS = 0x203,
  KIND_OPAQUE = 0x300,
  KIND_TUPLE = 0x301,
  KIND_FUNCTION = 0x302,
  KIND_EXISTENTIAL = 0x303,
  KIND_METATYPE = 0x304,
  KIND_EXISTENTIAL_METATYPE = 0x306,
  KIND_CONTEXT = 0x400,
  KIND_BOX = 0x500,
  KIND_ERROR = 0x501,
  KIND_TASK = 0x502,
  KIND_LAST = 0x7ff,
};

/// Returns the target of the relative pointer at an address: the pointer is stored as a distance from this address.
/// Returns 0 if the pointer is null.
static inline uint64_t lt_relative_at(const struct lt_memory *memory, uint64_t address) {
  int32_t distance = (int32_t)lt_half_at(memory, address);
  return distance == 0 ? 0 : address + (uint64_t)(int64_t)distance;
}

/// Returns the target of a relative pointer that may be indirect. If the low bit of the distance is set, the distance
/// leads to an absolute pointer, whose target is in another library or the executable.
static inline uint64_t lt_relative_indirectable_at(const struct lt_memory *memory, uint64_t address) {
  int32_t distance = (int32_t)lt_half_at(memory, address);
  if (distance & 1) return lt_word_at(memory, address + (uint64_t)(int64_t)(distance & ~1));
  return lt_relative_at(memory, address);
}

/// True if a context descriptor describes a generic type.
static inline bool lt_is_generic(const struct lt_memory *memory, uint64_t descriptor) {
  return lt_half_at(memory, descriptor) >> 7 & 1;
}

/// Returns the address of a class's generic arguments.
static inline uint64_t lt_class_arguments(const struct lt_memory *memory, uint64_t metadata, uint64_t descriptor) {
  uint32_t flags = lt_half_at(memory, descriptor);
  bool hasResilientSuperclass = flags >> (16 + 13) & 1, areNegative = flags >> (16 + 12) & 1;
  int64_t offset;
  if (hasResilientSuperclass) offset = (int64_t)lt_word_at(memory, lt_relative_at(memory, descriptor + 24));
  else if (areNegative) offset = -8 * (int64_t)lt_half_at(memory, descriptor + 24);
  else offset = 8 * ((int64_t)lt_half_at(memory, descriptor + 28) - (int64_t)lt_half_at(memory, descriptor + 32));
  return metadata + (uint64_t)offset;
}

#endif
