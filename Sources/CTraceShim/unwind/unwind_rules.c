// Rules for stepping out of a frame, worked out from .eh_frame once per code address. Calls nothing that allocates or
// locks.

#include "unwind/unwind_rules.h"

#include "check.h"
#include "thread/own_stack.h"
#include "unwind/unwind_table.h"

struct lt_cached_rule *lt_rule_cache;
_Atomic uint32_t lt_image_generation = 1;

bool lt_unwind_rules_init(void) {
  if (!lt_rule_cache) lt_rule_cache = lt_map_private((sizeof *lt_rule_cache) << LT_RULE_CACHE_BITS);
  lt_unwind_images_init();
  return lt_rule_cache != NULL;
}

/// The tables are read with rows of rules at hand, which are large.
static uint64_t read_rule(uintptr_t address) {
  struct lt_unwind_row row;
  if (!lt_unwind_row(address, false, &row)) return LT_RULE_NONE;
  unsigned ra = row.registers[LT_REG_RA].rule;
  if (ra == LT_REGISTER_UNDEFINED) return LT_RULE_END;
  if (row.isSignalFrame || row.cfaIsExpression || ra != LT_REGISTER_AT_OFFSET || row.registers[LT_REG_RA].offset != -8)
    return LT_RULE_FULL;
  if (row.cfaRegister != LT_REG_STACK && row.cfaRegister != LT_REG_FRAME) return LT_RULE_FULL;
  if (row.cfaOffset < 8 || row.cfaOffset % 8 || row.cfaOffset > 0x3fffffff) return LT_RULE_FULL;
  uint64_t slots[2] = {0, 0};
  static const int saved[2] = {LT_REG_FRAME, LT_REG_CONTEXT};
  for (int i = 0; i < 2; i++) {
    unsigned rule = row.registers[saved[i]].rule;
    int64_t offset = row.registers[saved[i]].offset;
    if (rule == LT_REGISTER_SAME) continue;
    if (rule == LT_REGISTER_AT_OFFSET && offset <= -16 && offset % 8 == 0 && offset >= -0xfff * 8)
      slots[i] = (uint64_t)(-offset / 8);
    else if (saved[i] == LT_REG_FRAME) return LT_RULE_FULL;
  }
  // A saved register lies inside its frame, and a frame that is found from the frame pointer has saved that. Only the
  // walk can say where those lie.
  if (row.cfaRegister == LT_REG_STACK ? (int64_t)slots[0] * 8 > row.cfaOffset : !slots[0]) return LT_RULE_FULL;
  LT_CHECK(slots[0] <= 0xfff && slots[1] <= 0xfff && slots[0] != 1 && slots[1] != 1);
  uint64_t kind = row.isAfterCode && lt_is_task_entry_call(address) ? LT_RULE_RUNNER : LT_RULE_STEP;
  return kind | (uint64_t)(row.cfaRegister == LT_REG_FRAME) << 3 | slots[1] << 4 | slots[0] * 8 << 16 |
         (uint64_t)row.cfaOffset << 32;
}

struct query {
  uintptr_t address;
  uint64_t rule; ///< LT_RULE_NONE where there is no stack to look at the tables on
};

static void work_out(void *query) { ((struct query *)query)->rule = read_rule(((struct query *)query)->address); }

LT_NOINLINE uint64_t lt_rule_find(uintptr_t address, uint32_t generation) { return lt_rule_for(address, generation); }

LT_NOINLINE uint64_t lt_rule_make(uintptr_t address, struct lt_cached_rule *entry, uint64_t tag) {
  LT_CHECK(entry >= lt_rule_cache && entry < lt_rule_cache + (1 << LT_RULE_CACHE_BITS));
  struct query query = {address, LT_RULE_NONE};
  if (!lt_on_own_stack(work_out, &query)) return LT_RULE_NONE;
  uint64_t rule = query.rule;
  LT_CHECK(lt_rule_is_valid(rule) && rule >> 63 == 0);
  atomic_store_explicit(&entry->rule, rule, memory_order_relaxed);
  atomic_store_explicit(&entry->check, tag ^ rule, memory_order_relaxed);
  return rule;
}
