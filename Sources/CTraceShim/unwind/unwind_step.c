// Steps from a frame to its caller. A step uses a cached rule, the full tables, or an async context.

#include "unwind/unwind_step.h"

#include "check.h"
#include "thread/thread_state.h"
#include "unwind/unwind_table.h"

// --- cached rules ----------------------------------------------------------------------------------------------------

// Derives rules for the step out of a frame from .eh_frame, once for each code address. Calls nothing that allocates or
// locks.

struct lt_cached_rule *lt_rule_cache;
_Atomic uint32_t lt_image_generation = 1;

bool lt_unwind_rules_init(void) {
  if (!lt_rule_cache) lt_rule_cache = lt_map_private((sizeof *lt_rule_cache) << LT_RULE_CACHE_BITS);
  lt_unwind_images_init();
  return lt_rule_cache != NULL;
}

/// Derives a rule from the tables. Runs on the recorder's stack, because a row is large.
static uint64_t read_rule(uintptr_t address) {
  struct lt_unwind_row row;
  if (!lt_unwind_row(address, false, &row)) return LT_RULE_NONE;
  const struct lt_saved_register *returnAddress = &row.registers[LT_REG_RETURN];
  if (returnAddress->rule == LT_REGISTER_UNDEFINED) return LT_RULE_END;
  if (row.isSignalFrame || row.cfaIsExpression || returnAddress->rule != LT_REGISTER_AT_OFFSET) return LT_RULE_FULL;
  if (row.cfaRegister != LT_REG_STACK && row.cfaRegister != LT_REG_FRAME) return LT_RULE_FULL;
  if (row.cfaOffset < 8 || row.cfaOffset % 8 || row.cfaOffset > 0x3fffffff) return LT_RULE_FULL;
  uint64_t slots[2] = {0, 0};
  static const int saved[2] = {LT_REG_FRAME, LT_REG_CONTEXT};
  for (int i = 0; i < 2; i++) {
    unsigned rule = row.registers[saved[i]].rule;
    int64_t offset = row.registers[saved[i]].offset;
    if (rule == LT_REGISTER_SAME) continue;
    if (rule == LT_REGISTER_AT_OFFSET && offset <= LT_FIRST_SAVED && offset % 8 == 0 && offset >= -0xfff * 8)
      slots[i] = (uint64_t)(-offset / 8);
    else if (saved[i] == LT_REG_FRAME) return LT_RULE_FULL;
  }
  // A saved register lies inside its frame. A frame that is found from the frame pointer has saved the frame pointer.
  // If the rows say otherwise, the frame needs the full tables.
  if (row.cfaRegister == LT_REG_STACK ? (int64_t)slots[0] * 8 > row.cfaOffset : !slots[0]) return LT_RULE_FULL;
  if (returnAddress->offset != -(int64_t)lt_return_slot(slots[0] * 8)) return LT_RULE_FULL;
  LT_CHECK(slots[0] <= 0xfff && slots[1] <= 0xfff && slots[0] != 1);
  uint64_t kind = row.isAfterCode && lt_is_task_entry_call(address) ? LT_RULE_RUNNER : LT_RULE_STEP;
  return kind | (uint64_t)(row.cfaRegister == LT_REG_FRAME) << 3 | slots[1] << 4 | slots[0] * 8 << 16 |
         (uint64_t)row.cfaOffset << 32;
}

