// Compresses bytes with gzip, in memory of the recorder's own.

#ifndef LEAKTRACE_GZIP_BYTES_H
#define LEAKTRACE_GZIP_BYTES_H

#include <stddef.h>
#include <stdint.h>

/// Compresses `size` bytes into new memory of `toCapacity` bytes, which lt_unmap takes. Returns 0 or −errno. Calls
/// nothing that allocates.
int lt_gzip_bytes(const uint8_t *bytes, size_t size, uint8_t **to, size_t *toSize, size_t *toCapacity);

#endif
