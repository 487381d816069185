// Runs a program under a filter of system calls that lets one call fail with EPERM.
// Usage: confines ptrace|readv|swapon PROGRAM …

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count < 3) return 64;
  static const struct {
    const char *name;
    unsigned number;
  } calls[] = {{"ptrace", SYS_ptrace}, {"readv", SYS_process_vm_readv}, {"swapon", SYS_swapon}};
  unsigned call = SYS_swapon;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(arguments[1], calls[i].name) == 0) call = calls[i].number;
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    perror("confines");
    return 1;
  }
  execvp(arguments[2], arguments + 2);
  perror(arguments[2]);
  return 127;
}
