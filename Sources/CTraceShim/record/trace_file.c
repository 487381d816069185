// The trace and its live file: opening, appending, and reuse of space. Messages tell the user why nothing is recorded.

#include "record/trace_file.h"

#include "CTraceFormat.h"
#include "check.h"
#include "os/fd_isolated_task.h"
#include "os/os.h"
#include "os/process_info.h"
#include "record/chunk_compressor.h"
#include "record/trace_clock.h"
#include "thread/thread_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

// === messages ========================================================================================================

// Tells the user why something is not traced: through `record`, or on standard error if the library was preloaded by
// hand.

static struct {
  char path[PATH_MAX];
  bool isQuiet;
  dev_t errorDevice; ///< device of the standard error when the process began
  ino_t errorInode;
} messages;

void lt_message_init(const char *path, bool quiet) {
  messages.path[0] = 0;
  if (path && strlen(path) < sizeof messages.path) strcpy(messages.path, path);
  messages.isQuiet = quiet;
  struct stat info;
  if (lt_fstat(2, &info) != 0) return;
  messages.errorDevice = info.st_dev;
  messages.errorInode = info.st_ino;
}

struct line {
  const char *text;
  size_t size;
};

/// Must be called in a separate task (lt_call_isolated). If the file reaches a size limit, or if a pipe has no reader,
/// the kernel sends the writer a signal.
static void write_isolated(void *argument) {
  const struct line *line = argument;
  if (messages.path[0]) {
    int descriptor = lt_open(messages.path, O_WRONLY | O_APPEND | O_NOFOLLOW, 0);
    if (descriptor < 0) return;
    lt_write_all(descriptor, line->text, line->size);
    lt_close(descriptor);
    return;
  }
  // The host may have closed its standard error, and may use the descriptor for another file.
  struct stat info;
  if (lt_fstat(2, &info) == 0 && info.st_dev == messages.errorDevice && info.st_ino == messages.errorInode)
    lt_write_all(2, line->text, line->size);
}

struct message {
  const char *text, *detail;
  int error;
};

static void say(void *message) {
  const char *text = ((struct message *)message)->text, *detail = ((struct message *)message)->detail;
  int error = ((struct message *)message)->error;
  char line[PATH_MAX + 512];
  size_t n = 0;
  const char *parts[] = {"leaktrace: ", text, detail ? " " : "", detail ? detail : "", error ? ": " : "", NULL, NULL};
  const char *reason = "";
  switch (error) {
    case 0: break;
    case EACCES: reason = "Permission denied"; break;
    case EROFS: reason = "Read-only file system"; break;
    case ENOSPC: reason = "No space left on device"; break;
    case EDQUOT: reason = "Disk quota exceeded"; break;
    case EFBIG: reason = "File too large (the limit on file sizes was reached)"; break;
    case ENOENT: reason = "No such file or directory"; break;
    case ENOTDIR: reason = "Not a directory"; break;
    case ELOOP: reason = "It is a symbolic link"; break;
    case EEXIST: reason = "It exists and is not a trace"; break;
    case ENOMEM: reason = "Cannot allocate memory"; break;
    case EMFILE:
    case ENFILE: reason = "Too many open files"; break;
    case ESTALE: reason = "The file was removed or replaced"; break;
    case ENAMETOOLONG: reason = "File name too long"; break;
    default: reason = lt_metadata_failure_text(error); break;
  }
  parts[5] = reason ? reason : "Input/output error";
  parts[6] = error && lt_metadata_failure_text(error) ? ". A recording without --light needs no metadata" : "";
  for (int i = 0; i < 7; i++) {
    size_t length = strlen(parts[i]);
    if (n + length >= sizeof line - 1) length = sizeof line - 1 - n;
    memcpy(line + n, parts[i], length);
    n += length;
  }
  LT_CHECK(n < sizeof line);
  line[n++] = '\n';
  if (messages.path[0] || !messages.isQuiet) lt_call_isolated_or_here(write_isolated, &(struct line){line, n});
}

