// The trace and its live file: create, append chunks, close, stop when the disk is full.
//
// A host may close every descriptor, change its root or its user, or fill the disk. So each append checks that the descriptor still
// means the trace, opens it anew by path if not, and gives up for good if that fails. Appends are single writes to a file opened for
// appending, so that threads need no lock. Calls nothing that allocates: zstd works in memory of our own.

#include "trace_file.h"

#include "chunk_compressor.h"
#include "event_buffer.h"
#include "heap_snapshot.h"
#include "image_list.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct lt_trace lt_trace = {.slotSize = LT_SLOT_SIZE, .descriptor = -1};
_Atomic uint32_t lt_hook_mode;
static _Atomic uint32_t neverPaused = LT_SWITCH_RECORD, hooksOff = LT_SWITCH_PAUSED;
_Atomic uint32_t *lt_pause_switch = &hooksOff;

/// Has the hooks ask what they are to ask now.
static void connect_switch(void) {
  if (atomic_load(&lt_hook_mode) == LT_HOOKS_OFF) lt_pause_switch = &hooksOff;
  else lt_pause_switch = lt_trace.live ? (_Atomic uint32_t *)&lt_trace.live->pauseSwitch : &neverPaused;
}

void lt_hooks_set(enum lt_hook_mode mode) {
  atomic_store(&lt_hook_mode, mode);
  connect_switch();
}

// --- creating ------------------------------------------------------------------------------------------------------------

static bool expand_pattern(const char *pattern, const char *programName, unsigned attempt, char result[PATH_MAX]) {
  size_t n = 0;
  char number[24];
#define APPEND(c) do { if (n >= PATH_MAX - 16) return false; result[n++] = (c); } while (0)
  for (const char *p = pattern; *p; p++) {
    if (*p != '%') { APPEND(*p); continue; }
    p++;
    if (*p == 'p') {
      int digits = 0;
      for (unsigned v = (unsigned)lt_process_id(); v; v /= 10) number[digits++] = (char)('0' + v % 10);
      while (digits) APPEND(number[--digits]);
    } else if (*p == 'n') {
      for (const char *c = programName; *c; c++) APPEND(*c == '/' ? '_' : *c);
    } else if (*p == '%') {
      APPEND('%');
    } else {
      APPEND('%');
      if (!*p) break;
      APPEND(*p);
    }
  }
  if (attempt > 1) {
    int digits = 0;
    APPEND('.');
    for (unsigned v = attempt; v; v /= 10) number[digits++] = (char)('0' + v % 10);
    while (digits) APPEND(number[--digits]);
  }
#undef APPEND
  result[n] = 0;
  return true;
}

