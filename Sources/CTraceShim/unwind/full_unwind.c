// Whole stacks by the full unwind tables. Calls nothing that allocates or locks.

#include "unwind/full_unwind.h"

#include "check.h"
#include "thread/own_stack.h"
#include "unwind/async_callers.h"
#include "unwind/stack_memory.h"
#include "unwind/unwind_rules.h"
#include "unwind/unwind_table.h"

/// Every frame of the recorder's own is readable, on any stack.
static bool is_own_frame(void *unused, uintptr_t address) {
  (void)unused;
  (void)address;
  return true;
}

static bool is_readable(void *thread, uintptr_t address) { return lt_stack_memory_has(thread, address); }

/// Finds the registers of the hook's caller: begins in this function and steps out to it.
static LT_NOINLINE bool caller_registers(const uintptr_t *hookFrame, struct lt_registers *registers) {
  lt_read_registers(registers);
  for (int i = 0; i < 24; i++) {
    struct lt_unwind_row row;
    bool isHook = registers->value[LT_REG_FRAME] == (uint64_t)hookFrame;
    if (!lt_unwind_row(registers->value[LT_REG_RA], i == 0, &row)) return false;
    if (!lt_unwind_apply(&row, registers, is_own_frame, NULL)) return false;
    if (isHook) return true;
  }
  return false;
}

static bool step_out_of(struct lt_thread *t, bool (*isPassed)(uintptr_t), struct lt_registers *registers) {
  enum { LIMIT = 64 };
  for (int i = 0; i < LIMIT && isPassed(registers->value[LT_REG_RA]); i++) {
    struct lt_unwind_row row;
    uint64_t before = registers->value[LT_REG_STACK];
    if (!lt_unwind_row(registers->value[LT_REG_RA], false, &row) || !lt_unwind_apply(&row, registers, is_readable, t))
      return false;
    if (registers->value[LT_REG_STACK] <= before) return false;
  }
  return registers->value[LT_REG_RA] != 0;
}

/// The arguments and the result of a step out, while on another stack.
struct stepping_out {
  struct lt_thread *thread;
  const uintptr_t *hookFrame;
  bool (*isPassed)(uintptr_t);
  struct lt_registers *result;
  bool isFound;
};

static void step_out_of_hook(void *stepping) {
  struct stepping_out *s = stepping;
  s->isFound = caller_registers(s->hookFrame, s->result) && step_out_of(s->thread, s->isPassed, s->result);
}

static void step_out_of_call(void *stepping) {
  struct stepping_out *s = stepping;
  s->isFound = step_out_of(s->thread, s->isPassed, s->result);
}

bool lt_unwind_out_of(struct lt_thread *t, const uintptr_t *hookFrame, bool (*isPassed)(uintptr_t),
                      struct lt_registers *result) {
  struct stepping_out stepping = {t, hookFrame, isPassed, result, false};
  lt_stack_memory_enter(t, (uintptr_t)hookFrame);
  return lt_on_own_stack(step_out_of_hook, &stepping) && stepping.isFound;
}

bool lt_unwind_from_call(struct lt_thread *t, uintptr_t function, size_t size, bool (*isPassed)(uintptr_t),
                         struct lt_registers *result) {
  enum { FAR = 1 << 16 };
  struct stepping_out stepping = {t, NULL, isPassed, result, false};
  uintptr_t start = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)7;
  lt_stack_memory_enter(t, start);
  LT_CHECK(start % 8 == 0 && size > 0);
  for (uintptr_t slot = start; slot < start + FAR && is_readable(t, slot); slot += 8) {
    uintptr_t word = *(const uintptr_t *)slot;
    if (word <= function || word > function + size) continue;
    *result = (struct lt_registers){.value[LT_REG_STACK] = slot + 8, .value[LT_REG_RA] = word};
    return lt_on_own_stack(step_out_of_call, &stepping) && stepping.isFound;
  }
  return false;
}

/// The call with which the concurrency runtime entered a task's code.
struct task_entry {
  struct lt_registers runner; ///< in the runtime's function; LT_REG_RA 0 if there is none
  struct lt_registers inside; ///< in the task's outermost function
};

