// Facts about this process: its identity, its threads, its resident size, and what its children used.

#ifndef LEAKTRACE_PROCESS_INFO_H
#define LEAKTRACE_PROCESS_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

// --- identity --------------------------------------------------------------------------------------------------------

// Tells the traced process from a child that shares its memory for a moment (vfork), and from one that has a copy of it
// (fork).
//
// A number does not do: the first process of any PID namespace has the number 1, and a child that shares the memory has
// the traced process's words in all that it reads. So there is a word in memory that the kernel wipes for a child with
// memory of its own, besides the number.

/// Makes the calling process the traced one. False if there is no memory.
bool lt_identity_claim(void);
/// Returns the process that claimed last; 0 if none did.
pid_t lt_identity_claimant(void);
/// Tells whether the caller is that process. Costs a system call.
bool lt_identity_is_claimants(void);
/// Tells whether the caller has the memory of that process: as that process, or as its child until the child replaces
/// its program or ends.
bool lt_identity_shares_memory(void);

// --- threads ---------------------------------------------------------------------------------------------------------

// The threads of a process, as the kernel lists them. Uses only the caller's memory, and neither errno nor other
// thread-local memory.

struct lt_thread_list {
  int descriptor;
  long size, at; ///< of the entries in the buffer, and the next one's offset
  _Alignas(8) char entries[4096];
};

/// Opens the list. Returns 0, or −errno; then there is nothing to close.
int lt_thread_list_open(struct lt_thread_list *list, pid_t process);
/// Returns the next thread's number; 0 after the last. Threads that begin or end during the reading may be listed or
/// not.
uint32_t lt_thread_list_next(struct lt_thread_list *list);
void lt_thread_list_close(struct lt_thread_list *list);

/// Reads the beginning of one of the kernel's files about a thread, such as "stat", as text. Returns its length, or
/// −errno.
long lt_read_thread_file(pid_t process, uint32_t thread, const char *name, char *text, size_t size);

/// Most bytes of the path of a file about a thread, such as "/proc/123/task/456/stat".
enum { LT_THREAD_PATH_SIZE = 80 };
/// Writes the path of the directory of a process's threads, and a zero after it. Returns the address of that zero.
char *lt_put_task_path(char *p, pid_t process);

// --- resident size ---------------------------------------------------------------------------------------------------

/// Resident bytes of the process; 0 when unknown. Opens a file, apart.
uint64_t lt_resident_size(void);
/// Reads a process's resident bytes from its file `statm`, and how many of them are of files and shared memory. False
/// if the kernel does not say. Opens the file in the calling task: apart, or in a copy.
bool lt_read_resident_size(const char *path, uint64_t *resident, uint64_t *other);

// --- children --------------------------------------------------------------------------------------------------------

// Hides from the host what its records of resource use say of the recorder's own child processes.

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
