// Hides from the host what its records of resource use say of the recorder's own child processes.

#ifndef LEAKTRACE_CHILD_USAGE_H
#define LEAKTRACE_CHILD_USAGE_H

#include <sys/resource.h>
#include <sys/types.h>

/// Waits for a child of the recorder's own, of any kind, as wait4 does. Returns its number, 0 or −errno.
long lt_reap(pid_t child, int options);
/// Notes the use of a child of the recorder's that was waited for in another way.
void lt_child_usage_note(const struct rusage *usage);
/// Subtracts the recorder's children from the kernel's sums over all children (RUSAGE_CHILDREN). The kernel keeps one
/// largest resident size. Where the host has had children, it may belong to a child of the recorder.
void lt_child_usage_hide(struct rusage *all);
/// In a child made by fork, which begins without children.
void lt_child_usage_reset(void);

#endif
