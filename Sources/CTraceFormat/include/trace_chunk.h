// Chunks: everything in a trace file after its header page.

#ifndef LEAKTRACE_TRACE_CHUNK_H
#define LEAKTRACE_TRACE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#define LT_CHUNK_MAGIC 0x4B43544Cu ///< "LTCK"
/// Chunks begin at multiples of this many bytes; the gap after a payload is zero.
#define LT_CHUNK_ALIGNMENT 8u
/// No chunk decompresses to more than this.
#define LT_CHUNK_MAX_RAW (64u << 20)

enum {
  LT_CHUNK_DEFINITIONS = 1, ///< types, images, clocks: framed definition records
  LT_CHUNK_EVENTS = 2,      ///< the events of one thread, in order
  LT_CHUNK_CLOSING = 3,     ///< struct lt_closing; authoritative if it is the last chunk
  LT_CHUNK_SNAPSHOT = 4,    ///< struct lt_snapshot, its threads, its regions, its label: a heap image begins
  LT_CHUNK_MEMORY = 5,      ///< struct lt_memory_part, then pages of that image
  /// struct lt_snapshot_end: whether the image is whole. By itself: there is no image, and why
  LT_CHUNK_SNAPSHOT_END = 6,
  /// struct lt_block_part, then blocks of the allocator at that image, as its books have them
  LT_CHUNK_BLOCKS = 7,
  /// Space that later chunks may take. Its payload means nothing, and its checksum need not fit
  LT_CHUNK_VOID = 8,
  /// Parts of a file that names are read from: see trace_names.h
  LT_CHUNK_FILE_PARTS = 9,
  /// The list of those files. Without it, the parts mean nothing
  LT_CHUNK_NAMES = 10,
};

/// The thread number of chunks with lists of blocks: no thread has recorded their events.
#define LT_THREAD_OF_LISTS 0xFFFFFFFFu
/// Types that only lists of blocks use have numbers above this, so that they differ from the threads' types.
#define LT_LISTED_TYPES (1u << 30)

enum {
  LT_COMPRESSION_NONE = 0,
  LT_COMPRESSION_ZSTD = 1, ///< one zstd frame
};

struct lt_chunk_header {
  uint32_t magic;
  uint16_t kind;       ///< LT_CHUNK_
  uint8_t compression; ///< LT_COMPRESSION_
  uint8_t reserved;
  uint32_t storedSize;      ///< payload bytes in the file
  uint32_t rawSize;         ///< payload bytes after decompression
  uint32_t thread;          ///< the writing thread's number, from 1; 0 for the process
  uint32_t sequence;        ///< counts the chunks of this kind and thread from 0
  uint64_t firstTime;       ///< events: time base of the first event
  uint64_t lastTime;        ///< events: time of the last event
  uint64_t eventCount;      ///< events: their number; otherwise 0
  uint32_t payloadChecksum; ///< CRC-32C of the stored payload
  uint32_t headerChecksum;  ///< CRC-32C of all preceding bytes of this struct
};
_Static_assert(sizeof(struct lt_chunk_header) == 56, "layout");
_Static_assert(offsetof(struct lt_chunk_header, headerChecksum) == 52, "layout");

#endif
