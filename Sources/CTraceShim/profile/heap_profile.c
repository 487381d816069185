// Heap profiles for pprof, made from the samples: on request, and written to a file at an interval.

#define _GNU_SOURCE
#include "profile/heap_profile.h"

#include "CTraceFormat.h"
#include "check.h"
#include "os/fd_isolated_task.h"
#include "os/os.h"
#include "profile/function_names.h"
#include "record/trace_file.h"
#include "sampling/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

// === protobuf ========================================================================================================

// A message in the encoding of Protocol Buffers, written into memory of a fixed size.
//
// Source: the encoding's specification, protobuf.dev/programming-guides/encoding.

struct lt_protobuf {
  uint8_t *bytes;
  size_t size, capacity; ///< `size` is at most `capacity`
  bool isFull;           ///< something did not fit: the message is useless
};

enum { WIRE_VARINT = 0, WIRE_LENGTH = 2, VARINT_SIZE = 10 };

static bool has_room(struct lt_protobuf *message, size_t size) {
  LT_CHECK(message->bytes && message->size <= message->capacity);
  if (size > message->capacity - message->size) message->isFull = true;
  return !message->isFull;
}

static void put(struct lt_protobuf *message, uint64_t value) {
  if (!has_room(message, VARINT_SIZE)) return;
  message->size = (size_t)(lt_put_varint(message->bytes + message->size, value) - message->bytes);
}

/// Writes an element of a packed field, between lt_protobuf_begin and lt_protobuf_end of that field.
static void lt_protobuf_element(struct lt_protobuf *message, uint64_t value) { put(message, value); }

/// Writes a field that is a number. Writes nothing for 0: readers take an absent field as 0.
static void lt_protobuf_number(struct lt_protobuf *message, uint32_t field, uint64_t value) {
  LT_CHECK(field > 0 && field < 1 << 28);
  if (!value) return;
  put(message, field << 3 | WIRE_VARINT);
  put(message, value);
}

static void lt_protobuf_text(struct lt_protobuf *message, uint32_t field, const char *text, size_t length) {
  put(message, field << 3 | WIRE_LENGTH);
  put(message, length);
  if (!has_room(message, length)) return;
  LT_CHECK(message->size + length <= message->capacity);
  memcpy(message->bytes + message->size, text, length);
  message->size += length;
}

/// Begins a field that is a message or a packed field. Returns the argument `begun` for lt_protobuf_end.
static size_t lt_protobuf_begin(struct lt_protobuf *message, uint32_t field) {
  put(message, field << 3 | WIRE_LENGTH);
  if (has_room(message, 1)) message->size++; // for a length below 128; lt_protobuf_end makes room for a larger one
  return message->size;
}

static void lt_protobuf_end(struct lt_protobuf *message, size_t begun) {
  if (message->isFull) return;
  LT_CHECK(begun > 0 && begun <= message->size);
  uint8_t length[VARINT_SIZE];
  size_t size = message->size - begun, lengthSize = (size_t)(lt_put_varint(length, size) - length);
  if (!has_room(message, lengthSize - 1)) return;
  memmove(message->bytes + begun + lengthSize - 1, message->bytes + begun, size);
  memcpy(message->bytes + begun - 1, length, lengthSize);
  message->size += lengthSize - 1;
  LT_CHECK(message->size <= message->capacity);
}

// === gzip ============================================================================================================

// Compresses bytes with gzip, in memory of the recorder's own.

enum {
  LEVEL = 5,                ///< half the time of the usual level 6, but a few percent more bytes
  WINDOW_BITS = 15 + 16,    ///< the added 16 asks for gzip's header and trailer
  MEMORY_LEVEL = 8,         ///< the usual one
  WORKSPACE_SIZE = 1 << 19, ///< deflate takes some 268 KB (zconf.h)
};

struct workspace {
  uint8_t *bytes;
  size_t used; ///< at most WORKSPACE_SIZE
};

static void *take(void *workspace, unsigned count, unsigned size) {
  struct workspace *w = workspace;
  size_t needed = ((size_t)count * size + 15) & ~(size_t)15;
  LT_CHECK(w->used <= WORKSPACE_SIZE);
  if (needed > WORKSPACE_SIZE - w->used) return Z_NULL;
  w->used += needed;
  return w->bytes + w->used - needed;
}

