// Finds the words of objects that may hold an enumeration's case in a separate byte.
//
// If the payloads of an enumeration leave no bit unused, an extra byte after the payload holds the case. A payload with
// references consists of whole words, so the extra byte is the lowest byte of the next word. Only the analysis knows
// which fields are enumerations. This part finds the fields that may contain an enumeration, by their types and sizes.

#ifndef LEAKTRACE_ENUM_TAGS_H
#define LEAKTRACE_ENUM_TAGS_H

#include "scanned_memory.h"
#include "storage_kind.h"

/// Words that may hold a case. They are in the instances of a class, the elements of an array or the values of a
/// dictionary.
struct lt_enum_tags {
  uint64_t mask;   ///< one bit per word; the lowest bit is for the word at `start`
  uint32_t start;  ///< in bytes from the object's start; for a dictionary, from the start of its values
  uint32_t stride; ///< bytes from one element to the next; 0 for an object's own fields
};

/// The most words that the mask covers. Later words are left out.
enum { LT_ENUM_TAG_LIMIT = 64 };

/// Finds the words from a class's metadata and from `storage`, the storage kind of its objects (LT_STORAGE_…). `mask`
/// is 0 if there are no such words. Trusts no address.
struct lt_enum_tags lt_enum_tags_of(const struct lt_memory *memory, uint64_t metadata, uint32_t storage);

/// Byte values from the first up to, but not including, the second never count as a case. Cases are numbered from 0 up.
/// Optionals use values that are no case, from 255 down. An image contains no case byte in this range.
enum { LT_FIRST_NEVER_CASE = 16, LT_END_OF_NEVER_CASES = 240 };

/// True if the lowest byte of a word may be a case.
static inline bool lt_is_case(uint64_t word) {
  uint8_t byte = (uint8_t)word;
  return byte != 0 && (byte < LT_FIRST_NEVER_CASE || byte >= LT_END_OF_NEVER_CASES);
}

#endif
