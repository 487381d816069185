// The sites of sampled allocations, as they are at an image.

#ifndef LEAKTRACE_SITE_LIST_H
#define LEAKTRACE_SITE_LIST_H

#include <stddef.h>
#include <stdint.h>

/// Writes an LT_DEF_SAMPLED_SITE for each site that has samples: LT_SAMPLED_SITE_LIMIT of them at most, with
/// LT_SAMPLED_KEY_LIMIT frames together. `append` takes a chunk's payload and returns 0 or −errno, which is returned.
/// In the copy, where nothing else runs.
int lt_site_list_write(uint64_t time,
                       int (*append)(uint16_t kind, const uint8_t *payload, size_t size, uint64_t eventCount));

#endif
