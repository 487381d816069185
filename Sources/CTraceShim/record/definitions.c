// Definitions in the trace: the loaded images, and the numbers of Swift types.

#define _GNU_SOURCE
#include "record/definitions.h"

#include "check.h"
#include "metadata_reading.h"
#include "record/event_buffer.h"
#include "record/trace_clock.h"
#include "swift/swift_runtime.h"
#include "thread/thread_state.h"
#include "type_description.h"
#include "unwind/stack_capture.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>

// --- images ----------------------------------------------------------------------------------------------------------

// The images of the process. They are written to the trace as they are loaded and unloaded. Calls dl_iterate_phdr,
// which takes the loader's lock for its list. While a thread waits for that lock, it holds no lock of the recorder that
// another thread may wait for.

/// Other threads search the list while it changes. So an entry never moves, and has a range only while both `start` and
/// `end` are set.
struct image {
  /// if `end` is 0, the entry is free. Otherwise `start` is below `end`, and no other entry has the same range
  _Atomic uintptr_t start, end;
  uintptr_t bias;
  bool isPresent;   ///< found in the latest pass; written by the thread that refreshes
  bool isToBeShown; ///< must be shown to the observer once the image is relocated
};

enum { IMAGE_LIMIT = 4096, STATIC_TLS_LIMIT = 1 << 20 };
static struct {
  struct image images[IMAGE_LIMIT];
  /// number of entries that were ever used; at most IMAGE_LIMIT. The release in look_at_image pairs with the acquires
  _Atomic uint32_t count;
  _Atomic uint32_t isRefreshing; ///< the exchange pairs with the store of 0
  unsigned long long lastAdds, lastSubs;
  _Atomic uint64_t staticTLSSize; ///< a maximum, which needs no order
  struct lt_image_observer observer;
  /// True after the first pass. A new entry then belongs to an image that was loaded during the recording.
  bool isLooking;
  char executablePath[PATH_MAX];
} imageList;

void lt_image_list_observe(struct lt_image_observer made) { imageList.observer = made; }

struct look {
  struct lt_thread *thread;
  bool hasChanged, hasUnfinished;
  unsigned long long adds, subs;
};

static int read_counters(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct look *look = context;
  look->adds = info->dlpi_adds;
  look->subs = info->dlpi_subs;
  return 1;
}

static size_t build_id(const struct dl_phdr_info *info, const uint8_t **bytes) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_NOTE) continue;
    const uint8_t *note = (const uint8_t *)(info->dlpi_addr + p->p_vaddr), *end = note + p->p_memsz;
    size_t alignment = p->p_align == 8 ? 8 : 4;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      const ElfW(Nhdr) *header = (const ElfW(Nhdr) *)note;
      const uint8_t *name = note + sizeof *header;
      const uint8_t *content = name + ((header->n_namesz + 3) & ~3u);
      const uint8_t *next =
          note + ((size_t)(content - note) + header->n_descsz + alignment - 1) / alignment * alignment;
      if (next > end || next <= note) break;
      if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
          header->n_descsz <= 64) {
        *bytes = content;
        return header->n_descsz;
      }
      note = next;
    }
  }
  return 0;
}