static void give_back(void *workspace, void *memory) { (void)workspace, (void)memory; }

/// Compresses `size` bytes into new memory of `toCapacity` bytes. The caller frees it with lt_unmap. Returns 0 or
/// −errno. Does not call the program's allocator.
static int lt_gzip_bytes(const uint8_t *bytes, size_t size, uint8_t **to, size_t *toSize, size_t *toCapacity) {
  LT_CHECK(size <= UINT32_MAX);
  struct workspace workspace = {.bytes = lt_map_private(WORKSPACE_SIZE)};
  z_stream stream = {.zalloc = take, .zfree = give_back, .opaque = &workspace};
  int error = -ENOMEM;
  *to = NULL;
  if (workspace.bytes &&
      deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK) {
    *toCapacity = deflateBound(&stream, size);
    *to = lt_map_private(*toCapacity);
    stream.next_in = (uint8_t *)bytes;
    stream.avail_in = (unsigned)size;
    stream.next_out = *to;
    stream.avail_out = (unsigned)*toCapacity;
    if (*to && deflate(&stream, Z_FINISH) == Z_STREAM_END) error = 0;
    *toSize = *toCapacity - stream.avail_out;
    LT_CHECK(*toSize <= *toCapacity);
  }
  if (workspace.bytes) lt_unmap(workspace.bytes, WORKSPACE_SIZE);
  if (error && *to) lt_unmap(*to, *toCapacity);
  return error;
}

// === profile =========================================================================================================

/// A pattern for pprof, which leaves these functions and their callees out of stacks. They perform the allocation
/// itself. Go's profiles leave such functions out, too.
static const char allocationFunctions[] =
    "swift_slowAlloc|swift_slowAllocTyped|_?swift_allocObject_?|swift_allocBox|swift_bufferAllocate|operator "
    "new.*|_Zn[aw]m.*|(m|c|re)alloc|posix_memalign|aligned_alloc";

enum {
  /// The limit for addresses that get a location. Frames at further addresses are left out.
  LOCATION_LIMIT = 1 << 16,
  LOCATION_PLACES = LOCATION_LIMIT * 2,
  MESSAGE_LIMIT = 32 << 20, ///< bytes; only the used bytes are touched
  WAIT_MILLISECONDS = 60000,
};

/// Fields of the messages Profile, ValueType, Sample, Mapping, Location, Line and Function.
enum {
  PROFILE_SAMPLE_TYPE = 1,
  PROFILE_SAMPLE = 2,
  PROFILE_MAPPING = 3,
  PROFILE_LOCATION = 4,
  PROFILE_FUNCTION = 5,
  PROFILE_STRING = 6,
  PROFILE_DROP_FRAMES = 7,
  PROFILE_TIME = 9,
  PROFILE_DURATION = 10,
  PROFILE_PERIOD_TYPE = 11,
  PROFILE_PERIOD = 12,
  PROFILE_DEFAULT_SAMPLE_TYPE = 14,
  VALUE_TYPE = 1,
  VALUE_UNIT = 2,
  SAMPLE_LOCATIONS = 1,
  SAMPLE_VALUES = 2,
  MAPPING_ID = 1,
  MAPPING_START = 2,
  MAPPING_END = 3,
  MAPPING_OFFSET = 4,
  MAPPING_FILE = 5,
  MAPPING_BUILD_ID = 6,
  MAPPING_HAS_FUNCTIONS = 7,
  LOCATION_ID = 1,
  LOCATION_MAPPING = 2,
  LOCATION_ADDRESS = 3,
  LOCATION_LINE = 4,
  LINE_FUNCTION = 1,
  FUNCTION_ID = 1,
  FUNCTION_NAME = 2,
  FUNCTION_SYSTEM_NAME = 3,
};

