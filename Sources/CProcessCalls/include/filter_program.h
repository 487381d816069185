// Runs seccomp programs: classic BPF that decides about a system call by its number and arguments (seccomp(2),
// linux/filter.h).

#ifndef LEAKTRACE_FILTER_PROGRAM_H
#define LEAKTRACE_FILTER_PROGRAM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>

/// Returns the result of an arithmetic instruction. Shifts by the word's width or more give 0. Division by 0, which the
/// caller must check, ends the program (Linux, kernel/bpf/core.c).
static inline uint32_t lt_filter_calculate(uint16_t code, uint32_t a, uint32_t operand) {
  switch (BPF_OP(code)) {
    case BPF_ADD: return a + operand;
    case BPF_SUB: return a - operand;
    case BPF_MUL: return a * operand;
    case BPF_DIV: return a / operand;
    case BPF_MOD: return a % operand;
    case BPF_OR: return a | operand;
    case BPF_AND: return a & operand;
    case BPF_XOR: return a ^ operand;
    case BPF_LSH: return operand < 32 ? a << operand : 0;
    case BPF_RSH: return operand < 32 ? a >> operand : 0;
    default: return -a; // BPF_NEG
  }
}

static inline int lt_filter_holds(uint16_t code, uint32_t a, uint32_t operand) {
  switch (BPF_OP(code)) {
    case BPF_JEQ: return a == operand;
    case BPF_JGT: return a > operand;
    case BPF_JGE: return a >= operand;
    default: return (a & operand) != 0; // BPF_JSET
  }
}

/// Returns the program's result for a call: a SECCOMP_RET_… value with its data. Returns SECCOMP_RET_KILL_PROCESS if
/// the kernel would reject the program. Linear in `count`, since jumps only lead forward.
static inline uint32_t lt_filter_run(const struct sock_filter *program, unsigned count,
                                     const struct seccomp_data *call) {
  uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {0};
  if (count > BPF_MAXINSNS) return SECCOMP_RET_KILL_PROCESS;
  for (unsigned i = 0; i < count; i++) {
    const struct sock_filter *f = &program[i];
    uint32_t operand = BPF_SRC(f->code) == BPF_X ? x : f->k;
    switch (BPF_CLASS(f->code)) {
      case BPF_LD:
        if (BPF_MODE(f->code) == BPF_IMM) a = f->k;
        else if (BPF_MODE(f->code) == BPF_LEN) a = sizeof *call;
        else if (BPF_MODE(f->code) == BPF_MEM && f->k < BPF_MEMWORDS) a = memory[f->k];
        else if (BPF_MODE(f->code) == BPF_ABS && f->k <= sizeof *call - sizeof a)
          memcpy(&a, (const char *)call + f->k, sizeof a);
        else return SECCOMP_RET_KILL_PROCESS;
        break;
      case BPF_LDX:
        if (BPF_MODE(f->code) == BPF_IMM) x = f->k;
        else if (BPF_MODE(f->code) == BPF_LEN) x = sizeof *call;
        else if (BPF_MODE(f->code) == BPF_MEM && f->k < BPF_MEMWORDS) x = memory[f->k];
        else return SECCOMP_RET_KILL_PROCESS;
        break;
      case BPF_ST:
      case BPF_STX:
        if (f->k >= BPF_MEMWORDS) return SECCOMP_RET_KILL_PROCESS;
        memory[f->k] = BPF_CLASS(f->code) == BPF_ST ? a : x;
        break;
      case BPF_ALU:
        if ((BPF_OP(f->code) == BPF_DIV || BPF_OP(f->code) == BPF_MOD) && operand == 0) return SECCOMP_RET_KILL_THREAD;
        a = lt_filter_calculate(f->code, a, operand);
        break;
      case BPF_JMP:
        // A jump past the end ends the loop.
        i = BPF_OP(f->code) == BPF_JA ? (f->k < count ? i + f->k : count)
                                      : i + (lt_filter_holds(f->code, a, operand) ? f->jt : f->jf);
        break;
      case BPF_RET: return BPF_RVAL(f->code) == BPF_A ? a : f->k;
      default: // BPF_MISC
        if (BPF_MISCOP(f->code) == BPF_TXA) a = x;
        else x = a;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

#endif
