// Voids: space of a trace whose chunks were taken back.

#include "record/trace_voids.h"

#include "check.h"
#include "os/os.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

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
  // The end of the void first, then the payload: until the chunk's header is there, the old one covers both.
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
