#include "profile/gzip_bytes.h"

#include "check.h"
#include "os/os.h"

#include <errno.h>
#include <zlib.h>

enum {
  LEVEL = 5,                ///< half the time of the usual 6, for some percent more bytes
  WINDOW_BITS = 15 + 16,    ///< with gzip's head and end
  MEMORY_LEVEL = 8,         ///< the usual one
  WORKSPACE_SIZE = 1 << 19, ///< deflate takes some 268 KB (zconf.h)
};

struct workspace {
  uint8_t *bytes;
  size_t used; ///< at most WORKSPACE_SIZE
};

static void *take(void *workspace, unsigned count, unsigned size) {
  struct workspace *w = workspace;
  size_t needed = ((size_t)count * size + 15) & ~(size_t)15;
  LT_CHECK(w->used <= WORKSPACE_SIZE);
  if (needed > WORKSPACE_SIZE - w->used) return Z_NULL;
  w->used += needed;
  return w->bytes + w->used - needed;
}

static void give_back(void *workspace, void *memory) { (void)workspace, (void)memory; }

int lt_gzip_bytes(const uint8_t *bytes, size_t size, uint8_t **to, size_t *toSize, size_t *toCapacity) {
  LT_CHECK(size <= UINT32_MAX);
  struct workspace workspace = {.bytes = lt_map_private(WORKSPACE_SIZE)};
  z_stream stream = {.zalloc = take, .zfree = give_back, .opaque = &workspace};
  int error = -ENOMEM;
  *to = NULL;
  if (workspace.bytes &&
      deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK) {
    *toCapacity = deflateBound(&stream, size);
    *to = lt_map_private(*toCapacity);
    stream.next_in = (uint8_t *)bytes;
    stream.avail_in = (unsigned)size;
    stream.next_out = *to;
    stream.avail_out = (unsigned)*toCapacity;
    if (*to && deflate(&stream, Z_FINISH) == Z_STREAM_END) error = 0;
    *toSize = *toCapacity - stream.avail_out;
    LT_CHECK(*toSize <= *toCapacity);
  }
  if (workspace.bytes) lt_unmap(workspace.bytes, WORKSPACE_SIZE);
  if (error && *to) lt_unmap(*to, *toCapacity);
  return error;
}
