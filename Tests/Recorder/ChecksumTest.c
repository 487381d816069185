// The checksum of headers and payloads, against the definition of CRC-32C.

#include "CTraceFormat.h"

#include "RecorderTest.h"

/// Computes the checksum bit by bit, as the definition says (RFC 3720, section 12.1).
static uint32_t by_definition(uint32_t seed, const uint8_t *bytes, size_t size) {
  uint32_t crc = ~seed;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return ~crc;
}

TEST(checksums_of_known_texts, "The checksums of known texts are those of RFC 3720") {
  uint8_t zeros[32] = {0};
  EXPECT(lt_crc32c(0, zeros, sizeof zeros) == 0x8A9136AAu);
  EXPECT(lt_crc32c(0, "123456789", 9) == 0xE3069283u);
  EXPECT(lt_crc32c(0, "", 0) == 0);
}

TEST(checksums_of_all_lengths, "The instructions and the table give the checksum of the definition, at every length") {
  enum { MOST = 40000, CLOSE = 1600 };
  static uint8_t bytes[MOST];
  uint32_t state = 12345;
  for (size_t i = 0; i < MOST; i++) bytes[i] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
  // Every short length, and longer ones around the parts that are computed side by side.
  for (size_t size = 0; size <= MOST; size += size < CLOSE ? 1 : 997) {
    size_t start = size % 9 <= MOST - size ? size % 9 : 0;
    uint32_t seed = (uint32_t)size * 2654435761u;
    uint32_t expected = by_definition(seed, bytes + start, size);
    EXPECT(lt_crc32c(seed, bytes + start, size) == expected);
    EXPECT(lt_crc32c_by_table(seed, bytes + start, size) == expected);
  }
}
