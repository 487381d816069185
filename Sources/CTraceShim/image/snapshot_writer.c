// Writes a heap image in a copy of the process, and removes older images from the trace.

#define ZSTD_STATIC_LINKING_ONLY
#include "image/snapshot_writer.h"

#include "check.h"
#include "image/block_list.h"
#include "image/memory_map.h"
#include "memory_scan.h"
#include "os/os.h"
#include "os/process_info.h"
#include "record/definitions.h"
#include "record/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <zstd.h>

// --- kept images -----------------------------------------------------------------------------------------------------

// Removes heap images from the trace, so that old images are further apart than recent ones. All of this runs in the
// copy that writes an image.

#define TIME_UNIT_MASK ((1ull << LT_TIME_SHIFT) - 1)
/// The most voids that an image may use. Adjacent voids are joined, so there are few.
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
  // The first and the last image stay. The removal of an image leaves a gap between its neighbours. Choose the image
  // whose gap is smallest in relation to the age of the gap's older end.
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
  // Choose the smallest void that has room, so that large voids are left for large chunks.
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

/// A row of adjacent voids.
struct void_run {
  uint64_t start, size; ///< no void if `size` is 0
  bool isOne;           ///< one header already describes the whole row
};

/// Adds `size` bytes that follow the row's end. False if one header cannot describe that many bytes.
static bool extend(struct void_run *run, uint64_t size) {
  if (run->size + size > LT_VOID_LIMIT) return false;
  run->size += size;
  run->isOne = false;
  return true;
}

/// Adds the bytes between the row and `offset` if they are too few for a header. True if the row now ends at `offset`.
static bool close_gap(struct void_run *run, uint64_t offset) {
  uint64_t gap = offset - (run->start + run->size);
  return run->size && gap < sizeof(struct lt_chunk_header) && (!gap || extend(run, gap));
}

static void finish(struct void_run *run) {
  if (run->size && !run->isOne) lt_trace_join_void(space.descriptor, run->start, run->size);
  run->size = 0;
}

/// Removes the image of the given time. Joins adjacent voids, and the few bytes between them that are too short for a
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

/// Tries for a short time, since readers come and go.
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
  // A reader locks the live file, so that the images that it has found stay.
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

// --- writer ----------------------------------------------------------------------------------------------------------

// Writes a heap image from a copy of the process. Calls only memory primitives of the C library, and zstd in memory of
// the recorder.

enum { PART_SIZE = 4 << 20, COMPRESSION_LEVEL = 1, THREAD_LIMIT = 1 << 16, OWN_RANGE_LIMIT = 1 << 16 };

static struct writer {
  struct lt_snapshot_job *job;
  struct lt_snapshot_progress *progress;
  ZSTD_CCtx *compressor;
  uint8_t *chunk;
  size_t chunkSize;
  uint8_t *part;
  int lock; ///< descriptor of the trace, which is locked through it; −errno if the trace's path leads elsewhere
} writer;

static bool is_process_gone(void) { return lt_parent_process_id() != writer.job->process; }

/// Compresses and appends a chunk. Writes nothing if the process has ended, because another process may then be
/// finishing its trace.
static int append_events(uint16_t kind, uint32_t thread, const void *payload, size_t size, uint64_t eventCount) {
  LT_CHECK(kind > 0 && kind <= LT_CHUNK_BLOCKS && size > 0);
  uint32_t *sequence = &writer.progress->sequences[kind];
  struct lt_chunk_header header = {.kind = kind,
                                   .thread = thread,
                                   .eventCount = eventCount,
                                   .rawSize = (uint32_t)size,
                                   .sequence = *sequence,
                                   .firstTime = writer.job->snapshot.time & ~TIME_UNIT_MASK,
                                   .lastTime = writer.job->snapshot.time & ~TIME_UNIT_MASK};
  if (!thread) header.firstTime = header.lastTime = writer.job->snapshot.time;
  uint8_t *to = writer.chunk + sizeof header;
  if (size > LT_CHUNK_MAX_RAW) return -E2BIG;
  size_t stored = ZSTD_compressCCtx(writer.compressor, to, writer.chunkSize - sizeof header - LT_CHUNK_ALIGNMENT,
                                    payload, size, COMPRESSION_LEVEL);
  if (ZSTD_isError(stored)) return -EIO;
  LT_CHECK(stored <= writer.chunkSize - sizeof header - LT_CHUNK_ALIGNMENT);
  header.compression = LT_COMPRESSION_ZSTD;
  header.storedSize = (uint32_t)stored;
  lt_syscall(SYS_flock, writer.lock, LOCK_EX, 0);
  int error = is_process_gone() ? -ESRCH : lt_kept_images_put(&header, writer.chunk);
  lt_syscall(SYS_flock, writer.lock, LOCK_UN, 0);
  if (error) return error;
  ++*sequence;
  atomic_fetch_add(lt_trace_event_count(), eventCount);
  return 0;
}

