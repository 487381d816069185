// The Swift runtime's remote mirror library, in a child process. The library trusts the memory it reads, and aborts,
// crashes or runs away on malformed data.
//
// The caller finds the library, which is loaded with dlopen. Its C interface has no installed header; the source
// declares the functions that are used.

#ifndef LEAKTRACE_REMOTE_MIRROR_H
#define LEAKTRACE_REMOTE_MIRROR_H

#include "CSandboxedChild.h"

#include <stddef.h>
#include <stdint.h>

/// Kinds of layout of a value, by the library's numbers.
enum {
  LT_MIRROR_UNKNOWN = 0,
  LT_MIRROR_BUILTIN = 1,
  LT_MIRROR_RAW_POINTER = 2,
  LT_MIRROR_TUPLE = 3,
  LT_MIRROR_STRUCT = 4,
  LT_MIRROR_NO_PAYLOAD_ENUM = 5,
  LT_MIRROR_SINGLE_PAYLOAD_ENUM = 6,
  LT_MIRROR_MULTI_PAYLOAD_ENUM = 7,
  LT_MIRROR_THICK_FUNCTION = 8,
  LT_MIRROR_OPAQUE_EXISTENTIAL = 9,
  LT_MIRROR_CLASS_EXISTENTIAL = 10,
  LT_MIRROR_ERROR_EXISTENTIAL = 11,
  LT_MIRROR_EXISTENTIAL_METATYPE = 12,
  LT_MIRROR_STRONG_REFERENCE = 13,
  LT_MIRROR_UNOWNED_REFERENCE = 14,
  LT_MIRROR_WEAK_REFERENCE = 15,
  LT_MIRROR_UNMANAGED_REFERENCE = 16,
  LT_MIRROR_CLASS_INSTANCE = 17,
  LT_MIRROR_CLOSURE_CONTEXT = 18,
  LT_MIRROR_ARRAY = 19,
};

/// Subjects of a question.
enum {
  LT_MIRROR_OF_METADATA = 1,       ///< the instances of a class, by the address of its metadata
  LT_MIRROR_OF_INSTANCE = 2,       ///< one closure context or box, by its address
  LT_MIRROR_OF_TYPE = 3,           ///< a value of a type, by the number an earlier answer of the same child gave for it
  LT_MIRROR_OF_VALUE_METADATA = 4, ///< a value of the type whose metadata is at an address
  /// the bits that distinguish an enumeration's cases, by a type's number: struct lt_mirror_cases
  LT_MIRROR_CASES_OF_TYPE = 5,
};

/// A question.
struct lt_mirror_question {
  uint64_t subject;
  uint32_t about; ///< LT_MIRROR_OF_ or LT_MIRROR_CASES_OF_TYPE
  uint32_t reserved;
};

/// The ways that a value's bytes encode its case.
enum {
  LT_MIRROR_CASE_UNKNOWN = 0,
  LT_MIRROR_CASE_BY_TAG = 1, ///< several payloads: some bits are a number, and a table has the case for each
  /// one payload: the word at `offset` is an address, and a small number in the cases without
  LT_MIRROR_PAYLOAD_BY_ADDRESS = 2,
  LT_MIRROR_PAYLOAD_BY_ZEROS = 3, ///< one payload: none of some bits is set
  /// one payload: the word at `offset` is an address or 0, and a small number in the cases without
  LT_MIRROR_PAYLOAD_BY_NO_NUMBER = 4,
};

/// The answer to LT_MIRROR_CASES_OF_TYPE. After it the bits' places (4 bytes each: bits from the value's start), lowest
/// of the number first, then the table (2 bytes each: index of a case, −1 for none).
struct lt_mirror_cases {
  uint32_t how; ///< LT_MIRROR_CASE_ or LT_MIRROR_PAYLOAD_
  uint32_t offset;
  uint32_t bitCount, tableCount;
};

/// An answer: this, the subject's name, then the generic arguments' type numbers (8 bytes each), then the fields. No
/// padding in between.
struct lt_mirror_answer {
  uint32_t kind; ///< LT_MIRROR_UNKNOWN: nothing is known of the subject's fields; its name may be
  uint32_t size, alignment, stride;
  uint64_t type; ///< number of the subject's type, 0 if it has none
  uint32_t nameSize;
  uint32_t argumentCount;
  uint32_t fieldCount;
  uint32_t reserved;
};

/// A field, a case, a capture. After it its name, and its type's name.
struct lt_mirror_field {
  uint32_t offset;
  uint32_t kind; ///< LT_MIRROR_
  uint64_t type; ///< 0 for a case without payload
  uint32_t nameSize, typeNameSize;
};

/// Bytes of the traced process that never change, in this process.
struct lt_mirror_region {
  uint64_t address, size;
  const void *bytes;
};

/// The memory that the child can read.
struct lt_mirror_memory {
  const struct lt_mirror_region *regions; ///< in order of address, not overlapping; asked first
  size_t regionCount;
  /// Copies `size` bytes; 0 if they are not known. Called in the child alone.
  int (*read)(void *context, uint64_t address, void *bytes, uint64_t size);
  void *context;
};

/// The functions of a loaded library.
struct lt_mirror_library;

/// Loads the library. NULL if it cannot be loaded, or lacks a function; `*reason` is then a string for `free`.
const struct lt_mirror_library *lt_mirror_load(const char *path, char **reason);
/// Gives back what lt_mirror_load returned. The library itself stays loaded: a child may be using it.
void lt_mirror_release(const struct lt_mirror_library *library);

/// Returns the path of the library or program that defines a function of this process: a string for `free`, or NULL.
char *lt_mirror_file_defining(const char *function);

/// Everything that a child needs to know.
struct lt_mirror_input {
  const struct lt_mirror_library *library;
  struct lt_mirror_memory memory;
  const uint64_t *images; ///< start addresses of the ELF images that the library reads
  size_t imageCount;
};

/// Starts a child that answers questions, each a struct lt_mirror_question. 0, or an errno.
int lt_mirror_start(struct lt_child *child, const struct lt_mirror_input *input);

#endif
