#include "thread/hook_switch.h"

#include "CTraceFormat.h"
#include "arch/compiler.h"
#include "check.h"

#include <stddef.h>

LT_HOOK_DATA _Atomic uint32_t lt_hook_mode;
static _Atomic uint32_t neverPaused = LT_SWITCH_RECORD, hooksOff = LT_SWITCH_PAUSED;
LT_HOOK_DATA _Atomic uint32_t *lt_pause_switch = &hooksOff;
static _Atomic uint32_t *liveSwitch = &neverPaused;

/// Points the hooks to the word that they are to ask now.
static void connect_switch(void) {
  lt_pause_switch = atomic_load(&lt_hook_mode) == LT_HOOKS_OFF ? &hooksOff : liveSwitch;
  LT_CHECK(lt_pause_switch != NULL);
  LT_CHECK(atomic_load(&hooksOff) == LT_SWITCH_PAUSED && atomic_load(&neverPaused) == LT_SWITCH_RECORD);
}

void lt_hooks_set(enum lt_hook_mode mode) {
  LT_CHECK(mode == LT_HOOKS_OFF || mode == LT_HOOKS_ON);
  atomic_store(&lt_hook_mode, mode);
  connect_switch();
}

void lt_hooks_connect(_Atomic uint32_t *pauseSwitch) {
  liveSwitch = pauseSwitch ? pauseSwitch : &neverPaused;
  connect_switch();
}
