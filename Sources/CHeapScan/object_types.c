// Distinguishes Swift objects from other blocks. An object begins with the address of its metadata, followed by a word
// that may be its reference counts.

#include "object_types.h"

#include "check.h"
#include "metadata_reading.h"
#include "object_layout.h"
#include "object_words.h"

#include <string.h>

enum {
  /// The most types of a process. Programs have several thousand types. Programs with many generic types have about ten
  /// thousand.
  TYPE_LIMIT = 1 << 18,
  SUPERCLASS_LIMIT = 64,
  /// Places for words that were checked, whether they are metadata or not. Once half of the places are used, a new word
  /// is checked each time it occurs.
  NUMBER_PLACES = 1 << 20,
  /// The largest size of a class's instances and of its metadata.
  SIZE_LIMIT = 1 << 24,
  /// The most bytes that glibc adds to a block. glibc rounds up to a multiple of 16, and adds a remainder that is too
  /// small for another block.
  ROUNDING_LIMIT = 15 + 16,
  /// jemalloc adds up to a quarter of the size, and rounds up to a multiple of 16.
  QUARTER_ROUNDING = 16,
};

/// Modules with classes whose instances have memory after their fields: storage of the standard library and of
/// swift-collections, and buffers.
static const char *const growingModules[] = {"Swift.", "DequeModule.", "HashTreeCollections.", "RopeModule.",
                                             "Foundation."};

struct lt_type_number {
  uint64_t metadata; ///< 0 in a free place
  uint32_t index;    ///< the type's index, from 1; 0 if the word is not metadata
  uint32_t reserved;
};

bool lt_object_types_init(struct lt_object_types *s) {
  LT_CHECK(s->firstNumber > 0 && s->memory && s->met);
  s->scanned = s->memory->allocate(TYPE_LIMIT * sizeof *s->scanned);
  s->instanceSizes = s->memory->allocate((TYPE_LIMIT + 1) * sizeof *s->instanceSizes);
  s->numbers = s->memory->allocate(NUMBER_PLACES * sizeof *s->numbers);
  s->count = s->numberCount = s->lastRegion = 0;
  return s->scanned && s->instanceSizes && s->numbers;
}

void lt_object_types_free(struct lt_object_types *s) {
  if (s->scanned) s->memory->release(s->scanned, TYPE_LIMIT * sizeof *s->scanned);
  if (s->instanceSizes) s->memory->release(s->instanceSizes, (TYPE_LIMIT + 1) * sizeof *s->instanceSizes);
  if (s->numbers) s->memory->release(s->numbers, NUMBER_PLACES * sizeof *s->numbers);
  s->scanned = NULL;
  s->instanceSizes = NULL;
  s->numbers = NULL;
}

// --- regions ---------------------------------------------------------------------------------------------------------

