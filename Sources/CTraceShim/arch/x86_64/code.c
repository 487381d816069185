// Recognises instructions of x86-64. Pure reads of code.

#include "arch/arch.h"
#include "check.h"

#include <string.h>

bool lt_is_task_entry_call(uintptr_t address) {
  // The runtime loads a task's saved context into r14 and calls its saved function, two neighbouring fields of one
  // object: MOV r14, [register + disp8 + 8] is REX.WR(B) 8B /6 disp8, CALL [register + disp8] is (REX.B) FF /2 disp8.
  // It needs no symbols.
  const uint8_t *p = (const uint8_t *)address;
  if (p[-3] != 0xff || (p[-2] & 0xf8) != 0x50) return false;
  for (int prefix = 0; prefix < 2; prefix++) {
    const uint8_t *move = p - 7 - prefix;
    if (prefix && p[-4] != 0x41) continue;
    if (move[0] == (0x4c | prefix) && move[1] == 0x8b && move[2] == (0x70 | (p[-2] & 7)) &&
        move[3] == (uint8_t)(p[-1] + 8))
      return true;
  }
  return false;
}

bool lt_follows_call(uintptr_t address) {
  const uint8_t *p = (const uint8_t *)address;
  return p[-5] == 0xe8 || (p[-2] == 0xff && (p[-1] & 0x38) == 0x10) || (p[-3] == 0xff && (p[-2] & 0x38) == 0x10);
}

bool lt_code_refers_to(uintptr_t code, uint64_t size, uint64_t address) {
  // Relative to the next instruction, which mostly follows the displacement.
  for (uint64_t i = 0; i + 4 <= size; i++) {
    int32_t displacement;
    memcpy(&displacement, (const void *)(code + i), sizeof displacement);
    if (code + i + 4 + (uint64_t)(int64_t)displacement == address) return true;
  }
  return false;
}

/// Tells whether the bytes are padding that compilers put between functions.
static bool is_padding(const uint8_t *code, size_t count) {
  for (size_t i = 0; i < count;) {
    static const struct {
      uint8_t size, bytes[11];
    } fillers[] = {{1, {0x90}},
                   {1, {0xcc}},
                   {2, {0x66, 0x90}},
                   {3, {0x0f, 0x1f, 0x00}},
                   {4, {0x0f, 0x1f, 0x40, 0x00}},
                   {5, {0x0f, 0x1f, 0x44, 0x00, 0x00}},
                   {6, {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
                   {7, {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00}},
                   {8, {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}},
                   {9, {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}},
                   {10, {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}},
                   {11, {0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}}};
    size_t step = 0;
    for (size_t k = 0; k < sizeof fillers / sizeof *fillers; k++)
      if (memcmp(code + i, fillers[k].bytes, fillers[k].size) == 0) step = fillers[k].size;
    if (!step) return false;
    i += step;
  }
  return true;
}

bool lt_jump_over_empty(uintptr_t function, uintptr_t target, struct lt_jump *jump) {
  enum { JUMP = 5, ALIGNMENT = 16 };
  static const uint8_t marked[] = {0xf3, 0x0f, 0x1e, 0xfa};
  const uint8_t *code = (const uint8_t *)function;
  size_t end = memcmp(code, marked, sizeof marked) == 0 ? sizeof marked : 0;
  if (function % ALIGNMENT || code[end] != 0xc3 || (end + 1 < JUMP && !is_padding(code + end + 1, ALIGNMENT - end - 1)))
    return false;
  int64_t distance = (int64_t)(target - (function + JUMP));
  if (distance != (int32_t)distance) return false;
  *jump = (struct lt_jump){.bytes = {0xe9}, .size = JUMP};
  int32_t displacement = (int32_t)distance;
  memcpy(jump->bytes + 1, &displacement, sizeof displacement);
  LT_CHECK(jump->size <= LT_JUMP_LIMIT);
  return true;
}