/// Opens a new file for the trace. An older trace of another session is replaced, one of this session is not; nor is anything else.
static int create_trace(const struct lt_trace_options *options, const char *programName) {
  for (unsigned attempt = 1; attempt < 10000; attempt++) {
    if (!expand_pattern(options->pattern, programName, attempt, lt_trace.path)) return -ENAMETOOLONG;
    for (int again = 0; again < 2; again++) {
      int descriptor = lt_open(lt_trace.path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, 0600);
      if (descriptor != -EEXIST || again) {
        if (descriptor == -EEXIST) break;
        return descriptor;
      }
      int existing = lt_open(lt_trace.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
      if (existing < 0) return existing;
      struct stat info;
      struct lt_trace_header header;
      bool isTrace = lt_fstat(existing, &info) == 0 && S_ISREG(info.st_mode) && lt_read(existing, &header, sizeof header) == sizeof header &&
                     memcmp(header.magic, LT_TRACE_MAGIC, 8) == 0;
      lt_close(existing);
      if (!isTrace) return -EEXIST;
      if (header.sessionID == options->session) break; // of this run: take the next name
      lt_unlink(lt_trace.path);
    }
  }
  return -EEXIST;
}

static void live_path(char result[PATH_MAX]) {
  size_t n = strlen(lt_trace.path);
  memcpy(result, lt_trace.path, n);
  memcpy(result + n, LT_LIVE_SUFFIX, sizeof LT_LIVE_SUFFIX);
}

static int create_live(uint64_t traceID) {
  char path[PATH_MAX];
  live_path(path);
  lt_unlink(path); // left by a process that was killed: its trace has just been replaced
  int descriptor = lt_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (descriptor < 0) return descriptor;
  struct stat info;
  int error = lt_allocate_storage(descriptor, 0, LT_LIVE_HEADER_SIZE);
  if (!error) error = lt_fstat(descriptor, &info);
  if (!error) {
    lt_trace.liveDevice = info.st_dev;
    lt_trace.liveInode = info.st_ino;
    lt_trace.live = lt_map_file(descriptor, 0, LT_LIVE_HEADER_SIZE);
    if (!lt_trace.live) error = -ENOMEM;
  }
  lt_close(descriptor);
  if (error) {
    lt_unlink(path);
    return error;
  }
  struct lt_live_header *live = lt_trace.live;
  memcpy(live->magic, LT_LIVE_MAGIC, 8);
  live->version = LT_FORMAT_VERSION;
  live->slotSize = LT_SLOT_SIZE;
  live->traceID = traceID;
  return 0;
}

static void fill_header(struct lt_trace_header *header, const struct lt_trace_options *options) {
  memcpy(header->magic, LT_TRACE_MAGIC, 8);
  header->version = LT_FORMAT_VERSION;
  header->headerSize = LT_TRACE_HEADER_SIZE;
  header->machine = 62;
  header->pointerSize = sizeof(void *);
  header->clockKind = lt_clock_kind;
  header->pageSize = 4096;
  header->processID = (uint32_t)lt_process_id();
  header->parentProcessID = (uint32_t)lt_parent_process_id();
  header->traceID = lt_random();
  header->sessionID = options->session;
  header->startRealtime = lt_clock_nanoseconds(CLOCK_REALTIME);
  header->startMonotonic = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  header->startTime = lt_now();
  header->ticksPerSecond = lt_clock_kind == LT_CLOCK_TSC ? lt_nominal_tick_rate() : 1000000000u;
  header->options = options->flags;
  header->arcMode = options->arcMode;
  header->stackDepthLimit = options->depthLimit;
  header->liveSlotSize = LT_SLOT_SIZE;
  header->headerChecksum = lt_crc32c(0, header, offsetof(struct lt_trace_header, headerChecksum));
}

bool lt_trace_open(const struct lt_trace_options *options, const char *programName) {
  lt_trace.process = lt_process_id();
  lt_clock_kind = lt_ticks_are_reliable() ? LT_CLOCK_TSC : LT_CLOCK_MONOTONIC;
  int descriptor = create_trace(options, programName);
  if (descriptor < 0) {
    lt_message("not tracing: cannot create", lt_trace.path, -descriptor);
    return false;
  }
  descriptor = lt_move_descriptor_high(descriptor);
  static uint8_t page[LT_TRACE_HEADER_SIZE];
  memset(page, 0, sizeof page);
  fill_header((struct lt_trace_header *)page, options);
  uint64_t traceID = ((struct lt_trace_header *)page)->traceID;
  ((struct lt_trace_status *)(page + LT_TRACE_STATUS_OFFSET))->state = LT_STATE_RECORDING;
  struct stat info;
  int error = lt_file_size_limit() < (1u << 20) ? -EFBIG : 0;
  if (!error) error = lt_write_all(descriptor, page, sizeof page);
  if (!error) error = lt_fstat(descriptor, &info);
  if (!error) {
    lt_trace.device = info.st_dev;
    lt_trace.inode = info.st_ino;
    lt_trace.header = lt_map_file(descriptor, 0, LT_TRACE_HEADER_SIZE);
    if (!lt_trace.header) error = -ENOMEM;
  }
  if (!error) error = create_live(traceID);
  if (error) {
    lt_message("not tracing: cannot write", lt_trace.path, -error);
    lt_close(descriptor);
    lt_unlink(lt_trace.path);
    return false;
  }
  lt_trace.status = (struct lt_trace_status *)((uint8_t *)lt_trace.header + LT_TRACE_STATUS_OFFSET);
  lt_trace.live->pauseSwitch = options->flags & LT_OPTION_START_PAUSED ? LT_SWITCH_PAUSED : LT_SWITCH_RECORD;
  connect_switch();
  atomic_store(&lt_trace.untracedChildren, 0);
  atomic_store(&lt_trace.descriptor, descriptor);
  atomic_store(&lt_trace.isOpen, 1);
  return true;
}

bool lt_trace_is_writable(void) { return atomic_load_explicit(&lt_trace.isOpen, memory_order_acquire); }

/// Recording ends here, the process goes on.
static void stop(int error) {
  uint32_t open = 1;
  if (!atomic_compare_exchange_strong(&lt_trace.isOpen, &open, 0)) return;
  lt_trace.status->stopErrno = error;
  lt_trace.status->stopTime = lt_now();
  lt_trace.status->state = LT_STATE_STOPPED;
  lt_message("recording stopped: cannot write", lt_trace.path, error);
}

// --- slots ----------------------------------------------------------------------------------------------------------------

struct lt_live_slot *lt_trace_new_slot(void) {
  char path[PATH_MAX];
  live_path(path);
  if (!lt_trace_is_writable()) return NULL;
  int descriptor = lt_open(path, O_RDWR | O_NOFOLLOW, 0);
  struct stat info;
  struct lt_live_slot *slot = NULL;
  int error = descriptor < 0 ? descriptor : lt_fstat(descriptor, &info);
  if (!error && (info.st_ino != lt_trace.liveInode || info.st_dev != lt_trace.liveDevice)) error = -ESTALE;
  if (!error) {
    uint32_t index = atomic_fetch_add((_Atomic uint32_t *)&lt_trace.live->slotCount, 1);
    uint64_t offset = LT_LIVE_HEADER_SIZE + (uint64_t)index * LT_SLOT_SIZE;
    error = offset + LT_SLOT_SIZE > lt_file_size_limit() ? -EFBIG : lt_allocate_storage(descriptor, offset, LT_SLOT_SIZE);
    if (!error) slot = lt_map_file(descriptor, offset, LT_SLOT_SIZE);
    if (!error && !slot) error = -ENOMEM;
  }
  if (descriptor >= 0) lt_close(descriptor);
  // Part of a program is not worth recording: what one thread frees another may have allocated.
  if (error) stop(-error);
  if (slot) {
    slot->definitionStart = slot->definitionUsed = sizeof *slot;
    slot->eventStart = slot->eventUsed = LT_SLOT_DEFINITIONS;
  }
  return slot;
}

// --- chunks ----------------------------------------------------------------------------------------------------------------

/// The trace's descriptor, opened anew if the host closed or reused it. −errno if that cannot be.
static int trace_descriptor(uint64_t *fileSize) {
  struct stat info;
  int descriptor = atomic_load(&lt_trace.descriptor);
  if (descriptor < 0 || lt_fstat(descriptor, &info) != 0 || info.st_ino != lt_trace.inode || info.st_dev != lt_trace.device) {
    descriptor = lt_open(lt_trace.path, O_WRONLY | O_APPEND | O_NOFOLLOW, 0);
    if (descriptor < 0) return descriptor;
    if (lt_fstat(descriptor, &info) != 0 || info.st_ino != lt_trace.inode || info.st_dev != lt_trace.device) {
      lt_close(descriptor);
      return -ESTALE;
    }
    descriptor = lt_move_descriptor_high(descriptor);
    atomic_store(&lt_trace.descriptor, descriptor);
  }
  *fileSize = (uint64_t)info.st_size;
  return descriptor;
}

int lt_trace_write_chunk(struct lt_chunk_header *header, uint8_t *chunk) {
  header->magic = LT_CHUNK_MAGIC;
  header->payloadChecksum = lt_crc32c(0, chunk + sizeof *header, header->storedSize);
  header->headerChecksum = lt_crc32c(0, header, offsetof(struct lt_chunk_header, headerChecksum));
  memcpy(chunk, header, sizeof *header);
  size_t size = sizeof *header + header->storedSize, padded = (size + LT_CHUNK_ALIGNMENT - 1) & ~(size_t)(LT_CHUNK_ALIGNMENT - 1);
  memset(chunk + size, 0, padded - size);
  uint64_t fileSize;
  int descriptor = trace_descriptor(&fileSize);
  if (descriptor < 0) return descriptor;
  if (fileSize + padded > lt_file_size_limit()) return -EFBIG;
  return lt_write_all(descriptor, chunk, padded);
}

static bool write_chunk(struct lt_chunk_header *header, uint8_t *chunk) {
  int error = lt_trace_write_chunk(header, chunk);
  if (error) stop(-error);
  return !error;
}

int lt_trace_open_apart(int *live) {
  int inherited = atomic_load(&lt_trace.descriptor);
  atomic_store(&lt_trace.descriptor, -1);
  uint64_t fileSize;
  int descriptor = trace_descriptor(&fileSize);
  if (descriptor < 0) {
    // The host may have changed its root, or its user. The descriptor itself is as good as it was.
    atomic_store(&lt_trace.descriptor, inherited);
    descriptor = trace_descriptor(&fileSize);
  }
  char path[PATH_MAX];
  live_path(path);
  struct stat info;
  *live = lt_open(path, O_RDWR | O_NOFOLLOW, 0);
  if (*live >= 0 && (lt_fstat(*live, &info) != 0 || info.st_ino != lt_trace.liveInode || info.st_dev != lt_trace.liveDevice)) {
    lt_close(*live);
    *live = -ESTALE;
  }
  return descriptor;
}

bool lt_trace_append(struct lt_chunk_header *header, const void *payload, uint32_t size, struct lt_compressor *begun) {
  if (!lt_trace_is_writable()) return false;
  header->rawSize = header->storedSize = size;
  struct lt_compressor *compressor = begun ? begun : lt_compressor_take(LT_COMPRESS_WHOLE);
  uint32_t stored = compressor ? lt_compressor_end(compressor, payload, size) : 0;
  uint8_t *chunk = compressor ? lt_compressor_chunk(compressor) : lt_map_private(sizeof *header + size + LT_CHUNK_ALIGNMENT);
  if (!chunk) {
    stop(ENOMEM);
    return false;
  }
  if (stored) {
    header->compression = LT_COMPRESSION_ZSTD;
    header->storedSize = stored;
  } else {
    memcpy(chunk + sizeof *header, payload, size);
  }
  bool isWritten = write_chunk(header, chunk);
  if (!compressor) lt_unmap(chunk, sizeof *header + size + LT_CHUNK_ALIGNMENT);
  if (!begun) lt_compressor_return(compressor);
  if (isWritten && header->kind == LT_CHUNK_EVENTS) atomic_fetch_add((_Atomic uint64_t *)&lt_trace.status->eventCount, header->eventCount);
  return isWritten;
}

void lt_trace_add_drop(uint32_t reason) { atomic_fetch_add((_Atomic uint64_t *)&lt_trace.status->drops[reason], 1); }

void lt_trace_add_drops(struct lt_thread *t) {
  for (int i = 0; i < LT_DROP_COUNT; i++) {
    if (!t->drops[i]) continue;
    // A signal handler may count one meanwhile.
    uint64_t count = atomic_exchange_explicit((_Atomic uint64_t *)&t->drops[i], 0, memory_order_relaxed);
    atomic_fetch_add((_Atomic uint64_t *)&lt_trace.status->drops[i], count);
  }
}

uint64_t lt_recorder_bytes(void) {
  uint64_t bytes = 2 * 4096;
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) bytes += LT_SLOT_SIZE + sizeof *t;
  return bytes + lt_compressors_bytes();
}

