// arm64: a thread's registers, and numbers.

#ifndef LEAKTRACE_AARCH64_REGISTERS_H
#define LEAKTRACE_AARCH64_REGISTERS_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

struct lt_thread_registers {
  struct user_regs_struct kernel; ///< x0 to x30, sp, pc, pstate
};

enum { LT_CALL_SIZE = 4 };

/// Bits of the processor state that code at the start of a function or after a system call does not expect: the kind of
/// the last branch, an illegal state, and a single step.
#define LT_UNEXPECTED_STATE (3ull << 10 | 1ull << 20 | 1ull << 21)

/// EM_AARCH64 of <elf.h>.
#define LT_ELF_MACHINE 183
/// AUDIT_ARCH_AARCH64 of <linux/audit.h>.
#define LT_AUDIT_ARCHITECTURE 0xC00000B7u

/// `mov x8, #139; svc #0`: __kernel_rt_sigreturn of the kernel's vDSO.
#define LT_RESTORER_CODE "\x68\x11\x80\xD2\x01\x00\x00\xD4"
enum { LT_RESTORER_CALL_OFFSET = 4, LT_RESTORER_IS_KERNELS = true };

/// Changes the registers of a call that only the stop has ended with EINTR, so that the thread repeats the call.
/// Returns false if there is no such call.
bool lt_rewind_own_call(pid_t thread, struct user_regs_struct *registers);
/// Reads or writes one of the kernel's sets of a stopped thread's registers. False if the kernel refuses.
bool lt_transfer_registers(long request, pid_t thread, unsigned set, void *data, size_t size);

#endif
