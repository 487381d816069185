// A row's expressions give the values that DWARF 5 defines (section 2.5.1), or are refused. The numbers of the
// operations are those in the header of libdw.

#include "unwind/unwind_table.h"

#include "RecorderTest.h"
#include "UnwindImage.h"

#include <dwarf.h>
#include <string.h>

enum { STACK_LIMIT = 32, REGISTER_VALUE = 1000 };

static struct unwind_words memory = {{0x8877665544332211, 0xfedcba9876543210}};

static struct lt_registers registers_at_start(void) {
  struct lt_registers registers;
  for (unsigned i = 0; i < LT_REG_COUNT; i++) registers.value[i] = REGISTER_VALUE + i;
  return registers;
}

/// Evaluates an expression as the rule for the frame address. False if it is refused.
static bool evaluate(const uint8_t *expression, size_t size, uint64_t *value) {
  struct lt_unwind_row row = {.cfaIsExpression = true, .cfaExpression = expression, .cfaOffset = (int64_t)size};
  row.registers[LT_REG_RETURN].rule = LT_REGISTER_UNDEFINED;
  struct lt_registers registers = registers_at_start();
  if (!lt_unwind_apply(&row, &registers, unwind_words_have, &memory)) return false;
  *value = registers.value[LT_REG_STACK];
  return true;
}

static bool has_value(const uint8_t *expression, size_t size, uint64_t expected) {
  uint64_t value;
  return evaluate(expression, size, &value) && value == expected;
}

static bool is_refused(const uint8_t *expression, size_t size) {
  uint64_t value;
  return !evaluate(expression, size, &value);
}

#define BYTES(...) \
  (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]) { __VA_ARGS__ }
#define EXPECT_VALUE(expected, ...) EXPECT(has_value(BYTES(__VA_ARGS__), (uint64_t)(expected)))
#define EXPECT_REFUSED(...) EXPECT(is_refused(BYTES(__VA_ARGS__)))
#define BYTES_4 0x04, 0x03, 0x02, 0x81
#define BYTES_8 0x08, 0x07, 0x06, 0x05, BYTES_4

/// Appends an operation that pushes the value.
static uint8_t *append_constant(uint8_t *to, uint64_t value) {
  *to = DW_OP_const8u;
  memcpy(to + 1, &value, sizeof value);
  return to + 1 + sizeof value;
}

TEST(constants, "A constant is extended to eight bytes by its type") {
  EXPECT_VALUE(0x8102030405060708, DW_OP_addr, BYTES_8);
  EXPECT_VALUE(0xfe, DW_OP_const1u, 0xfe);
  EXPECT_VALUE(-2, DW_OP_const1s, 0xfe);
  EXPECT_VALUE(0xfe01, DW_OP_const2u, 0x01, 0xfe);
  EXPECT_VALUE(-511, DW_OP_const2s, 0x01, 0xfe);
  EXPECT_VALUE(0x81020304, DW_OP_const4u, BYTES_4);
  EXPECT_VALUE(0xffffffff81020304, DW_OP_const4s, BYTES_4);
  EXPECT_VALUE(0x8102030405060708, DW_OP_const8u, BYTES_8);
  EXPECT_VALUE(0x8102030405060708, DW_OP_const8s, BYTES_8);
  EXPECT_VALUE(0x2000, DW_OP_constu, 0x80, 0x40);
  EXPECT_VALUE(-0x2000, DW_OP_consts, 0x80, 0x40);
  for (uint8_t i = 0; i < 32; i++) EXPECT_VALUE(i, DW_OP_lit0 + i);
}

TEST(registers, "A register's value is pushed, with an offset added or without one") {
  for (uint8_t i = 0; i < LT_REG_NAMED; i++) {
    EXPECT_VALUE(REGISTER_VALUE + i, DW_OP_reg0 + i);
    EXPECT_VALUE(REGISTER_VALUE + i - 3, DW_OP_breg0 + i, 0x7d);
  }
  for (uint8_t i = LT_REG_NAMED; i < 32; i++) {
    EXPECT_REFUSED(DW_OP_reg0 + i);
    EXPECT_REFUSED(DW_OP_breg0 + i, 0);
  }
}