void lt_message(const char *text, const char *detail, int error) {
  LT_CHECK(text && error >= 0);
  struct message message = {text, detail, error};
  lt_on_own_stack(say, &message);
}

void lt_message_isolated(const char *text, const char *detail, int error) {
  LT_CHECK(text && error >= 0);
  struct message message = {text, detail, error};
  say(&message);
}

// === voids ===========================================================================================================

// Voids: the space of chunks that were removed from a trace.

enum { HEADER = sizeof(struct lt_chunk_header), WINDOW = 4096 };

static uint64_t padded(uint64_t size) { return (size + LT_CHUNK_ALIGNMENT - 1) & ~(uint64_t)(LT_CHUNK_ALIGNMENT - 1); }

static uint32_t checksum(const struct lt_chunk_header *header) {
  return lt_crc32c(0, header, offsetof(struct lt_chunk_header, headerChecksum));
}

static bool is_sound(const struct lt_chunk_header *header) {
  return header->magic == LT_CHUNK_MAGIC && header->headerChecksum == checksum(header);
}

static long read_at(int descriptor, void *to, size_t size, uint64_t offset) {
  return lt_syscall6(SYS_pread64, descriptor, (long)to, (long)size, (long)offset, 0, 0);
}

static int write_header(int descriptor, uint64_t offset, struct lt_chunk_header *header) {
  LT_CHECK(offset >= LT_TRACE_HEADER_SIZE && offset % LT_CHUNK_ALIGNMENT == 0);
  header->headerChecksum = checksum(header);
  return lt_pwrite_all(descriptor, header, HEADER, offset);
}

static struct lt_chunk_header void_header(uint64_t size) {
  LT_CHECK(size >= HEADER && size <= LT_VOID_LIMIT);
  uint32_t payload = (uint32_t)(size - HEADER);
  return (struct lt_chunk_header){
      .magic = LT_CHUNK_MAGIC, .kind = LT_CHUNK_VOID, .storedSize = payload, .rawSize = payload};
}

bool lt_trace_find_chunk(int descriptor, uint64_t offset, uint64_t end, struct lt_placed_chunk *chunk) {
  uint64_t words[WINDOW / 8];
  LT_CHECK(offset % LT_CHUNK_ALIGNMENT == 0);
  while (offset + HEADER <= end) {
    long size = read_at(descriptor, words, sizeof words, offset);
    if (size < HEADER) return false;
    for (long at = 0; at + HEADER <= size; at += LT_CHUNK_ALIGNMENT) {
      memcpy(&chunk->header, (const uint8_t *)words + at, HEADER);
      if (!is_sound(&chunk->header)) continue;
      chunk->offset = offset + (uint64_t)at;
      chunk->size = padded(HEADER + (uint64_t)chunk->header.storedSize);
      return chunk->size <= end - chunk->offset;
    }
    offset += padded((uint64_t)size - HEADER + 1);
  }
  return false;
}

int lt_trace_void_chunk(int descriptor, uint64_t offset, _Atomic uint64_t *eventCount) {
  struct lt_chunk_header header;
  if (read_at(descriptor, &header, HEADER, offset) != HEADER || !is_sound(&header)) return -EIO;
  if (header.kind == LT_CHUNK_EVENTS) atomic_fetch_sub(eventCount, header.eventCount);
  header.kind = LT_CHUNK_VOID;
  return write_header(descriptor, offset, &header);
}

int lt_trace_join_void(int descriptor, uint64_t offset, uint64_t size) {
  struct lt_chunk_header header = void_header(size);
  return write_header(descriptor, offset, &header);
}

