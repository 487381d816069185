// Offers the remote mirror library as the service of a child process. The child calls the library, and the caller's
// function that reads memory.

#define _GNU_SOURCE
#include "EnumCases.h"
#include "MirrorLibrary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  /// the most bytes of one read outside of the regions; metadata and descriptors are far smaller
  READ_LIMIT = 1 << 20,
  STRING_LIMIT = 1 << 16,      ///< the most bytes of a string outside of the regions
  NAME_LIMIT = 1 << 14,        ///< the most bytes of a name in an answer
  FIELD_LIMIT = 1 << 14,       ///< the most fields of an answer
  ARGUMENT_LIMIT = 64,         ///< the most generic arguments of an answer
  ANSWER_LIMIT = 16 << 20,     ///< the most bytes of an answer
  MEMORY_LIMIT = 1 << 30,      ///< bytes
  STACK_LIMIT = 8 << 20,       ///< bytes; ends the recursion if a type contains itself
  SPARE_BITS_ADDRESS = 0x1000, ///< an address below everything that a process can map, and below the made-up value
  /// at the first question, the library indexes all names, which takes up to several seconds
  ANSWER_MILLISECONDS = 20000,
};

// ---------------------------------------------------------------------------------------------------------------------
// Functions that read memory for the library.

static const struct lt_mirror_region *region_of(const struct lt_mirror_memory *memory, uint64_t address) {
  size_t low = 0, high = memory->regionCount;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (memory->regions[middle].address <= address) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return NULL;
  const struct lt_mirror_region *region = &memory->regions[low - 1];
  return address - region->address < region->size ? region : NULL;
}

static const void *read_bytes(void *context, uint64_t address, uint64_t size, void **token) {
  const struct lt_mirror_memory *memory = context;
  *token = NULL;
  const void *made = mirror_probe_bytes(address, size);
  if (made) return made;
  if (address == SPARE_BITS_ADDRESS && size == sizeof memory->spareBits) return &memory->spareBits;
  const struct lt_mirror_region *region = region_of(memory, address);
  if (region && size <= region->size - (address - region->address))
    return (const char *)region->bytes + (address - region->address);
  if (size > READ_LIMIT) return NULL;
  // The library uses structures in place. In some of them, it reads one word past the end.
  void *bytes = calloc(1, size + 16);
  if (!bytes) return NULL;
  if (size > 0 && !memory->read(memory->context, address, bytes, size)) {
    free(bytes);
    return NULL;
  }
  *token = bytes;
  return bytes;
}

static void free_bytes(void *context, const void *bytes, void *token) {
  (void)context;
  (void)bytes;
  free(token);
}

static uint64_t string_length(void *context, uint64_t address) {
  const struct lt_mirror_memory *memory = context;
  const struct lt_mirror_region *region = region_of(memory, address);
  if (region) {
    const char *start = (const char *)region->bytes + (address - region->address);
    uint64_t limit = region->size - (address - region->address);
    const char *end = memchr(start, 0, limit);
    return end ? (uint64_t)(end - start) : 0;
  }
  // Read small aligned pieces, so that no read goes past the end of known memory.
  char piece[64];
  for (uint64_t length = 0; length < STRING_LIMIT;) {
    uint64_t count = sizeof piece - (address + length) % sizeof piece;
    if (!memory->read(memory->context, address + length, piece, count)) return 0;
    const char *end = memchr(piece, 0, count);
    if (end) return length + (uint64_t)(end - piece);
    length += count;
  }
  return 0;
}

