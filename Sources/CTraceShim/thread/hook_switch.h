// The two words that each hook checks before it records.

#ifndef LEAKTRACE_HOOK_SWITCH_H
#define LEAKTRACE_HOOK_SWITCH_H

#include <stdatomic.h>
#include <stdint.h>

/// LT_HOOKS_OFF passes every call through. Set by lt_hooks_set.
enum lt_hook_mode { LT_HOOKS_OFF = 0, LT_HOOKS_ON = 1 };
extern _Atomic uint32_t lt_hook_mode __attribute__((visibility("hidden")));
/// The word that hooks check. It is the pause switch: in the live file's header once there is one, where another
/// process may set it. While hooks are off, it is a word that never says LT_SWITCH_RECORD.
extern _Atomic uint32_t *lt_pause_switch __attribute__((visibility("hidden")));

/// Switches hooks on or off.
void lt_hooks_set(enum lt_hook_mode mode);
/// Makes hooks that are on check the pause switch at this address; NULL: there is none.
void lt_hooks_connect(_Atomic uint32_t *pauseSwitch);

#endif
