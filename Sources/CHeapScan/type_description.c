// Describes a type by its metadata.

#include "type_description.h"

#include "metadata_reading.h"
#include "type_name.h"

#include <string.h>

static uint32_t storage_of(const char *name) {
  static const struct {
    const char *prefix;
    uint32_t storage;
  } known[] = {{"Swift._ContiguousArrayStorage<", LT_STORAGE_ARRAY},
               {"Swift._DictionaryStorage<", LT_STORAGE_DICTIONARY},
               {"Swift._SetStorage<", LT_STORAGE_SET},
               {"Swift._DequeBuffer<", LT_STORAGE_DEQUE},
               {"DequeModule._DequeBuffer<", LT_STORAGE_DEQUE}};
  for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strncmp(name, known[i].prefix, strlen(known[i].prefix)) == 0) return known[i].storage;
  return LT_STORAGE_NONE;
}

void lt_describe_type(const struct lt_memory *memory, uint64_t metadata, struct lt_type_description *d) {
  uint64_t kind = lt_word_at(memory, metadata);
  d->kind = LT_TYPE_OTHER;
  d->storage = LT_STORAGE_NONE;
  d->descriptor = d->superclass = 0;
  d->name[0] = 0;
  switch (lt_metadata_kind(kind)) {
    case SWIFT_KIND_CLASS: {
      d->kind = LT_TYPE_CLASS;
      d->descriptor = lt_word_at(memory, metadata + SWIFT_CLASS_DESCRIPTOR);
      d->superclass = lt_word_at(memory, metadata + SWIFT_CLASS_SUPERCLASS);
      lt_type_name(memory, metadata, d->name, sizeof d->name);
      d->storage = storage_of(d->name);
      break;
    }
    case SWIFT_KIND_CONTEXT:
      d->kind = LT_TYPE_CONTEXT;
      d->descriptor = lt_word_at(memory, metadata + SWIFT_CONTEXT_DESCRIPTOR);
      break;
    case SWIFT_KIND_BOX:
      d->kind = LT_TYPE_BOX;
      d->descriptor = lt_word_at(memory, metadata + SWIFT_BOX_TYPE);
      lt_type_name(memory, metadata, d->name, sizeof d->name);
      break;
    case SWIFT_KIND_ERROR: d->kind = LT_TYPE_ERROR; break;
    case SWIFT_KIND_TASK: d->kind = LT_TYPE_TASK; break;
  }
}
