// Runs the recorder's parsers of foreign data on bytes. The first byte selects the parser.

#ifndef LEAKTRACE_RECORDER_FUZZ_INPUT_H
#define LEAKTRACE_RECORDER_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

enum { FUZZ_TABLES = 't', FUZZ_PROLOGUE = 'p', FUZZ_MAPS = 'm', FUZZ_METADATA = 's' };
/// The address of bytes that are parsed as metadata. It is so far from all other memory that no relative pointer
/// reaches it.
enum { FUZZ_METADATA_SIZE = 1 << 16 };
#define FUZZ_METADATA_BASE 0x580000000000ull
/// A word of metadata with these bits above its low 16 bits is replaced by an address in the metadata.
#define FUZZ_ADDRESS_MARK 0xF00D00000000ull

/// Parses the bytes. The address sanitizer finds reads beyond their end.
void recorder_fuzz_input(const uint8_t *bytes, size_t size);

#endif
