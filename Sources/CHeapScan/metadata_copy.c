// Finds the words of memory that are Swift metadata records.
//
// The search starts at the types of objects, and continues with their superclasses and generic arguments. An address is
// read only if its memory is readable. Each count has a limit, and each record is visited only once. So garbage adds
// only a few words to the image.

#include "metadata_copy.h"

#include "check.h"
#include "metadata_reading.h"

enum {
  SEEN_SIZE = 1 << 18,
  SEEN_LIMIT = SEEN_SIZE / 2,
  CLASS_SIZE_LIMIT = 64 << 10,
  ARGUMENT_LIMIT = 64,
  FIELD_LIMIT = 4096,
  WITNESS_TABLE_WORDS = SWIFT_WITNESSES_FLAGS / 8 + 1,
  ENUM_WITNESS_TABLE_WORDS = WITNESS_TABLE_WORDS + 3,
};

struct walk {
  const struct lt_memory *memory;
  struct lt_verbatim_words *words;
  uint64_t *seen;    ///< hash set; at least half of its places are free
  uint64_t *pending; ///< the records found so far, oldest first
  uint32_t count;    ///< number of records in `pending`; at most SEEN_LIMIT
};

static void find(struct walk *w, uint64_t metadata) {
  if (metadata < 4096 || (metadata & 7) || metadata >> LT_SCANNED_ADDRESS_BITS || w->count == SEEN_LIMIT) return;
  uint64_t index = (metadata * LT_HASH_MULTIPLIER) >> 46;
  LT_CHECK(index < SEEN_SIZE && w->count < SEEN_LIMIT);
  while (w->seen[index]) {
    if (w->seen[index] == metadata) return;
    index = (index + 1) % SEEN_SIZE;
  }
  w->seen[index] = metadata;
  w->pending[w->count++] = metadata;
}

/// Adds the record's words: `first` words before its address, and `count` words from its address on.
static void add(struct walk *w, uint64_t metadata, uint64_t first, uint64_t count) {
  LT_CHECK(metadata >= 8 * first && first + count > 0);
  lt_verbatim_words_add(w->words, metadata - 8 * first, first + count, 8);
}

static void find_arguments(struct walk *w, uint64_t arguments, uint64_t genericHeader) {
  unsigned parameters = lt_short_at(w->memory, genericHeader + SWIFT_GENERICS_PARAMETERS),
           keyArguments = lt_short_at(w->memory, genericHeader + SWIFT_GENERICS_KEY_ARGUMENTS);
  if (parameters > keyArguments) parameters = keyArguments;
  for (unsigned i = 0; i < parameters && i < ARGUMENT_LIMIT; i++) find(w, lt_word_at(w->memory, arguments + 8 * i));
}

static void look_at_class(struct walk *w, uint64_t metadata) {
  uint32_t size = lt_half_at(w->memory, metadata + SWIFT_CLASS_SIZE),
           addressPoint = lt_half_at(w->memory, metadata + SWIFT_CLASS_ADDRESS_POINT);
  if (size > CLASS_SIZE_LIMIT || addressPoint > size || size - addressPoint < SWIFT_CLASS_FIXED_PART ||
      addressPoint < SWIFT_DESTROYER_BEFORE || (addressPoint & 7))
    return;
  add(w, metadata, addressPoint / 8, (size - addressPoint + 7) / 8);
  find(w, lt_word_at(w->memory, metadata + SWIFT_CLASS_SUPERCLASS));
  uint64_t descriptor = lt_word_at(w->memory, metadata + SWIFT_CLASS_DESCRIPTOR);
  if (lt_is_generic(w->memory, descriptor))
    find_arguments(w, lt_class_arguments(w->memory, metadata, descriptor), descriptor + SWIFT_CLASS_GENERICS);
}

static void look_at_value_type(struct walk *w, uint64_t metadata, bool isStruct) {
  uint64_t descriptor = lt_word_at(w->memory, metadata + SWIFT_VALUE_DESCRIPTOR), words = SWIFT_VALUE_ARGUMENTS / 8;
  if (lt_is_generic(w->memory, descriptor)) {
    unsigned keyArguments = lt_short_at(w->memory, descriptor + SWIFT_VALUE_GENERICS + SWIFT_GENERICS_KEY_ARGUMENTS);
    words += keyArguments < ARGUMENT_LIMIT ? keyArguments : ARGUMENT_LIMIT;
    find_arguments(w, metadata + SWIFT_VALUE_ARGUMENTS, descriptor + SWIFT_VALUE_GENERICS);
  }
  if (isStruct) {
    uint32_t fields = lt_half_at(w->memory, descriptor + SWIFT_STRUCT_FIELD_COUNT),
             offset = lt_half_at(w->memory, descriptor + SWIFT_STRUCT_FIELD_VECTOR);
    if (fields <= FIELD_LIMIT && offset && offset <= FIELD_LIMIT && offset + (fields + 1) / 2 > words)
      words = offset + (fields + 1) / 2;
  }
  add(w, metadata, 1, words);
}

