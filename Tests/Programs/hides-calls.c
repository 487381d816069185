// Hides a feature of the kernel from a command: hides-calls FEATURE COMMAND ARGUMENTS…
// Each feature is a system call, or one of its commands, that fails as it does on a kernel without it.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ANY = -1, NUMBER_RSEQ = 334, NUMBER_CLONE3 = 435, NUMBER_CLOSE_RANGE = 436 };

static const struct feature {
  const char *name;
  int number;   // of the system call
  int argument; // the one that chooses a command, from 0, or ANY
  unsigned first, last;
  int error;
} features[] = {
    {"restartable-sequences", NUMBER_RSEQ, ANY, 0, 0, ENOSYS},
    {"guard-pages", SYS_madvise, 2, 102, 103, EINVAL},           // MADV_GUARD_INSTALL and _REMOVE, Linux 6.13
    {"page-scan", SYS_ioctl, 1, 0xc0606610, 0xc0606610, ENOTTY}, // PAGEMAP_SCAN, Linux 6.7
    {"clone3", NUMBER_CLONE3, ANY, 0, 0, ENOSYS},                // Linux 5.3
    {"close-range", NUMBER_CLOSE_RANGE, ANY, 0, 0, ENOSYS},      // Linux 5.9
};

int main(int count, char **arguments) {
  if (count < 3) return 64;
  for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
    const struct feature *f = &features[i];
    if (strcmp(f->name, arguments[1]) != 0) continue;
    unsigned place = offsetof(struct seccomp_data, args) + 8 * (unsigned)(f->argument == ANY ? 0 : f->argument);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)f->number, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, f->argument == ANY ? 0 : f->first, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, f->argument == ANY ? ~0u : f->last, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)f->error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
      perror("hides-calls");
      return 1;
    }
    execvp(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 1;
  }
  fprintf(stderr, "hides-calls: no such feature: %s\n", arguments[1]);
  return 64;
}
