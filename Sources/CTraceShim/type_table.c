// Numbers for the Swift types of objects, with their names read from the runtime's metadata.
//
// The runtime could name a type, but takes locks and allocates for it, and may hold those locks when an object is allocated.
// So the names are read from the metadata records themselves, whose layout is part of the ABI.
// Source: swiftlang/swift, docs/ABI/TypeMetadata.rst and include/swift/ABI/Metadata.h.

#include "type_table.h"

#include "event_buffer.h"

#include <string.h>

// --- names ----------------------------------------------------------------------------------------------------------------

enum metadata_kind {
  KIND_CLASS = 0, KIND_STRUCT = 0x200, KIND_ENUM = 0x201, KIND_OPTIONAL = 0x202, KIND_FOREIGN_CLASS = 0x203, KIND_OPAQUE = 0x300,
  KIND_TUPLE = 0x301, KIND_FUNCTION = 0x302, KIND_EXISTENTIAL = 0x303, KIND_METATYPE = 0x304, KIND_EXISTENTIAL_METATYPE = 0x306,
  KIND_CONTEXT = 0x400, KIND_BOX = 0x500, KIND_ERROR = 0x501, KIND_TASK = 0x502, KIND_LAST = 0x7ff,
};
enum descriptor_kind { DESCRIPTOR_MODULE = 0, DESCRIPTOR_EXTENSION = 1, DESCRIPTOR_ANONYMOUS = 2, DESCRIPTOR_PROTOCOL = 3,
                       DESCRIPTOR_CLASS = 16, DESCRIPTOR_STRUCT = 17, DESCRIPTOR_ENUM = 18 };
enum { DEPTH_LIMIT = 8, ARGUMENT_LIMIT = 16 };

struct name {
  char *text;
  size_t size, length;
};

static bool read_bytes(uint64_t address, void *to, size_t size) {
  if (address < 4096 || address >= LT_FRAME_ADDRESS_MASK) return false;
  // At most eight bytes. A probe reads eight from an aligned address, which never cross the end of a page.
  if (!lt_is_readable(address & ~7ull) || !lt_is_readable((address + size - 1) & ~7ull)) return false;
  memcpy(to, (const void *)address, size);
  return true;
}
static uint64_t word_at(uint64_t address) { uint64_t v = 0; read_bytes(address, &v, sizeof v); return v; }
static uint32_t half_at(uint64_t address) { uint32_t v = 0; read_bytes(address, &v, sizeof v); return v; }
static uint16_t short_at(uint64_t address) { uint16_t v = 0; read_bytes(address, &v, sizeof v); return v; }

/// A pointer stored as a distance from where it stands.
static uint64_t relative_at(uint64_t address) {
  int32_t distance = (int32_t)half_at(address);
  return distance == 0 ? 0 : address + (uint64_t)(int64_t)distance;
}

/// The same, but with its low bit set it leads to the pointer proper, in another image.
static uint64_t relative_indirectable_at(uint64_t address) {
  int32_t distance = (int32_t)half_at(address);
  if (distance & 1) return word_at(address + (uint64_t)(int64_t)(distance & ~1));
  return relative_at(address);
}

static void put_text(struct name *n, const char *text) {
  while (*text && n->length + 1 < n->size) n->text[n->length++] = *text++;
}

static void put_string_at(struct name *n, uint64_t address) {
  for (int i = 0; i < 512; i++, address++) {
    char c = 0;
    if (!read_bytes(address, &c, 1) || c == 0) return;
    if (n->length + 1 < n->size) n->text[n->length++] = c;
  }
}

/// The names of a context's parents and its own, with dots between.
static void put_context(struct name *n, uint64_t descriptor, int depth) {
  if (!descriptor || depth > DEPTH_LIMIT) return;
  unsigned kind = half_at(descriptor) & 31;
  size_t before = n->length;
  if (kind != DESCRIPTOR_MODULE) put_context(n, relative_indirectable_at(descriptor + 4), depth + 1);
  if (kind == DESCRIPTOR_EXTENSION || kind == DESCRIPTOR_ANONYMOUS) return;
  if (n->length > before) put_text(n, ".");
  put_string_at(n, relative_at(descriptor + 8));
}

