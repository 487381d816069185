// The words of objects that may hold an enumeration's case in a byte of its own.
//
// An enumeration whose payloads leave no bit unused has an extra byte after them. Payloads with references are whole
// words, so that byte is the lowest one of a word. The analysis knows which fields are enumerations. This part only
// finds fields that may contain one, by their types and their extent.

#ifndef LEAKTRACE_CASE_WORDS_H
#define LEAKTRACE_CASE_WORDS_H

#include "scanned_memory.h"
#include "storage_kind.h"

/// Words of the instances of a class, of the elements of an array, or of the values of a dictionary.
struct lt_case_words {
  uint64_t mask;   ///< one bit per word, the lowest for the word at `start`
  uint32_t start;  ///< bytes from the object's start; for a dictionary, from the start of its values
  uint32_t stride; ///< from one element to the next; 0 for an object's own fields
};

/// Words beyond this limit are left out.
enum { LT_CASE_WORD_LIMIT = 64 };

/// Finds the words from a class's metadata and its objects' storage: LT_STORAGE_. `mask` is 0 if there are none. Trusts
/// no address.
struct lt_case_words lt_case_words_of(const struct lt_memory *memory, uint64_t metadata, uint32_t storage);

/// True if the lowest byte of a word may be a case. Cases are numbered from 0 up. Values that are no case, which
/// optionals use, go from 255 down.
static inline bool lt_is_case(uint64_t word) {
  enum { LEAST_UNUSED = 16, LAST_UNUSED = 239 };
  uint8_t byte = (uint8_t)word;
  return byte != 0 && (byte < LEAST_UNUSED || byte > LAST_UNUSED);
}

#endif
