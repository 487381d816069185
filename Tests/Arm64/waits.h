// The kinds of waits that the threads of `waits` repeat.

#ifndef LEAKTRACE_WAITS_H
#define LEAKTRACE_WAITS_H

#include <stdbool.h>

enum wait_kind {
  WAIT_SLEEP,
  WAIT_FUTEX_TIMED,
  WAIT_FUTEX,
  WAIT_READ,
  WAIT_PPOLL,
  WAIT_EPOLL,
  WAIT_COMPUTE,
  WAIT_REGISTERS,
  WAIT_KINDS
};

/// The names of the functions that wait, without "wait_".
#define WAIT_NAMES "sleep", "futex_timed", "futex", "read", "ppoll", "epoll", "compute", "registers"

#endif
