// Runs the Swift runtime's remote mirror library in a child process. The library trusts the memory that it reads. With
// malformed data, it may abort, crash or never end.
//
// The caller finds the library, which is loaded with dlopen. No header is installed for its C interface, so this module
// declares the functions that it uses.

#ifndef LEAKTRACE_REMOTE_MIRROR_H
#define LEAKTRACE_REMOTE_MIRROR_H

#include "CSandboxedChild.h"

#include <stddef.h>
#include <stdint.h>

/// Kinds of a value's layout. The numbers are the library's.
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
  LT_MIRROR_OF_METADATA = 1,       ///< the instances of the class whose metadata is at an address
  LT_MIRROR_OF_INSTANCE = 2,       ///< the closure context or box at an address
  LT_MIRROR_OF_TYPE = 3,           ///< values of the type with a number from an earlier answer of the same child
  LT_MIRROR_OF_VALUE_METADATA = 4, ///< values of the type whose metadata is at an address
  /// the bits that distinguish the cases of the enumeration with a type number; the answer is a struct lt_mirror_cases
  LT_MIRROR_CASES_OF_TYPE = 5,
};

/// A question.
struct lt_mirror_question {
  uint64_t subject; ///< an address or a type's number
  uint32_t about;   ///< LT_MIRROR_OF_… or LT_MIRROR_CASES_OF_TYPE
  uint32_t reserved;
};

/// The ways that a value's bytes encode its case.
enum {
  LT_MIRROR_CASE_UNKNOWN = 0,
  LT_MIRROR_CASE_BY_TAG = 1, ///< several payloads: certain bits form a number, and a table has the case for each number
  /// one payload: the word at `offset` is an address in the payload case, and a small number in the other cases
  LT_MIRROR_PAYLOAD_BY_ADDRESS = 2,
  LT_MIRROR_PAYLOAD_BY_ZEROS = 3, ///< one payload: certain bits are all 0 in the payload case, and in no other case
  /// one payload: the word at `offset` is an address or 0 in the payload case, and a small number in the other cases
  LT_MIRROR_PAYLOAD_BY_NO_NUMBER = 4,
};

/// The start of the answer to LT_MIRROR_CASES_OF_TYPE. The places of the bits follow it, the number's lowest bit first
/// (4 bytes each: bits from the value's start). Then comes the table (2 bytes each: index of a case, −1 for none).
struct lt_mirror_cases {
  uint32_t how; ///< LT_MIRROR_CASE_… or LT_MIRROR_PAYLOAD_…
  uint32_t offset;
  uint32_t bitCount, tableCount;
};

/// The start of any other answer. The subject's name follows it, then the generic arguments' type numbers (8 bytes
/// each), then the fields. There is no padding in between.
struct lt_mirror_answer {
  uint32_t kind; ///< LT_MIRROR_UNKNOWN if the subject's fields are unknown; its name may still be known
  uint32_t size, alignment, stride;
  uint64_t type; ///< number of the subject's type; 0 if it has none
  uint32_t nameSize;
  uint32_t argumentCount;
  uint32_t fieldCount;
  uint32_t reserved;
};

/// A field, a case or a capture. Its name follows, and then its type's name.
struct lt_mirror_field {
  uint32_t offset;
  uint32_t kind; ///< LT_MIRROR_…, such as LT_MIRROR_STRUCT
  uint64_t type; ///< 0 for a case without payload
  uint32_t nameSize, typeNameSize;
};

/// A range of the traced process's memory that never changes.
struct lt_mirror_region {
  uint64_t address, size;
  const void *bytes; ///< a copy in this process
};

/// The memory that the child can read.
struct lt_mirror_memory {
  const struct lt_mirror_region *regions; ///< in order of address, none overlapping; used before `read`
  size_t regionCount;
  /// Copies `size` bytes. Returns 0 if they are not known. Called only in the child.
  int (*read)(void *context, uint64_t address, void *bytes, uint64_t size);
  void *context;
  /// The bits that Swift's references leave unused on the traced process's processor. Enumerations keep their cases
  /// there. 0 if they are unknown; the library then assumes this machine's processor.
  uint64_t spareBits;
};

/// The unused bits of references by processor. Bits 56 to 59 may be tags of the hardware on arm64. Source:
/// swiftlang/swift, stdlib/public/SwiftShims/swift/shims/System.h (SWIFT_ABI_X86_64_SWIFT_SPARE_BITS_MASK and others).
#define LT_MIRROR_SPARE_BITS_X86_64 0xFF00000000000007ull
#define LT_MIRROR_SPARE_BITS_ARM64 0xF000000000000007ull

/// The functions of a loaded library.
struct lt_mirror_library;

/// Loads the library. Returns NULL if it cannot be loaded, or lacks a function. Then `*reason` is a string that must be
/// freed with `free`.
const struct lt_mirror_library *lt_mirror_load(const char *path, char **reason);
/// Frees the result of lt_mirror_load. The library itself stays loaded, since a child may be using it.
void lt_mirror_release(const struct lt_mirror_library *library);

/// Returns the path of the library or program that defines a function of this process, or NULL. The string must be
/// freed with `free`.
char *lt_mirror_file_defining(const char *function);

/// The input of a child.
struct lt_mirror_input {
  const struct lt_mirror_library *library;
  struct lt_mirror_memory memory;
  const uint64_t *images; ///< start addresses of the ELF images that the library reads
  size_t imageCount;
};

/// Starts a child. Each question to it is a struct lt_mirror_question. Returns 0 or an errno.
int lt_mirror_start(struct lt_child *child, const struct lt_mirror_input *input);

#endif
