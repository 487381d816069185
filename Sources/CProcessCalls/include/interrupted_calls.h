// System calls that end early when a tracer stops the thread.

#ifndef LEAKTRACE_INTERRUPTED_CALLS_H
#define LEAKTRACE_INTERRUPTED_CALLS_H

#include <asm/unistd.h>
#include <stdbool.h>

/// Results that make the kernel restart a call after a stop. Only a tracer sees them (Linux, include/linux/errno.h).
enum { LT_RESTART = 512, LT_RESTART_NO_INTERRUPT = 513, LT_RESTART_NO_HANDLER = 514, LT_RESTART_BLOCK = 516 };

/// True for waits that the kernel does not restart by itself if only a tracer has interrupted them: they would return
/// EINTR to the program. A call that returned EINTR has had no effect, so it can be repeated (Linux 6.18:
/// fs/eventpoll.c, ipc/sem.c, kernel/signal.c, fs/aio.c, io_uring/io_uring.c, sock_intr_errno).
static inline bool lt_call_is_repeatable(long call) {
  switch (call) {
    case __NR_epoll_wait:
    case __NR_epoll_pwait:
    case __NR_epoll_pwait2:
    case __NR_semop:
    case __NR_semtimedop:
    case __NR_rt_sigtimedwait:
    case __NR_io_getevents:
    case __NR_io_pgetevents:
    case __NR_io_uring_enter:
    case __NR_recvfrom:
    case __NR_recvmsg:
    case __NR_recvmmsg:
    case __NR_sendto:
    case __NR_sendmsg:
    case __NR_sendmmsg:
    case __NR_connect: // a repeated call continues the connection that was begun (net/ipv4/af_inet.c)
    case __NR_accept:
    case __NR_accept4:
    case __NR_read:
    case __NR_readv:
    case __NR_write:
    case __NR_writev: return true;
    default: return false;
  }
}

#endif