static int append(uint16_t kind, const void *payload, size_t size) { return append_events(kind, 0, payload, size, 0); }

static int append_blocks(uint16_t kind, const uint8_t *payload, size_t size, uint64_t eventCount) {
  return append_events(kind, LT_THREAD_OF_LISTS, payload, size, eventCount);
}

static int write_part(struct lt_memory_scan *scan, const uint8_t *part, size_t size) {
  (void)scan;
  return append(LT_CHUNK_MEMORY, part, size);
}

void lt_snapshot_set_expendable(void) {
  int descriptor = lt_open("/proc/self/oom_score_adj", O_WRONLY, 0);
  if (descriptor >= 0) {
    lt_write_all(descriptor, "1000", 4);
    lt_close(descriptor);
  }
  struct rlimit none = {0, 0};
  lt_syscall6(SYS_prlimit64, 0, RLIMIT_CORE, (long)&none, 0, 0, 0);
}

/// Adds the threads that were not stopped. Only their IDs are known.
static void list_threads(struct lt_snapshot_job *job, uint32_t limit) {
  struct lt_thread_list list;
  if (lt_thread_list_open(&list, job->process) != 0) return;
  uint32_t self = job->threadCount ? job->threads[0].osThread : 0;
  LT_CHECK(job->threadCount > 0 && job->threadCount <= limit);
  for (uint32_t thread; job->threadCount < limit && (thread = lt_thread_list_next(&list)) != 0;)
    if (thread != self) job->threads[job->threadCount++] = (struct lt_snapshot_thread){.osThread = thread};
  lt_thread_list_close(&list);
}

/// Marks the recorder's own memory. Leaves out the arena for early allocator calls, because the arena holds other
/// libraries' blocks.
static bool mark_own_memory(struct lt_memory_map *map) {
  struct lt_own_range *ranges = lt_map_private((OWN_RANGE_LIMIT + 2) * sizeof *ranges);
  if (!ranges) return false;
  uint32_t count = lt_own_ranges(ranges, OWN_RANGE_LIMIT);
  LT_CHECK(count > 0 && count <= OWN_RANGE_LIMIT);
  uintptr_t arenaStart, arenaEnd;
  lt_bootstrap_range(&arenaStart, &arenaEnd);
  for (uint32_t i = 0; i < count; i++) {
    if (arenaStart < ranges[i].start || arenaEnd > ranges[i].end) continue;
    ranges[count++] = (struct lt_own_range){arenaEnd, ranges[i].end};
    ranges[i].end = arenaStart;
    break;
  }
  uint32_t kept = 0;
  LT_CHECK(count <= OWN_RANGE_LIMIT + 1);
  for (uint32_t i = 0; i < count; i++)
    if (ranges[i].end > ranges[i].start) ranges[kept++] = ranges[i];
  bool isMarked = lt_memory_map_mark_own(map, ranges, kept);
  lt_unmap(ranges, (OWN_RANGE_LIMIT + 2) * sizeof *ranges);
  return isMarked;
}