int lt_trace_fill_void(int descriptor, const struct lt_placed_chunk *space, const uint8_t *chunk, uint64_t size,
                       struct lt_placed_chunk *left) {
  LT_CHECK(size >= HEADER && size % LT_CHUNK_ALIGNMENT == 0 && size <= space->size);
  // Write the rest of the void first, then the payload. Until the chunk's header is written, the old header covers
  // both.
  uint64_t rest = space->size - size, end = space->offset + size;
  static const uint8_t zeros[HEADER];
  int error = 0;
  *left = (struct lt_placed_chunk){.offset = end};
  if (rest >= HEADER) {
    left->header = void_header(rest);
    left->size = rest;
    error = write_header(descriptor, end, &left->header);
  } else if (rest) {
    error = lt_pwrite_all(descriptor, zeros, rest, end);
  }
  if (!error && size > HEADER) error = lt_pwrite_all(descriptor, chunk + HEADER, size - HEADER, space->offset + HEADER);
  return error ? error : lt_pwrite_all(descriptor, chunk, HEADER, space->offset);
}

// === files ===========================================================================================================

// Appends chunks to the trace, closes it, and stops when the disk is full.
//
// A host may close and reuse every descriptor, change its root or its user, or fill the disk. So both files are written
// only through mappings (mapped_file), and recording ends for good if a write fails. A writer reserves its place in the
// file by an atomic addition to the file's end offset. So threads and copies of the process need no lock. Calls nothing
// that allocates: zstd works in memory of the recorder.

struct lt_trace lt_trace = {.slotSize = LT_SLOT_SIZE};

/// True if the trace's pointers refer to the first pages of its files.
LT_INVARIANT bool has_pages(void) {
  return lt_trace.header && lt_trace.live && lt_trace.header == lt_trace.file.firstPage &&
         lt_trace.live == lt_trace.liveFile.firstPage &&
         (uint8_t *)lt_trace.status == (uint8_t *)lt_trace.header + LT_TRACE_STATUS_OFFSET;
}

bool lt_trace_is_writable(void) { return atomic_load_explicit(&lt_trace.isOpen, memory_order_acquire); }

/// Truncates the file after the last chunk, if this was the last writer and recording has ended.
static void leave_file(void) {
  // The subtraction of the last user sees the store of `isOpen` by any earlier one, and all that they wrote.
  if (!lt_mapped_file_leave(&lt_trace.file) || lt_trace_is_writable()) return;
  lt_mapped_file_trim(&lt_trace.file, lt_trace.status->dataEnd);
}