void lt_trace_after_seal(struct lt_thread *t) {
  lt_snapshot_collect();
  lt_image_list_refresh(t);
  uint64_t current, peak;
  lt_resident_size(&current, &peak);
  uint8_t payload[64], *p = payload;
  p = lt_put_varint(p, lt_now());
  p = lt_put_varint(p, current);
  p = lt_put_varint(p, lt_recorder_bytes());
  p = lt_put_varint(p, peak);
  lt_define(t, LT_DEF_MEMORY, payload, (size_t)(p - payload));
}

// --- the end ----------------------------------------------------------------------------------------------------------------

static void remove_live(void) {
  char path[PATH_MAX];
  live_path(path);
  lt_unlink(path);
}

void lt_trace_close(uint32_t reason, bool keepLive) {
  if (!lt_trace_is_writable()) return;
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) lt_trace_add_drops(t);
  struct lt_closing closing = {.reason = reason, .waitStatus = -1, .time = lt_now(), .monotonic = lt_clock_nanoseconds(CLOCK_MONOTONIC),
                               .eventCount = lt_trace.status->eventCount, .recorderBytes = lt_recorder_bytes(),
                               .threadCount = lt_thread_count(), .untracedChildren = atomic_load(&lt_trace.untracedChildren)};
  lt_resident_size(&closing.residentBytes, &closing.peakResidentBytes);
  memcpy(closing.drops, lt_trace.status->drops, sizeof closing.drops);
  struct lt_chunk_header header = {.kind = LT_CHUNK_CLOSING};
  if (!lt_trace_append(&header, &closing, sizeof closing, NULL)) return;
  if (keepLive) return;
  lt_trace.status->state = LT_STATE_CLOSED;
  atomic_store(&lt_trace.isOpen, 0);
  remove_live();
}

void lt_trace_discard(void) {
  atomic_store(&lt_trace.isOpen, 0);
  remove_live();
  lt_unlink(lt_trace.path);
}

void lt_trace_release(void) {
  int descriptor = atomic_exchange(&lt_trace.descriptor, -1);
  struct stat info;
  if (descriptor >= 0 && lt_fstat(descriptor, &info) == 0 && info.st_ino == lt_trace.inode && info.st_dev == lt_trace.device) lt_close(descriptor);
}

void lt_trace_reset_after_fork(void) {
  // The mappings are gone from this process; the descriptor is shared with the parent, and must not be used.
  lt_trace_release();
  atomic_store(&lt_trace.isOpen, 0);
  lt_trace.header = NULL;
  lt_trace.status = NULL;
  lt_trace.live = NULL;
  connect_switch();
  lt_compressors_reset_after_fork();
}