/// True if no two entries have the same range.
LT_INVARIANT bool are_images_distinct(void) {
  for (uint32_t i = 0; i < imageList.count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (imageList.images[i].end && imageList.images[i].end == imageList.images[k].end &&
          imageList.images[i].start == imageList.images[k].start &&
          imageList.images[i].bias == imageList.images[k].bias)
        return false;
  return true;
}

static void give_range(struct image *image, uintptr_t start, uintptr_t end) {
  LT_CHECK(start < end && atomic_load(&image->end) == 0);
  // Release: each store pairs with an acquire in has_address. A reader of the new end sees the new start.
  atomic_store_explicit(&image->start, start, memory_order_release);
  atomic_store_explicit(&image->end, end, memory_order_release);
}

/// Removes the range of an entry. Otherwise, a reader could combine one end of this range with one end of the next
/// range.
static void take_range(struct image *image) { atomic_store_explicit(&image->end, 0, memory_order_release); }

static bool has_address(const struct image *image, uintptr_t address) {
  // Acquire: the later loads pair with the stores in give_range and take_range.
  uintptr_t start = atomic_load_explicit(&image->start, memory_order_acquire),
            end = atomic_load_explicit(&image->end, memory_order_acquire);
  return address >= start && address < end && atomic_load_explicit(&image->start, memory_order_relaxed) == start;
}

static void define_image(struct lt_thread *t, const struct dl_phdr_info *info, uintptr_t start, uintptr_t end) {
  uint8_t payload[PATH_MAX < 3600 ? PATH_MAX : 3600], *p = payload;
  const uint8_t *identifier = NULL;
  size_t identifierSize = build_id(info, &identifier);
  const char *path = info->dlpi_name;
  if (!path || !*path) {
    long n = lt_readlink("/proc/self/exe", imageList.executablePath, sizeof imageList.executablePath - 1);
    imageList.executablePath[n > 0 ? n : 0] = 0;
    path = imageList.executablePath;
  }
  p = lt_put_varint(p, info->dlpi_addr);
  p = lt_put_varint(p, start);
  p = lt_put_varint(p, end);
  p = lt_put_varint(p, lt_now());
  p = lt_put_varint(p, identifierSize);
  LT_CHECK(identifierSize <= 64);
  if (identifierSize) memcpy(p, identifier, identifierSize);
  p += identifierSize;
  p = lt_put_string(p, payload + sizeof payload, path);
  LT_CHECK(p <= payload + sizeof payload);
  lt_define(t, LT_DEF_IMAGE_LOADED, payload, (size_t)(p - payload));
}

/// Notes the size of static thread-local memory. Images loaded at the start have their thread-local variables next to
/// the thread pointer, in the same block of memory.
static void look_at_thread_local(const struct dl_phdr_info *info) {
  uint64_t own = 0, size = atomic_load(&imageList.staticTLSSize);
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_TLS) own = info->dlpi_phdr[i].p_memsz;
  uint64_t distance = lt_static_tls_distance((uintptr_t)info->dlpi_tls_data, own);
  if (distance > STATIC_TLS_LIMIT) return;
  while (distance > size && !atomic_compare_exchange_weak(&imageList.staticTLSSize, &size, distance)) {}
}

uint64_t lt_static_tls_size(void) { return atomic_load(&imageList.staticTLSSize); }

/// Shows an image to the observer.
static void show(const struct dl_phdr_info *info, struct image *image, struct look *look) {
  if (!image->isToBeShown) return;
  LT_CHECK(imageList.observer.came);
  image->isToBeShown = !imageList.observer.came(info);
  look->hasUnfinished |= image->isToBeShown;
}

static int look_at_image(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct look *look = context;
  LT_CHECK(atomic_load(&imageList.isRefreshing) == 1 && imageList.count <= IMAGE_LIMIT);
  look_at_thread_local(info);
  uintptr_t start = UINTPTR_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD) continue;
    if (info->dlpi_addr + p->p_vaddr < start) start = info->dlpi_addr + p->p_vaddr;
    if (info->dlpi_addr + p->p_vaddr + p->p_memsz > end) end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
  }
  if (start >= end) return 0;
  uint32_t count = atomic_load_explicit(&imageList.count, memory_order_relaxed), place = count;
  for (uint32_t i = count; i-- > 0;) {
    if (imageList.images[i].end == 0) place = i;
    if (imageList.images[i].start == start && imageList.images[i].end == end &&
        imageList.images[i].bias == info->dlpi_addr) {
      imageList.images[i].isPresent = true;
      show(info, &imageList.images[i], look);
      return 0;
    }
  }
  if (place == IMAGE_LIMIT) return 0;
  struct image *image = &imageList.images[place];
  LT_CHECK(place <= count);
  image->bias = info->dlpi_addr;
  image->isPresent = true;
  image->isToBeShown = imageList.isLooking && imageList.observer.came;
  define_image(look->thread, info, start, end);
  // Add the range only now: a thread that finds the image in the list assumes that the trace defines it.
  give_range(image, start, end);
  if (place == count) atomic_store_explicit(&imageList.count, count + 1, memory_order_release);
  show(info, image, look);
  look->hasChanged = true;
  return 0;
}

/// Looks at the images of other namespaces, which dl_iterate_phdr does not show to this caller. While it shows one
/// image, no image is loaded or unloaded in any namespace.
static int look_elsewhere(struct dl_phdr_info *info, size_t size, void *context) {
  (void)info;
  if (imageList.observer.showElsewhere) imageList.observer.showElsewhere(look_at_image, size, context);
  return 1;
}

