// Compresses payloads of chunks with zstd, at once or piece by piece while they grow: a thread that compresses a whole
// payload inside a hook stands still for as long as a request to a server may take. Calls nothing that allocates or
// locks.

#ifndef LEAKTRACE_CHUNK_COMPRESSOR_H
#define LEAKTRACE_CHUNK_COMPRESSOR_H

#include <stdint.h>

struct lt_compressor;

/// The two uses of compressors: those for whole payloads come back at once, those for growing ones may be kept for
/// long.
enum lt_compressor_use { LT_COMPRESS_WHOLE, LT_COMPRESS_GROWING };

/// Takes a compressor for one payload, until it is returned. NULL if all are taken, since no thread waits for another,
/// or without memory.
struct lt_compressor *lt_compressor_take(enum lt_compressor_use use);
/// Compresses those of the payload's first `size` bytes that were not compressed before. They must stay as they are,
/// and where they are.
void lt_compressor_add(struct lt_compressor *compressor, const uint8_t *payload, uint32_t size);
/// Compresses the rest of a payload of `size` bytes. Returns the compressed size, or 0 if that would not be smaller.
uint32_t lt_compressor_end(struct lt_compressor *compressor, const uint8_t *payload, uint32_t size);
/// Returns the chunk: the compressed payload, behind room for its header; there is room for padding after it, and for
/// the payload itself in its place.
uint8_t *lt_compressor_chunk(struct lt_compressor *compressor);
/// Gives a compressor back. NULL is allowed.
void lt_compressor_return(struct lt_compressor *compressor);
/// Bytes of memory that compressors have.
uint64_t lt_compressors_bytes(void);
/// Makes all free again, in a child made by fork.
void lt_compressors_reset_after_fork(void);

#endif