static void put_type(struct name *n, uint64_t metadata, int depth);

static void put_arguments(struct name *n, uint64_t arguments, uint64_t genericHeader, int depth) {
  unsigned parameters = short_at(genericHeader + 8), keyArguments = short_at(genericHeader + 12);
  if (parameters > keyArguments) parameters = keyArguments;
  if (parameters == 0 || parameters > ARGUMENT_LIMIT) return;
  put_text(n, "<");
  for (unsigned i = 0; i < parameters; i++) {
    if (i) put_text(n, ", ");
    put_type(n, word_at(arguments + 8 * i), depth + 1);
  }
  put_text(n, ">");
}

static uint64_t class_arguments(uint64_t metadata, uint64_t descriptor) {
  uint32_t flags = half_at(descriptor);
  bool hasResilientSuperclass = flags >> (16 + 13) & 1, areNegative = flags >> (16 + 12) & 1;
  int64_t offset;
  if (hasResilientSuperclass) offset = (int64_t)word_at(relative_at(descriptor + 24));
  else if (areNegative) offset = -8 * (int64_t)half_at(descriptor + 24);
  else offset = 8 * ((int64_t)half_at(descriptor + 28) - (int64_t)half_at(descriptor + 32));
  return metadata + (uint64_t)offset;
}

static void put_type(struct name *n, uint64_t metadata, int depth) {
  if (!metadata || depth > DEPTH_LIMIT) {
    put_text(n, "_");
    return;
  }
  uint64_t kind = word_at(metadata);
  if (kind == KIND_CLASS || kind > KIND_LAST) {
    uint64_t descriptor = word_at(metadata + 40);
    put_context(n, descriptor, 0);
    if (half_at(descriptor) >> 7 & 1) put_arguments(n, class_arguments(metadata, descriptor), descriptor + 44, depth);
    return;
  }
  switch (kind) {
    case KIND_OPTIONAL:
      put_type(n, word_at(metadata + 16), depth + 1);
      put_text(n, "?");
      break;
    case KIND_STRUCT:
    case KIND_ENUM: {
      uint64_t descriptor = word_at(metadata + 8);
      put_context(n, descriptor, 0);
      if (half_at(descriptor) >> 7 & 1) put_arguments(n, metadata + 16, descriptor + 28, depth);
      break;
    }
    case KIND_FOREIGN_CLASS: put_context(n, word_at(metadata + 8), 0); break;
    case KIND_TUPLE: {
      uint64_t count = word_at(metadata + 8);
      put_text(n, "(");
      for (uint64_t i = 0; i < count && i < ARGUMENT_LIMIT; i++) {
        if (i) put_text(n, ", ");
        put_type(n, word_at(metadata + 24 + 16 * i), depth + 1);
      }
      put_text(n, ")");
      break;
    }
    case KIND_FUNCTION: {
      unsigned count = (unsigned)word_at(metadata + 8) & 0xffff;
      put_text(n, "(");
      for (unsigned i = 0; i < count && i < ARGUMENT_LIMIT; i++) {
        if (i) put_text(n, ", ");
        put_type(n, word_at(metadata + 24 + 8 * i), depth + 1);
      }
      put_text(n, ") -> ");
      put_type(n, word_at(metadata + 16), depth + 1);
      break;
    }
    case KIND_EXISTENTIAL: {
      uint32_t flags = half_at(metadata + 8), count = half_at(metadata + 12);
      uint64_t protocols = metadata + 16 + (flags >> 30 & 1 ? 8 : 0);
      bool isClassBound = !(flags >> 31);
      put_text(n, count ? "any " : isClassBound ? "AnyObject" : "Any");
      for (uint32_t i = 0; i < count && i < ARGUMENT_LIMIT; i++) {
        if (i) put_text(n, " & ");
        put_context(n, word_at(protocols + 8 * i) & ~1ull, 0);
      }
      break;
    }
    case KIND_METATYPE:
    case KIND_EXISTENTIAL_METATYPE:
      put_type(n, word_at(metadata + 8), depth + 1);
      put_text(n, ".Type");
      break;
    case KIND_BOX: put_type(n, word_at(metadata + 16), depth + 1); break;
    case KIND_OPAQUE: put_text(n, "Builtin"); break;
    default: put_text(n, "_"); break;
  }
}

