// Follows a row of the unwind tables: from a frame's registers to its caller's. Pure reads of memory that was asked
// for.
// Source: DWARF 5, sections 2.5 and 6.4.

#include "check.h"
#include "unwind/unwind_table.h"

#include "unwind/dwarf_reading.h"

enum { EXPRESSION_STACK = 32 };

static bool load(uintptr_t address, unsigned size, bool (*isReadable)(void *, uintptr_t), void *context,
                 uint64_t *value) {
  LT_CHECK(size <= sizeof *value);
  if (!isReadable(context, address)) return false;
  *value = 0;
  memcpy(value, (const void *)address, size);
  return true;
}

static bool evaluate(const uint8_t *expression, int64_t length, const struct lt_registers *registers, bool hasInitial,
                     uint64_t initial, bool (*isReadable)(void *, uintptr_t), void *context, uint64_t *result) {
  uint64_t stack[EXPRESSION_STACK];
  int top = 0;
  LT_CHECK(expression && length >= 0);
  struct lt_dwarf_reader reader = {.next = expression, .end = expression + length}, *p = &reader;
  if (hasInitial) stack[top++] = initial;
#define NEED(n)                  \
  do {                           \
    if (top < (n)) return false; \
  } while (0)
#define ROOM()                                 \
  do {                                         \
    if (top >= EXPRESSION_STACK) return false; \
  } while (0)
  while (p->next < p->end) {
    LT_CHECK(top >= 0 && top <= EXPRESSION_STACK);
    uint8_t op = read_byte(p);
    if (op >= 0x30 && op <= 0x4f) {
      ROOM();
      stack[top++] = op - 0x30u;
      continue;
    }                               // lit0…31
    if (op >= 0x50 && op <= 0x6f) { // reg0…31
      if (op - 0x50 >= LT_REG_COUNT) return false;
      ROOM();
      stack[top++] = registers->value[op - 0x50];
      continue;
    }
    if (op >= 0x70 && op <= 0x8f) { // breg0…31
      if (op - 0x70 >= LT_REG_COUNT) return false;
      ROOM();
      stack[top++] = registers->value[op - 0x70] + (uint64_t)read_sleb(p);
      continue;
    }
    switch (op) {
      case 0x03:
        ROOM();
        stack[top++] = read_fixed(p, 8);
        break; // addr
      // deref
      case 0x06:
        NEED(1);
        if (!load(stack[top - 1], 8, isReadable, context, &stack[top - 1])) return false;
        break;
      case 0x94: { // deref_size
        NEED(1);
        uint8_t size = read_byte(p);
        if (size > 8 || !load(stack[top - 1], size, isReadable, context, &stack[top - 1])) return false;
        break;
      }
      case 0x08:
        ROOM();
        stack[top++] = read_byte(p);
        break;
      case 0x09:
        ROOM();
        stack[top++] = (uint64_t)(int64_t)(int8_t)read_byte(p);
        break;
      case 0x0a:
        ROOM();
        stack[top++] = read_fixed(p, 2);
        break;
      case 0x0b:
        ROOM();
        stack[top++] = (uint64_t)(int64_t)(int16_t)read_fixed(p, 2);
        break;
      case 0x0c:
        ROOM();
        stack[top++] = read_fixed(p, 4);
        break;
      case 0x0d:
        ROOM();
        stack[top++] = (uint64_t)(int64_t)(int32_t)read_fixed(p, 4);
        break;
      case 0x0e:
      case 0x0f:
        ROOM();
        stack[top++] = read_fixed(p, 8);
        break;
      case 0x10:
        ROOM();
        stack[top++] = read_uleb(p);
        break;
      case 0x11:
        ROOM();
        stack[top++] = (uint64_t)read_sleb(p);
        break;
      case 0x12:
        NEED(1);
        ROOM();
        stack[top] = stack[top - 1];
        top++;
        break; // dup
      case 0x13:
        NEED(1);
        top--;
        break; // drop
      case 0x14:
        NEED(2);
        ROOM();
        stack[top] = stack[top - 2];
        top++;
        break; // over
      case 0x16: {
        NEED(2);
        uint64_t t = stack[top - 1];
        stack[top - 1] = stack[top - 2];
        stack[top - 2] = t;
        break;
      } // swap
      case 0x1a:
        NEED(2);
        top--;
        stack[top - 1] &= stack[top];
        break;
      case 0x1c:
        NEED(2);
        top--;
        stack[top - 1] -= stack[top];
        break;
      case 0x1e:
        NEED(2);
        top--;
        stack[top - 1] *= stack[top];
        break;
      case 0x1f:
        NEED(1);
        stack[top - 1] = 0 - stack[top - 1];
        break;
      case 0x20:
        NEED(1);
        stack[top - 1] = ~stack[top - 1];
        break;
      case 0x21:
        NEED(2);
        top--;
        stack[top - 1] |= stack[top];
        break;
      case 0x22:
        NEED(2);
        top--;
        stack[top - 1] += stack[top];
        break;
      case 0x23:
        NEED(1);
        stack[top - 1] += read_uleb(p);
        break; // plus_uconst
      case 0x24:
        NEED(2);
        top--;
        stack[top - 1] = stack[top] < 64 ? stack[top - 1] << stack[top] : 0;
        break;
      case 0x25:
        NEED(2);
        top--;
        stack[top - 1] = stack[top] < 64 ? stack[top - 1] >> stack[top] : 0;
        break;
      case 0x26:
        NEED(2);
        top--;
        stack[top - 1] = (uint64_t)((int64_t)stack[top - 1] >> (stack[top] < 63 ? stack[top] : 63));
        break;
      case 0x27:
        NEED(2);
        top--;
        stack[top - 1] ^= stack[top];
        break;
      case 0x29:
        NEED(2);
        top--;
        stack[top - 1] = stack[top - 1] == stack[top];
        break;
      case 0x2a:
        NEED(2);
        top--;
        stack[top - 1] = (int64_t)stack[top - 1] >= (int64_t)stack[top];
        break;
      case 0x2b:
        NEED(2);
        top--;
        stack[top - 1] = (int64_t)stack[top - 1] > (int64_t)stack[top];
        break;
      case 0x2c:
        NEED(2);
        top--;
        stack[top - 1] = (int64_t)stack[top - 1] <= (int64_t)stack[top];
        break;
      case 0x2d:
        NEED(2);
        top--;
        stack[top - 1] = (int64_t)stack[top - 1] < (int64_t)stack[top];
        break;
      case 0x2e:
        NEED(2);
        top--;
        stack[top - 1] = stack[top - 1] != stack[top];
        break;
      case 0x96: break; // nop
      default: return false;
    }
  }
#undef NEED
#undef ROOM
  if (top < 1 || p->isShort) return false;
  *result = stack[top - 1];
  return true;
}

