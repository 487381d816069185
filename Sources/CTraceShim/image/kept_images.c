// Takes back heap images, oldest ones sparsely. All of it in the copy that writes an image.

#include "image/kept_images.h"

#include "check.h"
#include "os/os.h"
#include "record/trace_file.h"
#include "record/trace_voids.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#define TIME_UNIT_MASK ((1ull << LT_TIME_SHIFT) - 1)
/// Voids that an image may use. Neighbours are joined, so there are few.
enum { VOID_LIMIT = 1024 };

static struct {
  struct lt_placed_chunk voids[VOID_LIMIT];
  uint32_t count;
  int descriptor;
} space = {.descriptor = -1};

bool lt_kept_images_counts(uint32_t reason) { return reason == LT_SNAPSHOT_INTERVAL || reason == LT_SNAPSHOT_SIZE; }

uint32_t lt_kept_images_choose(const uint64_t *times, uint32_t count) {
  LT_CHECK(count >= 3);
  uint64_t now = times[count - 1];
  uint32_t best = 1;
  double least = 2;
  // The first and the last stay. Without an image, a gap is left: it counts by its share of the age of its older end.
  for (uint32_t i = 1; i + 1 < count; i++) {
    LT_CHECK(times[i - 1] <= times[i]);
    double age = (double)(now - times[i - 1]), share = age > 0 ? (double)(times[i + 1] - times[i - 1]) / age : 0;
    if (share >= least) continue;
    least = share;
    best = i;
  }
  return best;
}

static uint64_t trace_end(void) { return atomic_load((_Atomic uint64_t *)&lt_trace.status->dataEnd); }

/// Finds the voids that earlier copies have left.
static void find_voids(uint64_t from) {
  struct lt_placed_chunk chunk;
  uint64_t end = trace_end();
  for (uint64_t at = from; space.count < VOID_LIMIT && lt_trace_find_chunk(space.descriptor, at, end, &chunk);
       at = chunk.offset + chunk.size)
    if (chunk.header.kind == LT_CHUNK_VOID) space.voids[space.count++] = chunk;
}

void lt_kept_images_begin(struct lt_kept_images *images, int descriptor, uint32_t reason, uint64_t time) {
  space.count = 0;
  space.descriptor = descriptor;
  if (!images) return;
  LT_CHECK(images->limit >= 2 && images->limit <= LT_KEPT_IMAGES_MAX);
  if (!images->firstOffset) images->firstOffset = trace_end();
  else if (descriptor >= 0) find_voids(images->firstOffset);
  bool hasRoom = images->count < sizeof images->times / sizeof *images->times;
  if (hasRoom && lt_kept_images_counts(reason)) images->times[images->count++] = time;
}

int lt_kept_images_put(struct lt_chunk_header *header, uint8_t *chunk) {
  uint64_t size = lt_trace_chunk_size(header);
  // The one that fits best, so that large ones stay for large chunks.
  struct lt_placed_chunk *best = NULL;
  for (uint32_t i = 0; i < space.count; i++) {
    struct lt_placed_chunk *v = &space.voids[i];
    if (v->size >= size && (!best || v->size < best->size)) best = v;
  }
  if (!best || !lt_trace_is_writable()) return lt_trace_append_chunk(header, chunk);
  lt_trace_finish_chunk(header, chunk);
  struct lt_placed_chunk left;
  int error = lt_trace_fill_void(space.descriptor, best, chunk, size, &left);
  *best = left;
  return error;
}

static bool belongs(const struct lt_chunk_header *header, uint64_t time) {
  switch (header->kind) {
    case LT_CHUNK_SNAPSHOT:
    case LT_CHUNK_MEMORY:
    case LT_CHUNK_SNAPSHOT_END:
    case LT_CHUNK_BLOCKS: return header->firstTime == time;
    case LT_CHUNK_DEFINITIONS:
    case LT_CHUNK_EVENTS: return header->thread == LT_THREAD_OF_LISTS && header->firstTime == (time & ~TIME_UNIT_MASK);
    default: return false;
  }
}

/// A row of voids that follow each other.
struct void_run {
  uint64_t start, size; ///< 0 bytes: there is none
  bool isOne;           ///< a header of its own says so
};

/// Adds `size` bytes that follow the run's end, as far as one header can say.
static bool extend(struct void_run *run, uint64_t size) {
  if (run->size + size > LT_VOID_LIMIT) return false;
  run->size += size;
  run->isOne = false;
  return true;
}

/// Adds the bytes up to `offset`, if there are none or too few for a header. True if the run ends there.
static bool close_gap(struct void_run *run, uint64_t offset) {
  uint64_t gap = offset - (run->start + run->size);
  return run->size && gap < sizeof(struct lt_chunk_header) && (!gap || extend(run, gap));
}

static void finish(struct void_run *run) {
  if (run->size && !run->isOne) lt_trace_join_void(space.descriptor, run->start, run->size);
  run->size = 0;
}

/// Takes back the image of a time, and joins voids that follow each other, with the few bytes between that hold no
/// header.
static void take_back(uint64_t from, uint64_t time) {
  struct lt_placed_chunk chunk;
  struct void_run run = {0};
  uint64_t end = trace_end();
  for (uint64_t at = from; lt_trace_find_chunk(space.descriptor, at, end, &chunk); at = chunk.offset + chunk.size) {
    bool isNext = close_gap(&run, chunk.offset);
    bool isVoid = chunk.header.kind == LT_CHUNK_VOID ||
                  (belongs(&chunk.header, time) &&
                   lt_trace_void_chunk(space.descriptor, chunk.offset, lt_trace_event_count()) == 0);
    if (isVoid && isNext && extend(&run, chunk.size)) continue;
    finish(&run);
    if (isVoid) run = (struct void_run){chunk.offset, chunk.size, true};
  }
  close_gap(&run, end);
  finish(&run);
}

/// Readers that come and go leave moments between them.
static bool lock(int live) {
  enum { ATTEMPTS = 20, DELAY_NANOSECONDS = 5000000 };
  for (int i = 0; i < ATTEMPTS; i++) {
    if (lt_syscall(SYS_flock, live, LOCK_EX | LOCK_NB, 0) == 0) return true;
    lt_sleep(DELAY_NANOSECONDS);
  }
  return false;
}

void lt_kept_images_thin(struct lt_kept_images *images) {
  if (!images || images->count <= images->limit || space.descriptor < 0) return;
  // A reader locks the live file, so that the images it has found stay.
  int live = lt_mapped_file_open(&lt_trace.liveFile, O_RDONLY);
  if (live < 0) return;
  if (lock(live)) {
    while (images->count > images->limit) {
      uint32_t index = lt_kept_images_choose(images->times, images->count);
      take_back(images->firstOffset, images->times[index]);
      images->count--;
      memmove(&images->times[index], &images->times[index + 1], (images->count - index) * sizeof *images->times);
    }
  }
  lt_close(live);
}