/// Ends the recording. The process continues.
static void stop(int error) {
  LT_CHECK(error > 0 && has_pages());
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

/// Bytes before the first slot of the live file. Slots are mapped, so they begin at multiples of the page size.
enum { LIVE_HEADER_SIZE = LT_LIVE_HEADER_SIZE > LT_PAGE_LIMIT ? LT_LIVE_HEADER_SIZE : LT_PAGE_LIMIT };
_Static_assert(LT_SLOT_SIZE % LT_PAGE_LIMIT == 0, "slots are mapped");

// --- slots -----------------------------------------------------------------------------------------------------------

struct lt_live_slot *lt_trace_new_slot(void) {
  if (!lt_trace_is_writable()) return NULL;
  LT_CHECK(has_pages() && lt_trace.slotSize == LT_SLOT_SIZE);
  uint32_t index = atomic_fetch_add((_Atomic uint32_t *)&lt_trace.live->slotCount, 1);
  uint64_t offset = LIVE_HEADER_SIZE + (uint64_t)index * LT_SLOT_SIZE;
  int error;
  lt_mapped_file_enter(&lt_trace.liveFile);
  struct lt_live_slot *slot = lt_mapped_file_map(&lt_trace.liveFile, offset, LT_SLOT_SIZE, &error);
  lt_mapped_file_leave(&lt_trace.liveFile);
  // A recording of only some threads is useless, because one thread may free blocks that another has allocated.
  if (!slot) stop(-error);
  if (slot) {
    LT_CHECK(slot->thread == 0 && slot->eventUsed == 0 && slot->definitionUsed == 0);
    slot->definitionStart = slot->definitionUsed = sizeof *slot;
    slot->eventStart = slot->eventUsed = LT_SLOT_DEFINITIONS;
  }
  return slot;
}

// --- chunks ----------------------------------------------------------------------------------------------------------

size_t lt_trace_chunk_size(const struct lt_chunk_header *header) {
  size_t size = sizeof *header + (size_t)header->storedSize;
  return (size + LT_CHUNK_ALIGNMENT - 1) & ~(size_t)(LT_CHUNK_ALIGNMENT - 1);
}

size_t lt_trace_finish_chunk(struct lt_chunk_header *header, uint8_t *chunk) {
  LT_CHECK(header->kind > 0 && header->kind <= LT_CHUNK_BLOCKS && header->storedSize > 0);
  LT_CHECK(header->rawSize > 0 && header->rawSize <= LT_CHUNK_MAX_RAW);
  LT_CHECK(header->compression != LT_COMPRESSION_NONE || header->storedSize == header->rawSize);
  header->magic = LT_CHUNK_MAGIC;
  header->payloadChecksum = lt_crc32c(0, chunk + sizeof *header, header->storedSize);
  header->headerChecksum = lt_crc32c(0, header, offsetof(struct lt_chunk_header, headerChecksum));
  memcpy(chunk, header, sizeof *header);
  size_t size = sizeof *header + header->storedSize, padded = lt_trace_chunk_size(header);
  LT_CHECK(padded - size < LT_CHUNK_ALIGNMENT);
  memset(chunk + size, 0, padded - size);
  return padded;
}

static int append(struct lt_chunk_header *header, uint8_t *chunk, uint64_t *offset) {
  LT_CHECK(has_pages());
  size_t padded = lt_trace_finish_chunk(header, chunk);
  *offset = atomic_fetch_add((_Atomic uint64_t *)&lt_trace.status->dataEnd, padded);
  LT_CHECK(*offset >= LT_TRACE_HEADER_SIZE && *offset % LT_CHUNK_ALIGNMENT == 0);
  return lt_mapped_file_write(&lt_trace.file, *offset, chunk, padded);
}

static int enter_and_append(struct lt_chunk_header *header, uint8_t *chunk, uint64_t *offset) {
  lt_mapped_file_enter(&lt_trace.file);
  int error = lt_trace_is_writable() ? append(header, chunk, offset) : -ESTALE;
  leave_file();
  return error;
}

int lt_trace_append_chunk(struct lt_chunk_header *header, uint8_t *chunk) {
  uint64_t offset;
  return enter_and_append(header, chunk, &offset);
}

/// Returns the chunk's offset, or 0 if recording has stopped.
static uint64_t write_chunk(struct lt_chunk_header *header, uint8_t *chunk) {
  uint64_t offset;
  int error = enter_and_append(header, chunk, &offset);
  if (error) stop(-error);
  return error ? 0 : offset;
}

void lt_trace_before_losing_reach(void) {
  if (!lt_trace_is_writable() || !lt_is_recording_process()) return;
  lt_mapped_file_enter(&lt_trace.file);
  lt_mapped_file_reserve_all(&lt_trace.file);
  lt_mapped_file_reserve_all(&lt_trace.liveFile);
  leave_file();
}

static void set_inheritance(int advice) {
  LT_CHECK(has_pages());
  lt_syscall(SYS_madvise, lt_trace.file.firstPage, lt_page_size(), advice);
  lt_syscall(SYS_madvise, lt_trace.liveFile.firstPage, lt_page_size(), advice);
}

void lt_trace_begin_copy(void) { set_inheritance(MADV_DOFORK); }
void lt_trace_end_copy(void) { set_inheritance(MADV_DONTFORK); }

void lt_trace_set_copy(void) {
  lt_isolated_task_set_single();
  lt_mapped_file_set_single(&lt_trace.file);
}

uint64_t lt_trace_append(struct lt_chunk_header *header, const void *payload, uint32_t size,
                         struct lt_compressor *begun) {
  if (!lt_trace_is_writable()) return 0;
  LT_CHECK(size > 0 && size <= LT_SLOT_SIZE);
  header->rawSize = header->storedSize = size;
  struct lt_compressor *compressor = begun ? begun : lt_compressor_take(LT_COMPRESS_WHOLE);
  uint32_t stored = compressor ? lt_compressor_end(compressor, payload, size) : 0;
  uint8_t *chunk =
      compressor ? lt_compressor_chunk(compressor) : lt_map_private(sizeof *header + size + LT_CHUNK_ALIGNMENT);
  if (!chunk) {
    stop(ENOMEM);
    return 0;
  }
  if (stored) {
    LT_CHECK(stored < size);
    header->compression = LT_COMPRESSION_ZSTD;
    header->storedSize = stored;
  } else {
    memcpy(chunk + sizeof *header, payload, size);
  }
  uint64_t offset = write_chunk(header, chunk);
  if (!compressor) lt_unmap(chunk, sizeof *header + size + LT_CHUNK_ALIGNMENT);
  if (!begun) lt_compressor_return(compressor);
  if (offset && header->kind == LT_CHUNK_EVENTS) atomic_fetch_add(lt_trace_event_count(), header->eventCount);
  return offset;
}

void lt_trace_add_drop(uint32_t reason) {
  LT_CHECK(lt_trace.status && reason < LT_DROP_COUNT);
  atomic_fetch_add((_Atomic uint64_t *)&lt_trace.status->drops[reason], 1);
}

void lt_trace_add_drops(struct lt_thread *t) {
  LT_CHECK(lt_trace.status);
  for (int i = 0; i < LT_DROP_COUNT; i++) {
    if (!t->drops[i]) continue;
    // A signal handler may count a drop at the same time. Relaxed: a counter.
    uint64_t count = atomic_exchange_explicit((_Atomic uint64_t *)&t->drops[i], 0, memory_order_relaxed);
    atomic_fetch_add((_Atomic uint64_t *)&lt_trace.status->drops[i], count);
  }
}

uint64_t lt_recorder_bytes(void) {
  uint64_t bytes = 2 * lt_page_size();
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) bytes += LT_SLOT_SIZE + sizeof *t;
  return bytes + lt_compressors_bytes();
}