/// The profile being made. Only one is made at a time.
static struct making {
  struct lt_protobuf message;
  struct lt_code_maps maps;
  uint32_t stringCount;
  uint64_t *addresses;    ///< of the locations; the first location has the number 1
  uint32_t *places;       ///< hash table: the numbers of locations by address
  uint32_t locationCount; ///< at most LOCATION_LIMIT
  bool *functions;        ///< by a function's number: whether it was written
} making;
static struct {
  _Atomic uint32_t isTaken;     ///< the exchange pairs with the store of 0
  _Atomic uint32_t isForbidden; ///< needs no order: a profile that has begun may go on
  uint64_t beginning;           ///< CLOCK_MONOTONIC
} profiling;

void lt_heap_profile_begin(void) { profiling.beginning = lt_clock_nanoseconds(CLOCK_MONOTONIC); }

void lt_heap_profile_forbid(void) { atomic_store(&profiling.isForbidden, 1); }

void lt_heap_profile_reset_after_fork(void) {
  atomic_store(&profiling.isTaken, 0);
  lt_function_names_reset_after_fork();
}

// --- parts -----------------------------------------------------------------------------------------------------------

/// Writes a text to the table of strings, and returns its number. Fields of a message may come in any order, so each
/// text is written when it is needed.
static uint64_t string(const char *text) {
  lt_protobuf_text(&making.message, PROFILE_STRING, text, strlen(text));
  return making.stringCount++;
}

static void put_value_type(uint32_t field, uint64_t type, uint64_t unit) {
  size_t begun = lt_protobuf_begin(&making.message, field);
  lt_protobuf_number(&making.message, VALUE_TYPE, type);
  lt_protobuf_number(&making.message, VALUE_UNIT, unit);
  lt_protobuf_end(&making.message, begun);
}

static void put_head(uint64_t period) {
  string(""); // must be the first
  uint64_t count = string("count"), bytes = string("bytes"), allocObjects = string("alloc_objects"),
           allocSpace = string("alloc_space"), inuseObjects = string("inuse_objects"),
           inuseSpace = string("inuse_space"), space = string("space");
  put_value_type(PROFILE_SAMPLE_TYPE, allocObjects, count);
  put_value_type(PROFILE_SAMPLE_TYPE, allocSpace, bytes);
  put_value_type(PROFILE_SAMPLE_TYPE, inuseObjects, count);
  put_value_type(PROFILE_SAMPLE_TYPE, inuseSpace, bytes);
  put_value_type(PROFILE_PERIOD_TYPE, space, bytes);
  lt_protobuf_number(&making.message, PROFILE_DROP_FRAMES, string(allocationFunctions));
  lt_protobuf_number(&making.message, PROFILE_PERIOD, period);
  lt_protobuf_number(&making.message, PROFILE_DEFAULT_SAMPLE_TYPE, inuseSpace);
  lt_protobuf_number(&making.message, PROFILE_TIME, lt_clock_nanoseconds(CLOCK_REALTIME));
  lt_protobuf_number(&making.message, PROFILE_DURATION, lt_clock_nanoseconds(CLOCK_MONOTONIC) - profiling.beginning);
}

/// Returns an address inside the call that a frame is making. This address identifies the function and line of the
/// call. The return address may already belong to the next line or function.
static uint64_t address_of(uint64_t key) {
  uint64_t address = key & LT_FRAME_ADDRESS_MASK;
  return key & (LT_FRAME_EXACT | LT_FRAME_ASYNC) || !address ? address : address - 1;
}

/// The number of an address's location, from 1 on; 0 if there is no room.
static uint32_t location_of(uint64_t address) {
  uint32_t first = (uint32_t)(address * LT_HASH_MULTIPLIER >> 40);
  for (uint32_t i = 0; i < LOCATION_PLACES; i++) {
    uint32_t *place = &making.places[(first + i) % LOCATION_PLACES];
    LT_CHECK(*place <= making.locationCount);
    if (*place && making.addresses[*place - 1] != address) continue;
    if (*place || making.locationCount == LOCATION_LIMIT) return *place;
    making.addresses[making.locationCount++] = address;
    LT_CHECK(making.locationCount <= LOCATION_LIMIT);
    return *place = making.locationCount;
  }
  return 0;
}

