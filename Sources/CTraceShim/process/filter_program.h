// Programs of seccomp: classic BPF that decides over a system call by its number and arguments (seccomp(2),
// linux/filter.h).

#ifndef LEAKTRACE_FILTER_PROGRAM_H
#define LEAKTRACE_FILTER_PROGRAM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

/// The program's result for a call: a SECCOMP_RET_ value with its data. SECCOMP_RET_KILL_PROCESS for a program that the
/// kernel would not take. Linear in `count`: jumps lead forward only.
uint32_t lt_filter_run(const struct sock_filter *program, unsigned count, const struct seccomp_data *call);

#endif
