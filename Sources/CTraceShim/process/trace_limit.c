#include "process/trace_limit.h"

#include "check.h"
#include "os/process_identity.h"
#include "record/trace_file.h"

/// One thread goes over, once. The size is looked at where chunks are sealed, on a stack of the recorder's own; an
/// image is taken by a hook on the program's stack.
enum { LIMIT_NONE = 0, LIMIT_AHEAD = 1, LIMIT_REACHED = 2, LIMIT_AT_WORK = 3 };

static uint64_t limit;
static _Atomic uint32_t state;
static bool (*goOver)(struct lt_thread *);

void lt_trace_limit_observe(bool (*function)(struct lt_thread *)) { goOver = function; }

void lt_trace_limit_begin(uint64_t bytes) {
  limit = bytes;
  LT_CHECK(!bytes || lt_trace_is_writable());
  atomic_store(&state, bytes && goOver ? LIMIT_AHEAD : LIMIT_NONE);
}

void lt_trace_limit_look(void) {
  uint32_t ahead = LIMIT_AHEAD;
  if (atomic_load_explicit(&state, memory_order_relaxed) != LIMIT_AHEAD || !lt_trace_is_writable() ||
      atomic_load((_Atomic uint64_t *)&lt_trace.status->dataEnd) < limit ||
      !atomic_compare_exchange_strong(&state, &ahead, LIMIT_REACHED))
    return;
  lt_thread_send_to_prepare();
}

void lt_trace_limit_heed(struct lt_thread *t) {
  uint32_t reached = LIMIT_REACHED;
  // A child of vfork shares this memory, and takes no image of it.
  if (atomic_load_explicit(&state, memory_order_relaxed) != LIMIT_REACHED || !lt_identity_is_claimants() ||
      !atomic_compare_exchange_strong(&state, &reached, LIMIT_AT_WORK))
    return;
  LT_CHECK(goOver && t == lt_tls.thread && lt_tls.hookDepth == 1);
  atomic_store(&state, goOver(t) ? LIMIT_NONE : LIMIT_AHEAD);
}
