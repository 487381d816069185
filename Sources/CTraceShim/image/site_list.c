// Writes the sites of sampled allocations, with their estimates.

#include "image/site_list.h"

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"
#include "record/encoding.h"
#include "sampling/sampled_sites.h"

#include <errno.h>
#include <string.h>

enum {
  CHUNK_SIZE = 1 << 20,
  STACK_LIMIT = 1024, ///< frames of a site, the outermost ones
  VARINT_SIZE = 10,
  FIELD_COUNT = 11,
  PAYLOAD_SIZE = (FIELD_COUNT + STACK_LIMIT) * VARINT_SIZE,
};

/// Returns the size.
static size_t put_site(uint8_t *payload, uint64_t time, uint32_t number, const struct lt_sampled_site *site) {
  uint32_t count = site->keyCount < STACK_LIMIT ? site->keyCount : STACK_LIMIT;
  const uint64_t fields[FIELD_COUNT] = {time,
                                        number,
                                        site->samples,
                                        site->freedSamples,
                                        site->allocatedObjects / LT_WEIGHT_ONE,
                                        site->allocatedBytes,
                                        site->allocatedVariance,
                                        site->freedObjects / LT_WEIGHT_ONE,
                                        site->freedBytes,
                                        site->freedVariance,
                                        count};
  uint8_t *p = payload;
  for (size_t i = 0; i < FIELD_COUNT; i++) p = lt_put_varint(p, fields[i]);
  const uint64_t *keys = lt_sampled_site_keys(site);
  uint64_t before = 0;
  for (uint32_t i = 0; i < count; i++) {
    p = lt_put_varint(p, lt_zigzag((int64_t)(keys[i] - before)));
    before = keys[i];
  }
  LT_CHECK(p <= payload + PAYLOAD_SIZE);
  return (size_t)(p - payload);
}

int lt_site_list_write(uint64_t time,
                       int (*append)(uint16_t kind, const uint8_t *payload, size_t size, uint64_t eventCount)) {
  static uint8_t payload[PAYLOAD_SIZE];
  uint8_t *chunk = lt_map_private(CHUNK_SIZE), *to = chunk;
  if (!chunk) return -ENOMEM;
  int error = 0;
  for (uint32_t i = 0; !error && i < LT_SAMPLED_SITE_LIMIT; i++) {
    const struct lt_sampled_site *site = lt_sampled_site_at(i);
    if (!site || !site->samples) continue;
    size_t size = put_site(payload, time, i, site);
    if ((size_t)(chunk + CHUNK_SIZE - to) < 1 + VARINT_SIZE + size) {
      error = append(LT_CHUNK_DEFINITIONS, chunk, (size_t)(to - chunk), 0);
      to = chunk;
    }
    *to++ = LT_DEF_SAMPLED_SITE;
    to = lt_put_varint(to, size);
    memcpy(to, payload, size);
    to += size;
    LT_CHECK(to <= chunk + CHUNK_SIZE);
  }
  if (!error && to > chunk) error = append(LT_CHUNK_DEFINITIONS, chunk, (size_t)(to - chunk), 0);
  lt_unmap(chunk, CHUNK_SIZE);
  return error;
}