struct query {
  uintptr_t address;
  uint64_t rule; ///< stays LT_RULE_NONE if there is no stack to read the tables on
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

// --- readable memory -------------------------------------------------------------------------------------------------

// Finds the readable memory around a thread's stack pointer.
//
// The loader and the thread library know where stacks are, but their functions for that allocate. They also do not know
// the stacks of coroutines and signal handlers. So the recorder grows a contiguous range page by page, as walks reach
// it, with one system call for each page. An address in the known range needs only a comparison.

enum { FAR = 1 << 20 };

static bool is_readable_alone(uintptr_t address) { return lt_is_readable(address) && lt_is_readable(address + 8); }

/// True if the known memory consists of whole pages, or is empty.
LT_INVARIANT bool is_known_valid(const struct lt_thread *t) {
  return t->mappedLow <= t->mappedHigh && lt_is_page_aligned(t->mappedLow) && lt_is_page_aligned(t->mappedHigh);
}

LT_NOINLINE bool lt_stack_memory_extend(struct lt_thread *t, uintptr_t address) {
  LT_CHECK(is_known_valid(t));
  uintptr_t page = lt_page_size(), first = lt_page_start(address), last = lt_page_start(address + 15);
  if (first < t->mappedLow && t->mappedLow - first > FAR) return is_readable_alone(address);
  while (first < t->mappedLow) {
    if (!lt_is_readable(t->mappedLow - page)) return false;
    t->mappedLow -= page;
  }
  if (last >= t->mappedHigh && last - t->mappedHigh > FAR) return is_readable_alone(address);
  while (last >= t->mappedHigh) {
    if (!lt_is_readable(t->mappedHigh)) return false;
    t->mappedHigh += page;
  }
  LT_CHECK(is_known_valid(t) && address >= t->mappedLow && address + 16 <= t->mappedHigh);
  return true;
}

LT_NOINLINE void lt_stack_memory_enter(struct lt_thread *t, uintptr_t address) {
  uintptr_t page = lt_page_start(address);
  LT_CHECK(is_known_valid(t));
  // If the address is in connected memory below the known stack, that stack has grown. Otherwise the thread is on a
  // different stack, and the last recorded stack is no longer valid.
  if (t->mappedHigh && page < t->mappedLow && t->mappedLow - page <= FAR && lt_stack_memory_extend(t, page)) return;
  t->mappedLow = page;
  t->mappedHigh = page + lt_page_size();
  t->depth = 0;
  LT_CHECK(is_known_valid(t) && address - t->mappedLow < t->mappedHigh - t->mappedLow);
}

// --- async callers ---------------------------------------------------------------------------------------------------

// Finds the suspended callers of the async function that a task is running.
//
// An async function runs on the stack of the thread where the concurrency runtime enters it. Its callers are suspended.
// Each suspended caller has an async context on the heap. Word 0 is the context of the next outer caller. Word 1 is the
// address where this caller resumes. A function with a frame keeps the address of its context next to the saved frame
// pointer. A function without a frame gets the address in LT_REG_CONTEXT, and mostly keeps it there. The recorder
// cannot know which case applies. So it follows a context only after it has read the whole chain. All contexts must be
// readable and lead to code, and the chain must end or reach LT_ASYNC_LIMIT.

/// True if the address is in an image's code. Does not require unwind information, because the concurrency library's
/// own resume functions often have none. If the payload already has a caller's key for the address, the address was
/// checked before.
static bool looks_like_code(const struct lt_thread *t, uintptr_t address) {
  if (address <= 4096 || address >= LT_FRAME_ADDRESS_MASK) return false;
  uint64_t key = address | LT_FRAME_EXACT | LT_FRAME_ASYNC;
  const struct lt_known_key *known = &t->dictionary[lt_key_index(key)];
  return (known->key == key && known->rule) || lt_unwind_is_code(address);
}

/// Reads a word of a context. Another thread may be writing it.
static LT_ALWAYS_INLINE uint64_t word(const uint64_t *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }

static LT_ALWAYS_INLINE bool is_as_known(const struct lt_async_entry *known) {
  return word(&known->context[0]) == known->parent && word(&known->context[1]) == known->resume;
}

/// Reads a chain of contexts into the thread's `freshAsync`. Returns the number of contexts, or 0 if this is not a
/// valid chain.
///
/// Reads each word only once. If another thread resumes the task at the same time, the contexts change, and a second
/// read might lead anywhere. Called only for chains that differ from the previous capture's. Makes a system call for
/// each page that the chain reaches.
static LT_NOINLINE uint32_t read_chain(struct lt_thread *t, uint64_t context) {
  enum { MIN_ADDRESS = 4096, PAGES = 8 };
  uint64_t pages[PAGES] = {0};
  unsigned next = 0;
  uint32_t depth = 0;
  while (depth < LT_ASYNC_LIMIT) {
    if (context & 15 || context < MIN_ADDRESS || context >= LT_FRAME_ADDRESS_MASK) return 0;
    // The two words of a context lie in one page. Most chains lie in a few pages.
    uint64_t page = lt_page_start(context);
    bool isKnown = false;
    for (unsigned i = 0; i < PAGES; i++) isKnown |= pages[i] == page;
    if (!isKnown) {
      if (!lt_is_readable(context)) return 0;
      pages[next++ % PAGES] = page;
    }
    const uint64_t *words = (const uint64_t *)context;
    uint64_t parent = word(&words[0]), resume = word(&words[1]);
    if (!looks_like_code(t, resume)) return 0;
    t->freshAsync[depth++] = (struct lt_async_entry){words, parent, resume};
    if (parent == 0) break;
    context = parent;
  }
  return depth;
}

static bool is_same_chain(const struct lt_thread *t, uint64_t context) {
  LT_CHECK(t->asyncDepth <= LT_ASYNC_LIMIT);
  for (uint32_t i = 0; i < t->asyncDepth; i++) {
    // A context is read only if the context before it, which was just read, led to it.
    const struct lt_async_entry *known = &t->async[i];
    if ((uint64_t)known->context != context || !is_as_known(known)) return false;
    context = known->parent;
  }
  return t->asyncDepth > 0;
}

/// Makes the first `count` entries of `freshAsync` the thread's callers.
static struct lt_async_change follow(struct lt_thread *t, uint32_t count) {
  const struct lt_async_entry *fresh = t->freshAsync;
  uint32_t kept = 0;
  LT_CHECK(count > 0 && count <= LT_ASYNC_LIMIT);
  while (kept < count && kept < t->asyncDepth &&
         fresh[count - 1 - kept].resume == t->async[t->asyncDepth - 1 - kept].resume)
    kept++;
  for (uint32_t i = 0; i < count; i++) t->async[i] = fresh[i];
  t->asyncDepth = count;
  return (struct lt_async_change){true, kept};
}

struct lt_async_change lt_async_callers_update(struct lt_thread *t, uintptr_t cfa, uint64_t rule,
                                               uint64_t registerValue) {
  uint64_t context = registerValue;
  // The word below the saved frame pointer. If the frame is not found by the frame pointer, the word in this place may
  // be left over from another function.
  bool hasFramePointer = lt_rule_uses_frame_pointer(rule);
  uintptr_t slot = cfa - lt_rule_frame_pointer_slot(rule) - 8;
  if (hasFramePointer && lt_stack_memory_has(t, slot)) context = *(const uint64_t *)slot;
  if (LT_LIKELY(is_same_chain(t, context))) return (struct lt_async_change){true, t->asyncDepth};
  uint32_t count = read_chain(t, context);
  if (count == 0 && hasFramePointer) count = read_chain(t, registerValue);
  if (count > 0) return follow(t, count);
  t->asyncDepth = 0;
  return (struct lt_async_change){false, 0};
}

bool lt_async_callers_are_unchanged(const struct lt_thread *t) {
  LT_CHECK(t->asyncDepth <= LT_ASYNC_LIMIT);
  for (uint32_t i = 0; i < t->asyncDepth; i++) {
    const struct lt_async_entry *known = &t->async[i];
    if (!lt_is_readable((uint64_t)known->context) || !is_as_known(known)) return false;
  }
  return true;
}

struct lt_async_change lt_async_callers_search(struct lt_thread *t, const uint64_t *candidates, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t depth = read_chain(t, candidates[i]);
    if (depth > 0) return follow(t, depth);
  }
  t->asyncDepth = 0;
  return (struct lt_async_change){false, 0};
}

