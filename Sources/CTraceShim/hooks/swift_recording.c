#include "hooks/swift_recording.h"

LT_HOOK_DATA uint8_t lt_arc_mode;