/// Unwinds from the given registers to the end of the stack. With `task`, stops at the concurrency runtime's call into
/// a task's code.
static void walk(struct lt_thread *t, struct lt_registers *registers, struct lt_full_stack *stack,
                 struct task_entry *task) {
  bool isExact = false;
  struct lt_registers inner = *registers;
  LT_CHECK(stack->keys && stack->count <= stack->capacity);
  while (registers->value[LT_REG_RA]) {
    uintptr_t address = registers->value[LT_REG_RA];
    struct lt_unwind_row row;
    bool isFound = lt_unwind_row(address, isExact, &row);
    if (!isFound && !isExact) {
      // The return address of a signal trampoline may be the first byte of its description.
      isFound = lt_unwind_row(address, true, &row) && row.isSignalFrame;
    }
    if (task && isFound && !isExact && row.isAfterCode && lt_is_task_entry_call(address)) {
      *task = (struct task_entry){.runner = *registers, .inside = inner};
      return;
    }
    if (stack->count >= stack->capacity) {
      stack->isTruncated = true;
      return;
    }
    LT_CHECK(address == (address & LT_FRAME_ADDRESS_MASK) || !isFound);
    stack->keys[stack->count++] = address | (isExact ? LT_FRAME_EXACT : 0);
    inner = *registers;
    if (!isFound || !lt_unwind_apply(&row, registers, is_readable, t)) {
      stack->isIncomplete = true;
      return;
    }
    isExact = row.isSignalFrame;
    if (!isExact && registers->value[LT_REG_STACK] <= inner.value[LT_REG_STACK] && registers->value[LT_REG_RA]) {
      stack->isIncomplete = true; // a stack that does not grow outwards would be walked for ever
      return;
    }
  }
}

static void unwind_whole(struct lt_thread *t, const uintptr_t *hookFrame, struct lt_full_stack *stack) {
  struct lt_registers registers;
  struct task_entry task = {.runner.value[LT_REG_RA] = 0};
  if (!caller_registers(hookFrame, &registers)) {
    stack->isIncomplete = true;
    return;
  }
  walk(t, &registers, stack, &task);
  if (!task.runner.value[LT_REG_RA]) return;
  bool hasFramePointer = false;
  if (stack->count) {
    uint64_t rule =
        lt_rule_for(stack->keys[stack->count - 1] & LT_FRAME_ADDRESS_MASK, atomic_load(&lt_image_generation));
    hasFramePointer = lt_rule_uses_frame_pointer(rule);
  }
  struct lt_async_change async = lt_async_callers_update(t, task.runner.value[LT_REG_STACK] - 8, hasFramePointer,
                                                         task.runner.value[LT_REG_CONTEXT]);
  if (!async.isFound) {
    // An optimised function without a frame pointer may have moved its context to another register that calls preserve.
    uint64_t others[LT_CONTEXT_REFUGES];
    for (int i = 0; i < LT_CONTEXT_REFUGES; i++) others[i] = task.inside.value[lt_context_refuges[i]];
    async = lt_async_callers_search(t, others, LT_CONTEXT_REFUGES);
  }
  if (async.isFound) {
    LT_CHECK(t->asyncDepth > 0 && async.kept <= t->asyncDepth);
    for (uint32_t i = 0; i < t->asyncDepth && stack->count < stack->capacity; i++)
      stack->keys[stack->count++] = lt_async_key(t, i);
  } else {
    walk(t, &task.runner, stack, NULL);
  }
}

struct whole_stack {
  struct lt_thread *thread;
  const uintptr_t *hookFrame;
  struct lt_full_stack *stack;
};

static void unwind(void *whole) {
  const struct whole_stack *w = whole;
  unwind_whole(w->thread, w->hookFrame, w->stack);
}

void lt_full_unwind(struct lt_thread *t, const uintptr_t *hookFrame, struct lt_full_stack *stack) {
  struct whole_stack whole = {t, hookFrame, stack};
  LT_CHECK(stack->keys && stack->capacity > 0);
  stack->count = 0;
  stack->isIncomplete = stack->isTruncated = false;
  if (!lt_on_own_stack(unwind, &whole)) stack->isIncomplete = true;
  LT_CHECK(stack->count <= stack->capacity);
}
