// Chunks: everything in a trace file after its header page.

#ifndef LEAKTRACE_TRACE_CHUNK_H
#define LEAKTRACE_TRACE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#define LT_CHUNK_MAGIC 0x4B43544Cu ///< "LTCK"
/// Chunks begin at multiples of this many bytes; the gap after a payload is zero.
#define LT_CHUNK_ALIGNMENT 8u
/// The most bytes of a decompressed chunk.
#define LT_CHUNK_MAX_RAW (64u << 20)

enum {
  LT_CHUNK_DEFINITIONS = 1, ///< types, images, clocks: framed definition records
  LT_CHUNK_EVENTS = 2,      ///< the events of one thread, in order
  LT_CHUNK_CLOSING = 3,     ///< struct lt_closing; authoritative if it is the last chunk
  LT_CHUNK_SNAPSHOT = 4,    ///< the start of a heap image: struct lt_snapshot, its threads, its regions, its label
  LT_CHUNK_MEMORY = 5,      ///< struct lt_memory_part, then pages of the image
  /// struct lt_snapshot_end, which says whether the image is whole. If the image has no other chunk, this struct says
  /// why there is no image
  LT_CHUNK_SNAPSHOT_END = 6,
  /// struct lt_block_part, then the blocks at the time of an image, from the allocator's metadata
  LT_CHUNK_BLOCKS = 7,
  /// Free space for later chunks. Its payload has no meaning, and its checksum may be wrong
  LT_CHUNK_VOID = 8,
  /// Parts of a file that names are read from: see trace_names.h
  LT_CHUNK_FILE_PARTS = 9,
  /// The list of the files that LT_CHUNK_FILE_PARTS belong to. Without this list, the parts have no meaning
  LT_CHUNK_NAMES = 10,
};

/// The thread number of event chunks that list an image's blocks. No thread has recorded these events.
#define LT_THREAD_OF_LISTS 0xFFFFFFFFu
/// Types that only such lists use have numbers above this. Types that threads define have lower numbers.
#define LT_LISTED_TYPES (1u << 30)

enum {
  LT_COMPRESSION_NONE = 0,
  LT_COMPRESSION_ZSTD = 1, ///< one zstd frame
};

struct lt_chunk_header {
  uint32_t magic;
  uint16_t kind;       ///< LT_CHUNK_…
  uint8_t compression; ///< LT_COMPRESSION_…
  uint8_t reserved;
  uint32_t storedSize;      ///< payload bytes in the file
  uint32_t rawSize;         ///< payload bytes after decompression
  uint32_t thread;          ///< the writing thread's number, from 1; 0 for the process
  uint32_t sequence;        ///< the chunk's number among the chunks of its kind and thread, from 0
  uint64_t firstTime;       ///< in event chunks: the base for the first event's time
  uint64_t lastTime;        ///< in event chunks: the time of the last event
  uint64_t eventCount;      ///< in event chunks: the number of events; otherwise 0
  uint32_t payloadChecksum; ///< CRC-32C of the stored payload
  uint32_t headerChecksum;  ///< CRC-32C of all preceding bytes of this struct
};
_Static_assert(sizeof(struct lt_chunk_header) == 56, "layout");
_Static_assert(offsetof(struct lt_chunk_header, headerChecksum) == 52, "layout");

#endif