size_t lt_type_name(uint64_t metadata, char *buffer, size_t size) {
  struct name n = {buffer, size, 0};
  put_type(&n, metadata, 0);
  buffer[n.length] = 0;
  return n.length;
}

// --- numbers -----------------------------------------------------------------------------------------------------------------

enum { TABLE_SIZE = 1 << 16, TYPE_LIMIT = TABLE_SIZE / 4 * 3, SUPERCLASS_LIMIT = 32 };
struct entry {
  _Atomic uint64_t metadata;
  _Atomic uint32_t type;
};
static _Atomic(struct entry *) table;
static _Atomic uint32_t nextType = 1;

void lt_type_table_reset(void) {
  // The child's own trace has to define them again.
  struct entry *entries = atomic_exchange(&table, NULL);
  if (entries) lt_unmap(entries, TABLE_SIZE * sizeof *entries);
  atomic_store(&nextType, 1);
}

static uint32_t define_type(struct lt_thread *t, uint64_t metadata, int depth) {
  uint64_t kind = word_at(metadata), descriptor = 0;
  uint32_t superclass = 0;
  unsigned typeKind = LT_TYPE_OTHER;
  char name[1024] = "";
  switch (kind > KIND_LAST ? KIND_CLASS : kind) {
    case KIND_CLASS: {
      typeKind = LT_TYPE_CLASS;
      descriptor = word_at(metadata + 40);
      uint64_t parent = word_at(metadata + 8);
      if (parent && depth < SUPERCLASS_LIMIT) superclass = lt_type_for(t, parent);
      lt_type_name(metadata, name, sizeof name);
      break;
    }
    case KIND_CONTEXT: typeKind = LT_TYPE_CONTEXT; descriptor = word_at(metadata + 16); break;
    case KIND_BOX:
      typeKind = LT_TYPE_BOX;
      descriptor = word_at(metadata + 16);
      lt_type_name(metadata, name, sizeof name);
      break;
    case KIND_ERROR: typeKind = LT_TYPE_ERROR; break;
    case KIND_TASK: typeKind = LT_TYPE_TASK; break;
  }
  uint32_t type = atomic_fetch_add(&nextType, 1);
  uint8_t payload[1200], *p = payload;
  p = lt_put_varint(p, type);
  p = lt_put_varint(p, metadata);
  p = lt_put_varint(p, typeKind);
  p = lt_put_varint(p, descriptor);
  p = lt_put_string(p, payload + sizeof payload - 16, name);
  p = lt_put_varint(p, superclass);
  lt_define(t, LT_DEF_TYPE, payload, (size_t)(p - payload));
  return type;
}

uint32_t lt_type_for(struct lt_thread *t, uint64_t metadata) {
  if (!metadata) return 0;
  struct entry *entries = atomic_load_explicit(&table, memory_order_acquire);
  if (LT_UNLIKELY(!entries)) {
    struct entry *made = lt_map_private(TABLE_SIZE * sizeof *made);
    if (!made) return 0;
    if (atomic_compare_exchange_strong(&table, &entries, made)) entries = made;
    else lt_unmap(made, TABLE_SIZE * sizeof *made);
  }
  uint64_t index = (metadata * LT_HASH_MULTIPLIER) >> 48;
  for (int probe = 0; probe < 64; probe++, index = (index + 1) % TABLE_SIZE) {
    uint64_t found = atomic_load_explicit(&entries[index].metadata, memory_order_acquire);
    if (found == 0) {
      if (atomic_load(&nextType) > TYPE_LIMIT) return 0;
      // A thread that loses the race here, or finds the winner's number not yet there, defines the type a second time: the same name.
      uint32_t type = define_type(t, metadata, 0);
      if (atomic_compare_exchange_strong(&entries[index].metadata, &found, metadata)) atomic_store_explicit(&entries[index].type, type, memory_order_release);
      return type;
    }
    if (found == metadata) {
      uint32_t type = atomic_load_explicit(&entries[index].type, memory_order_acquire);
      return type ? type : define_type(t, metadata, 0);
    }
  }
  return 0;
}