// --- full unwind -----------------------------------------------------------------------------------------------------

// Unwinds whole stacks with the full unwind tables. Calls nothing that allocates or locks.

/// Always true: every frame of the recorder is readable, on any stack.
static bool is_own_frame(void *unused, uintptr_t address) {
  (void)unused;
  (void)address;
  return true;
}

static bool is_readable(void *thread, uintptr_t address) { return lt_stack_memory_has(thread, address); }

/// Finds the registers of the hook's caller. Starts in this function, and steps out to the hook's caller.
static LT_NOINLINE bool caller_registers(const uintptr_t *hookFrame, struct lt_registers *registers) {
  lt_read_registers(registers);
  for (int i = 0; i < 24; i++) {
    struct lt_unwind_row row;
    bool isHook = registers->value[LT_REG_FRAME] == (uint64_t)hookFrame;
    if (!lt_unwind_row(registers->value[LT_REG_PC], i == 0, &row)) return false;
    if (!lt_unwind_apply(&row, registers, is_own_frame, NULL)) return false;
    if (isHook) return true;
  }
  return false;
}

static bool step_out_of(struct lt_thread *t, bool (*isPassed)(uintptr_t), struct lt_registers *registers) {
  enum { LIMIT = 64 };
  for (int i = 0; i < LIMIT && isPassed(registers->value[LT_REG_PC]); i++) {
    struct lt_unwind_row row;
    uint64_t before = registers->value[LT_REG_STACK];
    if (!lt_unwind_row(registers->value[LT_REG_PC], false, &row) || !lt_unwind_apply(&row, registers, is_readable, t))
      return false;
    if (registers->value[LT_REG_STACK] <= before) return false;
  }
  return registers->value[LT_REG_PC] != 0;
}

