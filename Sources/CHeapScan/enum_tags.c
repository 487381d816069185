// Finds the words from the metadata's field records. Source for the mangled names: swiftlang/swift,
// docs/ABI/Mangling.rst.

#include "enum_tags.h"

#include "check.h"
#include "metadata_reading.h"
#include "object_layout.h"

#include <string.h>

enum { FIELD_LIMIT = 4096, DEPTH_LIMIT = 64 };

/// Returns a mask of the words that begin at or after `from` and before `end`. Both are offsets in an object.
static uint64_t words_between(uint64_t from, uint64_t end) {
  if (from < SWIFT_OBJECT_HEADER || end <= from) return 0;
  uint64_t first = (from - SWIFT_OBJECT_HEADER + 7) / 8, last = (end - SWIFT_OBJECT_HEADER + 7) / 8;
  if (first >= LT_ENUM_TAG_LIMIT || last <= first) return 0;
  uint64_t below = last >= LT_ENUM_TAG_LIMIT ? ~0ull : (1ull << last) - 1;
  return below & ~((1ull << first) - 1);
}

/// True if a mangled type name is a number, a string, or an optional of such a type. Examples are `Si` and `SSSg`. Such
/// fields hold users' data.
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
  uint64_t start = superclass ? lt_half_at(memory, superclass + SWIFT_CLASS_INSTANCE_SIZE) : SWIFT_OBJECT_HEADER,
           end = lt_half_at(memory, class + SWIFT_CLASS_INSTANCE_SIZE), mask = 0;
  uint64_t descriptor = lt_word_at(memory, class + SWIFT_CLASS_DESCRIPTOR),
           fields = lt_relative_at(memory, descriptor + SWIFT_DESCRIPTOR_FIELDS);
  uint32_t flags = lt_half_at(memory, descriptor + SWIFT_DESCRIPTOR_FLAGS),
           count = lt_half_at(memory, descriptor + SWIFT_CLASS_FIELD_COUNT),
           vector = lt_half_at(memory, descriptor + SWIFT_CLASS_FIELD_VECTOR);
  bool isKnown = lt_context_kind(flags) == SWIFT_DESCRIBES_CLASS && !lt_flags_have_resilient_superclass(flags) &&
                 fields && lt_short_at(memory, fields + SWIFT_FIELDS_RECORD_SIZE) == SWIFT_FIELD_SIZE &&
                 lt_half_at(memory, fields + SWIFT_FIELDS_COUNT) == count && count <= FIELD_LIMIT;
  if (!isKnown) return words_between(start + 8, end);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t offset = lt_word_at(memory, metadata + 8ull * (vector + i)), next = end;
    if (offset < start || offset >= end ||
        is_plain(memory, lt_relative_at(memory, fields + SWIFT_FIELDS_RECORDS + (uint64_t)SWIFT_FIELD_SIZE * i +
                                                    SWIFT_FIELD_TYPE)))
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
  struct lt_enum_tags words = {.start = SWIFT_OBJECT_HEADER};
  uint64_t class = metadata;
  for (int depth = 0; class && depth < DEPTH_LIMIT; depth++) {
    uint64_t superclass = lt_word_at(memory, class + SWIFT_CLASS_SUPERCLASS);
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
  uint64_t descriptor = lt_word_at(memory, metadata + SWIFT_CLASS_DESCRIPTOR);
  if (!lt_is_generic(memory, descriptor)) return words;
  uint64_t element = lt_word_at(memory, lt_class_arguments(memory, metadata, descriptor) + 8ull * argument),
           kind = lt_word_at(memory, element), witnesses = lt_word_at(memory, element - SWIFT_WITNESSES_BEFORE);
  if (kind != SWIFT_KIND_STRUCT && kind != SWIFT_KIND_ENUM && kind != SWIFT_KIND_OPTIONAL && kind != SWIFT_KIND_TUPLE)
    return words;
  uint64_t size = lt_word_at(memory, witnesses + SWIFT_WITNESSES_SIZE),
           stride = lt_word_at(memory, witnesses + SWIFT_WITNESSES_STRIDE);
  uint32_t flags = lt_half_at(memory, witnesses + SWIFT_WITNESSES_FLAGS);
  if (!(flags & SWIFT_VALUE_IS_NOT_PLAIN) || (stride & 7) || stride > UINT32_MAX || size > stride) return words;
  uint64_t alignment = (flags & SWIFT_VALUE_ALIGNMENT_MASK) + 1;
  words.start = (uint32_t)((start + alignment - 1) & ~(alignment - 1));
  words.stride = (uint32_t)stride;
  LT_CHECK(words.stride % 8 == 0 && words.start >= start);
  words.mask = words_between(SWIFT_OBJECT_HEADER + 8, SWIFT_OBJECT_HEADER + size);
  return words;
}

struct lt_enum_tags lt_enum_tags_of(const struct lt_memory *memory, uint64_t metadata, uint32_t storage) {
  struct lt_enum_tags none = {0};
  uint64_t kind = lt_word_at(memory, metadata);
  if (lt_metadata_kind(kind) != SWIFT_KIND_CLASS) return none;
  switch (storage) {
    case LT_STORAGE_NONE: return words_of_class(memory, metadata);
    case LT_STORAGE_ARRAY: return words_of_elements(memory, metadata, 0, SWIFT_ARRAY_ELEMENTS);
    case LT_STORAGE_DICTIONARY: return words_of_elements(memory, metadata, 1, 0);
    default: return none;
  }
}
