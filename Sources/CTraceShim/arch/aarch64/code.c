// Recognises arm64 instructions and the starts of functions. Only reads code.

#ifdef __aarch64__

#include "arch/arch.h"
#include "check.h"

#include <string.h>

// --- instructions ----------------------------------------------------------------------------------------------------

// Recognises single instructions by the fields of the Arm Architecture Reference Manual, "A64 instruction set
// encoding". Only reads code.

enum { INSTRUCTION = 4 };

static uint32_t instruction_at(uintptr_t address) {
  uint32_t instruction;
  memcpy(&instruction, (const void *)address, sizeof instruction);
  return instruction;
}

/// Returns the bits of a field, which begins at bit `low`.
static uint32_t field(uint32_t instruction, unsigned low, unsigned count) {
  return instruction >> low & ((1u << count) - 1);
}

/// Returns a field as a signed number.
static int64_t signed_field(uint32_t instruction, unsigned low, unsigned count) {
  return (int64_t)((uint64_t)field(instruction, low, count) << (64 - count)) >> (64 - count);
}

static bool is_call_through_register(uint32_t i) { return (i & 0xFFFFFC1F) == 0xD63F0000; } // BLR

bool lt_is_task_entry_call(uintptr_t address) {
  // The runtime loads a task's saved context into x22 and calls its saved function. Both are neighbouring fields of one
  // object: LDP function, x22, [object, #offset]; BLR function. This test needs no symbols.
  uint32_t call = instruction_at(address - 4), load = instruction_at(address - 8);
  if (!is_call_through_register(call)) return false;
  bool isPair = (load & 0xFFC00000) == 0xA9400000; // LDP of 64-bit registers, signed offset
  return isPair && field(load, 10, 5) == LT_REG_CONTEXT && field(load, 0, 5) == field(call, 5, 5);
}

bool lt_follows_call(uintptr_t address) {
  uint32_t i = instruction_at(address - 4);
  return (i & 0xFC000000) == 0x94000000 || is_call_through_register(i) || // BL
         (i & 0xFEFFF800) == 0xD63F0800;                                  // BLRAA and its siblings
}

bool lt_code_refers_to(uintptr_t code, uint64_t size, uint64_t address) {
  enum { PAGE = 4096 }; // of ADRP, whatever the kernel's pages are
  for (uintptr_t at = (code + 3) & ~(uintptr_t)3; at + INSTRUCTION <= code + size; at += INSTRUCTION) {
    uint32_t i = instruction_at(at);
    int64_t distance = (int64_t)((uint64_t)signed_field(i, 5, 19) << 2 | field(i, 29, 2));
    if ((i & 0x9F000000) == 0x90000000 &&
        (at & -(uintptr_t)PAGE) + ((uint64_t)distance << 12) == (address & -(uint64_t)PAGE))
      return true;                                                                         // ADRP
    if ((i & 0x9F000000) == 0x10000000 && at + (uint64_t)distance == address) return true; // ADR
    bool isLoad = (i & 0x3B000000) == 0x18000000;                                          // LDR of a near word
    if (isLoad && at + ((uint64_t)signed_field(i, 5, 19) << 2) == address) return true;
  }
  return false;
}

bool lt_signal_return_row(uintptr_t address, uintptr_t end, struct lt_unwind_row *row) {
  // MOV x8, #139 (rt_sigreturn); SVC #0. The stack pointer is at the kernel's record: 128 bytes of siginfo_t, and a
  // ucontext_t with x0 to x30, sp and pc from byte 184 on (Linux, arch/arm64/include/uapi/asm/sigcontext.h).
  enum { RECORD = 128, REGISTERS = 184, MOVE = 0xD2801168, CALL = 0xD4000001 };
  if (address % INSTRUCTION || end < address || end - address < 2 * INSTRUCTION) return false;
  if (instruction_at(address) != (uint32_t)MOVE || instruction_at(address + INSTRUCTION) != (uint32_t)CALL)
    return false;
  row->isSignalFrame = true;
  row->cfaRegister = LT_REG_SP;
  row->cfaOffset = 0;
  for (int i = LT_REG_X0; i <= LT_REG_PC; i++)
    row->registers[i] = (struct lt_saved_register){.rule = LT_REGISTER_AT_OFFSET, .offset = RECORD + REGISTERS + 8 * i};
  return true;
}

