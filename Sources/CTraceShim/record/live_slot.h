// Sizes of a thread's slot in the live file.

#ifndef LEAKTRACE_LIVE_SLOT_H
#define LEAKTRACE_LIVE_SLOT_H

enum { LT_SLOT_SIZE = 128 << 10, LT_SLOT_DEFINITIONS = 16 << 10 };

#endif