static void put_sample(const struct lt_sampled_site *site) {
  LT_CHECK(atomic_load(&profiling.isTaken) == 1);
  uint64_t objects = site->allocatedObjects, bytes = site->allocatedBytes, freedObjects = site->freedObjects,
           freedBytes = site->freedBytes;
  if (!objects) return;
  struct lt_protobuf *message = &making.message;
  size_t sample = lt_protobuf_begin(message, PROFILE_SAMPLE), packed = lt_protobuf_begin(message, SAMPLE_LOCATIONS);
  const uint64_t *keys = lt_sampled_site_keys(site);
  for (uint32_t i = site->keyCount; i-- > 0;) {
    uint32_t location = location_of(address_of(keys[i]));
    if (location) lt_protobuf_element(message, location);
  }
  lt_protobuf_end(message, packed);
  packed = lt_protobuf_begin(message, SAMPLE_VALUES);
  lt_protobuf_element(message, (objects + LT_WEIGHT_ONE / 2) / LT_WEIGHT_ONE);
  lt_protobuf_element(message, bytes);
  // Other threads may be counting at the same time, so the freed figures may exceed the allocated ones.
  lt_protobuf_element(message,
                      objects > freedObjects ? (objects - freedObjects + LT_WEIGHT_ONE / 2) / LT_WEIGHT_ONE : 0);
  lt_protobuf_element(message, bytes > freedBytes ? bytes - freedBytes : 0);
  lt_protobuf_end(message, packed);
  lt_protobuf_end(message, sample);
}

static void put_samples(void) {
  for (uint32_t i = 0; i < LT_SAMPLED_SITE_LIMIT; i++) {
    const struct lt_sampled_site *site = lt_sampled_site_at(i);
    if (site) put_sample(site);
  }
}

static void put_mapping(uint32_t number, const struct lt_code_map *map, bool hasFunctions) {
  char digits[2 * LT_BUILD_ID_LIMIT + 1];
  LT_CHECK(map->buildIDSize <= LT_BUILD_ID_LIMIT && number > 0);
  for (uint32_t i = 0; i < map->buildIDSize; i++) {
    digits[2 * i] = "0123456789abcdef"[map->buildID[i] >> 4];
    digits[2 * i + 1] = "0123456789abcdef"[map->buildID[i] & 15];
  }
  digits[2 * map->buildIDSize] = 0;
  uint64_t path = string(map->path), buildID = map->buildIDSize ? string(digits) : 0;
  struct lt_protobuf *message = &making.message;
  size_t begun = lt_protobuf_begin(message, PROFILE_MAPPING);
  lt_protobuf_number(message, MAPPING_ID, number);
  lt_protobuf_number(message, MAPPING_START, map->start);
  lt_protobuf_number(message, MAPPING_END, map->end);
  lt_protobuf_number(message, MAPPING_OFFSET, map->offset);
  lt_protobuf_number(message, MAPPING_FILE, path);
  lt_protobuf_number(message, MAPPING_BUILD_ID, buildID);
  lt_protobuf_number(message, MAPPING_HAS_FUNCTIONS, hasFunctions);
  lt_protobuf_end(message, begun);
}

static void put_function(uint32_t number) {
  const struct lt_function *function = lt_function(number);
  uint64_t name = string(lt_function_text(function->name)),
           symbol = function->symbol == function->name ? name : string(lt_function_text(function->symbol));
  size_t begun = lt_protobuf_begin(&making.message, PROFILE_FUNCTION);
  lt_protobuf_number(&making.message, FUNCTION_ID, number);
  lt_protobuf_number(&making.message, FUNCTION_NAME, name);
  lt_protobuf_number(&making.message, FUNCTION_SYSTEM_NAME, symbol);
  lt_protobuf_end(&making.message, begun);
}