static int write_beginning(struct lt_memory_scan *scan, const struct lt_memory_map *map) {
  struct lt_snapshot_job *job = writer.job;
  LT_CHECK(job->threadCount > 0 && job->threadCount <= THREAD_LIMIT && map->count > 0);
  // Clear registers that do not hold an address: they may contain users' data.
  for (uint32_t i = 0; i < job->threadCount; i++) {
    for (unsigned r = 0; r < LT_SNAPSHOT_REGISTERS; r++) {
      uint64_t address = job->threads[i].registers[r] & LT_WORD_ADDRESS_MASK;
      job->threads[i].registers[r] = lt_address_index_has(&scan->index, address) ? address : 0;
    }
  }
  struct lt_snapshot *snapshot = &job->snapshot;
  snapshot->threadCount = job->threadCount;
  snapshot->regionCount = map->count;
  snapshot->labelSize = (uint32_t)strlen(job->label);
  size_t threadBytes = job->threadCount * sizeof *job->threads, regionBytes = map->count * sizeof *map->regions;
  size_t size = sizeof *snapshot + threadBytes + regionBytes + snapshot->labelSize;
  uint8_t *payload = size <= PART_SIZE ? writer.part : lt_map_private(size), *p = payload;
  if (!payload) return -ENOMEM;
  if (ZSTD_compressBound(size) + sizeof(struct lt_chunk_header) + LT_CHUNK_ALIGNMENT > writer.chunkSize) {
    writer.chunkSize = ZSTD_compressBound(size) + sizeof(struct lt_chunk_header) + LT_CHUNK_ALIGNMENT;
    writer.chunk = lt_map_private(writer.chunkSize);
    if (!writer.chunk) return -ENOMEM;
  }
  memcpy(p, snapshot, sizeof *snapshot);
  p += sizeof *snapshot;
  memcpy(p, job->threads, threadBytes);
  p += threadBytes;
  memcpy(p, map->regions, regionBytes);
  p += regionBytes;
  memcpy(p, job->label, snapshot->labelSize);
  LT_CHECK(p + snapshot->labelSize == payload + size);
  return append(LT_CHUNK_SNAPSHOT, payload, size);
}

static int prepare(void) {
  size_t workspaceSize = ZSTD_estimateCCtxSize_usingCParams(ZSTD_getCParams(COMPRESSION_LEVEL, PART_SIZE, 0));
  void *workspace = lt_map_private(workspaceSize);
  writer.chunkSize = ZSTD_compressBound(PART_SIZE) + sizeof(struct lt_chunk_header) + LT_CHUNK_ALIGNMENT;
  writer.chunk = lt_map_private(writer.chunkSize);
  writer.part = lt_map_private(PART_SIZE);
  if (!workspace || !writer.chunk || !writer.part) return -ENOMEM;
  writer.compressor = ZSTD_initStaticCCtx(workspace, workspaceSize);
  return writer.compressor ? 0 : -ENOMEM;
}

/// Appends a chunk of a list. Definitions belong to the thread LT_THREAD_OF_LISTS, and so do the list's events in a
/// light recording. If events are recorded, too, the list belongs to the image, as the image's pages do.
static int append_blocks_beside(uint16_t kind, const uint8_t *payload, size_t size, uint64_t eventCount) {
  return kind == LT_CHUNK_BLOCKS ? append(kind, payload, size) : append_blocks(kind, payload, size, eventCount);
}

static struct lt_block_list block_list(const struct lt_memory_map *map) {
  const struct lt_snapshot_job *job = writer.job;
  bool isBesideEvents = !(job->snapshot.flags & LT_SNAPSHOT_LISTED);
  // The recorder has numbered the types in events, so types of the list need other numbers.
  bool hasOthers = !(lt_trace.header->options & LT_OPTION_LIGHT);
  return (struct lt_block_list){.append = append_blocks_beside,
                                .regions = map->regions,
                                .regionCount = map->count,
                                .threads = job->threads,
                                .threadCount = job->threadCount,
                                .time = job->snapshot.time,
                                .number = job->snapshot.number,
                                .firstType = writer.progress->typeCount + 1 + (hasOthers ? LT_LISTED_TYPES : 0),
                                .isBesideEvents = isBesideEvents};
}

