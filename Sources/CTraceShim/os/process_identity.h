// Tells the traced process from a child that shares its memory for a moment (vfork), and from one that has a copy of it
// (fork).
//
// A number does not do: the first process of any PID namespace has the number 1, and a child that shares the memory has
// the traced process's words in all that it reads. So there is a word in memory that the kernel wipes for a child with
// memory of its own, besides the number.

#ifndef LEAKTRACE_PROCESS_IDENTITY_H
#define LEAKTRACE_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

/// Makes the calling process the traced one. False if there is no memory.
bool lt_identity_claim(void);
/// Returns the process that claimed last; 0 if none did.
pid_t lt_identity_claimant(void);
/// Tells whether the caller is that process. Costs a system call.
bool lt_identity_is_claimants(void);
/// Tells whether the caller has the memory of that process: as that process, or as its child until the child replaces
/// its program or ends.
bool lt_identity_shares_memory(void);

#endif
