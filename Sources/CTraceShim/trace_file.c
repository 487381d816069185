// The trace and its live file: create, append chunks, close, stop when the disk is full.
//
// A host may close and reuse every descriptor, change its root or its user, or fill the disk. So both files are written through mappings alone (mapped_file), and
// recording ends for good where that fails. Who appends takes its place by adding to the file's one end, so that threads and copies of the process need
// no lock. Calls nothing that allocates: zstd works in memory of our own.

#include "trace_file.h"

#include "apart_task.h"
#include "chunk_compressor.h"
#include "event_buffer.h"
#include "heap_snapshot.h"
#include "image_list.h"
#include "message.h"
#include "process_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

struct lt_trace lt_trace = {.slotSize = LT_SLOT_SIZE};
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
    if (!expand_pattern(options->pattern, programName, attempt, lt_trace.file.path)) return -ENAMETOOLONG;
    for (int again = 0; again < 2; again++) {
      int descriptor = lt_open(lt_trace.file.path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, 0600);
      if (descriptor != -EEXIST || again) {
        if (descriptor == -EEXIST) break;
        return descriptor;
      }
      int existing = lt_open(lt_trace.file.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
      if (existing < 0) return existing;
      struct stat info;
      struct lt_trace_header header;
      bool isTrace = lt_fstat(existing, &info) == 0 && S_ISREG(info.st_mode) && lt_read(existing, &header, sizeof header) == sizeof header &&
                     memcmp(header.magic, LT_TRACE_MAGIC, 8) == 0;
      lt_close(existing);
      if (!isTrace) return -EEXIST;
      if (header.sessionID == options->session) break; // of this run: take the next name
      lt_unlink(lt_trace.file.path);
    }
  }
  return -EEXIST;
}

static void set_live_path(void) {
  size_t n = strlen(lt_trace.file.path);
  memcpy(lt_trace.liveFile.path, lt_trace.file.path, n);
  memcpy(lt_trace.liveFile.path + n, LT_LIVE_SUFFIX, sizeof LT_LIVE_SUFFIX);
}

