// x86-64: a thread's registers, and numbers.

#ifndef LEAKTRACE_X86_64_REGISTERS_H
#define LEAKTRACE_X86_64_REGISTERS_H

#include <stdbool.h>
#include <sys/user.h>

struct lt_thread_registers {
  struct user_regs_struct kernel;
};

enum { LT_CALL_SIZE = 2 };

/// EM_X86_64 of <elf.h>.
#define LT_ELF_MACHINE 62
/// AUDIT_ARCH_X86_64 of <linux/audit.h>.
#define LT_AUDIT_ARCHITECTURE 0xC000003Eu

/// `mov $15, %rax; syscall`: glibc's __restore_rt, which has no name in the file.
#define LT_RESTORER_CODE "\x48\xC7\xC0\x0F\x00\x00\x00\x0F\x05"
enum { LT_RESTORER_CALL_OFFSET = 7, LT_RESTORER_IS_KERNELS = false };

#endif