/// The arguments and the result of an unwind on another stack.
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
  struct stepping_out stepping = {.thread = t, .isPassed = isPassed, .result = result};
  uintptr_t start = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)7;
  lt_stack_memory_enter(t, start);
  LT_CHECK(start % 8 == 0 && size > 0);
  for (uintptr_t slot = start; slot < start + FAR && is_readable(t, slot); slot += 8) {
    uintptr_t word = lt_code_address(*(const uintptr_t *)slot);
    if (word <= function || word > function + size) continue;
    *result = (struct lt_registers){.value[LT_REG_STACK] = slot + 8, .value[LT_REG_PC] = word};
    // How far the callee's frame reaches above the slot is unknown. But a compiler that describes frames by the stack
    // pointer puts the record at the lower end of a frame (GCC 14 on arm64).
    if (LT_RECORDS_FRAMES) result->value[LT_REG_FRAME] = result->value[LT_REG_STACK] = *(const uintptr_t *)(slot - 8);
    return lt_on_own_stack(step_out_of_call, &stepping) && stepping.isFound;
  }
  return false;
}

/// The registers at the call that entered a task's code.
struct task_entry {
  struct lt_registers runner; ///< in the function of the concurrency runtime; LT_REG_PC is 0 if there is none
  struct lt_registers inside; ///< in the task's outermost function
};

/// Unwinds from the given registers to the end of the stack. With `task`, stops at the concurrency runtime's call into
/// a task's code.
static void walk(struct lt_thread *t, struct lt_registers *registers, struct lt_full_stack *stack,
                 struct task_entry *task) {
  bool isExact = false;
  struct lt_registers inner = *registers;
  LT_CHECK(stack->keys && stack->count <= stack->capacity);
  while (registers->value[LT_REG_PC]) {
    uintptr_t address = registers->value[LT_REG_PC];
    struct lt_unwind_row row;
    bool isFound = lt_unwind_row(address, isExact, &row);
    if (!isFound && !isExact) {
      // The return address that leads to a signal trampoline may be the first byte of the trampoline's unwind
      // information.
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
    if (!isExact && registers->value[LT_REG_STACK] <= inner.value[LT_REG_STACK] && registers->value[LT_REG_PC]) {
      stack->isIncomplete = true; // a stack that does not grow outwards would be unwound forever
      return;
    }
  }
}

static void unwind_whole(struct lt_thread *t, const uintptr_t *hookFrame, struct lt_full_stack *stack) {
  struct lt_registers registers;
  struct task_entry task = {.runner.value[LT_REG_PC] = 0};
  if (!caller_registers(hookFrame, &registers)) {
    stack->isIncomplete = true;
    return;
  }
  walk(t, &registers, stack, &task);
  if (!task.runner.value[LT_REG_PC]) return;
  uint64_t rule = 0;
  if (stack->count)
    rule = lt_rule_for(stack->keys[stack->count - 1] & LT_FRAME_ADDRESS_MASK, atomic_load(&lt_image_generation));
  struct lt_async_change async =
      lt_async_callers_update(t, task.runner.value[LT_REG_STACK], rule, task.runner.value[LT_REG_CONTEXT]);
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

void lt_full_unwind(struct lt_thread *t, struct lt_hook_frame hookFrame, struct lt_full_stack *stack) {
  struct whole_stack whole = {t, hookFrame.record, stack};
  LT_CHECK(stack->keys && stack->capacity > 0);
  stack->count = 0;
  stack->isIncomplete = stack->isTruncated = false;
  if (!lt_on_own_stack(unwind, &whole)) stack->isIncomplete = true;
  LT_CHECK(stack->count <= stack->capacity);
}
