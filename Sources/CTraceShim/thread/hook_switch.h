// The two words by which each hook sees whether to record.

#ifndef LEAKTRACE_HOOK_SWITCH_H
#define LEAKTRACE_HOOK_SWITCH_H

#include <stdatomic.h>
#include <stdint.h>

/// LT_HOOKS_OFF passes every call through. Set by lt_hooks_set.
enum lt_hook_mode { LT_HOOKS_OFF = 0, LT_HOOKS_ON = 1 };
extern _Atomic uint32_t lt_hook_mode __attribute__((visibility("hidden")));
/// The word that hooks ask: the pause switch, in the live file's header once there is one, where another process may
/// set it; while hooks are off, a word that never says LT_SWITCH_RECORD.
extern _Atomic uint32_t *lt_pause_switch __attribute__((visibility("hidden")));

/// Switches hooks on or off.
void lt_hooks_set(enum lt_hook_mode mode);
/// Has hooks that are on ask the pause switch at this place; NULL: there is none.
void lt_hooks_connect(_Atomic uint32_t *pauseSwitch);

#endif