/// Writes the list of blocks, if events do not show them all, and passes the types of the blocks to the scan.
static int write_blocks(struct lt_memory_scan *scan, const struct lt_memory_map *map) {
  struct lt_snapshot_job *job = writer.job;
  struct lt_block_list list = block_list(map);
  int error = lt_block_list_write(&list, scan);
  if (error) return error;
  writer.progress->typeCount += list.typeCount;
  if (list.isIncomplete) job->snapshot.flags |= LT_SNAPSHOT_BLOCKS_MISSING;
  scan->types = list.types;
  scan->typeCount = list.typeCount;
  return 0;
}

/// Adds all types that were seen allocated to the types whose objects the scan looks for.
static int take_types(struct lt_memory_scan *scan) {
  struct lt_scanned_type *types = lt_map_private((LT_TYPE_PLACES + scan->typeCount) * sizeof *types);
  if (!types) return -ENOMEM;
  if (scan->typeCount) memcpy(types, scan->types, scan->typeCount * sizeof *types);
  scan->typeCount += lt_types(types + scan->typeCount, LT_TYPE_PLACES);
  scan->types = types;
  return 0;
}

/// Writes the allocator's figures, and passes the types to look for to the scan. Also writes the blocks if the process
/// was already running when its recording began. Events do not show the older blocks.
static int write_heap(struct lt_memory_scan *scan, const struct lt_memory_map *map) {
  int error = 0;
  if (writer.job->snapshot.flags & LT_SNAPSHOT_LISTED) {
    // Write the sites even if the allocator's metadata cannot be read.
    error = lt_site_list_write(writer.job->snapshot.time, append_blocks);
    return error ? error : write_blocks(scan, map);
  }
  // If the allocator is unknown, only its figures and the list of blocks are missing.
  if (writer.job->listsBlocks) {
    error = write_blocks(scan, map);
  } else {
    struct lt_block_list list = block_list(map);
    error = lt_block_list_account(&list, scan);
  }
  return error == -ESRCH ? error : take_types(scan);
}

/// Writes how much memory the process uses.
static int write_account(void) {
  const struct lt_snapshot_job *job = writer.job;
  const struct lt_memory_account account = {.process = job->process,
                                            .time = job->snapshot.time,
                                            .monotonic = job->snapshot.monotonic,
                                            .recorderBytes = job->recorderBytes,
                                            .peakResident = job->peakResident};
  uint8_t payload[LT_MEMORY_ACCOUNT_SIZE];
  size_t size = lt_memory_account_put(&account, payload);
  return size ? append_blocks(LT_CHUNK_DEFINITIONS, payload, size, 0) : 0;
}

/// Writes the whole image except its end.
static int write_image(struct lt_memory_scan *scan) {
  // Read the mappings first, before this copy adds mappings for its own work.
  struct lt_memory_map map;
  int error = lt_memory_map_read(&map);
  if (!error && !mark_own_memory(&map)) error = -ENOMEM;
  if (!error) error = write_account();
  if (error) return error;
  lt_scan_own_pages(scan);
  scan->regions = map.regions;
  scan->regionCount = map.count;
  error = write_heap(scan, &map);
  if (!error) error = lt_memory_scan_prepare(scan);
  if (error) return error;
  lt_syscall6(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0); // not earlier, because a process that is not dumpable cannot
                                                          // open its files of /proc
  if (!(writer.job->snapshot.flags & LT_SNAPSHOT_FROZEN)) list_threads(writer.job, THREAD_LIMIT);
  scan->threads = writer.job->threads;
  scan->threadCount = writer.job->threadCount;
  scan->snapshotNumber = writer.job->snapshot.number;
  scan->writePart = write_part;
  scan->partBuffer = writer.part;
  scan->partSize = PART_SIZE;
  error = write_beginning(scan, &map);
  return error ? error : lt_memory_scan_run(scan);
}

