// Reads the names of Swift types.
//
// The Swift runtime has a function for names, but it takes locks and allocates. The runtime may already hold these
// locks when it allocates an object. So the names are read from the metadata records themselves.

#include "type_name.h"

#include "check.h"
#include "metadata_reading.h"

enum { DEPTH_LIMIT = 8, ARGUMENT_LIMIT = 16 };

struct name {
  const struct lt_memory *memory;
  char *text;
  size_t size, length; ///< `length` is below `size`: a zero follows
};

static void put_text(struct name *n, const char *text) {
  while (*text && n->length + 1 < n->size) n->text[n->length++] = *text++;
}

static bool is_full(const struct name *n) {
  LT_CHECK(n->length < n->size);
  return n->length + 1 >= n->size;
}

static void put_string_at(struct name *n, uint64_t address) {
  for (int i = 0; i < 512 && !is_full(n); i++, address++) {
    char c = 0;
    if (!lt_read_bytes(n->memory, address, &c, 1) || c == 0) return;
    if (n->length + 1 < n->size) n->text[n->length++] = c;
  }
}

/// Appends the names of a context's parents and its own name, separated by dots.
static void put_context(struct name *n, uint64_t descriptor, int depth) {
  if (!descriptor || depth > DEPTH_LIMIT || is_full(n)) return;
  uint32_t kind = lt_context_kind(lt_half_at(n->memory, descriptor + SWIFT_DESCRIPTOR_FLAGS));
  size_t before = n->length;
  if (kind != SWIFT_DESCRIBES_MODULE)
    put_context(n, lt_relative_indirectable_at(n->memory, descriptor + SWIFT_DESCRIPTOR_PARENT), depth + 1);
  if (kind == SWIFT_DESCRIBES_EXTENSION || kind == SWIFT_DESCRIBES_ANONYMOUS) return;
  if (n->length > before) put_text(n, ".");
  put_string_at(n, lt_relative_at(n->memory, descriptor + SWIFT_DESCRIPTOR_NAME));
}

static void put_type(struct name *n, uint64_t metadata, int depth);

static void put_arguments(struct name *n, uint64_t arguments, uint64_t genericHeader, int depth) {
  unsigned parameters = lt_short_at(n->memory, genericHeader + SWIFT_GENERICS_PARAMETERS),
           keyArguments = lt_short_at(n->memory, genericHeader + SWIFT_GENERICS_KEY_ARGUMENTS);
  if (parameters > keyArguments) parameters = keyArguments;
  if (parameters == 0 || parameters > ARGUMENT_LIMIT) return;
  put_text(n, "<");
  for (unsigned i = 0; i < parameters; i++) {
    if (i) put_text(n, ", ");
    put_type(n, lt_word_at(n->memory, arguments + 8 * i), depth + 1);
  }
  put_text(n, ">");
}

static void put_type(struct name *n, uint64_t metadata, int depth) {
  // A damaged record may claim to contain itself many times. The recursion still ends, because each level adds text and
  // the name's size is limited.
  if (is_full(n)) return;
  if (!metadata || depth > DEPTH_LIMIT) {
    put_text(n, "_");
    return;
  }
  uint64_t kind = lt_word_at(n->memory, metadata);
  if (lt_metadata_kind(kind) == SWIFT_KIND_CLASS) {
    uint64_t descriptor = lt_word_at(n->memory, metadata + SWIFT_CLASS_DESCRIPTOR);
    put_context(n, descriptor, 0);
    if (lt_is_generic(n->memory, descriptor))
      put_arguments(n, lt_class_arguments(n->memory, metadata, descriptor), descriptor + SWIFT_CLASS_GENERICS, depth);
    return;
  }
  switch (kind) {
    case SWIFT_KIND_OPTIONAL:
      put_type(n, lt_word_at(n->memory, metadata + SWIFT_VALUE_ARGUMENTS), depth + 1);
      put_text(n, "?");
      break;
    case SWIFT_KIND_STRUCT:
    case SWIFT_KIND_ENUM: {
      uint64_t descriptor = lt_word_at(n->memory, metadata + SWIFT_VALUE_DESCRIPTOR);
      put_context(n, descriptor, 0);
      if (lt_is_generic(n->memory, descriptor))
        put_arguments(n, metadata + SWIFT_VALUE_ARGUMENTS, descriptor + SWIFT_VALUE_GENERICS, depth);
      break;
    }
    case SWIFT_KIND_FOREIGN_CLASS: put_context(n, lt_word_at(n->memory, metadata + SWIFT_VALUE_DESCRIPTOR), 0); break;
    case SWIFT_KIND_TUPLE: {
      uint64_t count = lt_word_at(n->memory, metadata + SWIFT_TUPLE_COUNT);
      put_text(n, "(");
      for (uint64_t i = 0; i < count && i < ARGUMENT_LIMIT; i++) {
        if (i) put_text(n, ", ");
        put_type(n, lt_word_at(n->memory, metadata + SWIFT_TUPLE_ELEMENTS + SWIFT_TUPLE_ELEMENT_SIZE * i), depth + 1);
      }
      put_text(n, ")");
      break;
    }
    case SWIFT_KIND_FUNCTION: {
      unsigned count = (unsigned)lt_word_at(n->memory, metadata + SWIFT_FUNCTION_FLAGS) & 0xffff;
      put_text(n, "(");
      for (unsigned i = 0; i < count && i < ARGUMENT_LIMIT; i++) {
        if (i) put_text(n, ", ");
        put_type(n, lt_word_at(n->memory, metadata + SWIFT_FUNCTION_PARAMETERS + 8 * i), depth + 1);
      }
      put_text(n, ") -> ");
      put_type(n, lt_word_at(n->memory, metadata + SWIFT_FUNCTION_RESULT), depth + 1);
      break;
    }
    case SWIFT_KIND_EXISTENTIAL: {
      uint32_t flags = lt_half_at(n->memory, metadata + SWIFT_EXISTENTIAL_FLAGS),
               count = lt_half_at(n->memory, metadata + SWIFT_EXISTENTIAL_COUNT);
      uint64_t protocols = metadata + SWIFT_EXISTENTIAL_PARTS + (flags >> 30 & 1 ? 8 : 0);
      bool isClassBound = !(flags >> 31);
      put_text(n, count ? "any " : isClassBound ? "AnyObject" : "Any");
      for (uint32_t i = 0; i < count && i < ARGUMENT_LIMIT; i++) {
        if (i) put_text(n, " & ");
        put_context(n, lt_word_at(n->memory, protocols + 8 * i) & ~1ull, 0);
      }
      break;
    }
    case SWIFT_KIND_METATYPE:
    case SWIFT_KIND_EXISTENTIAL_METATYPE:
      put_type(n, lt_word_at(n->memory, metadata + SWIFT_METATYPE_INSTANCE), depth + 1);
      put_text(n, ".Type");
      break;
    case SWIFT_KIND_BOX: put_type(n, lt_word_at(n->memory, metadata + SWIFT_BOX_TYPE), depth + 1); break;
    case SWIFT_KIND_OPAQUE: put_text(n, "Builtin"); break;
    default: put_text(n, "_"); break;
  }
}

size_t lt_type_name(const struct lt_memory *memory, uint64_t metadata, char *buffer, size_t size) {
  struct name n = {memory, buffer, size, 0};
  LT_CHECK(size > 0);
  put_type(&n, metadata, 0);
  LT_CHECK(n.length < size);
  buffer[n.length] = 0;
  return n.length;
}