// --- the end ---------------------------------------------------------------------------------------------------------

static void remove_live(void) { lt_unlink(lt_trace.liveFile.path); }

uint64_t lt_trace_close(uint32_t reason, bool keepLive) {
  if (!lt_trace_is_writable()) return 0;
  LT_CHECK(has_pages() && lt_is_recording_process());
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) lt_trace_add_drops(t);
  struct lt_closing closing = {.reason = reason,
                               .waitStatus = -1,
                               .time = lt_now(),
                               .monotonic = lt_clock_nanoseconds(CLOCK_MONOTONIC),
                               .eventCount = lt_trace.status->eventCount,
                               .recorderBytes = lt_recorder_bytes(),
                               .threadCount = lt_thread_count(),
                               .untracedChildren = atomic_load(&lt_trace.untracedChildren)};
  closing.residentBytes = lt_resident_size();
  closing.peakResidentBytes = lt_peak_resident_size();
  memcpy(closing.drops, lt_trace.status->drops, sizeof closing.drops);
  struct lt_chunk_header header = {.kind = LT_CHUNK_CLOSING};
  uint64_t offset = lt_trace_append(&header, &closing, sizeof closing, NULL);
  if (!offset || keepLive) return offset;
  lt_mapped_file_enter(&lt_trace.file);
  lt_trace.status->state = LT_STATE_CLOSED;
  atomic_store(&lt_trace.isOpen, 0);
  leave_file();
  remove_live();
  return offset;
}

