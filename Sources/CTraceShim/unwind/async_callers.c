// The suspended callers of the async function that a task is running.
//
// An async function runs on the stack of whatever thread the concurrency runtime enters it on; its callers are
// suspended, each in an async context on the heap: word 0 the caller's context, word 1 where the caller resumes. A
// function with a frame of its own keeps the address of its context beside the saved frame pointer, one without gets it
// in LT_REG_CONTEXT and mostly keeps it there. Which of the two it is cannot be known for certain, so a context is
// followed only after its whole chain was found readable, leading to code and ending.

#include "unwind/async_callers.h"

#include "check.h"
#include "unwind/stack_memory.h"
#include "unwind/unwind_table.h"

/// Does not ask for unwind information: the concurrency library's own resumptions often have none. A payload's key of a
/// caller was found to be code when it was put there.
static bool looks_like_code(const struct lt_thread *t, uintptr_t address) {
  if (address <= 4096 || address >= LT_FRAME_ADDRESS_MASK) return false;
  uint64_t key = address | LT_FRAME_EXACT | LT_FRAME_ASYNC;
  const struct lt_known_key *known = &t->dictionary[lt_key_index(key)];
  return (known->key == key && known->rule) || lt_unwind_is_code(address);
}

/// A word of a context. Another thread may write it.
static LT_ALWAYS_INLINE uint64_t word(const uint64_t *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }

static LT_ALWAYS_INLINE bool is_as_known(const struct lt_async_entry *known) {
  return word(&known->context[0]) == known->parent && word(&known->context[1]) == known->resume;
}

/// Reads a chain of contexts into the thread's `freshAsync`. Returns the number of its contexts, or 0 if it is none.
///
/// Each word is read once. A task that another thread resumes in the meantime changes its contexts, so that a second
/// reading may lead anywhere. Called only for contexts that were not followed last time; costs a system call for each
/// page that it comes to.
static LT_NOINLINE uint32_t read_chain(struct lt_thread *t, uint64_t context) {
  enum { PAGE = 4096, PAGES = 8 };
  uint64_t pages[PAGES] = {0};
  unsigned next = 0;
  uint32_t depth = 0;
  while (depth < LT_ASYNC_LIMIT) {
    if (context & 15 || context < PAGE || context >= LT_FRAME_ADDRESS_MASK) return 0;
    // Its two words lie in one page; a chain's contexts mostly lie in a few.
    uint64_t page = context & -(uint64_t)PAGE;
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
    // Each context is read only when the one before it, just read, led to it.
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

struct lt_async_change lt_async_callers_update(struct lt_thread *t, uintptr_t returnSlot, bool hasFramePointer,
                                               uint64_t registerValue) {
  uint64_t context = registerValue;
  // Without a frame pointer, the word in that place may be left over from another function.
  if (hasFramePointer && lt_stack_memory_has(t, returnSlot - 16)) context = *(const uint64_t *)(returnSlot - 16);
  if (LT_LIKELY(is_same_chain(t, context))) return (struct lt_async_change){true, t->asyncDepth};
  uint32_t count = read_chain(t, context);
  if (count == 0 && hasFramePointer) count = read_chain(t, registerValue);
  if (count > 0) return follow(t, count);
  t->asyncDepth = 0;
  return (struct lt_async_change){false, 0};
}

bool lt_async_callers_stand(const struct lt_thread *t) {
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
