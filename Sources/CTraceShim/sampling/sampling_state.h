// Whether samples are taken.

#ifndef LEAKTRACE_SAMPLING_STATE_H
#define LEAKTRACE_SAMPLING_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

/// Samples are taken instead of events: from the beginning, or since the trace has reached its limit. Set before the
/// first event is skipped. So a copy of the process where this is not set has all events.
extern _Atomic bool lt_is_sampling __attribute__((visibility("hidden")));

#endif