/// Returns how long the other threads were stopped. Waits a moment for the value, because the image of a small process
/// may be finished before the threads continue.
static uint64_t pause_nanoseconds(void) {
  for (int i = 0; i < 1000 && atomic_load(&writer.progress->pauseNanoseconds) == LT_SNAPSHOT_PAUSE_UNKNOWN; i++) {
    lt_sleep(100000);
  }
  uint64_t pause = atomic_load(&writer.progress->pauseNanoseconds);
  return pause == LT_SNAPSHOT_PAUSE_UNKNOWN ? 0 : pause;
}

int lt_snapshot_append_end(const struct lt_snapshot_end *end, uint64_t time, struct lt_snapshot_progress *progress) {
  struct {
    struct lt_chunk_header header;
    struct lt_snapshot_end end;
    uint8_t padding[LT_CHUNK_ALIGNMENT];
  } chunk = {.end = *end};
  uint32_t *sequence = &progress->sequences[LT_CHUNK_SNAPSHOT_END];
  struct lt_chunk_header header = {.kind = LT_CHUNK_SNAPSHOT_END,
                                   .compression = LT_COMPRESSION_NONE,
                                   .storedSize = sizeof *end,
                                   .rawSize = sizeof *end,
                                   .sequence = *sequence,
                                   .firstTime = time,
                                   .lastTime = time};
  int error = lt_kept_images_put(&header, (uint8_t *)&chunk);
  if (!error) ++*sequence;
  return error;
}

static int write_end(const struct lt_memory_scan *scan, int error) {
  struct lt_snapshot_end end = {
      .number = writer.job->snapshot.number,
      .error = -error,
      .partCount = scan->partCount,
      .unreadablePages = scan->unreadablePages,
      .pageCount = scan->pageCount,
      .wordCount = scan->wordCount,
      .capturedBytes = scan->capturedBytes,
      .pauseNanoseconds = pause_nanoseconds(),
      .totalNanoseconds = lt_clock_nanoseconds(CLOCK_MONOTONIC) - writer.job->startNanoseconds};
  lt_syscall(SYS_flock, writer.lock, LOCK_EX, 0);
  int endError = is_process_gone() ? -ESRCH : lt_snapshot_append_end(&end, writer.job->snapshot.time, writer.progress);
  if (!endError) lt_kept_images_thin(writer.job->kept);
  lt_syscall(SYS_flock, writer.lock, LOCK_UN, 0);
  return endError;
}

_Noreturn void lt_snapshot_write(struct lt_snapshot_job *job, struct lt_snapshot_progress *progress) {
  static struct lt_memory_scan scan;
  LT_CHECK(atomic_load(&progress->state) == LT_SNAPSHOT_WRITING && job->snapshot.number > 0);
  writer = (struct writer){.job = job, .progress = progress};
  lt_leave_descriptors();
  lt_catch_unreadable_pages();
  lt_trace_set_copy();
  int whole = lt_mapped_file_open(&lt_trace.file, O_RDWR);
  writer.lock = whole >= 0 ? whole : lt_mapped_file_open(&lt_trace.file, O_RDONLY);
  lt_kept_images_begin(job->kept, whole, job->snapshot.reason, job->snapshot.time);
  lt_snapshot_set_expendable();
  int error = prepare();
  if (!error) error = write_image(&scan);
  // Write the end even if the image has nothing else, because the end holds the reason.
  if (error != -ESRCH) {
    int endError = write_end(&scan, error);
    if (!error) error = endError;
  }
  LT_CHECK(error <= 0);
  int32_t code = -error;
  if (!is_process_gone()) {
    lt_trace.live->snapshotError = code;
    lt_trace.live->snapshotNumber = job->snapshot.number;
    atomic_store((_Atomic uint32_t *)&lt_trace.live->snapshotsAnswered, job->asked);
  }
  atomic_store(&progress->error, code);
  atomic_store(&progress->state, LT_SNAPSHOT_DONE);
  lt_syscall(SYS_futex, &progress->state, FUTEX_WAKE, INT32_MAX);
  for (;;) lt_syscall(SYS_exit_group, 0, 0, 0);
}