bool lt_jump_over_empty(uintptr_t function, uintptr_t target, struct lt_jump *jump) {
  enum : uint32_t { LANDING = 0xD503245F, RETURN = 0xD65F03C0, BRANCH = 0x14000000 }; // BTI c, RET, B
  if (function % INSTRUCTION) return false;
  bool hasLanding = instruction_at(function) == LANDING;
  uintptr_t at = function + (hasLanding ? INSTRUCTION : 0);
  int64_t distance = (int64_t)(target - at);
  if (instruction_at(at) != RETURN || distance % INSTRUCTION || distance >= 1 << 27 || distance < -(1 << 27))
    return false;
  uint32_t code[2] = {LANDING, LANDING};
  code[hasLanding] = BRANCH | ((uint32_t)(distance / INSTRUCTION) & 0x3FFFFFF);
  *jump = (struct lt_jump){.size = (hasLanding + 1u) * INSTRUCTION};
  memcpy(jump->bytes, code, jump->size);
  LT_CHECK(jump->size <= LT_JUMP_LIMIT);
  return true;
}

// --- beginnings of functions -----------------------------------------------------------------------------------------

// Derives the frames of functions without unwind information from the instructions that set up a frame record. Only
// reads code.
//
// The Swift toolchain's libraries omit .eh_frame for functions that cannot throw. A function that calls others keeps a
// frame record, and sets x29 once, near its start. Only CFA and stack pointer depend on how far the stack pointer has
// moved by then. Other instructions may lie in between, but no branch.

enum { SEARCH_LIMIT = 1 << 16, PROLOGUE_LIMIT = 32 };

/// Returns how many bytes an instruction moves the stack pointer down, or 0.
static int64_t stack_move(uint32_t i) {
  if ((i & 0xFF8003FF) == 0xD10003FF) // SUB sp, sp, #immediate
    return (int64_t)field(i, 10, 12) << (field(i, 22, 1) ? 12 : 0);
  if ((i & 0xFFC003E0) == 0xA98003E0 || (i & 0xFFC003E0) == 0x6D8003E0) // STP x or d, [sp, #immediate]!
    return -signed_field(i, 15, 7) * 8;
  if ((i & 0xFFE00FE0) == 0xF8000FE0 || (i & 0xFFE00FE0) == 0xFC000FE0) // STR x or d, [sp, #immediate]!
    return -signed_field(i, 12, 9);
  return 0;
}

/// True for a branch, a return, a trap, or a word that is no instruction. It lies before the function, or ends its
/// beginning.
static bool is_end(uint32_t i) {
  return ((i & 0x1C000000) == 0x14000000 && i != 0xD503233F && i != 0xD503237F && (i & 0xFFFFFF3F) != 0xD503241F &&
          i != 0xD503201F) // PACIASP, PACIBSP, BTI, NOP
         || (i & 0xFFFF0000) == 0;
}

/// Returns the distance of ADD x29, sp, #immediate, or of MOV x29, sp. Returns −1 for another instruction.
static int64_t frame_pointer_distance(uint32_t i) {
  return (i & 0xFFC003FF) == 0x910003FD ? (int64_t)field(i, 10, 12) : -1;
}

bool lt_prologue_row(uintptr_t address, uintptr_t low, struct lt_unwind_row *row) {
  LT_CHECK(low <= address);
  if (address - low > SEARCH_LIMIT) low = address - SEARCH_LIMIT;
  low = (low + 3) & ~(uintptr_t)3;
  for (uintptr_t at = (address - 1) & ~(uintptr_t)3; at >= low + INSTRUCTION; at -= INSTRUCTION) {
    int64_t distance = frame_pointer_distance(instruction_at(at)), moved = 0;
    if (distance < 0) continue;
    for (uintptr_t step = at; step > low && at - step < PROLOGUE_LIMIT * INSTRUCTION; step -= INSTRUCTION) {
      uint32_t before = instruction_at(step - INSTRUCTION);
      if (is_end(before)) break;
      moved += stack_move(before);
    }
    if (moved < distance + 16) return false;
    memset(row->registers, 0, sizeof row->registers);
    row->cfaRegister = LT_REG_FRAME;
    row->cfaOffset = moved - distance;
    row->registers[LT_REG_FRAME] =
        (struct lt_saved_register){.rule = LT_REGISTER_AT_OFFSET, .offset = distance - moved};
    row->registers[LT_REG_RETURN] =
        (struct lt_saved_register){.rule = LT_REGISTER_AT_OFFSET, .offset = distance - moved + 8};
    return true;
  }
  return false;
}

#endif
