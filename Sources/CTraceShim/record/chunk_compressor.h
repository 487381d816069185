// Compresses payloads of chunks, and defines the size of a thread's slot in the live file.

#ifndef LEAKTRACE_CHUNK_COMPRESSOR_H
#define LEAKTRACE_CHUNK_COMPRESSOR_H

#include <stdint.h>

// --- slots -----------------------------------------------------------------------------------------------------------

// Sizes of a thread's slot in the live file.

enum { LT_SLOT_SIZE = 128 << 10, LT_SLOT_DEFINITIONS = 16 << 10 };

// --- compressors -----------------------------------------------------------------------------------------------------

// Compresses payloads of chunks with zstd, at once or in pieces while they grow. Compressing a whole payload inside a
// hook would stop the thread for as long as a server's request may take. Calls nothing that allocates or locks.

struct lt_compressor;

/// The two uses of compressors. One for a whole payload is returned at once; one for a growing payload may be kept for
/// long.
enum lt_compressor_use { LT_COMPRESS_WHOLE, LT_COMPRESS_GROWING };

/// Takes a compressor for one payload, until it is returned. NULL without memory, or if all are taken: threads do not
/// wait for each other.
struct lt_compressor *lt_compressor_take(enum lt_compressor_use use);
/// Compresses the uncompressed part of the payload's first `size` bytes. These bytes must neither change nor move.
void lt_compressor_add(struct lt_compressor *compressor, const uint8_t *payload, uint32_t size);
/// Compresses the rest of a payload of `size` bytes. Returns the compressed size, or 0 if that would not be smaller.
uint32_t lt_compressor_end(struct lt_compressor *compressor, const uint8_t *payload, uint32_t size);
/// Returns the chunk: the compressed payload, after room for its header. There is room for padding after it, or for the
/// uncompressed payload in its place.
uint8_t *lt_compressor_chunk(struct lt_compressor *compressor);
/// Gives a compressor back. NULL is allowed.
void lt_compressor_return(struct lt_compressor *compressor);
/// Bytes of memory that compressors use.
uint64_t lt_compressors_bytes(void);
/// Makes all compressors free again, in a child made by fork.
void lt_compressors_reset_after_fork(void);

#endif