void lt_trace_leave_behind(void) {
  if (!lt_trace_is_writable()) return;
  LT_CHECK(has_pages() && lt_is_recording_process());
  // If the process continues after all, its threads may need slots, but the live file will no longer have a path.
  lt_mapped_file_enter(&lt_trace.liveFile);
  lt_mapped_file_reserve_all(&lt_trace.liveFile);
  lt_mapped_file_leave(&lt_trace.liveFile);
  lt_mapped_file_trim_unused(&lt_trace.file, (_Atomic uint64_t *)&lt_trace.status->dataEnd);
  remove_live();
}

/// Chunks to be made voids.
struct voiding {
  const uint64_t *offsets;
  size_t count;
};

static void void_isolated(void *argument) {
  const struct voiding *v = argument;
  int descriptor = lt_mapped_file_open(&lt_trace.file, O_RDWR);
  if (descriptor < 0) return;
  for (size_t i = 0; i < v->count; i++) lt_trace_void_chunk(descriptor, v->offsets[i], lt_trace_event_count());
  lt_close(descriptor);
}

void lt_trace_void_chunks(const uint64_t *offsets, size_t count) {
  struct voiding v = {offsets, count};
  if (count && lt_trace_is_writable()) lt_call_isolated(void_isolated, &v);
}

void lt_trace_discard(void) {
  atomic_store(&lt_trace.isOpen, 0);
  remove_live();
  lt_unlink(lt_trace.file.path);
}

static void forget_pages(void) {
  atomic_store(&lt_trace.isOpen, 0);
  lt_hooks_connect(NULL);
  lt_trace.header = NULL;
  lt_trace.status = NULL;
  lt_trace.live = NULL;
}

void lt_trace_forget(void) {
  forget_pages();
  lt_mapped_file_end(&lt_trace.file);
  lt_mapped_file_end(&lt_trace.liveFile);
}

void lt_trace_reset_after_fork(void) {
  // The child does not inherit the mappings.
  lt_mapped_file_forget(&lt_trace.file);
  lt_mapped_file_forget(&lt_trace.liveFile);
  lt_isolated_task_reset_after_fork();
  forget_pages();
  lt_compressors_reset_after_fork();
}

// === opening =========================================================================================================

// Creates the trace and its live file, in a separate task.

static bool expand_pattern(const char *pattern, const char *programName, unsigned attempt, char result[PATH_MAX]) {
  size_t n = 0;
#define APPEND(c)                         \
  do {                                    \
    if (n >= PATH_MAX - 16) return false; \
    result[n++] = (c);                    \
  } while (0)
#define APPEND_NUMBER(value)                          \
  do {                                                \
    char number[LT_NUMBER_SIZE];                      \
    lt_put_decimal(number, (value));                  \
    for (const char *c = number; *c; c++) APPEND(*c); \
  } while (0)
  for (const char *p = pattern; *p; p++) {
    if (*p != '%') {
      APPEND(*p);
      continue;
    }
    p++;
    if (*p == 'p') {
      APPEND_NUMBER((uint64_t)lt_process_id());
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
    APPEND('.');
    APPEND_NUMBER(attempt);
  }
#undef APPEND
#undef APPEND_NUMBER
  LT_CHECK(n < PATH_MAX);
  result[n] = 0;
  return true;
}

/// Opens a new file for the trace. Replaces an older trace of another session. Does not replace a trace of this
/// session, or any other file.
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
      bool isTrace = lt_fstat(existing, &info) == 0 && S_ISREG(info.st_mode) &&
                     lt_read(existing, &header, sizeof header) == sizeof header &&
                     memcmp(header.magic, LT_TRACE_MAGIC, 8) == 0;
      lt_close(existing);
      if (!isTrace) return -EEXIST;
      if (header.sessionID == options->session) break; // the trace belongs to this session, so try the next name
      lt_unlink(lt_trace.file.path);
    }
  }
  return -EEXIST;
}

static void set_live_path(void) {
  size_t n = strlen(lt_trace.file.path);
  LT_CHECK(n + sizeof LT_LIVE_SUFFIX <= sizeof lt_trace.liveFile.path);
  memcpy(lt_trace.liveFile.path, lt_trace.file.path, n);
  memcpy(lt_trace.liveFile.path + n, LT_LIVE_SUFFIX, sizeof LT_LIVE_SUFFIX);
}