/// The library asks for one variable: the unused bits of references. Only the process's processor decides them, so the
/// variable is known for processes without a runtime of their own, too.
static uint64_t symbol_address(void *context, const char *name, uint64_t length) {
  static const char variable[] = "_swift_debug_multiPayloadEnumPointerSpareBitsMask";
  const struct lt_mirror_memory *memory = context;
  bool isIt = length == sizeof variable - 1 && memcmp(name, variable, length) == 0;
  return isIt && memory->spareBits ? SPARE_BITS_ADDRESS : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Answers.

struct mirror {
  const struct lt_mirror_library *functions;
  void *context;
};

static struct mirror_child_info field_at(struct mirror mirror, const struct lt_mirror_question *question, uint64_t type,
                                         unsigned index) {
  switch (question->about) {
    case LT_MIRROR_OF_METADATA: return mirror.functions->childOfMetadata(mirror.context, question->subject, index);
    case LT_MIRROR_OF_INSTANCE: return mirror.functions->childOfInstance(mirror.context, question->subject, index);
    default: return mirror.functions->childOfType(mirror.context, type, index);
  }
}

static bool has_fields(int kind) {
  switch (kind) {
    case LT_MIRROR_TUPLE:
    case LT_MIRROR_STRUCT:
    case LT_MIRROR_NO_PAYLOAD_ENUM:
    case LT_MIRROR_SINGLE_PAYLOAD_ENUM:
    case LT_MIRROR_MULTI_PAYLOAD_ENUM:
    case LT_MIRROR_THICK_FUNCTION:
    case LT_MIRROR_OPAQUE_EXISTENTIAL:
    case LT_MIRROR_CLASS_EXISTENTIAL:
    case LT_MIRROR_ERROR_EXISTENTIAL:
    case LT_MIRROR_EXISTENTIAL_METATYPE:
    case LT_MIRROR_CLASS_INSTANCE:
    case LT_MIRROR_CLOSURE_CONTEXT: return true;
    default: return false;
  }
}

static void append_field(struct lt_child_answer *answer, struct mirror mirror, const struct mirror_child_info *info) {
  char *typeName = info->type ? mirror.functions->copyName(mirror.context, info->type) : NULL;
  struct lt_mirror_field field = {
      .offset = info->offset,
      .kind = (uint32_t)info->kind,
      .type = info->type,
      .nameSize = info->name ? (uint32_t)strnlen(info->name, NAME_LIMIT) : 0,
      .typeNameSize = typeName ? (uint32_t)strnlen(typeName, NAME_LIMIT) : 0,
  };
  lt_child_append(answer, &field, sizeof field);
  lt_child_append(answer, info->name, field.nameSize);
  lt_child_append(answer, typeName, field.typeNameSize);
  free(typeName);
}

static void answer_cases(struct lt_child_answer *answer, struct mirror mirror, uint64_t type) {
  struct mirror_cases cases;
  mirror_find_cases(mirror.functions, mirror.context, type, &cases);
  lt_child_append(answer, &cases.head, sizeof cases.head);
  lt_child_append(answer, cases.bits, cases.head.bitCount * sizeof *cases.bits);
  lt_child_append(answer, cases.table, cases.head.tableCount * sizeof *cases.table);
}

static void answer_type(struct lt_child_answer *answer, struct mirror mirror,
                        const struct lt_mirror_question *question) {
  const struct lt_mirror_library *functions = mirror.functions;
  struct mirror_type_info info = {0};
  uint64_t type = 0;
  switch (question->about) {
    case LT_MIRROR_OF_METADATA:
      type = functions->typeForMetadata(mirror.context, question->subject);
      info = functions->infoForMetadata(mirror.context, question->subject);
      break;
    case LT_MIRROR_OF_INSTANCE: info = functions->infoForInstance(mirror.context, question->subject); break;
    case LT_MIRROR_OF_TYPE:
      type = question->subject;
      info = functions->infoForType(mirror.context, type);
      break;
    case LT_MIRROR_OF_VALUE_METADATA:
      type = functions->typeForMetadata(mirror.context, question->subject);
      if (type) info = functions->infoForType(mirror.context, type);
      break;
    default: _exit(1);
  }
  unsigned fieldCount = has_fields(info.kind) ? info.fieldCount : 0;
  if (fieldCount > FIELD_LIMIT) _exit(1);
  unsigned argumentCount = type ? functions->argumentCount(type) : 0;
  if (argumentCount > ARGUMENT_LIMIT) argumentCount = ARGUMENT_LIMIT;
  char *name = type ? functions->copyName(mirror.context, type) : NULL;
  struct lt_mirror_answer head = {
      .kind = (uint32_t)info.kind,
      .size = info.size,
      .alignment = info.alignment,
      .stride = info.stride,
      .type = type,
      .nameSize = name ? (uint32_t)strnlen(name, NAME_LIMIT) : 0,
      .argumentCount = argumentCount,
      .fieldCount = fieldCount,
  };
  lt_child_append(answer, &head, sizeof head);
  lt_child_append(answer, name, head.nameSize);
  free(name);
  for (unsigned i = 0; i < argumentCount; i++) {
    uint64_t argument = functions->argument(type, i);
    lt_child_append(answer, &argument, sizeof argument);
  }
  for (unsigned i = 0; i < fieldCount; i++) {
    struct mirror_child_info field = field_at(mirror, question, type, i);
    append_field(answer, mirror, &field);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The child.

static void *begin(void *context) {
  static struct mirror mirror;
  const struct lt_mirror_input *input = context;
  const struct lt_mirror_library *functions = input->library;
  mirror.functions = functions;
  mirror.context =
      functions->create((void *)&input->memory, sizeof(void *), free_bytes, read_bytes, string_length, symbol_address);
  if (!mirror.context) return NULL;
  for (size_t i = 0; i < input->imageCount; i++) functions->addImage(mirror.context, input->images[i]);
  return &mirror;
}

static bool answer(void *context, const char *bytes, size_t size, struct lt_child_answer *answer) {
  const struct mirror *mirror = context;
  struct lt_mirror_question question;
  if (size != sizeof question) _exit(1);
  memcpy(&question, bytes, sizeof question);
  if (question.about == LT_MIRROR_CASES_OF_TYPE) answer_cases(answer, *mirror, question.subject);
  else answer_type(answer, *mirror, &question);
  return true;
}

int lt_mirror_start(struct lt_child *child, const struct lt_mirror_input *input) {
  static const struct lt_child_service service = {
      .questionLimit = sizeof(struct lt_mirror_question),
      .answerLimit = ANSWER_LIMIT,
      .memoryLimit = MEMORY_LIMIT,
      .stackLimit = STACK_LIMIT,
      .answerMilliseconds = ANSWER_MILLISECONDS,
      .begin = begin,
      .answer = answer,
  };
  return lt_child_start(child, &service, (void *)input);
}
