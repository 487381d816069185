// Compressors in static memory, which threads take and return.

#include "record/chunk_compressor.h"

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"

#include <stdatomic.h>

#define ZSTD_STATIC_LINKING_ONLY
#define ZSTD_DISABLE_DEPRECATE_WARNINGS // zstd has no other way to continue a frame without a copy of the data
                                        // compressed before
#include <zstd.h>

enum { WHOLE_COUNT = 4, GROWING_COUNT = 16, COMPRESSION_LEVEL = 1 };
/// Room in a chunk for the header, the payload and the padding.
enum {
  HEADER_SIZE = sizeof(struct lt_chunk_header),
  OUTPUT_SIZE = LT_SLOT_SIZE + LT_SLOT_SIZE / 128 + 4096,
  PAYLOAD_ROOM = OUTPUT_SIZE - HEADER_SIZE - LT_CHUNK_ALIGNMENT
};

struct lt_compressor {
  /// 1 while the compressor is taken; only the thread that took it uses it. The exchange pairs with the store of 0
  _Atomic uint32_t isBusy;
  _Atomic(ZSTD_CCtx *) context; ///< also read by the thread that counts the compressors
  uint8_t *output;              ///< OUTPUT_SIZE bytes; NULL until first taken
  uint32_t consumed;            ///< compressed bytes of the payload; never decreases while the compressor is taken
  uint32_t stored;              ///< size of the compressed output; at most PAYLOAD_ROOM
  bool hasFailed;
};

static struct {
  struct lt_compressor compressors[WHOLE_COUNT + GROWING_COUNT];
  _Atomic size_t workspaceSize; ///< every thread that computes it gets the same value
} pool;

/// True if the compressor is in the pool and is taken.
LT_INVARIANT bool is_taken(const struct lt_compressor *c) {
  return c >= pool.compressors && c < pool.compressors + WHOLE_COUNT + GROWING_COUNT && atomic_load(&c->isBusy) == 1;
}

static ZSTD_parameters parameters(void) {
  ZSTD_parameters parameters = ZSTD_getParams(COMPRESSION_LEVEL, LT_SLOT_SIZE, 0);
  parameters.fParams = (ZSTD_frameParameters){.contentSizeFlag = 0, .checksumFlag = 0, .noDictIDFlag = 1};
  return parameters;
}

static bool prepare(struct lt_compressor *c) {
  LT_CHECK(is_taken(c) && !c->context);
  size_t size = atomic_load(&pool.workspaceSize);
  if (!size) atomic_store(&pool.workspaceSize, size = ZSTD_estimateCCtxSize_usingCParams(parameters().cParams));
  if (!c->output) c->output = lt_map_private(OUTPUT_SIZE);
  void *workspace = c->output ? lt_map_private(size) : NULL;
  if (workspace) c->context = ZSTD_initStaticCCtx(workspace, size);
  return c->context != NULL;
}

struct lt_compressor *lt_compressor_take(enum lt_compressor_use use) {
  int first = use == LT_COMPRESS_WHOLE ? 0 : WHOLE_COUNT,
      count = use == LT_COMPRESS_WHOLE ? WHOLE_COUNT : GROWING_COUNT;
  for (int i = 0; i < count; i++) {
    uint32_t free = 0;
    struct lt_compressor *c = &pool.compressors[first + i];
    if (!atomic_compare_exchange_strong(&c->isBusy, &free, 1)) continue;
    if (!c->context && !prepare(c)) {
      lt_compressor_return(c);
      return NULL;
    }
    c->consumed = c->stored = 0;
    c->hasFailed =
        ZSTD_isError(ZSTD_compressBegin_advanced(c->context, NULL, 0, parameters(), ZSTD_CONTENTSIZE_UNKNOWN));
    LT_CHECK(is_taken(c) && c->output && c->context);
    return c;
  }
  return NULL;
}

static void advance(struct lt_compressor *c, const uint8_t *payload, uint32_t size,
                    size_t (*function)(ZSTD_CCtx *, void *, size_t, const void *, size_t)) {
  LT_CHECK(is_taken(c) && c->context);
  LT_CHECK(c->stored <= PAYLOAD_ROOM);
  c->hasFailed |= size < c->consumed;
  if (c->hasFailed) return;
  size_t written = function(c->context, lt_compressor_chunk(c) + HEADER_SIZE + c->stored, PAYLOAD_ROOM - c->stored,
                            payload + c->consumed, size - c->consumed);
  c->hasFailed = ZSTD_isError(written);
  c->consumed = size;
  if (!c->hasFailed) c->stored += (uint32_t)written;
  LT_CHECK(c->stored <= PAYLOAD_ROOM && c->consumed <= size);
}

void lt_compressor_add(struct lt_compressor *c, const uint8_t *payload, uint32_t size) {
  advance(c, payload, size, ZSTD_compressContinue);
}

uint32_t lt_compressor_end(struct lt_compressor *c, const uint8_t *payload, uint32_t size) {
  advance(c, payload, size, ZSTD_compressEnd);
  return c->hasFailed || c->stored >= size ? 0 : c->stored;
}

uint8_t *lt_compressor_chunk(struct lt_compressor *c) {
  LT_CHECK(is_taken(c) && c->output);
  return c->output;
}

void lt_compressor_return(struct lt_compressor *c) {
  LT_CHECK(!c || is_taken(c));
  if (c) atomic_store(&c->isBusy, 0);
}

uint64_t lt_compressors_bytes(void) {
  uint64_t bytes = 0;
  for (int i = 0; i < WHOLE_COUNT + GROWING_COUNT; i++)
    if (pool.compressors[i].context) bytes += pool.workspaceSize + OUTPUT_SIZE;
  return bytes;
}

void lt_compressors_reset_after_fork(void) {
  for (int i = 0; i < WHOLE_COUNT + GROWING_COUNT; i++) atomic_store(&pool.compressors[i].isBusy, 0);
}
