// Samples of the process's memory, as the recording goes on.

#ifndef LEAKTRACE_MEMORY_SAMPLE_H
#define LEAKTRACE_MEMORY_SAMPLE_H

#include "thread/thread_state.h"

/// Defines the memory in use, if the last time was long enough ago.
void lt_memory_sample(struct lt_thread *thread);

#endif