static void refresh(void *thread) {
  struct lt_thread *t = thread;
  uint32_t free = 0;
  if (!atomic_compare_exchange_strong(&imageList.isRefreshing, &free, 1)) return;
  struct look look = {.thread = t};
  dl_iterate_phdr(read_counters, &look);
  if (look.adds != imageList.lastAdds || look.subs != imageList.lastSubs) {
    bool hasGone = false;
    for (uint32_t i = 0; i < imageList.count; i++) imageList.images[i].isPresent = false;
    dl_iterate_phdr(look_at_image, &look);
    dl_iterate_phdr(look_elsewhere, &look);
    imageList.isLooking = true;
    for (uint32_t i = 0; i < imageList.count; i++) {
      uintptr_t start = imageList.images[i].start, end = imageList.images[i].end;
      if (imageList.images[i].isPresent || end == 0) continue;
      take_range(&imageList.images[i]);
      uint8_t payload[64], *p = payload;
      p = lt_put_varint(p, start);
      p = lt_put_varint(p, end);
      p = lt_put_varint(p, lt_now());
      if (imageList.observer.went) imageList.observer.went(start, end);
      lt_define(t, LT_DEF_IMAGE_UNLOADED, payload, (size_t)(p - payload));
      hasGone = true;
    }
    LT_CHECK(are_images_distinct());
    if (hasGone || look.hasChanged) lt_stack_capture_invalidate();
    if (imageList.observer.changed) imageList.observer.changed();
    // If an image is not relocated yet, look at all images again next time.
    imageList.lastAdds = look.hasUnfinished ? 0 : look.adds;
    imageList.lastSubs = look.subs;
  }
  LT_CHECK(atomic_load(&imageList.isRefreshing) == 1);
  atomic_store(&imageList.isRefreshing, 0);
}

void lt_image_list_refresh(struct lt_thread *t) { lt_on_own_stack(refresh, t); }

bool lt_image_list_covers(uintptr_t address) {
  uint32_t count = atomic_load_explicit(&imageList.count, memory_order_acquire);
  LT_CHECK(count <= IMAGE_LIMIT);
  for (uint32_t i = 0; i < count; i++)
    if (has_address(&imageList.images[i], address)) return true;
  return false;
}

bool lt_image_list_has_both(uintptr_t a, uintptr_t b) {
  uint32_t count = atomic_load_explicit(&imageList.count, memory_order_acquire);
  LT_CHECK(count <= IMAGE_LIMIT);
  for (uint32_t i = 0; i < count; i++)
    if (has_address(&imageList.images[i], a)) return has_address(&imageList.images[i], b);
  return false;
}

void lt_image_list_reset(void) {
  for (uint32_t i = 0; i < imageList.count; i++) take_range(&imageList.images[i]);
  imageList.count = 0;
  imageList.lastAdds = imageList.lastSubs = 0;
  atomic_store(&imageList.isRefreshing, 0);
}

// --- types -----------------------------------------------------------------------------------------------------------

// Gives numbers to the Swift types of objects. Takes no lock.

enum { TABLE_SIZE = 1 << 16, TYPE_LIMIT = TABLE_SIZE / 4 * 3 };
struct entry {
  _Atomic uint64_t metadata; ///< 0 in an entry that was never used; GONE in an entry whose type is gone
  _Atomic uint32_t type;     ///< 0 until the type is defined, and after it is gone
  _Atomic uint32_t storage;  ///< LT_STORAGE_…
};
static struct {
  _Atomic(struct entry *) entries;        ///< the exchange in number_of pairs with the acquires
  _Atomic uint32_t nextType, usedEntries; ///< counters, which need no order
} typeTable = {.nextType = 1};
/// Replaces the metadata address of a type that is gone. Unlike 0, it does not end a probe sequence, so later entries
/// stay reachable. It is never an address.
enum { GONE = 1 };

void lt_type_table_reset(void) {
  // The child has its own trace, which must define the types again.
  struct entry *entries = atomic_exchange(&typeTable.entries, NULL);
  if (entries) lt_unmap(entries, TABLE_SIZE * sizeof *entries);
  atomic_store(&typeTable.nextType, 1);
  atomic_store(&typeTable.usedEntries, 0);
}