static void put_locations(const uint64_t *addresses) {
  struct lt_protobuf *message = &making.message;
  for (uint32_t i = 0; i < making.locationCount; i++) {
    const struct lt_code_map *map = lt_code_map_at(&making.maps, addresses[i]);
    uint32_t function = lt_function_at(addresses[i]);
    LT_CHECK(function < LT_FUNCTION_LIMIT);
    if (function && !making.functions[function]) {
      making.functions[function] = true;
      put_function(function);
    }
    size_t begun = lt_protobuf_begin(message, PROFILE_LOCATION);
    lt_protobuf_number(message, LOCATION_ID, i + 1);
    lt_protobuf_number(message, LOCATION_MAPPING, map ? (uint64_t)(map - making.maps.maps) + 1 : 0);
    lt_protobuf_number(message, LOCATION_ADDRESS, addresses[i]);
    if (function) {
      size_t line = lt_protobuf_begin(message, LOCATION_LINE);
      lt_protobuf_number(message, LINE_FUNCTION, function);
      lt_protobuf_end(message, line);
    }
    lt_protobuf_end(message, begun);
  }
}

static void put_mappings(const uint64_t *addresses) {
  static bool hasFunctions[LT_CODE_MAP_LIMIT];
  memset(hasFunctions, 0, sizeof hasFunctions);
  for (uint32_t i = 0; i < making.locationCount; i++) {
    const struct lt_code_map *map = lt_code_map_at(&making.maps, addresses[i]);
    if (map && lt_function_at(addresses[i])) hasFunctions[map - making.maps.maps] = true;
  }
  for (uint32_t i = 0; i < making.maps.count; i++) put_mapping(i + 1, &making.maps.maps[i], hasFunctions[i]);
}

// --- the whole -------------------------------------------------------------------------------------------------------

enum { ADDRESSES_SIZE = LOCATION_LIMIT * sizeof(uint64_t), PLACES_SIZE = LOCATION_PLACES * sizeof(uint32_t) };

static int make(struct lt_heap_profile *profile, uint64_t period) {
  LT_CHECK(atomic_load(&profiling.isTaken) == 1 && period > 0);
  making = (struct making){.message = {.bytes = lt_map_private(MESSAGE_LIMIT), .capacity = MESSAGE_LIMIT},
                           .addresses = lt_map_private(ADDRESSES_SIZE),
                           .places = lt_map_private(PLACES_SIZE),
                           .functions = lt_map_private(LT_FUNCTION_LIMIT * sizeof(bool))};
  uint64_t *unknown = lt_map_private(ADDRESSES_SIZE);
  int error = -ENOMEM;
  if (making.message.bytes && making.addresses && making.places && making.functions && unknown &&
      lt_code_maps_read(&making.maps)) {
    put_head(period);
    put_samples();
    memcpy(unknown, making.addresses, making.locationCount * sizeof *unknown);
    lt_function_names_find(&making.maps, unknown, making.locationCount);
    put_mappings(making.addresses);
    put_locations(making.addresses);
    error = making.message.isFull ? -EFBIG
                                  : lt_gzip_bytes(making.message.bytes, making.message.size, &profile->bytes,
                                                  &profile->size, &profile->capacity);
  }
  lt_code_maps_free(&making.maps);
  if (making.message.bytes) lt_unmap(making.message.bytes, MESSAGE_LIMIT);
  if (making.addresses) lt_unmap(making.addresses, ADDRESSES_SIZE);
  if (making.places) lt_unmap(making.places, PLACES_SIZE);
  if (making.functions) lt_unmap(making.functions, LT_FUNCTION_LIMIT * sizeof(bool));
  if (unknown) lt_unmap(unknown, ADDRESSES_SIZE);
  return error;
}

int lt_heap_profile_make(struct lt_heap_profile *profile, uint64_t period) {
  if (atomic_load(&profiling.isForbidden)) return -EPERM;
  uint32_t no = 0;
  for (int waited = 0; !atomic_compare_exchange_strong(&profiling.isTaken, &no, 1); waited++, no = 0) {
    if (waited == WAIT_MILLISECONDS) return -EBUSY;
    lt_sleep(1000000);
  }
  *profile = (struct lt_heap_profile){0};
  int error = make(profile, period);
  atomic_store(&profiling.isTaken, 0);
  return error;
}

void lt_heap_profile_free(struct lt_heap_profile *profile) {
  if (profile->bytes) lt_unmap(profile->bytes, profile->capacity);
  *profile = (struct lt_heap_profile){0};
}

// === due profiles ====================================================================================================

