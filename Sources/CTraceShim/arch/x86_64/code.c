// Recognises x86-64 instructions and the starts of functions. Only reads code.

#ifdef __x86_64__

#include "arch/arch.h"
#include "check.h"

#include <string.h>

// --- instructions ----------------------------------------------------------------------------------------------------

// Recognises single instructions. Only reads code.

bool lt_is_task_entry_call(uintptr_t address) {
  // The runtime loads a task's saved context into r14 and calls its saved function. Both are neighbouring fields of one
  // object. MOV r14, [register + disp8 + 8] is REX.WR(B) 8B /6 disp8. CALL [register + disp8] is (REX.B) FF /2 disp8.
  // This test needs no symbols.
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

bool lt_signal_return_row(uintptr_t address, uintptr_t end, struct lt_unwind_row *row) {
  (void)address, (void)end, (void)row;
  return false; // the C library describes it
}

bool lt_follows_call(uintptr_t address) {
  const uint8_t *p = (const uint8_t *)address;
  return p[-5] == 0xe8 || (p[-2] == 0xff && (p[-1] & 0x38) == 0x10) || (p[-3] == 0xff && (p[-2] & 0x38) == 0x10);
}

bool lt_code_refers_to(uintptr_t code, uint64_t size, uint64_t address) {
  // The displacement is relative to the next instruction, which mostly follows the displacement directly.
  for (uint64_t i = 0; i + 4 <= size; i++) {
    int32_t displacement;
    memcpy(&displacement, (const void *)(code + i), sizeof displacement);
    if (code + i + 4 + (uint64_t)(int64_t)displacement == address) return true;
  }
  return false;
}

/// True if the bytes are padding that compilers put between functions.
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

// --- beginnings of functions -----------------------------------------------------------------------------------------

// Derives the frames of functions without unwind information from the instructions at the functions' start. Only reads
// code.
//
// The Swift toolchain's libraries omit .eh_frame for functions that cannot throw. In libswiftCore, these are a third of
// all functions. Nearly all of these functions keep a frame pointer. The others push registers and change the stack
// pointer once, at their very start. In these libraries, functions start at multiples of 16. The end of the previous
// function, or padding, precedes the start.

enum { FUNCTION_ALIGNMENT = 16, SEARCH_LIMIT = 1 << 16 };

/// Decodes one PUSH of a 64-bit register at `p`. Returns its size in bytes, or 0, and the register's DWARF number in
/// `reg`.
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

/// Returns the displacement of LEA rbp, [rsp + disp8], or −1 for another instruction. An async function sets its frame
/// pointer with this LEA, after it pushed rbp and its context.
static int frame_pointer_distance(const uint8_t *p) {
  return p[0] == 0x48 && p[1] == 0x8d && p[2] == 0x6c && p[3] == 0x24 && p[4] < 0x80 ? p[4] : -1;
}

/// True if padding between functions ends before `p`: a NOP of several bytes, or eight zero bytes. Fewer zeros may
/// belong to an operand.
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

/// Reads the prologue that starts at `start`, up to `end`. False if there is none.
static bool read_prologue(const uint8_t *start, const uint8_t *end, struct lt_unwind_row *row) {
  const uint8_t *p = start;
  int64_t depth = 8; // bytes from the CFA down to the stack pointer
  bool hasFramePointer = false;
  LT_CHECK(start < end);
  memset(row, 0, sizeof *row);
  for (;;) {
    unsigned reg, size = end - p >= 2 ? push_at(p, &reg) : 0;
    if (size) {
      depth += 8;
      // Only registers that calls preserve count as saved: compilers push rax only for alignment.
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
  row->registers[LT_REG_PC].rule = LT_REGISTER_AT_OFFSET;
  row->registers[LT_REG_PC].offset = -8;
  return true;
}

bool lt_prologue_row(uintptr_t address, uintptr_t low, struct lt_unwind_row *row) {
  LT_CHECK(low <= address);
  // The first place where a function can start after the nearest function with unwind information.
  uintptr_t first = (low + FUNCTION_ALIGNMENT - 1) / FUNCTION_ALIGNMENT * FUNCTION_ALIGNMENT;
  if (address - low > SEARCH_LIMIT) low = address - SEARCH_LIMIT;
  const uint8_t *end = (const uint8_t *)address;
  LT_CHECK(address - low <= SEARCH_LIMIT);
  for (const uint8_t *p = end - 1; (uintptr_t)p >= low; p--) {
    // A function may set up its frame only after an early exit. The bytes of that setup hardly occur elsewhere.
    bool isFramed =
        p[0] == 0x55 && ((end - p >= 4 && sets_frame_pointer(p + 1)) ||
                         (end - p >= 8 && p[1] == 0x41 && p[2] == 0x56 && frame_pointer_distance(p + 3) >= 0));
    bool isAligned = (uintptr_t)p % FUNCTION_ALIGNMENT == 0 && (uintptr_t)p - low >= 8;
    if ((isFramed || (uintptr_t)p == first || (isAligned && begins_after_end(p))) && read_prologue(p, end, row))
      return true;
  }
  return false;
}

#endif
