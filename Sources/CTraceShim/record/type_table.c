// Numbers for the Swift types of objects. Takes no lock.

#include "record/type_table.h"

#include "check.h"
#include "metadata_reading.h"
#include "record/encoding.h"
#include "record/event_buffer.h"
#include "swift/own_memory.h"
#include "thread/own_stack.h"
#include "type_description.h"

#include <string.h>

enum { TABLE_SIZE = 1 << 16, TYPE_LIMIT = TABLE_SIZE / 4 * 3 };
struct entry {
  _Atomic uint64_t metadata; ///< 0 in a place that was never used, GONE in one whose type is gone
  _Atomic uint32_t type;     ///< 0 until it is defined, and when it is gone
  _Atomic uint32_t storage;  ///< LT_STORAGE_
};
static _Atomic(struct entry *) table;
static _Atomic uint32_t nextType = 1, usedEntries;
/// In place of the metadata of a type that is gone: later entries of the table stay where they are. No address.
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

/// A type that is being defined.
struct definition {
  struct lt_thread *thread;
  uint64_t metadata;
  uint32_t superclass, type, storage;
};

static void write_definition(void *definition) {
  struct definition *d = definition;
  struct lt_thread *t = d->thread;
  struct lt_type_description description;
  lt_describe_type(&lt_own_memory, d->metadata, &description);
  d->storage = description.storage;
  LT_CHECK(d->storage <= LT_STORAGE_DEQUE);
  d->type = atomic_fetch_add(&nextType, 1);
  LT_CHECK(d->type > 0 && d->type != d->superclass);
  uint8_t payload[1200], *p = payload;
  p = lt_put_varint(p, d->type);
  p = lt_put_varint(p, d->metadata);
  p = lt_put_varint(p, description.kind);
  p = lt_put_varint(p, description.descriptor);
  p = lt_put_string(p, payload + sizeof payload - 16, description.name);
  p = lt_put_varint(p, d->superclass);
  LT_CHECK(p <= payload + sizeof payload);
  lt_define(t, LT_DEF_TYPE, payload, (size_t)(p - payload));
}

static uint32_t number_of(struct lt_thread *t, uint64_t metadata, int depth);

/// Defines a type, superclasses first, as far as they are believed. 0 without memory: the next object of the type tries
/// again.
static uint32_t define_type(struct lt_thread *t, uint64_t metadata, uint32_t *storage, int depth) {
  enum { SUPERCLASS_LIMIT = 64 };
  LT_CHECK(metadata > GONE && depth <= SUPERCLASS_LIMIT);
  uint64_t kind = lt_word_at(&lt_own_memory, metadata);
  struct definition d = {.thread = t, .metadata = metadata, .storage = LT_STORAGE_NONE};
  if ((kind == KIND_CLASS || kind > KIND_LAST) && depth < SUPERCLASS_LIMIT)
    d.superclass = number_of(t, lt_word_at(&lt_own_memory, metadata + 8), depth + 1);
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
    LT_CHECK(index < TABLE_SIZE);
    uint64_t found = atomic_load_explicit(&entries[index].metadata, memory_order_acquire);
    if (found == GONE && !free) free = &entries[index];
    if (found == 0) {
      if (!free && atomic_load(&usedEntries) > TYPE_LIMIT) return 0;
      // A thread that loses the race here, or finds the winner's number not yet there, defines the type a second time:
      // the same name.
      uint32_t storage = LT_STORAGE_NONE, type = define_type(t, metadata, &storage, depth);
      if (!type) return 0;
      if (!free) atomic_fetch_add(&usedEntries, 1);
      struct entry *entry = free ? free : &entries[index];
      LT_CHECK(entry >= entries && entry < entries + TABLE_SIZE);
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

uint32_t lt_types(struct lt_scanned_type *types, uint32_t limit) {
  struct entry *entries = atomic_load_explicit(&table, memory_order_acquire);
  uint32_t count = 0;
  for (uint32_t i = 0; entries && i < TABLE_SIZE && count < limit; i++) {
    uint64_t metadata = atomic_load_explicit(&entries[i].metadata, memory_order_relaxed);
    if (!metadata || metadata == GONE) continue;
    uint32_t storage = atomic_load_explicit(&entries[i].storage, memory_order_relaxed);
    types[count++] = (struct lt_scanned_type){.metadata = metadata, .storage = storage};
  }
  return count;
}
