// Finds the words from the metadata's field records, whose layout is part of the ABI. Source: swiftlang/swift,
// include/swift/RemoteInspection/Records.h, include/swift/ABI/Metadata.h and docs/ABI/Mangling.rst.

#include "enum_tags.h"

#include "check.h"
#include "metadata_reading.h"

#include <string.h>

enum {
  DESCRIPTOR_CLASS = 16,
  HEADER_SIZE = 16,
  ARRAY_HEADER_SIZE = 32,
  FIELD_RECORD_SIZE = 12,
  FIELD_LIMIT = 4096,
  DEPTH_LIMIT = 64
};

/// Returns a mask of the words that begin at or after `from` and before `end`. Both are offsets in an object.
static uint64_t words_between(uint64_t from, uint64_t end) {
  if (from < HEADER_SIZE || end <= from) return 0;
  uint64_t first = (from - HEADER_SIZE + 7) / 8, last = (end - HEADER_SIZE + 7) / 8;
  if (first >= LT_CASE_WORD_LIMIT || last <= first) return 0;
  uint64_t below = last >= LT_CASE_WORD_LIMIT ? ~0ull : (1ull << last) - 1;
  return below & ~((1ull << first) - 1);
}

/// True if a mangled type name is a number, a string, or an optional of one of these: `Si`, `SSSg`. Such fields hold
/// users' data.
static bool is_plain(const struct lt_memory *memory, uint64_t typeName) {
  char name[5] = {0};
  for (unsigned i = 0; i < 4; i++)
    if (!lt_read_bytes(memory, typeName + i, &name[i], 1) || !name[i]) break;
  if (name[0] != 'S' || !strchr("SiubdfJsv", name[1]) || !name[1]) return false;
  return name[2] == 0 || (name[2] == 'S' && name[3] == 'g' && name[4] == 0);
}

/// Returns the words of a class's own fields, without its superclass's fields.
static uint64_t words_of_fields(const struct lt_memory *memory, uint64_t metadata, uint64_t class,
                                uint64_t superclass) {
  uint64_t start = superclass ? lt_half_at(memory, superclass + 24) : HEADER_SIZE, end = lt_half_at(memory, class + 24),
           mask = 0;
  uint64_t descriptor = lt_word_at(memory, class + 40), fields = lt_relative_at(memory, descriptor + 16);
  uint32_t flags = lt_half_at(memory, descriptor), count = lt_half_at(memory, descriptor + 36),
           vector = lt_half_at(memory, descriptor + 40);
  bool hasResilientSuperclass = flags >> 29 & 1;
  bool isKnown = (flags & 31) == DESCRIPTOR_CLASS && !hasResilientSuperclass && fields &&
                 lt_short_at(memory, fields + 10) == FIELD_RECORD_SIZE && lt_half_at(memory, fields + 12) == count &&
                 count <= FIELD_LIMIT;
  if (!isKnown) return words_between(start + 8, end);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t offset = lt_word_at(memory, metadata + 8ull * (vector + i)), next = end;
    if (offset < start || offset >= end ||
        is_plain(memory, lt_relative_at(memory, fields + 16 + (uint64_t)FIELD_RECORD_SIZE * i + 4)))
      continue;
    // Skip fields of size 0: they have no offset of their own.
    for (uint32_t k = i + 1; k < count; k++) {
      uint64_t other = lt_word_at(memory, metadata + 8ull * (vector + k));
      if (other <= offset) continue;
      if (other < end) next = other;
      break;
    }
    mask |= words_between(offset + 8, next);
  }
  return mask;
}

static struct lt_enum_tags words_of_class(const struct lt_memory *memory, uint64_t metadata) {
  struct lt_enum_tags words = {.start = HEADER_SIZE};
  uint64_t class = metadata;
  for (int depth = 0; class && depth < DEPTH_LIMIT; depth++) {
    uint64_t superclass = lt_word_at(memory, class + 8);
    words.mask |= words_of_fields(memory, metadata, class, superclass);
    class = superclass;
  }
  return words;
}

/// Returns the words of elements whose type is the class's generic argument `argument`. The first element begins at
/// `start`, rounded up to its alignment.
static struct lt_enum_tags words_of_elements(const struct lt_memory *memory, uint64_t metadata, unsigned argument,
                                             uint64_t start) {
  struct lt_enum_tags words = {0};
  uint64_t descriptor = lt_word_at(memory, metadata + 40);
  if (!lt_is_generic(memory, descriptor)) return words;
  uint64_t element = lt_word_at(memory, lt_class_arguments(memory, metadata, descriptor) + 8ull * argument),
           kind = lt_word_at(memory, element), witnesses = lt_word_at(memory, element - 8);
  if (kind != KIND_STRUCT && kind != KIND_ENUM && kind != KIND_OPTIONAL && kind != KIND_TUPLE) return words;
  enum { IS_NOT_PLAIN_DATA = 0x10000, ALIGNMENT_MASK = 0xFF };
  uint64_t size = lt_word_at(memory, witnesses + 64), stride = lt_word_at(memory, witnesses + 72);
  uint32_t flags = lt_half_at(memory, witnesses + 80);
  if (!(flags & IS_NOT_PLAIN_DATA) || (stride & 7) || stride > UINT32_MAX || size > stride) return words;
  uint64_t alignment = (flags & ALIGNMENT_MASK) + 1;
  words.start = (uint32_t)((start + alignment - 1) & ~(alignment - 1));
  words.stride = (uint32_t)stride;
  LT_CHECK(words.stride % 8 == 0 && words.start >= start);
  words.mask = words_between(HEADER_SIZE + 8, HEADER_SIZE + size);
  return words;
}

struct lt_enum_tags lt_enum_tags_of(const struct lt_memory *memory, uint64_t metadata, uint32_t storage) {
  struct lt_enum_tags none = {0};
  uint64_t kind = lt_word_at(memory, metadata);
  if (kind != KIND_CLASS && kind <= KIND_LAST) return none;
  switch (storage) {
    case LT_STORAGE_NONE: return words_of_class(memory, metadata);
    case LT_STORAGE_ARRAY: return words_of_elements(memory, metadata, 0, ARRAY_HEADER_SIZE);
    case LT_STORAGE_DICTIONARY: return words_of_elements(memory, metadata, 1, 0);
    default: return none;
  }
}