static const struct lt_snapshot_region *region_at(struct lt_object_types *s, uint64_t address) {
  const struct lt_snapshot_region *guess = s->regions + s->lastRegion;
  if (s->lastRegion < s->regionCount && address >= guess->start && address < guess->end) return guess;
  uint32_t low = 0, high = s->regionCount;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->regions[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  if (low == s->regionCount || address < s->regions[low].start) return NULL;
  s->lastRegion = low;
  return &s->regions[low];
}

static bool has_flag(struct lt_object_types *s, uint64_t address, uint32_t flag) {
  const struct lt_snapshot_region *region = region_at(s, address);
  return region && region->flags & flag;
}

// --- metadata --------------------------------------------------------------------------------------------------------

static bool is_code(struct lt_object_types *s, uint64_t address) { return has_flag(s, address, LT_REGION_EXECUTABLE); }

static bool is_class(struct lt_object_types *s, uint64_t metadata) {
  const struct lt_memory *memory = s->memory;
  uint32_t instanceSize = lt_half_at(memory, metadata + SWIFT_CLASS_INSTANCE_SIZE),
           size = lt_half_at(memory, metadata + SWIFT_CLASS_SIZE),
           addressPoint = lt_half_at(memory, metadata + SWIFT_CLASS_ADDRESS_POINT);
  uint64_t descriptor = lt_word_at(memory, metadata + SWIFT_CLASS_DESCRIPTOR);
  return size <= SIZE_LIMIT && addressPoint < size && addressPoint >= SWIFT_DESTROYER_BEFORE && addressPoint % 8 == 0 &&
         size - addressPoint >= SWIFT_CLASS_FIXED_PART && instanceSize >= SWIFT_OBJECT_HEADER &&
         instanceSize <= SIZE_LIMIT && descriptor % 4 == 0 &&
         lt_context_kind(lt_half_at(memory, descriptor + SWIFT_DESCRIPTOR_FLAGS)) == SWIFT_DESCRIBES_CLASS &&
         is_code(s, lt_word_at(memory, metadata - SWIFT_DESTROYER_BEFORE));
}

/// True if the address is the metadata of objects. Such objects are instances of classes, closures' contexts, boxes,
/// errors and tasks.
static bool is_metadata(struct lt_object_types *s, uint64_t metadata) {
  uint64_t kind;
  if (!has_flag(s, metadata, LT_REGION_READABLE) || !lt_read_bytes(s->memory, metadata, &kind, sizeof kind))
    return false;
  switch (kind) {
    case SWIFT_KIND_CLASS: return is_class(s, metadata);
    case SWIFT_KIND_CONTEXT:
    case SWIFT_KIND_BOX:
    case SWIFT_KIND_ERROR:
    // The function that frees such an object precedes its value witnesses.
    case SWIFT_KIND_TASK: return is_code(s, lt_word_at(s->memory, metadata - SWIFT_DESTROYER_BEFORE));
    default: return false;
  }
}

static uint32_t instance_size(const struct lt_object_types *s, uint64_t metadata,
                              const struct lt_type_description *description, uint32_t superclass) {
  LT_CHECK(superclass <= s->count);
  if (description->kind != LT_TYPE_CLASS) return 0;
  for (size_t i = 0; i < sizeof growingModules / sizeof *growingModules; i++)
    if (strncmp(description->name, growingModules[i], strlen(growingModules[i])) == 0) return 0;
  // If the superclass's instances may have memory after their fields, so may this class's instances.
  if (superclass && !s->instanceSizes[superclass]) return 0;
  return lt_half_at(s->memory, metadata + SWIFT_CLASS_INSTANCE_SIZE);
}

// --- numbers ---------------------------------------------------------------------------------------------------------

/// Returns the place of a known word, or the free place for a new word.
static struct lt_type_number *place_of(struct lt_object_types *s, uint64_t metadata) {
  uint64_t at = (metadata * LT_HASH_MULTIPLIER) >> 44;
  LT_CHECK(metadata && at < NUMBER_PLACES && s->numberCount <= NUMBER_PLACES / 2);
  while (s->numbers[at].metadata && s->numbers[at].metadata != metadata) at = (at + 1) % NUMBER_PLACES;
  return &s->numbers[at];
}
_Static_assert(NUMBER_PLACES == 1 << (64 - 44), "the hash's bits");

static struct lt_type_number *note(struct lt_object_types *s, uint64_t metadata, uint32_t index) {
  LT_CHECK(index <= s->count);
  struct lt_type_number *place = place_of(s, metadata);
  if (!place->metadata) {
    if (s->numberCount >= NUMBER_PLACES / 2) return NULL;
    s->numberCount++;
  }
  *place = (struct lt_type_number){.metadata = metadata, .index = index};
  return place;
}

/// Returns the index of a type, from 1; 0 if the address is not the metadata of objects.
static uint32_t index_of(struct lt_object_types *s, uint64_t metadata, uint32_t depth) {
  if (!metadata) return 0;
  const struct lt_type_number *known = place_of(s, metadata);
  if (known->metadata) return known->index;
  if (s->count >= TYPE_LIMIT || depth >= SUPERCLASS_LIMIT || !is_metadata(s, metadata)) {
    note(s, metadata, 0);
    return 0;
  }
  // The word gets index 0 before its superclass is looked up. So a class that claims to be its own superclass counts as
  // having none. If there is no place for a type, the type is not reported. Otherwise it would be reported again and
  // again.
  if (!note(s, metadata, 0)) return 0;
  struct lt_type_description description;
  memset(&description, 0, sizeof description);
  lt_describe_type(s->memory, metadata, &description);
  uint32_t superclass = index_of(s, description.superclass, depth + 1), index = ++s->count;
  LT_CHECK(index > superclass && index <= TYPE_LIMIT);
  s->instanceSizes[index] = instance_size(s, metadata, &description, superclass);
  s->scanned[index - 1] = (struct lt_scanned_type){.metadata = metadata, .storage = description.storage};
  note(s, metadata, index);
  struct lt_met_type type = {.number = s->firstNumber + index - 1,
                             .superclass = superclass ? s->firstNumber + superclass - 1 : 0,
                             .metadata = metadata,
                             .description = &description};
  s->met(s, &type);
  return index;
}

uint32_t lt_object_type(struct lt_object_types *s, uint64_t first, uint64_t second, uint64_t size) {
  if (size < SWIFT_OBJECT_HEADER || !first || first % 8 || first >= LT_FRAME_ADDRESS_MASK ||
      !lt_is_reference_count(second))
    return 0;
  uint32_t index = index_of(s, first, 0);
  return index ? s->firstNumber + index - 1 : 0;
}

uint64_t lt_instance_size(const struct lt_object_types *s, uint32_t type) {
  LT_CHECK(!type || (type >= s->firstNumber && type - s->firstNumber < s->count));
  return type ? s->instanceSizes[type - s->firstNumber + 1] : 0;
}

uint64_t lt_object_size(const struct lt_object_types *s, uint32_t type, uint64_t usableSize) {
  uint64_t size = lt_instance_size(s, type);
  if (size == 0 || size >= usableSize) return usableSize;
  uint64_t quarter = size / 4 + QUARTER_ROUNDING, limit = quarter > ROUNDING_LIMIT ? quarter : ROUNDING_LIMIT;
  LT_CHECK(size < usableSize);
  return usableSize - size <= limit ? size : usableSize;
}