static void look_at(struct walk *w, uint64_t metadata) {
  uint64_t kind;
  LT_CHECK((metadata & 7) == 0);
  if (!lt_read_bytes(w->memory, metadata, &kind, sizeof kind)) return;
  if (lt_metadata_kind(kind) == SWIFT_KIND_CLASS) {
    look_at_class(w, metadata);
  } else {
    switch (kind) {
      case SWIFT_KIND_STRUCT: look_at_value_type(w, metadata, true); break;
      case SWIFT_KIND_ENUM:
      case SWIFT_KIND_OPTIONAL: look_at_value_type(w, metadata, false); break;
      case SWIFT_KIND_FOREIGN_CLASS: add(w, metadata, 1, 4); break;
      case SWIFT_KIND_TUPLE: {
        uint64_t count = lt_word_at(w->memory, metadata + SWIFT_TUPLE_COUNT);
        if (count > ARGUMENT_LIMIT) count = ARGUMENT_LIMIT;
        add(w, metadata, 1, 3 + 2 * count);
        for (uint64_t i = 0; i < count; i++)
          find(w, lt_word_at(w->memory, metadata + SWIFT_TUPLE_ELEMENTS + SWIFT_TUPLE_ELEMENT_SIZE * i));
        break;
      }
      case SWIFT_KIND_FUNCTION: {
        // The record holds flags, the result and the parameters. If the flags say so, the parameters' flags and a few
        // other words follow.
        uint64_t flags = lt_word_at(w->memory, metadata + SWIFT_FUNCTION_FLAGS), count = flags & 0xffff;
        if (count > ARGUMENT_LIMIT) count = ARGUMENT_LIMIT;
        add(w, metadata, 1, 3 + count + (flags >> 25 ? (count + 1) / 2 + 3 : 0));
        find(w, lt_word_at(w->memory, metadata + SWIFT_FUNCTION_RESULT));
        for (uint64_t i = 0; i < count; i++)
          find(w, lt_word_at(w->memory, metadata + SWIFT_FUNCTION_PARAMETERS + 8 * i));
        break;
      }
      case SWIFT_KIND_EXISTENTIAL: {
        uint32_t flags = lt_half_at(w->memory, metadata + SWIFT_EXISTENTIAL_FLAGS),
                 count = lt_half_at(w->memory, metadata + SWIFT_EXISTENTIAL_COUNT);
        bool hasSuperclass = flags >> 30 & 1;
        if (count > ARGUMENT_LIMIT) count = ARGUMENT_LIMIT;
        add(w, metadata, 1, 2 + hasSuperclass + count);
        if (hasSuperclass) find(w, lt_word_at(w->memory, metadata + SWIFT_EXISTENTIAL_PARTS));
        break;
      }
      case SWIFT_KIND_METATYPE:
        add(w, metadata, 1, 2);
        find(w, lt_word_at(w->memory, metadata + SWIFT_METATYPE_INSTANCE));
        break;
      case SWIFT_KIND_EXISTENTIAL_METATYPE:
        add(w, metadata, 1, 3);
        find(w, lt_word_at(w->memory, metadata + SWIFT_METATYPE_INSTANCE));
        break;
      case SWIFT_KIND_CONTEXT: add(w, metadata, 2, 3); break;
      case SWIFT_KIND_BOX:
        add(w, metadata, 2, 3);
        find(w, lt_word_at(w->memory, metadata + SWIFT_BOX_TYPE));
        break;
      case SWIFT_KIND_ERROR:
      case SWIFT_KIND_TASK: add(w, metadata, 2, 1); break;
      default: add(w, metadata, 1, 1); break;
    }
  }
  // A value witness table holds eight functions, the size, the stride, flags and the number of extra inhabitants. The
  // table of an enumeration holds three more functions.
  uint64_t table = lt_word_at(w->memory, metadata - SWIFT_WITNESSES_BEFORE), last;
  if (table & 7) return;
  uint32_t count =
      kind == SWIFT_KIND_ENUM || kind == SWIFT_KIND_OPTIONAL ? ENUM_WITNESS_TABLE_WORDS : WITNESS_TABLE_WORDS;
  if (lt_read_bytes(w->memory, table + 8 * (count - 1), &last, sizeof last))
    lt_verbatim_words_add(w->words, table, count, 8);
}

bool lt_metadata_copy(struct lt_verbatim_words *words, const struct lt_scanned_type *types, uint32_t typeCount) {
  const struct lt_memory *memory = words->memory;
  struct walk w = {.memory = memory,
                   .words = words,
                   .seen = memory->allocate(SEEN_SIZE * sizeof *w.seen),
                   .pending = memory->allocate(SEEN_LIMIT * sizeof *w.pending)};
  bool hasMemory = w.seen && w.pending;
  if (hasMemory) {
    for (uint32_t i = 0; i < typeCount; i++) find(&w, types[i].metadata);
    LT_CHECK(w.count <= typeCount);
    for (uint32_t i = 0; i < w.count; i++) look_at(&w, w.pending[i]);
  }
  if (w.seen) memory->release(w.seen, SEEN_SIZE * sizeof *w.seen);
  if (w.pending) memory->release(w.pending, SEEN_LIMIT * sizeof *w.pending);
  return hasMemory;
}
