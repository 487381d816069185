// Derives frames of functions without unwind information from the instructions at their start. Only reads code.
//
// The Swift toolchain's libraries leave .eh_frame out for functions that cannot throw: a third of libswiftCore's.
// Nearly all of them keep a frame pointer. The others push registers and move the stack pointer once, at their very
// beginning. Functions begin at multiples of 16 there, after the end of the last one or the padding after it.

#include "arch/arch.h"
#include "check.h"

#include <string.h>

enum { FUNCTION_ALIGNMENT = 16, SEARCH_LIMIT = 1 << 16 };

/// One PUSH of a 64-bit register at `p`: its size in bytes and the register's DWARF number.
static unsigned push_at(const uint8_t *p, unsigned *reg) {
  static const uint8_t dwarf[8] = {0, 2, 1, 3, 7, 6, 4, 5}; // rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi
  if ((p[0] & 0xf8) == 0x50) {
    *reg = dwarf[p[0] & 7];
    return 1;
  }
  if (p[0] == 0x41 && (p[1] & 0xf8) == 0x50) {
    *reg = 8 + (p[1] & 7u);
    return 2;
  }
  return 0;
}

static bool sets_frame_pointer(const uint8_t *p) {
  return p[0] == 0x48 && ((p[1] == 0x89 && p[2] == 0xe5) || (p[1] == 0x8b && p[2] == 0xec));
}

/// Returns the displacement of LEA rbp, [rsp + disp8], or −1. An async function uses it to set its frame pointer after
/// it pushed rbp and its context.
static int frame_pointer_distance(const uint8_t *p) {
  return p[0] == 0x48 && p[1] == 0x8d && p[2] == 0x6c && p[3] == 0x24 && p[4] < 0x80 ? p[4] : -1;
}

/// True if a NOP of several bytes, or a run of zeros, ends before `p`: padding between functions, not an operand that
/// ends in zero.
static bool is_after_padding(const uint8_t *p) {
  static const struct {
    uint8_t size, bytes[4];
  } nops[] = {{3, {0x0f, 0x1f, 0x00}},
              {4, {0x0f, 0x1f, 0x40, 0x00}},
              {5, {0x0f, 0x1f, 0x44, 0x00}},
              {7, {0x0f, 0x1f, 0x80, 0x00}},
              {8, {0x0f, 0x1f, 0x84, 0x00}}};
  for (unsigned i = 0; i < sizeof nops / sizeof *nops; i++)
    if (memcmp(p - nops[i].size, nops[i].bytes, nops[i].size < 4 ? nops[i].size : 4) == 0) return true;
  for (int i = 1; i <= 8; i++)
    if (p[-i] != 0) return false;
  return true;
}

/// True if control cannot fall through to `p`: a return, a jump, a trap, or padding precedes it.
static bool begins_after_end(const uint8_t *p) {
  return p[-1] == 0xc3 || p[-1] == 0xcc || p[-1] == 0x90 || is_after_padding(p) || (p[-2] == 0x0f && p[-1] == 0x0b) ||
         p[-5] == 0xe9 || p[-2] == 0xeb || (p[-2] == 0xff && (p[-1] & 0xf8) == 0xe0);
}

/// Reads the prologue at `start` up to `end`. False if there is none.
static bool read_prologue(const uint8_t *start, const uint8_t *end, struct lt_unwind_row *row) {
  const uint8_t *p = start;
  int64_t depth = 8; // from the CFA down to the stack pointer
  bool hasFramePointer = false;
  LT_CHECK(start < end);
  memset(row, 0, sizeof *row);
  for (;;) {
    unsigned reg, size = end - p >= 2 ? push_at(p, &reg) : 0;
    if (size) {
      depth += 8;
      // Only registers that a function must preserve count as saved; rax is pushed for alignment.
      if (reg < LT_REG_COUNT && (reg == LT_REG_RBX || reg == LT_REG_RBP || reg >= 12) &&
          row->registers[reg].rule == LT_REGISTER_SAME) {
        row->registers[reg].rule = LT_REGISTER_AT_OFFSET;
        row->registers[reg].offset = -depth;
      }
      p += size;
    } else if (end - p >= 3 && depth == 16 && sets_frame_pointer(p) &&
               row->registers[LT_REG_RBP].rule == LT_REGISTER_AT_OFFSET) {
      hasFramePointer = true;
      p += 3;
    } else if (end - p >= 5 && row->registers[LT_REG_RBP].rule == LT_REGISTER_AT_OFFSET &&
               frame_pointer_distance(p) >= 0 && depth - frame_pointer_distance(p) == 16) {
      hasFramePointer = true;
      p += 5;
    } else if (end - p >= 4 && p[0] == 0x48 && p[1] == 0x83 && p[2] == 0xec) { // SUB rsp, imm8
      depth += (int8_t)p[3];
      p += 4;
    } else if (end - p >= 7 && p[0] == 0x48 && p[1] == 0x81 && p[2] == 0xec) { // SUB rsp, imm32
      int32_t amount;
      memcpy(&amount, p + 3, sizeof amount);
      depth += amount;
      p += 7;
    } else {
      break;
    }
  }
  if (p == start) return false;
  row->cfaRegister = hasFramePointer ? LT_REG_RBP : LT_REG_RSP;
  row->cfaOffset = hasFramePointer ? 16 : depth;
  row->registers[LT_REG_RA].rule = LT_REGISTER_AT_OFFSET;
  row->registers[LT_REG_RA].offset = -8;
  return true;
}

bool lt_prologue_row(uintptr_t address, uintptr_t low, struct lt_unwind_row *row) {
  LT_CHECK(low <= address);
  // The first function after the last one with unwind information; only padding precedes it.
  uintptr_t first = (low + FUNCTION_ALIGNMENT - 1) / FUNCTION_ALIGNMENT * FUNCTION_ALIGNMENT;
  if (address - low > SEARCH_LIMIT) low = address - SEARCH_LIMIT;
  const uint8_t *end = (const uint8_t *)address;
  LT_CHECK(address - low <= SEARCH_LIMIT);
  for (const uint8_t *p = end - 1; (uintptr_t)p >= low; p--) {
    // A function may set up its frame only after an early exit; the bytes that do it hardly occur otherwise.
    bool isFramed =
        p[0] == 0x55 && ((end - p >= 4 && sets_frame_pointer(p + 1)) ||
                         (end - p >= 8 && p[1] == 0x41 && p[2] == 0x56 && frame_pointer_distance(p + 3) >= 0));
    bool isAligned = (uintptr_t)p % FUNCTION_ALIGNMENT == 0 && (uintptr_t)p - low >= 8;
    if ((isFramed || (uintptr_t)p == first || (isAligned && begins_after_end(p))) && read_prologue(p, end, row))
      return true;
  }
  return false;
}
