// CRC-32C of the trace's headers and payloads. Calls no allocator; safe in a hook.

#include "CTraceFormat.h"

#include <stdatomic.h>
#include <string.h>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#define POLYNOMIAL 0x82F63B78u

#if defined(__x86_64__) || defined(__aarch64__)

// --- by the processor's instructions ---------------------------------------------------------------------------------

#if defined(__x86_64__)
#define WITH_INSTRUCTIONS __attribute__((target("sse4.2")))

WITH_INSTRUCTIONS static inline uint64_t add_word(uint64_t crc, uint64_t word) {
  return __builtin_ia32_crc32di(crc, word);
}

WITH_INSTRUCTIONS static inline uint64_t add_byte(uint64_t crc, uint8_t byte) {
  return __builtin_ia32_crc32qi((uint32_t)crc, byte);
}

static int ask_processor(void) {
  uint32_t eax = 1, ebx, ecx = 0, edx;
  __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  return (ecx >> 20) & 1;
}
#else
#define WITH_INSTRUCTIONS

// The processors of Arm v8.0 may lack these instructions, so the compiler does not know them.

static inline uint64_t add_word(uint64_t crc, uint64_t word) {
  __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %1" : "+r"(crc) : "r"(word));
  return crc;
}

static inline uint64_t add_byte(uint64_t crc, uint8_t byte) {
  __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(byte));
  return crc;
}

static int ask_processor(void) {
#if defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
  return 1; // all processors of Apple
#endif
}
#endif

/// Queries the processor only once. In a virtual machine, the cpuid instruction traps to the hypervisor, which takes
/// longer than the checksum.
static int has_instructions(void) {
  enum { UNKNOWN, NO, YES };
  static _Atomic int answer;
  int known = atomic_load_explicit(&answer, memory_order_relaxed);
  if (known == UNKNOWN) {
    known = ask_processor() ? YES : NO;
    atomic_store_explicit(&answer, known, memory_order_relaxed);
  }
  return known == YES;
}

static inline uint64_t word_at(const uint8_t *p) {
  uint64_t word;
  memcpy(&word, p, 8);
  return word;
}

/// Returns the product of two polynomials. Bit 31 is the coefficient of x⁰.
static uint32_t product(uint32_t a, uint32_t b) {
  uint32_t result = 0;
  for (int bit = 31; bit >= 0; bit--) {
    result ^= b & (0u - ((a >> bit) & 1));
    b = (b >> 1) ^ (POLYNOMIAL & (0u - (b & 1)));
  }
  return result;
}

/// Three neighbouring parts of one length. An instruction waits for the previous result of its part only, so the
/// processor computes three of them at a time.
struct parts {
  size_t size;               ///< bytes of one part, a multiple of 8
  uint32_t skipOne, skipTwo; ///< x to the power of the bits of one part and of two parts
};
static const struct parts long_parts = {4096, 0x35D73A62, 0x28461564}, short_parts = {512, 0x74C360A4, 0xE4172B16};

/// Adds all triples of parts. A part's checksum counts the zeros of the later parts by one multiplication. Source: V.
/// Gopal et al., "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction", Intel, 2011.
WITH_INSTRUCTIONS static uint64_t add_triples(const struct parts *parts, uint64_t crc, const uint8_t **bytes,
                                              size_t *left) {
  const uint8_t *p = *bytes;
  size_t size = parts->size;
  for (; *left >= 3 * size; *left -= 3 * size, p += 2 * size) {
    uint64_t second = 0, third = 0;
    for (const uint8_t *end = p + size; p < end; p += 8) {
      crc = add_word(crc, word_at(p));
      second = add_word(second, word_at(p + size));
      third = add_word(third, word_at(p + 2 * size));
    }
    crc = product((uint32_t)crc, parts->skipTwo) ^ product((uint32_t)second, parts->skipOne) ^ third;
  }
  *bytes = p;
  return crc;
}

WITH_INSTRUCTIONS static uint32_t by_instructions(uint32_t crc, const uint8_t *p, size_t n) {
  uint64_t c = crc;
  if (n >= 3 * long_parts.size) c = add_triples(&long_parts, c, &p, &n);
  if (n >= 3 * short_parts.size) c = add_triples(&short_parts, c, &p, &n);
  for (; n >= 8; p += 8, n -= 8) c = add_word(c, word_at(p));
  for (; n > 0; p++, n--) c = add_byte(c, *p);
  return (uint32_t)c;
}

#endif

// --- by a table ------------------------------------------------------------------------------------------------------

// The checksum of a byte is the sum of its bits' checksums.
#define BYTE(i)                                                                                                    \
  (((i)&1 ? 0xF26B8303u : 0) ^ ((i)&2 ? 0xE13B70F7u : 0) ^ ((i)&4 ? 0xC79A971Fu : 0) ^ ((i)&8 ? 0x8AD958CFu : 0) ^ \
   ((i)&16 ? 0x105EC76Fu : 0) ^ ((i)&32 ? 0x20BD8EDEu : 0) ^ ((i)&64 ? 0x417B1DBCu : 0) ^ ((i)&128 ? POLYNOMIAL : 0))
#define BYTES_4(i) BYTE(i), BYTE(i + 1), BYTE(i + 2), BYTE(i + 3)
#define BYTES_16(i) BYTES_4(i), BYTES_4(i + 4), BYTES_4(i + 8), BYTES_4(i + 12)
#define BYTES_64(i) BYTES_16(i), BYTES_16(i + 16), BYTES_16(i + 32), BYTES_16(i + 48)

static const uint32_t checksum_of_byte[256] = {BYTES_64(0), BYTES_64(64), BYTES_64(128), BYTES_64(192)};

uint32_t lt_crc32c_by_table(uint32_t seed, const void *bytes, size_t size) {
  const uint8_t *p = bytes;
  uint32_t crc = ~seed;
  for (; size > 0; p++, size--) crc = (crc >> 8) ^ checksum_of_byte[(uint8_t)(crc ^ *p)];
  return ~crc;
}

uint32_t lt_crc32c(uint32_t seed, const void *bytes, size_t size) {
#if defined(__x86_64__) || defined(__aarch64__)
  if (has_instructions()) return ~by_instructions(~seed, bytes, size);
#endif
  return lt_crc32c_by_table(seed, bytes, size);
}
