// The trace and its live file: append chunks, close, stop when the disk is full.
//
// A host may close and reuse every descriptor, change its root or its user, or fill the disk. So both files are written
// only through mappings (mapped_file), and recording ends for good if that fails. A writer reserves its place by adding
// to the file's end offset, so that threads and copies of the process need no lock. Calls nothing that allocates: zstd
// works in memory of our own.

#include "record/trace_file.h"

#include "check.h"
#include "os/apart_task.h"
#include "os/process_identity.h"
#include "os/resident_size.h"
#include "record/chunk_compressor.h"
#include "record/message.h"
#include "record/trace_clock.h"
#include "record/trace_voids.h"
#include "thread/hook_switch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

struct lt_trace lt_trace = {.slotSize = LT_SLOT_SIZE};

/// True if the trace's pointers refer to the first pages of its files.
LT_INVARIANT bool has_pages(void) {
  return lt_trace.header && lt_trace.live && lt_trace.header == lt_trace.file.firstPage &&
         lt_trace.live == lt_trace.liveFile.firstPage &&
         (uint8_t *)lt_trace.status == (uint8_t *)lt_trace.header + LT_TRACE_STATUS_OFFSET;
}

bool lt_trace_is_writable(void) { return atomic_load_explicit(&lt_trace.isOpen, memory_order_acquire); }

/// Ends the file after the last chunk, once the last writer has left.
static void leave_file(void) {
  if (!lt_mapped_file_leave(&lt_trace.file) || lt_trace_is_writable()) return;
  lt_mapped_file_trim(&lt_trace.file, lt_trace.status->dataEnd);
}

/// Ends the recording; the process goes on.
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

// --- slots -----------------------------------------------------------------------------------------------------------

struct lt_live_slot *lt_trace_new_slot(void) {
  if (!lt_trace_is_writable()) return NULL;
  LT_CHECK(has_pages() && lt_trace.slotSize == LT_SLOT_SIZE);
  uint32_t index = atomic_fetch_add((_Atomic uint32_t *)&lt_trace.live->slotCount, 1);
  uint64_t offset = LT_LIVE_HEADER_SIZE + (uint64_t)index * LT_SLOT_SIZE;
  int error;
  lt_mapped_file_enter(&lt_trace.liveFile);
  struct lt_live_slot *slot = lt_mapped_file_map(&lt_trace.liveFile, offset, LT_SLOT_SIZE, &error);
  lt_mapped_file_leave(&lt_trace.liveFile);
  // Recording only some threads is useless: one may free blocks that another has allocated.
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

/// Returns the chunk's offset; 0 if recording has stopped.
static uint64_t write_chunk(struct lt_chunk_header *header, uint8_t *chunk) {
  uint64_t offset;
  int error = enter_and_append(header, chunk, &offset);
  if (error) stop(-error);
  return error ? 0 : offset;
}

void lt_trace_before_losing_reach(void) {
  if (!lt_trace_is_writable() || !lt_identity_is_claimants()) return;
  lt_mapped_file_enter(&lt_trace.file);
  lt_mapped_file_reserve_all(&lt_trace.file);
  lt_mapped_file_reserve_all(&lt_trace.liveFile);
  leave_file();
}

static void set_inheritance(int advice) {
  LT_CHECK(has_pages());
  lt_syscall(SYS_madvise, lt_trace.file.firstPage, LT_TRACE_HEADER_SIZE, advice);
  lt_syscall(SYS_madvise, lt_trace.liveFile.firstPage, LT_LIVE_HEADER_SIZE, advice);
}

void lt_trace_begin_copy(void) { set_inheritance(MADV_DOFORK); }
void lt_trace_end_copy(void) { set_inheritance(MADV_DONTFORK); }

void lt_trace_be_copy(void) {
  lt_apart_is_alone();
  lt_mapped_file_be_alone(&lt_trace.file);
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
    // A signal handler may be counting a drop.
    uint64_t count = atomic_exchange_explicit((_Atomic uint64_t *)&t->drops[i], 0, memory_order_relaxed);
    atomic_fetch_add((_Atomic uint64_t *)&lt_trace.status->drops[i], count);
  }
}

uint64_t lt_recorder_bytes(void) {
  uint64_t bytes = 2 * 4096;
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) bytes += LT_SLOT_SIZE + sizeof *t;
  return bytes + lt_compressors_bytes();
}

// --- the end ---------------------------------------------------------------------------------------------------------

static void remove_live(void) { lt_unlink(lt_trace.liveFile.path); }

uint64_t lt_trace_close(uint32_t reason, bool keepLive) {
  if (!lt_trace_is_writable()) return 0;
  LT_CHECK(has_pages() && lt_identity_is_claimants());
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
  LT_CHECK(has_pages() && lt_identity_is_claimants());
  // If the process goes on after all, its threads may need slots of a file that no longer has a path.
  lt_mapped_file_enter(&lt_trace.liveFile);
  lt_mapped_file_reserve_all(&lt_trace.liveFile);
  lt_mapped_file_leave(&lt_trace.liveFile);
  lt_mapped_file_trim_unused(&lt_trace.file, (_Atomic uint64_t *)&lt_trace.status->dataEnd);
  remove_live();
}

/// Chunks to turn into voids.
struct voiding {
  const uint64_t *offsets;
  size_t count;
};

static void void_apart(void *argument) {
  const struct voiding *v = argument;
  int descriptor = lt_mapped_file_open(&lt_trace.file, O_RDWR);
  if (descriptor < 0) return;
  for (size_t i = 0; i < v->count; i++) lt_trace_void_chunk(descriptor, v->offsets[i], lt_trace_event_count());
  lt_close(descriptor);
}

void lt_trace_void_chunks(const uint64_t *offsets, size_t count) {
  struct voiding v = {offsets, count};
  if (count && lt_trace_is_writable()) lt_call_apart(void_apart, &v);
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
  // This process does not have the mappings.
  lt_mapped_file_forget(&lt_trace.file);
  lt_mapped_file_forget(&lt_trace.liveFile);
  lt_apart_reset_after_fork();
  forget_pages();
  lt_compressors_reset_after_fork();
}
