// Reads .eh_frame: how to get from one frame to its caller. Pure reads of mapped memory; no locks, no allocation.

#ifndef LEAKTRACE_UNWIND_TABLE_H
#define LEAKTRACE_UNWIND_TABLE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/// DWARF register numbers of x86-64.
enum { LT_REG_RBX = 3, LT_REG_RBP = 6, LT_REG_RSP = 7, LT_REG_R14 = 14, LT_REG_RA = 16, LT_REG_COUNT = 17 };

enum lt_register_rule {
  LT_RULE_SAME = 0, ///< unchanged, or nothing said
  LT_RULE_UNDEFINED,
  LT_RULE_OFFSET, ///< saved at CFA + offset
  LT_RULE_VALUE_OFFSET, ///< is CFA + offset
  LT_RULE_REGISTER,
  LT_RULE_EXPRESSION, ///< saved at the address an expression gives
  LT_RULE_VALUE_EXPRESSION,
};

/// Where the caller's value of a register is.
struct lt_saved_register {
  uint8_t rule; ///< lt_register_rule
  int64_t offset; ///< of an expression: its length
  const uint8_t *expression;
};

struct lt_unwind_row {
  uint8_t cfaRegister;
  bool cfaIsExpression;
  bool isSignalFrame;
  bool isAfterCode; ///< the eight bytes before the address can be read
  int64_t cfaOffset; ///< of an expression: its length
  const uint8_t *cfaExpression;
  struct lt_saved_register registers[LT_REG_COUNT];
};

/// An image as it is mapped. Nothing outside of its segments is read.
struct lt_unwind_image {
  uintptr_t bias;
  const ElfW(Phdr) *segments; ///< program headers, of any kind
  uint32_t segmentCount;
  uintptr_t searchTable; ///< .eh_frame_hdr; 0 if there is none
  bool endsUndescribed;  ///< code without a description is where a stack begins, as in the loader
};

/// Finds the row for a code address. `isExact`: the address itself, not the call before it.
/// False when no image covers it or the image has no rule for it.
bool lt_unwind_row(uintptr_t address, bool isExact, struct lt_unwind_row *row);
/// The same in one image, whatever stands in it.
bool lt_unwind_row_in(const struct lt_unwind_image *image, uintptr_t address, bool isExact, struct lt_unwind_row *row);

/// Whether the address is in a part of an image that is there to be executed.
bool lt_unwind_is_code(uintptr_t address);

/// Registers of a frame that is being unwound.
struct lt_registers {
  uint64_t value[LT_REG_COUNT]; ///< LT_REG_RA: the address being executed
};

/// Moves `registers` to the caller by `row`. False at a rule that cannot be followed or at unreadable memory.
/// `isReadable` is asked before any address outside what the caller vouches for is read.
bool lt_unwind_apply(const struct lt_unwind_row *row, struct lt_registers *registers, bool (*isReadable)(void *context, uintptr_t address),
                     void *context);

/// Prepares the lookup of images; once, before any other call here.
void lt_unwind_table_init(void);

#endif
