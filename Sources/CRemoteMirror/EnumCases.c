// Finds the bits of an enumeration's values that distinguish its cases.
//
// The library determines the case only of a value in memory. A heap image has millions of values, but few types. So the
// library is asked about made-up values, once for each type. The bits that change its answer encode the case.

#include "EnumCases.h"

#include <string.h>

enum {
  PROBE_ADDRESS = 0x2000, ///< an address below everything that a process can map
  PROBE_LIMIT = 1024,     ///< the most bytes of a value; larger enumerations are not examined
  TAG_BIT_LIMIT = 12,     ///< with several payloads: enough for a byte for the case, and spare bits of a word
  PAYLOAD_BIT_LIMIT = 256,
  NUMBER_BITS = 12, ///< in place of a reference, a number of so many bits is not an address
};

/// An address that an object may have, without any spare bit set.
static const uint64_t POINTER = 0x0000100000000000;

/// The made-up value. The library may read one word past the end of a value.
static _Alignas(16) uint8_t probe[PROBE_LIMIT + 16];

const void *mirror_probe_bytes(uint64_t address, uint64_t size) {
  if (address < PROBE_ADDRESS || address - PROBE_ADDRESS > sizeof probe ||
      size > sizeof probe - (address - PROBE_ADDRESS))
    return NULL;
  return probe + (address - PROBE_ADDRESS);
}

struct enumeration {
  const struct lt_mirror_library *functions;
  void *mirror;
  uint64_t type;
  unsigned size;
};

enum { NO_CASE = -1 };

/// Returns the case of the value in `probe`.
static int case_of(const struct enumeration *e) {
  int index = NO_CASE;
  return e->functions->projectCase(e->mirror, PROBE_ADDRESS, e->type, &index) && index >= 0 && index < INT16_MAX
             ? index
             : NO_CASE;
}

static void flip(unsigned bit) { probe[bit / 8] ^= (uint8_t)(1u << bit % 8); }

/// Finds the bits that change the case when one of them is set in a value of zeros. Returns the number of these bits;
/// −1 if it is above `limit`.
static int find_bits(const struct enumeration *e, uint32_t *bits, int limit) {
  int zero = case_of(e), count = 0;
  for (unsigned bit = 0; bit < e->size * 8; bit++) {
    flip(bit);
    bool isTag = case_of(e) != zero;
    flip(bit);
    if (!isTag) continue;
    if (count == limit) return -1;
    bits[count++] = bit;
  }
  return count;
}

/// For an enumeration with several payloads: finds the bits that encode the case, and the case for each combination of
/// them.
static void find_tags(const struct enumeration *e, struct mirror_cases *cases) {
  int count = find_bits(e, cases->bits, TAG_BIT_LIMIT);
  if (count <= 0) return;
  for (uint32_t number = 0; number < 1u << count; number++) {
    for (int k = 0; k < count; k++)
      if (number >> k & 1) flip(cases->bits[k]);
    cases->table[number] = (int16_t)case_of(e);
    for (int k = 0; k < count; k++)
      if (number >> k & 1) flip(cases->bits[k]);
  }
  cases->head.how = LT_MIRROR_CASE_BY_TAG;
  cases->head.bitCount = (uint32_t)count;
  cases->head.tableCount = 1u << count;
}

/// True if all bits are in the same word, the numbers that they form are below all addresses, and a value with an
/// address in that word has the payload case. `*offset` is set to the word's offset.
static bool is_reference_word(const struct enumeration *e, const uint32_t *bits, int count, uint32_t *offset) {
  *offset = bits[0] / 64 * 8;
  if (bits[count - 1] / 64 != bits[0] / 64 || bits[count - 1] % 64 >= NUMBER_BITS || *offset + 8 > e->size)
    return false;
  memcpy(probe + *offset, &POINTER, sizeof POINTER);
  bool isPayload = case_of(e) == 0;
  memset(probe + *offset, 0, sizeof POINTER);
  return isPayload;
}

/// For an enumeration with one payload: finds a word that is an address only in the payload case, or bits that are all
/// 0 only in that case. If the word is itself an optional reference, it is an address or 0 in the payload case, and a
/// small number in the other cases.
static void find_payload(const struct enumeration *e, struct mirror_cases *cases) {
  if (case_of(e) == 0) {
    int count = find_bits(e, cases->bits, PAYLOAD_BIT_LIMIT);
    if (count <= 0) return;
    if (is_reference_word(e, cases->bits, count, &cases->head.offset)) {
      cases->head.how = LT_MIRROR_PAYLOAD_BY_NO_NUMBER;
      return;
    }
    cases->head.how = LT_MIRROR_PAYLOAD_BY_ZEROS;
    cases->head.bitCount = (uint32_t)count;
    return;
  }
  for (unsigned offset = 0; offset + 8 <= e->size; offset += 8) {
    memcpy(probe + offset, &POINTER, sizeof POINTER);
    bool isPayload = case_of(e) == 0;
    memset(probe + offset, 0, sizeof POINTER);
    if (!isPayload) continue;
    cases->head.how = LT_MIRROR_PAYLOAD_BY_ADDRESS;
    cases->head.offset = offset;
    return;
  }
}

void mirror_find_cases(const struct lt_mirror_library *functions, void *mirror, uint64_t type,
                       struct mirror_cases *cases) {
  cases->head = (struct lt_mirror_cases){.how = LT_MIRROR_CASE_UNKNOWN};
  if (!functions->projectCase) return;
  struct mirror_type_info info = functions->infoForType(mirror, type);
  if (info.size == 0 || info.size > PROBE_LIMIT) return;
  memset(probe, 0, sizeof probe);
  struct enumeration e = {functions, mirror, type, info.size};
  if (info.kind == LT_MIRROR_SINGLE_PAYLOAD_ENUM) find_payload(&e, cases);
  if (info.kind == LT_MIRROR_MULTI_PAYLOAD_ENUM) find_tags(&e, cases);
}
