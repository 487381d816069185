// CRC-32C of the trace's headers and payloads. Calls nothing; safe in a hook.

#include "CTraceFormat.h"

#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const uint8_t *p, size_t n) {
  uint64_t c = crc;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    c = __builtin_ia32_crc32di(c, word);
  }
  for (; n > 0; p++, n--) c = __builtin_ia32_crc32qi((uint32_t)c, *p);
  return (uint32_t)c;
}

/// Queries the processor only once. In a virtual machine, the cpuid instruction traps to the hypervisor, which takes
/// longer than the checksum.
static int has_sse42(void) {
  enum { UNKNOWN, NO, YES };
  static _Atomic int answer;
  int known = atomic_load_explicit(&answer, memory_order_relaxed);
  if (known == UNKNOWN) {
    uint32_t eax = 1, ebx, ecx = 0, edx;
    __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    known = (ecx >> 20) & 1 ? YES : NO;
    atomic_store_explicit(&answer, known, memory_order_relaxed);
  }
  return known == YES;
}
#endif

/// Computes the checksum one bit at a time. Used only if the processor has no instruction for it.
static uint32_t crc32c_bitwise(uint32_t crc, const uint8_t *p, size_t n) {
  for (; n > 0; p++, n--) {
    crc ^= *p;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1)));
  }
  return crc;
}

uint32_t lt_crc32c(uint32_t seed, const void *bytes, size_t size) {
  uint32_t crc = ~seed;
#if defined(__x86_64__)
  if (has_sse42()) return ~crc32c_sse42(crc, bytes, size);
#endif
  return ~crc32c_bitwise(crc, bytes, size);
}