bool lt_unwind_apply(const struct lt_unwind_row *row, struct lt_registers *registers,
                     bool (*isReadable)(void *context, uintptr_t address), void *context) {
  uint64_t cfa;
  if (row->cfaIsExpression) {
    if (!evaluate(row->cfaExpression, row->cfaOffset, registers, false, 0, isReadable, context, &cfa)) return false;
  } else {
    if (row->cfaRegister >= LT_REG_COUNT) return false;
    cfa = registers->value[row->cfaRegister] + (uint64_t)row->cfaOffset;
  }
  struct lt_registers next = *registers;
  next.value[LT_REG_STACK] = cfa;
  LT_CHECK(lt_unwind_row_is_valid(row));
  for (int r = 0; r < LT_REG_COUNT; r++) {
    uint64_t address;
    switch (row->registers[r].rule) {
      case LT_REGISTER_SAME: break;
      case LT_REGISTER_UNDEFINED: next.value[r] = 0; break;
      case LT_REGISTER_AT_OFFSET:
        if (!load(cfa + (uint64_t)row->registers[r].offset, 8, isReadable, context, &next.value[r])) return false;
        break;
      case LT_REGISTER_IS_OFFSET: next.value[r] = cfa + (uint64_t)row->registers[r].offset; break;
      case LT_REGISTER_IN_REGISTER:
        if (row->registers[r].offset < 0 || row->registers[r].offset >= LT_REG_COUNT) return false;
        next.value[r] = registers->value[row->registers[r].offset];
        break;
      case LT_REGISTER_AT_EXPRESSION:
        if (!evaluate(row->registers[r].expression, row->registers[r].offset, registers, true, cfa, isReadable, context,
                      &address))
          return false;
        if (!load(address, 8, isReadable, context, &next.value[r])) return false;
        break;
      case LT_REGISTER_IS_EXPRESSION:
        if (!evaluate(row->registers[r].expression, row->registers[r].offset, registers, true, cfa, isReadable, context,
                      &next.value[r]))
          return false;
        break;
    }
  }
  if (row->registers[LT_REG_RA].rule == LT_REGISTER_UNDEFINED) next.value[LT_REG_RA] = 0;
  else if (row->registers[LT_REG_RA].rule == LT_REGISTER_SAME) return false;
  *registers = next;
  return true;
}
