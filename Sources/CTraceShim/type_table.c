// Numbers for the Swift types of objects, with their names read from the runtime's metadata.
//
// The runtime could name a type, but takes locks and allocates for it, and may hold those locks when an object is allocated.
// So the names are read from the metadata records themselves.

#include "type_table.h"

#include "event_buffer.h"
#include "metadata_reading.h"
#include "own_stack.h"

#include <string.h>

// --- names ----------------------------------------------------------------------------------------------------------------

enum descriptor_kind { DESCRIPTOR_MODULE = 0, DESCRIPTOR_EXTENSION = 1, DESCRIPTOR_ANONYMOUS = 2, DESCRIPTOR_PROTOCOL = 3,
                       DESCRIPTOR_CLASS = 16, DESCRIPTOR_STRUCT = 17, DESCRIPTOR_ENUM = 18 };
enum { DEPTH_LIMIT = 8, ARGUMENT_LIMIT = 16 };

struct name {
  char *text;
  size_t size, length;
};

static void put_text(struct name *n, const char *text) {
  while (*text && n->length + 1 < n->size) n->text[n->length++] = *text++;
}

static bool is_full(const struct name *n) { return n->length + 1 >= n->size; }

static void put_string_at(struct name *n, uint64_t address) {
  for (int i = 0; i < 512 && !is_full(n); i++, address++) {
    char c = 0;
    if (!lt_read_bytes(address, &c, 1) || c == 0) return;
    if (n->length + 1 < n->size) n->text[n->length++] = c;
  }
}

/// The names of a context's parents and its own, with dots between.
static void put_context(struct name *n, uint64_t descriptor, int depth) {
  if (!descriptor || depth > DEPTH_LIMIT || is_full(n)) return;
  unsigned kind = lt_half_at(descriptor) & 31;
  size_t before = n->length;
  if (kind != DESCRIPTOR_MODULE) put_context(n, lt_relative_indirectable_at(descriptor + 4), depth + 1);
  if (kind == DESCRIPTOR_EXTENSION || kind == DESCRIPTOR_ANONYMOUS) return;
  if (n->length > before) put_text(n, ".");
  put_string_at(n, lt_relative_at(descriptor + 8));
}

static void put_type(struct name *n, uint64_t metadata, int depth);

static void put_arguments(struct name *n, uint64_t arguments, uint64_t genericHeader, int depth) {
  unsigned parameters = lt_short_at(genericHeader + 8), keyArguments = lt_short_at(genericHeader + 12);
  if (parameters > keyArguments) parameters = keyArguments;
  if (parameters == 0 || parameters > ARGUMENT_LIMIT) return;
  put_text(n, "<");
  for (unsigned i = 0; i < parameters; i++) {
    if (i) put_text(n, ", ");
    put_type(n, lt_word_at(arguments + 8 * i), depth + 1);
  }
  put_text(n, ">");
}

