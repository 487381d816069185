// The checksum of headers and payloads.

#ifndef LEAKTRACE_TRACE_CHECKSUM_H
#define LEAKTRACE_TRACE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Returns the CRC-32C (Castagnoli) of `size` bytes, continuing from `seed`, which is 0 at first. Thread-safe; does not
/// allocate. Takes time linear in `size`.
uint32_t lt_crc32c(uint32_t seed, const void *bytes, size_t size);

/// Returns the same checksum without the processor's instructions for it. lt_crc32c calls this function on
/// processors that lack them. It takes several times as long. Thread-safe; does not allocate.
uint32_t lt_crc32c_by_table(uint32_t seed, const void *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
