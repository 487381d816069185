// Compresses the payloads of chunks, and defines the size of a thread's slot in the live file.

#ifndef LEAKTRACE_CHUNK_COMPRESSOR_H
#define LEAKTRACE_CHUNK_COMPRESSOR_H

#include <stdint.h>

// --- slots -----------------------------------------------------------------------------------------------------------

// Bytes of a thread's slot in the live file, and of its part for definitions.

enum { LT_SLOT_SIZE = 128 << 10, LT_SLOT_DEFINITIONS = 16 << 10 };

// --- compressors -----------------------------------------------------------------------------------------------------

// Compresses the payloads of chunks with zstd, either as a whole or in pieces while a payload grows. Compressing a
// whole payload at once in a hook takes about as long as a server's request. In a process with several threads,
// payloads are therefore compressed in pieces. Calls nothing that allocates or locks.

struct lt_compressor;

/// The two uses of a compressor. A compressor for a whole payload is returned immediately. A compressor for a growing
/// payload may be kept for a long time.
enum lt_compressor_use { LT_COMPRESS_WHOLE, LT_COMPRESS_GROWING };

/// Acquires a compressor for one payload; lt_compressor_return releases it. Returns NULL if there is no memory, or if
/// all compressors are in use: threads do not wait for one.
struct lt_compressor *lt_compressor_take(enum lt_compressor_use use);
/// Compresses the part of the payload's first `size` bytes that is not yet compressed. These bytes must neither change
/// nor move.
void lt_compressor_add(struct lt_compressor *compressor, const uint8_t *payload, uint32_t size);
/// Compresses the rest of a payload of `size` bytes. Returns the compressed size, or 0 if it is not smaller than
/// `size`.
uint32_t lt_compressor_end(struct lt_compressor *compressor, const uint8_t *payload, uint32_t size);
/// Returns the memory of the chunk: room for a header, then the compressed payload. There is room for padding after the
/// payload, and enough room to store the uncompressed payload instead.
uint8_t *lt_compressor_chunk(struct lt_compressor *compressor);
/// Releases a compressor. `compressor` may be NULL.
void lt_compressor_return(struct lt_compressor *compressor);
/// Returns the bytes of memory that compressors use.
uint64_t lt_compressors_bytes(void);
/// Marks all compressors as free, in a child made by fork.
void lt_compressors_reset_after_fork(void);

#endif