TEST(loads, "Readable memory is loaded, in sizes of at most eight bytes") {
  uint8_t expression[16], *operation = append_constant(expression, (uintptr_t)&memory);
  size_t size = (size_t)(operation + 1 - expression);
  *operation = DW_OP_deref;
  EXPECT(has_value(expression, size, memory.words[0]));
  *operation = DW_OP_deref_size;
  for (uint8_t bytes = 0; bytes < 8; bytes++) {
    operation[1] = bytes;
    EXPECT(has_value(expression, size + 1, memory.words[0] & ((1ull << 8 * bytes) - 1)));
  }
  operation[1] = 8;
  EXPECT(has_value(expression, size + 1, memory.words[0]));
  operation[1] = 9;
  EXPECT(is_refused(expression, size + 1));
  EXPECT_REFUSED(DW_OP_lit0, DW_OP_deref);
  EXPECT_REFUSED(DW_OP_lit0, DW_OP_deref_size, 8);
  EXPECT_REFUSED(DW_OP_lit0, DW_OP_deref, DW_OP_lit1);
}

TEST(stack_operations, "Operations on the stack copy, drop and swap the values on top") {
  EXPECT_VALUE(10, DW_OP_lit5, DW_OP_dup, DW_OP_plus);
  EXPECT_VALUE(5, DW_OP_lit5, DW_OP_lit6, DW_OP_drop);
  EXPECT_VALUE(5, DW_OP_lit5, DW_OP_lit6, DW_OP_over);
  EXPECT_VALUE(1, DW_OP_lit5, DW_OP_lit6, DW_OP_over, DW_OP_minus);
  EXPECT_VALUE(4, DW_OP_lit5, DW_OP_lit6, DW_OP_over, DW_OP_minus, DW_OP_minus);
  EXPECT_VALUE(5, DW_OP_lit5, DW_OP_lit6, DW_OP_swap);
  EXPECT_VALUE(1, DW_OP_lit5, DW_OP_lit6, DW_OP_swap, DW_OP_minus);
  EXPECT_VALUE(5, DW_OP_nop, DW_OP_lit5, DW_OP_nop);
}

