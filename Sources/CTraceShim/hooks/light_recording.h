// Samples calls of the allocator: what hooks do with a call that a sample may be in.

#ifndef LEAKTRACE_LIGHT_RECORDING_H
#define LEAKTRACE_LIGHT_RECORDING_H

#include "sampling/sampled_blocks.h"
#include "thread/thread_state.h"

/// Bytes from one sample to the next, on average; 0: all calls are recorded instead. Set once, before hooks are on or
/// when the trace has reached its limit.
extern uint64_t lt_sample_period __attribute__((visibility("hidden")));

/// Tells whether an allocation can pass, since no byte of it is sampled. Never true while all calls are recorded.
static LT_ALWAYS_INLINE bool lt_passes_samples(size_t size) {
  if (LT_LIKELY(lt_subtract(&lt_tls.untilSample, size))) return true;
  lt_tls.untilSample += size;
  return false;
}

/// Takes in an allocation that does not pass. `frame`: of the hook.
LT_NOINLINE void lt_light_allocated(void *block, size_t size, const uintptr_t *frame);
/// Takes in the free of a block that is marked, before it happens.
LT_NOINLINE void lt_light_freed(void *block);

/// Takes back the free of a block, whose realloc has failed.
LT_NOINLINE void lt_light_restored(void *block, const struct lt_sampled_block *sample);

/// Prepares, when the settings are known. False without memory.
bool lt_light_begin(void);
/// In a child made by fork: completes what another thread of the parent was in the middle of.
void lt_light_after_fork(void);
/// Lets calls pass from now on: the allocator next in line is known.
void lt_light_open(void);

#endif