static int create_live(uint64_t traceID) {
  set_live_path();
  lt_unlink(lt_trace.liveFile.path); // left by a process that was killed: its trace has just been replaced
  int descriptor = lt_open(lt_trace.liveFile.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (descriptor < 0) return descriptor;
  int error = lt_allocate_storage(descriptor, 0, LT_LIVE_HEADER_SIZE);
  if (!error) error = lt_mapped_file_begin(&lt_trace.liveFile, descriptor, 0);
  lt_close(descriptor);
  if (error) {
    lt_unlink(lt_trace.liveFile.path);
    return error;
  }
  lt_trace.live = lt_trace.liveFile.firstPage;
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

/// What lt_trace_open is to do apart.
struct opening {
  const struct lt_trace_options *options;
  const char *programName;
  bool isOpen;
};

static int begin_trace(int descriptor, const struct lt_trace_options *options) {
  static uint8_t page[LT_TRACE_HEADER_SIZE];
  memset(page, 0, sizeof page);
  fill_header((struct lt_trace_header *)page, options);
  uint64_t traceID = ((struct lt_trace_header *)page)->traceID;
  struct lt_trace_status *status = (struct lt_trace_status *)(page + LT_TRACE_STATUS_OFFSET);
  status->state = LT_STATE_RECORDING;
  status->dataEnd = LT_TRACE_HEADER_SIZE;
  if (lt_file_size_limit() < (1u << 20)) return -EFBIG;
  int error = lt_write_all(descriptor, page, sizeof page);
  if (!error) error = lt_mapped_file_begin(&lt_trace.file, descriptor, LT_TRACE_STATUS_OFFSET + offsetof(struct lt_trace_status, fileSize));
  return error ? error : create_live(traceID);
}

static void open_apart(void *argument) {
  struct opening *o = argument;
  int descriptor = create_trace(o->options, o->programName);
  if (descriptor < 0) {
    lt_message("not tracing: cannot create", lt_trace.file.path, -descriptor);
    return;
  }
  int error = begin_trace(descriptor, o->options);
  lt_close(descriptor);
  if (error) {
    lt_message("not tracing: cannot write", lt_trace.file.path, -error);
    lt_unlink(lt_trace.file.path);
    return;
  }
  o->isOpen = true;
}

bool lt_trace_open(const struct lt_trace_options *options, const char *programName) {
  _Static_assert(sizeof(struct lt_file_extent) == sizeof(struct lt_trace_status) - offsetof(struct lt_trace_status, fileSize), "layout");
  lt_trace.process = lt_process_id();
  lt_clock_kind = lt_ticks_are_reliable() ? LT_CLOCK_TSC : LT_CLOCK_MONOTONIC;
  struct opening o = {.options = options, .programName = programName};
  lt_call_apart_or_here(open_apart, &o);
  if (!o.isOpen) return false;
  lt_trace.header = lt_trace.file.firstPage;
  lt_trace.status = (struct lt_trace_status *)((uint8_t *)lt_trace.header + LT_TRACE_STATUS_OFFSET);
  lt_trace.live->pauseSwitch = options->flags & LT_OPTION_START_PAUSED ? LT_SWITCH_PAUSED : LT_SWITCH_RECORD;
  connect_switch();
  atomic_store(&lt_trace.untracedChildren, 0);
  atomic_store(&lt_trace.isOpen, 1);
  return true;
}

bool lt_trace_is_writable(void) { return atomic_load_explicit(&lt_trace.isOpen, memory_order_acquire); }

/// The file ends with the last chunk, once nobody writes any more.
static void leave_file(void) {
  if (!lt_mapped_file_leave(&lt_trace.file) || lt_trace_is_writable()) return;
  lt_mapped_file_trim(&lt_trace.file, lt_trace.status->dataEnd);
}

/// Recording ends here, the process goes on.
static void stop(int error) {
  uint32_t open = 1;
  lt_mapped_file_enter(&lt_trace.file);
  bool isFirst = atomic_compare_exchange_strong(&lt_trace.isOpen, &open, 0);
  if (isFirst) {
    lt_trace.status->stopErrno = error;
    lt_trace.status->stopTime = lt_now();
    lt_trace.status->state = LT_STATE_STOPPED;
  }
  leave_file();
  if (isFirst) lt_message("recording stopped: cannot write", lt_trace.file.path, error);
}

// --- slots ----------------------------------------------------------------------------------------------------------------

struct lt_live_slot *lt_trace_new_slot(void) {
  if (!lt_trace_is_writable()) return NULL;
  uint32_t index = atomic_fetch_add((_Atomic uint32_t *)&lt_trace.live->slotCount, 1);
  uint64_t offset = LT_LIVE_HEADER_SIZE + (uint64_t)index * LT_SLOT_SIZE;
  int error;
  lt_mapped_file_enter(&lt_trace.liveFile);
  struct lt_live_slot *slot = lt_mapped_file_map(&lt_trace.liveFile, offset, LT_SLOT_SIZE, &error);
  lt_mapped_file_leave(&lt_trace.liveFile);
  // Part of a program is not worth recording: what one thread frees another may have allocated.
  if (!slot) stop(-error);
  if (slot) {
    slot->definitionStart = slot->definitionUsed = sizeof *slot;
    slot->eventStart = slot->eventUsed = LT_SLOT_DEFINITIONS;
  }
  return slot;
}

// --- chunks ----------------------------------------------------------------------------------------------------------------

static int append(struct lt_chunk_header *header, uint8_t *chunk) {
  header->magic = LT_CHUNK_MAGIC;
  header->payloadChecksum = lt_crc32c(0, chunk + sizeof *header, header->storedSize);
  header->headerChecksum = lt_crc32c(0, header, offsetof(struct lt_chunk_header, headerChecksum));
  memcpy(chunk, header, sizeof *header);
  size_t size = sizeof *header + header->storedSize, padded = (size + LT_CHUNK_ALIGNMENT - 1) & ~(size_t)(LT_CHUNK_ALIGNMENT - 1);
  memset(chunk + size, 0, padded - size);
  uint64_t offset = atomic_fetch_add((_Atomic uint64_t *)&lt_trace.status->dataEnd, padded);
  return lt_mapped_file_write(&lt_trace.file, offset, chunk, padded);
}

int lt_trace_append_chunk(struct lt_chunk_header *header, uint8_t *chunk) {
  lt_mapped_file_enter(&lt_trace.file);
  int error = lt_trace_is_writable() ? append(header, chunk) : -ESTALE;
  leave_file();
  return error;
}

static bool write_chunk(struct lt_chunk_header *header, uint8_t *chunk) {
  int error = lt_trace_append_chunk(header, chunk);
  if (error) stop(-error);
  return !error;
}

void lt_trace_before_losing_reach(void) {
  if (!lt_trace_is_writable() || !lt_identity_is_claimants()) return;
  lt_mapped_file_enter(&lt_trace.file);
  lt_mapped_file_reserve_all(&lt_trace.file);
  lt_mapped_file_reserve_all(&lt_trace.liveFile);
  leave_file();
}

static void set_inheritance(int advice) {
  lt_syscall(SYS_madvise, lt_trace.file.firstPage, LT_TRACE_HEADER_SIZE, advice);
  lt_syscall(SYS_madvise, lt_trace.liveFile.firstPage, LT_LIVE_HEADER_SIZE, advice);
}

void lt_trace_begin_copy(void) { set_inheritance(MADV_DOFORK); }
void lt_trace_end_copy(void) { set_inheritance(MADV_DONTFORK); }

void lt_trace_be_copy(void) {
  lt_apart_is_alone();
  lt_mapped_file_be_alone(&lt_trace.file);
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

/// Samples of memory are taken as often as this at most, since a file has to be opened for each.
enum { SAMPLE_NANOSECONDS = 250000000 };

static void read_resident_size(void *result) { *(uint64_t *)result = lt_resident_size(); }

static uint64_t resident_size(void) {
  uint64_t size = 0;
  lt_call_apart(read_resident_size, &size);
  return size;
}

static void define_memory(struct lt_thread *t) {
  static _Atomic uint64_t nextSample;
  uint64_t now = lt_clock_nanoseconds(CLOCK_MONOTONIC), due = atomic_load(&nextSample);
  if (now < due || !atomic_compare_exchange_strong(&nextSample, &due, now + SAMPLE_NANOSECONDS)) return;
  uint8_t payload[64], *p = payload;
  uint64_t size = resident_size();
  if (!size) return;
  p = lt_put_varint(p, lt_now());
  p = lt_put_varint(p, size);
  p = lt_put_varint(p, lt_recorder_bytes());
  p = lt_put_varint(p, lt_peak_resident_size());
  lt_define(t, LT_DEF_MEMORY, payload, (size_t)(p - payload));
}

void lt_trace_after_seal(struct lt_thread *t) {
  lt_snapshot_collect();
  lt_image_list_refresh(t);
  define_memory(t);
}

// --- the end ----------------------------------------------------------------------------------------------------------------

static void remove_live(void) { lt_unlink(lt_trace.liveFile.path); }

void lt_trace_close(uint32_t reason, bool keepLive) {
  if (!lt_trace_is_writable()) return;
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) lt_trace_add_drops(t);
  struct lt_closing closing = {.reason = reason, .waitStatus = -1, .time = lt_now(), .monotonic = lt_clock_nanoseconds(CLOCK_MONOTONIC),
                               .eventCount = lt_trace.status->eventCount, .recorderBytes = lt_recorder_bytes(),
                               .threadCount = lt_thread_count(), .untracedChildren = atomic_load(&lt_trace.untracedChildren)};
  closing.residentBytes = resident_size();
  closing.peakResidentBytes = lt_peak_resident_size();
  memcpy(closing.drops, lt_trace.status->drops, sizeof closing.drops);
  struct lt_chunk_header header = {.kind = LT_CHUNK_CLOSING};
  if (!lt_trace_append(&header, &closing, sizeof closing, NULL)) return;
  if (keepLive) return;
  lt_mapped_file_enter(&lt_trace.file);
  lt_trace.status->state = LT_STATE_CLOSED;
  atomic_store(&lt_trace.isOpen, 0);
  leave_file();
  remove_live();
}

void lt_trace_finish_replaced(const char *path) {
  if (strlen(path) >= PATH_MAX) return;
  strcpy(lt_trace.file.path, path);
  set_live_path();
  lt_unlink(lt_trace.liveFile.path);
  int descriptor = lt_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
  struct stat info;
  static uint8_t page[LT_TRACE_HEADER_SIZE];
  const struct lt_trace_status *status = (const struct lt_trace_status *)(page + LT_TRACE_STATUS_OFFSET);
  if (descriptor >= 0 && lt_fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && lt_read(descriptor, page, sizeof page) == sizeof page &&
      memcmp(page, LT_TRACE_MAGIC, 8) == 0 && status->dataEnd >= sizeof page && status->dataEnd < (uint64_t)info.st_size)
    lt_syscall(SYS_ftruncate, descriptor, status->dataEnd, 0);
  if (descriptor >= 0) lt_close(descriptor);
}

void lt_trace_discard(void) {
  atomic_store(&lt_trace.isOpen, 0);
  remove_live();
  lt_unlink(lt_trace.file.path);
}

void lt_trace_reset_after_fork(void) {
  // The mappings are gone from this process.
  lt_mapped_file_forget(&lt_trace.file);
  lt_mapped_file_forget(&lt_trace.liveFile);
  lt_apart_reset_after_fork();
  atomic_store(&lt_trace.isOpen, 0);
  lt_trace.header = NULL;
  lt_trace.status = NULL;
  lt_trace.live = NULL;
  connect_switch();
  lt_compressors_reset_after_fork();
}