static int create_live(uint64_t traceID) {
  set_live_path();
  lt_unlink(lt_trace.liveFile.path); // The live file is left from a process that was killed. Its trace has just been
                                     // replaced.
  int descriptor = lt_open(lt_trace.liveFile.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (descriptor < 0) return descriptor;
  int error = lt_allocate_storage(descriptor, 0, LIVE_HEADER_SIZE);
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
  live->headerSize = LIVE_HEADER_SIZE;
  live->traceID = traceID;
  return 0;
}

static uint32_t version(const struct lt_trace_options *options) {
  if (options->takesImagesBack) return LT_FORMAT_THINNED_VERSION;
  return options->flags & (LT_OPTION_LIGHT | LT_OPTION_LIMITED) ? LT_FORMAT_LIGHT_VERSION : LT_FORMAT_VERSION;
}

static void fill_header(struct lt_trace_header *header, const struct lt_trace_options *options) {
  memcpy(header->magic, LT_TRACE_MAGIC, 8);
  header->version = version(options);
  header->headerSize = LT_TRACE_HEADER_SIZE;
  header->machine = LT_ELF_MACHINE;
  header->pointerSize = sizeof(void *);
  header->clockKind = lt_clock_kind;
  header->pageSize = (uint32_t)lt_page_size();
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
  header->samplePeriod = options->samplePeriod;
  header->firstSamples = options->firstSamples;
  header->headerChecksum = lt_crc32c(0, header, offsetof(struct lt_trace_header, headerChecksum));
}

/// The arguments and the result of the part of lt_trace_open that runs in a separate task.
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
  // The kernel's page may be larger than the header. A write to the mapped header needs storage for that whole page.
  if (!error && lt_page_size() > sizeof page)
    error = lt_allocate_storage(descriptor, sizeof page, lt_page_size() - sizeof page);
  if (!error)
    error = lt_mapped_file_begin(&lt_trace.file, descriptor,
                                 LT_TRACE_STATUS_OFFSET + offsetof(struct lt_trace_status, fileSize));
  return error ? error : create_live(traceID);
}

static void open_isolated(void *argument) {
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
  _Static_assert(
      sizeof(struct lt_file_extent) == sizeof(struct lt_trace_status) - offsetof(struct lt_trace_status, fileSize),
      "layout");
  lt_trace.process = lt_process_id();
  lt_clock_kind = lt_ticks_are_reliable() ? LT_CLOCK_TSC : LT_CLOCK_MONOTONIC;
  struct opening o = {.options = options, .programName = programName};
  lt_call_isolated_or_here(open_isolated, &o);
  if (!o.isOpen) return false;
  LT_CHECK(!lt_trace_is_writable() && lt_trace.file.firstPage && lt_trace.liveFile.firstPage);
  lt_trace.header = lt_trace.file.firstPage;
  lt_trace.status = (struct lt_trace_status *)((uint8_t *)lt_trace.header + LT_TRACE_STATUS_OFFSET);
  lt_trace.live->pauseSwitch = options->flags & LT_OPTION_START_PAUSED ? LT_SWITCH_PAUSED : LT_SWITCH_RECORD;
  lt_hooks_connect((_Atomic uint32_t *)&lt_trace.live->pauseSwitch);
  atomic_store(&lt_trace.untracedChildren, 0);
  atomic_store(&lt_trace.isOpen, 1);
  return true;
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
  if (descriptor >= 0 && lt_fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
      lt_read(descriptor, page, sizeof page) == sizeof page && memcmp(page, LT_TRACE_MAGIC, 8) == 0 &&
      status->dataEnd >= sizeof page && status->dataEnd < (uint64_t)info.st_size)
    lt_syscall(SYS_ftruncate, descriptor, status->dataEnd, 0);
  if (descriptor >= 0) lt_close(descriptor);
}