void lt_type_table_forget(uintptr_t start, uintptr_t end) {
  struct entry *entries = atomic_load_explicit(&typeTable.entries, memory_order_acquire);
  for (uint32_t i = 0; entries && i < TABLE_SIZE; i++) {
    uint64_t metadata = atomic_load_explicit(&entries[i].metadata, memory_order_relaxed);
    if (metadata < start || metadata >= end) continue;
    // In this order: a reader of a later type's metadata does not find the number of this type.
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
  d->type = atomic_fetch_add(&typeTable.nextType, 1);
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

/// Defines a type, and its superclasses before it, up to a depth limit. Returns 0 if there is no stack for the work;
/// the next object of the type tries again.
static uint32_t define_type(struct lt_thread *t, uint64_t metadata, uint32_t *storage, int depth) {
  enum { SUPERCLASS_LIMIT = 64 };
  LT_CHECK(metadata > GONE && depth <= SUPERCLASS_LIMIT);
  uint64_t kind = lt_word_at(&lt_own_memory, metadata);
  struct definition d = {.thread = t, .metadata = metadata, .storage = LT_STORAGE_NONE};
  if (lt_metadata_kind(kind) == SWIFT_KIND_CLASS && depth < SUPERCLASS_LIMIT)
    d.superclass = number_of(t, lt_word_at(&lt_own_memory, metadata + SWIFT_CLASS_SUPERCLASS), depth + 1);
  if (!lt_on_own_stack(write_definition, &d)) return 0;
  *storage = d.storage;
  return d.type;
}

static LT_NOINLINE uint32_t number_of(struct lt_thread *t, uint64_t metadata, int depth) {
  if (!metadata) return 0;
  struct entry *entries = atomic_load_explicit(&typeTable.entries, memory_order_acquire);
  if (LT_UNLIKELY(!entries)) {
    struct entry *made = lt_map_private(TABLE_SIZE * sizeof *made);
    if (!made) return 0;
    if (atomic_compare_exchange_strong(&typeTable.entries, &entries, made)) entries = made;
    else lt_unmap(made, TABLE_SIZE * sizeof *made);
  }
  uint64_t index = (metadata * LT_HASH_MULTIPLIER) >> 48;
  struct entry *free = NULL; // the first entry found that is free again
  for (int probe = 0; probe < 64; probe++, index = (index + 1) % TABLE_SIZE) {
    LT_CHECK(index < TABLE_SIZE);
    uint64_t found = atomic_load_explicit(&entries[index].metadata, memory_order_acquire);
    if (found == GONE && !free) free = &entries[index];
    if (found == 0) {
      if (!free && atomic_load(&typeTable.usedEntries) > TYPE_LIMIT) return 0;
      // Another thread may win the race here, or may not have stored its number yet. This thread then defines the type
      // a second time, under the same name.
      uint32_t storage = LT_STORAGE_NONE, type = define_type(t, metadata, &storage, depth);
      if (!type) return 0;
      if (!free) atomic_fetch_add(&typeTable.usedEntries, 1);
      struct entry *entry = free ? free : &entries[index];
      LT_CHECK(entry >= entries && entry < entries + TABLE_SIZE);
      found = free ? GONE : 0;
      if (atomic_compare_exchange_strong(&entry->metadata, &found, metadata)) {
        // Release: pairs with the acquires in lt_type_for and lt_types, which see the definition and `storage`.
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
  struct entry *entries = atomic_load_explicit(&typeTable.entries, memory_order_acquire);
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
  struct entry *entries = atomic_load_explicit(&typeTable.entries, memory_order_acquire);
  uint32_t count = 0;
  for (uint32_t i = 0; entries && i < TABLE_SIZE && count < limit; i++) {
    // Acquire: pairs with the exchange in number_of, which comes after `type` was set to 0.
    uint64_t metadata = atomic_load_explicit(&entries[i].metadata, memory_order_acquire);
    if (!metadata || metadata == GONE) continue;
    // Acquire: pairs with the release in number_of. Until then, `storage` may belong to a type that is gone.
    if (!atomic_load_explicit(&entries[i].type, memory_order_acquire)) continue;
    uint32_t storage = atomic_load_explicit(&entries[i].storage, memory_order_relaxed);
    types[count++] = (struct lt_scanned_type){.metadata = metadata, .storage = storage};
  }
  return count;
}