static void put_type(struct name *n, uint64_t metadata, int depth) {
  // A type may say that it is made of itself, many times over: each level puts something into the name, which ends.
  if (is_full(n)) return;
  if (!metadata || depth > DEPTH_LIMIT) {
    put_text(n, "_");
    return;
  }
  uint64_t kind = lt_word_at(metadata);
  if (kind == KIND_CLASS || kind > KIND_LAST) {
    uint64_t descriptor = lt_word_at(metadata + 40);
    put_context(n, descriptor, 0);
    if (lt_is_generic(descriptor)) put_arguments(n, lt_class_arguments(metadata, descriptor), descriptor + 44, depth);
    return;
  }
  switch (kind) {
    case KIND_OPTIONAL:
      put_type(n, lt_word_at(metadata + 16), depth + 1);
      put_text(n, "?");
      break;
    case KIND_STRUCT:
    case KIND_ENUM: {
      uint64_t descriptor = lt_word_at(metadata + 8);
      put_context(n, descriptor, 0);
      if (lt_is_generic(descriptor)) put_arguments(n, metadata + 16, descriptor + 28, depth);
      break;
    }
    case KIND_FOREIGN_CLASS: put_context(n, lt_word_at(metadata + 8), 0); break;
    case KIND_TUPLE: {
      uint64_t count = lt_word_at(metadata + 8);
      put_text(n, "(");
      for (uint64_t i = 0; i < count && i < ARGUMENT_LIMIT; i++) {
        if (i) put_text(n, ", ");
        put_type(n, lt_word_at(metadata + 24 + 16 * i), depth + 1);
      }
      put_text(n, ")");
      break;
    }
    case KIND_FUNCTION: {
      unsigned count = (unsigned)lt_word_at(metadata + 8) & 0xffff;
      put_text(n, "(");
      for (unsigned i = 0; i < count && i < ARGUMENT_LIMIT; i++) {
        if (i) put_text(n, ", ");
        put_type(n, lt_word_at(metadata + 24 + 8 * i), depth + 1);
      }
      put_text(n, ") -> ");
      put_type(n, lt_word_at(metadata + 16), depth + 1);
      break;
    }
    case KIND_EXISTENTIAL: {
      uint32_t flags = lt_half_at(metadata + 8), count = lt_half_at(metadata + 12);
      uint64_t protocols = metadata + 16 + (flags >> 30 & 1 ? 8 : 0);
      bool isClassBound = !(flags >> 31);
      put_text(n, count ? "any " : isClassBound ? "AnyObject" : "Any");
      for (uint32_t i = 0; i < count && i < ARGUMENT_LIMIT; i++) {
        if (i) put_text(n, " & ");
        put_context(n, lt_word_at(protocols + 8 * i) & ~1ull, 0);
      }
      break;
    }
    case KIND_METATYPE:
    case KIND_EXISTENTIAL_METATYPE:
      put_type(n, lt_word_at(metadata + 8), depth + 1);
      put_text(n, ".Type");
      break;
    case KIND_BOX: put_type(n, lt_word_at(metadata + 16), depth + 1); break;
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

enum { TABLE_SIZE = 1 << 16, TYPE_LIMIT = TABLE_SIZE / 4 * 3 };
struct entry {
  _Atomic uint64_t metadata;
  _Atomic uint32_t type;
  _Atomic uint32_t storage; ///< LT_STORAGE_
};
static _Atomic(struct entry *) table;
static _Atomic uint32_t nextType = 1, usedEntries;
/// In place of the metadata of a type that is gone: what comes after in the table stays where it is. No address.
enum { GONE = 1 };

void lt_type_table_reset(void) {
  // The child's own trace has to define them again.
  struct entry *entries = atomic_exchange(&table, NULL);
  if (entries) lt_unmap(entries, TABLE_SIZE * sizeof *entries);
  atomic_store(&nextType, 1);
  atomic_store(&usedEntries, 0);
}

void lt_type_table_forget(uintptr_t start, uintptr_t end) {
  struct entry *entries = atomic_load_explicit(&table, memory_order_acquire);
  for (uint32_t i = 0; entries && i < TABLE_SIZE; i++) {
    uint64_t metadata = atomic_load_explicit(&entries[i].metadata, memory_order_relaxed);
    if (metadata < start || metadata >= end) continue;
    atomic_store(&entries[i].type, 0);
    atomic_store(&entries[i].metadata, GONE);
  }
}

static uint32_t storage_of(const char *name) {
  static const struct { const char *prefix; uint32_t storage; } known[] = {
      {"Swift._ContiguousArrayStorage<", LT_STORAGE_ARRAY}, {"Swift._DictionaryStorage<", LT_STORAGE_DICTIONARY},
      {"Swift._SetStorage<", LT_STORAGE_SET}, {"Swift._DequeBuffer<", LT_STORAGE_DEQUE}, {"DequeModule._DequeBuffer<", LT_STORAGE_DEQUE}};
  for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strncmp(name, known[i].prefix, strlen(known[i].prefix)) == 0) return known[i].storage;
  return LT_STORAGE_NONE;
}

/// A type that is being defined.
struct definition {
  struct lt_thread *thread;
  uint64_t metadata;
  uint32_t superclass, type, storage;
};

static void write_definition(void *definition) {
  struct definition *d = definition;
  struct lt_thread *t = d->thread;
  uint64_t metadata = d->metadata, kind = lt_word_at(metadata), descriptor = 0;
  unsigned typeKind = LT_TYPE_OTHER;
  char name[1024] = "";
  switch (kind > KIND_LAST ? KIND_CLASS : kind) {
    case KIND_CLASS: {
      typeKind = LT_TYPE_CLASS;
      descriptor = lt_word_at(metadata + 40);
      lt_type_name(metadata, name, sizeof name);
      d->storage = storage_of(name);
      break;
    }
    case KIND_CONTEXT: typeKind = LT_TYPE_CONTEXT; descriptor = lt_word_at(metadata + 16); break;
    case KIND_BOX:
      typeKind = LT_TYPE_BOX;
      descriptor = lt_word_at(metadata + 16);
      lt_type_name(metadata, name, sizeof name);
      break;
    case KIND_ERROR: typeKind = LT_TYPE_ERROR; break;
    case KIND_TASK: typeKind = LT_TYPE_TASK; break;
  }
  d->type = atomic_fetch_add(&nextType, 1);
  uint8_t payload[1200], *p = payload;
  p = lt_put_varint(p, d->type);
  p = lt_put_varint(p, metadata);
  p = lt_put_varint(p, typeKind);
  p = lt_put_varint(p, descriptor);
  p = lt_put_string(p, payload + sizeof payload - 16, name);
  p = lt_put_varint(p, d->superclass);
  lt_define(t, LT_DEF_TYPE, payload, (size_t)(p - payload));
}

static uint32_t number_of(struct lt_thread *t, uint64_t metadata, int depth);

/// 0 without memory: the next object of the type tries again. Superclasses first, as far as they are believed.
static uint32_t define_type(struct lt_thread *t, uint64_t metadata, uint32_t *storage, int depth) {
  enum { SUPERCLASS_LIMIT = 64 };
  uint64_t kind = lt_word_at(metadata);
  struct definition d = {.thread = t, .metadata = metadata, .storage = LT_STORAGE_NONE};
  if ((kind == KIND_CLASS || kind > KIND_LAST) && depth < SUPERCLASS_LIMIT) d.superclass = number_of(t, lt_word_at(metadata + 8), depth + 1);
  if (!lt_on_own_stack(write_definition, &d)) return 0;
  *storage = d.storage;
  return d.type;
}

static LT_NOINLINE uint32_t number_of(struct lt_thread *t, uint64_t metadata, int depth) {
  if (!metadata) return 0;
  struct entry *entries = atomic_load_explicit(&table, memory_order_acquire);
  if (LT_UNLIKELY(!entries)) {
    struct entry *made = lt_map_private(TABLE_SIZE * sizeof *made);
    if (!made) return 0;
    if (atomic_compare_exchange_strong(&table, &entries, made)) entries = made;
    else lt_unmap(made, TABLE_SIZE * sizeof *made);
  }
  uint64_t index = (metadata * LT_HASH_MULTIPLIER) >> 48;
  struct entry *free = NULL; // the first place that has become free
  for (int probe = 0; probe < 64; probe++, index = (index + 1) % TABLE_SIZE) {
    uint64_t found = atomic_load_explicit(&entries[index].metadata, memory_order_acquire);
    if (found == GONE && !free) free = &entries[index];
    if (found == 0) {
      if (!free && atomic_load(&usedEntries) > TYPE_LIMIT) return 0;
      // A thread that loses the race here, or finds the winner's number not yet there, defines the type a second time: the same name.
      uint32_t storage = LT_STORAGE_NONE, type = define_type(t, metadata, &storage, depth);
      if (!type) return 0;
      if (!free) atomic_fetch_add(&usedEntries, 1);
      struct entry *entry = free ? free : &entries[index];
      found = free ? GONE : 0;
      if (atomic_compare_exchange_strong(&entry->metadata, &found, metadata)) {
        atomic_store_explicit(&entry->storage, storage, memory_order_relaxed);
        atomic_store_explicit(&entry->type, type, memory_order_release);
      }
      return type;
    }
    if (found == metadata) {
      uint32_t type = atomic_load_explicit(&entries[index].type, memory_order_acquire);
      uint32_t storage;
      return type ? type : define_type(t, metadata, &storage, depth);
    }
  }
  return 0;
}

struct asking {
  struct lt_thread *thread;
  uint64_t metadata;
  uint32_t type;
};

static void ask(void *asking) {
  struct asking *a = asking;
  a->type = number_of(a->thread, a->metadata, 0);
}

uint32_t lt_type_for(struct lt_thread *t, uint64_t metadata) {
  if (!metadata) return 0;
  struct entry *entries = atomic_load_explicit(&table, memory_order_acquire);
  uint64_t index = (metadata * LT_HASH_MULTIPLIER) >> 48;
  for (int probe = 0; entries && probe < 64; probe++, index = (index + 1) % TABLE_SIZE) {
    uint64_t found = atomic_load_explicit(&entries[index].metadata, memory_order_acquire);
    uint32_t type = found == metadata ? atomic_load_explicit(&entries[index].type, memory_order_acquire) : 0;
    if (type) return type;
    if (found == 0 || found == metadata) break;
  }
  struct asking asking = {t, metadata, 0};
  lt_on_own_stack(ask, &asking);
  return asking.type;
}

bool lt_type_storage(uint64_t metadata, uint32_t *storage, uint32_t *place) {
  struct entry *entries = atomic_load_explicit(&table, memory_order_acquire);
  if (!entries) return false;
  uint64_t index = (metadata * LT_HASH_MULTIPLIER) >> 48;
  for (int probe = 0; probe < 64; probe++, index = (index + 1) % TABLE_SIZE) {
    uint64_t found = atomic_load_explicit(&entries[index].metadata, memory_order_relaxed);
    if (found == 0) return false;
    if (found != metadata) continue;
    *storage = atomic_load_explicit(&entries[index].storage, memory_order_relaxed);
    *place = (uint32_t)index;
    return true;
  }
  return false;
}

uint64_t lt_type_next(uint32_t *position) {
  struct entry *entries = atomic_load_explicit(&table, memory_order_acquire);
  while (entries && *position < TABLE_SIZE) {
    uint64_t metadata = atomic_load_explicit(&entries[(*position)++].metadata, memory_order_relaxed);
    if (metadata && metadata != GONE) return metadata;
  }
  return 0;
}
