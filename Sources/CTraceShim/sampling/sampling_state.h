// Whether samples are taken.

#ifndef LEAKTRACE_SAMPLING_STATE_H
#define LEAKTRACE_SAMPLING_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

/// Samples are taken in the place of events: from the beginning, or since the trace has reached its limit. Set before
/// the first event is left out, so that a copy of the process in which it is not set has all events.
extern _Atomic bool lt_is_sampling __attribute__((visibility("hidden")));

#endif
