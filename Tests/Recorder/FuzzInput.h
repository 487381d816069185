// Bytes for the recorder's parsers of others' data: the first says which parser they are for.

#ifndef LEAKTRACE_RECORDER_FUZZ_INPUT_H
#define LEAKTRACE_RECORDER_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

enum { FUZZ_TABLES = 't', FUZZ_PROLOGUE = 'p', FUZZ_MAPS = 'm', FUZZ_METADATA = 's' };
/// The address of bytes that are parsed as metadata: so far from all else that no relative distance leads there.
enum { FUZZ_METADATA_SIZE = 1 << 16 };
#define FUZZ_METADATA_BASE 0x580000000000ull
/// A word of metadata with this above its low 16 bits is an address there.
#define FUZZ_ADDRESS_MARK 0xF00D00000000ull

/// Parses the bytes. Reads beyond their end are found by the address sanitizer.
void recorder_fuzz_input(const uint8_t *bytes, size_t size);

#endif