TEST(unary_operations, "An operation on one value replaces the value on top") {
  EXPECT_VALUE(-5, DW_OP_lit5, DW_OP_neg);
  EXPECT_VALUE(INT64_MIN, DW_OP_lit1, DW_OP_const1u, 63, DW_OP_shl, DW_OP_neg);
  EXPECT_VALUE(~5ull, DW_OP_lit5, DW_OP_not);
  EXPECT_VALUE(0x2005, DW_OP_lit5, DW_OP_plus_uconst, 0x80, 0x40);
  EXPECT_VALUE(4, DW_OP_lit5, DW_OP_plus_uconst, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
}

TEST(binary_operations, "An operation on two values wraps, and compares signed values") {
  enum { TOP_BIT = 63 };
  const uint64_t lowest = 1ull << TOP_BIT, minusOne = ~0ull;
  const struct {
    uint8_t operation;
    uint64_t second, top, result;
  } cases[] = {
      {DW_OP_and, 0xff0, 0x0ff, 0x0f0},
      {DW_OP_or, 0xff0, 0x0ff, 0xfff},
      {DW_OP_xor, 0xff0, 0x0ff, 0xf0f},
      {DW_OP_plus, minusOne, 3, 2},
      {DW_OP_minus, 2, 3, minusOne},
      {DW_OP_minus, lowest, 1, lowest - 1},
      {DW_OP_mul, 6, 7, 42},
      {DW_OP_mul, lowest, minusOne, lowest},
      {DW_OP_shl, 3, 0, 3},
      {DW_OP_shl, 3, TOP_BIT, lowest},
      {DW_OP_shl, 3, TOP_BIT + 1, 0},
      {DW_OP_shl, 3, minusOne, 0},
      {DW_OP_shr, lowest, TOP_BIT, 1},
      {DW_OP_shr, lowest, TOP_BIT + 1, 0},
      {DW_OP_shr, lowest, minusOne, 0},
      {DW_OP_shra, lowest - 1, TOP_BIT - 1, 1},
      {DW_OP_shra, lowest, 1, 3ull << (TOP_BIT - 1)},
      {DW_OP_shra, lowest, TOP_BIT, minusOne},
      {DW_OP_shra, lowest, TOP_BIT + 1, minusOne},
      {DW_OP_shra, lowest - 1, minusOne, 0},
      {DW_OP_eq, 4, 4, 1},
      {DW_OP_eq, 4, 5, 0},
      {DW_OP_ne, 4, 4, 0},
      {DW_OP_ne, 4, 5, 1},
      {DW_OP_lt, minusOne, 0, 1},
      {DW_OP_lt, 4, 4, 0},
      {DW_OP_lt, 1ull << 40, 1, 0},
      {DW_OP_lt, 1, 1ull << 40, 1},
      {DW_OP_lt, 0, lowest, 0},
      {DW_OP_le, minusOne, 0, 1},
      {DW_OP_le, 4, 4, 1},
      {DW_OP_le, 1ull << 40, 1, 0},
      {DW_OP_le, 1, 1ull << 40, 1},
      {DW_OP_le, 0, lowest, 0},
      {DW_OP_gt, minusOne, 0, 0},
      {DW_OP_gt, 4, 4, 0},
      {DW_OP_gt, 1ull << 40, 1, 1},
      {DW_OP_gt, 1, 1ull << 40, 0},
      {DW_OP_gt, 0, lowest, 1},
      {DW_OP_ge, minusOne, 0, 0},
      {DW_OP_ge, 4, 4, 1},
      {DW_OP_ge, 1ull << 40, 1, 1},
      {DW_OP_ge, 1, 1ull << 40, 0},
      {DW_OP_ge, 0, lowest, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t expression[20], *end = append_constant(append_constant(expression, cases[i].second), cases[i].top);
    *end++ = cases[i].operation;
    EXPECT(has_value(expression, (size_t)(end - expression), cases[i].result));
  }
}

/// The operations that are known in addition to the literals and registers, by the number of values that they need.
static const uint8_t withoutValues[] = {
    DW_OP_addr,    DW_OP_const1u, DW_OP_const1s, DW_OP_const2u, DW_OP_const2s, DW_OP_const4u,
    DW_OP_const4s, DW_OP_const8u, DW_OP_const8s, DW_OP_constu,  DW_OP_consts,  DW_OP_nop,
};
static const uint8_t ofOneValue[] = {
    DW_OP_deref, DW_OP_deref_size, DW_OP_dup, DW_OP_drop, DW_OP_neg, DW_OP_not, DW_OP_plus_uconst,
};
static const uint8_t ofTwoValues[] = {
    DW_OP_over, DW_OP_swap, DW_OP_and, DW_OP_or, DW_OP_xor, DW_OP_plus, DW_OP_minus, DW_OP_mul, DW_OP_shl,
    DW_OP_shr,  DW_OP_shra, DW_OP_eq,  DW_OP_ne, DW_OP_lt,  DW_OP_le,   DW_OP_gt,    DW_OP_ge,
};

TEST(unknown_operations, "An operation that is not known is refused") {
  for (unsigned number = 0; number < 256; number++) {
    if (number >= DW_OP_lit0 && number <= DW_OP_breg31) continue;
    if (memchr(withoutValues, (int)number, sizeof withoutValues)) continue;
    if (memchr(ofOneValue, (int)number, sizeof ofOneValue)) continue;
    if (memchr(ofTwoValues, (int)number, sizeof ofTwoValues)) continue;
    EXPECT_REFUSED(DW_OP_lit1, DW_OP_lit1, DW_OP_lit1, (uint8_t)number, 0, 0);
  }
}

TEST(missing_values, "An operation on values that the stack lacks is refused") {
  EXPECT_REFUSED(DW_OP_nop);
  EXPECT(is_refused((const uint8_t[]){DW_OP_lit0}, 0));
  for (size_t i = 0; i < sizeof ofOneValue; i++) EXPECT_REFUSED(ofOneValue[i], DW_OP_lit1, DW_OP_lit1);
  for (size_t i = 0; i < sizeof ofTwoValues; i++) {
    EXPECT_REFUSED(ofTwoValues[i], DW_OP_lit1, DW_OP_lit1);
    EXPECT_REFUSED(DW_OP_lit1, ofTwoValues[i], DW_OP_lit1);
  }
}

TEST(full_stacks, "An expression may have 32 values on its stack") {
  uint8_t expression[STACK_LIMIT + 2] = {DW_OP_lit7};
  memset(expression + 1, DW_OP_dup, STACK_LIMIT - 1);
  EXPECT(has_value(expression, STACK_LIMIT, 7));
  static const uint8_t onFullStack[] = {DW_OP_nop, DW_OP_drop, DW_OP_swap, DW_OP_and};
  for (size_t i = 0; i < sizeof onFullStack; i++) {
    expression[STACK_LIMIT] = onFullStack[i];
    EXPECT(has_value(expression, STACK_LIMIT + 1, 7));
  }
  static const uint8_t growing[] = {DW_OP_dup, DW_OP_over, DW_OP_lit0, DW_OP_reg0, DW_OP_breg0, DW_OP_const1u};
  for (size_t i = 0; i < sizeof growing; i++) {
    expression[STACK_LIMIT] = growing[i];
    EXPECT(is_refused(expression, STACK_LIMIT + 2));
  }
}

TEST(cut_operands, "An expression that ends in an operand is refused") {
  static const struct {
    uint8_t operation, size;
  } operands[] = {
      {DW_OP_addr, 8},
      {DW_OP_const1u, 1},
      {DW_OP_const1s, 1},
      {DW_OP_const2u, 2},
      {DW_OP_const2s, 2},
      {DW_OP_const4u, 4},
      {DW_OP_const4s, 4},
      {DW_OP_const8u, 8},
      {DW_OP_const8s, 8},
      {DW_OP_constu, 3},
      {DW_OP_consts, 3},
      {DW_OP_breg0, 3},
      {DW_OP_breg0 + LT_REG_NAMED - 1, 3},
      {DW_OP_plus_uconst, 3},
  };
  for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
    uint8_t expression[10] = {DW_OP_lit1, operands[i].operation, 0x81, 0x81, 0x01};
    for (size_t size = 2; size < 2u + operands[i].size; size++) EXPECT(is_refused(expression, size));
    uint64_t value;
    EXPECT(evaluate(expression, 2u + operands[i].size, &value));
  }
  EXPECT_REFUSED(DW_OP_lit1, DW_OP_deref_size);
}

TEST(initial_values, "The expression of a register begins with the frame address on its stack") {
  enum { OTHER = 12 }; // a register without a role on any processor
  static const uint8_t expression[] = {DW_OP_plus_uconst, 8};
  struct lt_saved_register saved = {
      .rule = LT_REGISTER_IS_EXPRESSION, .offset = sizeof expression, .expression = expression};
  struct lt_unwind_row row = {.cfaRegister = LT_REG_CONTEXT};
  row.registers[OTHER] = saved;
  saved.rule = LT_REGISTER_AT_EXPRESSION;
  row.registers[LT_REG_PC] = saved;
  struct lt_registers registers = registers_at_start();
  registers.value[LT_REG_CONTEXT] = (uintptr_t)&memory;
  EXPECT(lt_unwind_apply(&row, &registers, unwind_words_have, &memory));
  EXPECT(registers.value[LT_REG_STACK] == (uintptr_t)&memory);
  EXPECT(registers.value[OTHER] == (uintptr_t)&memory + 8);
  EXPECT(registers.value[LT_REG_PC] == memory.words[1]);
}