// Writes heap profiles at an interval. While a file is being written, it has a temporary name. So a reader of the
// folder finds only complete profiles.

static struct {
  uint64_t interval, samplePeriod;
  _Atomic uint64_t nextProfile; ///< the exchange elects one thread
  uint32_t written;             ///< number of files written so far
  _Atomic uint32_t hasFailed;   ///< a file could not be written, and the user has been notified
} dueProfiles = {.nextProfile = UINT64_MAX};

void lt_due_profiles_begin(uint64_t every, uint64_t period) {
  dueProfiles.interval = every;
  dueProfiles.samplePeriod = period;
  dueProfiles.written = 0;
  lt_heap_profile_begin();
  atomic_store(&dueProfiles.nextProfile, every ? lt_clock_nanoseconds(CLOCK_MONOTONIC) + every : UINT64_MAX);
}

/// Makes the path of a profile: the trace's path without its extension, then `.heap-`, a number and `.pb.gz`. Returns
/// the end of the path.
static char *put_path(char path[PATH_MAX + 64], uint32_t number) {
  static const char ending[] = ".trace";
  size_t length = strlen(lt_trace.file.path), n = sizeof ending - 1;
  if (length > n && memcmp(lt_trace.file.path + length - n, ending, n) == 0) length -= n;
  LT_CHECK(number < LT_PROFILE_FILES && length + 32 < PATH_MAX + 64);
  memcpy(path, lt_trace.file.path, length);
  char *p = path + length;
  memcpy(p, ".heap-", 6);
  p += 6;
  if (number < 10) *p++ = '0';
  p = lt_put_decimal(p, number);
  memcpy(p, ".pb.gz", 7);
  return p + 6;
}

static int write_file(const struct lt_heap_profile *profile) {
  static char path[PATH_MAX + 64], whole[PATH_MAX + 64];
  char *end = put_path(path, dueProfiles.written % LT_PROFILE_FILES);
  memcpy(whole, path, sizeof whole);
  memcpy(end, ".new", 5);
  lt_unlink(path); // may be left from a process that was ended
  if (profile->size > lt_file_size_limit()) return -EFBIG;
  int file = lt_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (file < 0) return file;
  int error = lt_write_all(file, profile->bytes, profile->size);
  lt_close(file);
  if (!error) error = (int)lt_syscall6(SYS_renameat, AT_FDCWD, (long)path, AT_FDCWD, (long)whole, 0, 0);
  if (error) lt_unlink(path);
  return error;
}

static void write_profile(void *unused) {
  (void)unused;
  LT_CHECK(dueProfiles.samplePeriod > 0);
  struct lt_heap_profile profile;
  int error = lt_heap_profile_make(&profile, dueProfiles.samplePeriod);
  if (!error) error = write_file(&profile);
  lt_heap_profile_free(&profile);
  if (!error) dueProfiles.written++;
  else if (!atomic_exchange(&dueProfiles.hasFailed, 1))
    lt_message_isolated("a heap profile could not be written beside", lt_trace.file.path, -error);
}

void lt_due_profiles_take(uint64_t now) {
  uint64_t due = atomic_load_explicit(&dueProfiles.nextProfile, memory_order_relaxed);
  if (LT_LIKELY(now < due) ||
      !atomic_compare_exchange_strong(&dueProfiles.nextProfile, &due, now + dueProfiles.interval))
    return;
  lt_call_isolated_async(write_profile, NULL);
}

void lt_due_profiles_end(void) {
  atomic_store(&dueProfiles.nextProfile, UINT64_MAX);
  lt_isolated_task_await();
}

void lt_due_profiles_finish(void) {
  bool isOn = atomic_exchange(&dueProfiles.nextProfile, UINT64_MAX) != UINT64_MAX;
  lt_isolated_task_await();
  if (isOn && atomic_load(&lt_is_sampling)) lt_call_isolated(write_profile, NULL);
}

void lt_due_profiles_reset_after_fork(void) {
  atomic_store(&dueProfiles.nextProfile, UINT64_MAX);
  atomic_store(&dueProfiles.hasFailed, 0);
  lt_heap_profile_reset_after_fork();
}
