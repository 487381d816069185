// Facts about this process: its identity, threads, resident size, and its children's resource use.

#ifndef LEAKTRACE_PROCESS_INFO_H
#define LEAKTRACE_PROCESS_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

// --- identity --------------------------------------------------------------------------------------------------------

// Distinguishes the traced process from its children. A child made by vfork shares its memory for a moment. A child
// made by fork has a copy of the memory.
//
// The process ID alone is not enough: the first process of every PID namespace has the ID 1. Variables alone are not
// enough, either: a child that shares the memory reads the traced process's values. So the recorder uses the process
// ID, and a word in memory. The kernel wipes that word in a child with its own copy.

/// Makes the calling process the traced one. False if there is no memory.
bool lt_identity_claim(void);
/// Returns the ID of the process that last called lt_identity_claim, or 0.
pid_t lt_identity_claimant(void);
/// True if the caller is that process. Makes a system call.
bool lt_is_recording_process(void);
/// True if the caller uses the memory of that process. The caller is then that process, or a child that it made by
/// vfork. Such a child has not yet replaced its program or ended.
bool lt_identity_shares_memory(void);

// --- threads ---------------------------------------------------------------------------------------------------------

// Lists the threads of a process in the kernel's order. Uses only the caller's memory, and neither errno nor other
// thread-local memory.

struct lt_thread_list {
  int descriptor;
  long size, at; ///< bytes of the entries in the buffer, and the offset of the next entry
  _Alignas(8) char entries[4096];
};

/// Opens the list. Returns 0 or −errno. After an error, the list must not be closed.
int lt_thread_list_open(struct lt_thread_list *list, pid_t process);
/// Returns the next thread's ID, or 0 after the last. A thread that starts or ends during the listing may be missing.
uint32_t lt_thread_list_next(struct lt_thread_list *list);
void lt_thread_list_close(struct lt_thread_list *list);

/// Reads the beginning of one of the kernel's files about a thread, such as "stat", as text. Returns the length of the
/// text, or −errno.
long lt_read_thread_file(pid_t process, uint32_t thread, const char *name, char *text, size_t size);

/// The most bytes in the path of a file about a thread, such as "/proc/123/task/456/stat".
enum { LT_THREAD_PATH_SIZE = 80 };
/// Writes the path of the directory of a process's threads, and a terminating zero. Returns the address of that zero.
char *lt_put_task_path(char *p, pid_t process);

// --- resident size ---------------------------------------------------------------------------------------------------

/// Returns the process's resident bytes, or 0 if they are unknown. Opens a file in a separate task.
uint64_t lt_resident_size(void);
/// Reads a process's resident bytes from its file `statm`. Stores the part that belongs to files and shared memory in
/// `other`. False if the file cannot be read. Opens the file in the calling task, which must be a separate task or a
/// copy of the process.
bool lt_read_resident_size(const char *path, uint64_t *resident, uint64_t *other);

// --- children --------------------------------------------------------------------------------------------------------

// Hides the resource use of the recorder's own child processes from the host.

/// Waits for one of the recorder's own children, of any kind, as wait4 does. Returns the child's ID, 0 or −errno.
long lt_reap(pid_t child, int options);
/// Adds the resource use of one of the recorder's children. lt_reap does this for the children that it reaps.
void lt_child_usage_note(const struct rusage *usage);
/// Subtracts the recorder's children from the kernel's sums over all children (RUSAGE_CHILDREN). The kernel keeps only
/// one maximum resident size. If the host has had children, this maximum may still belong to a recorder's child.
void lt_child_usage_hide(struct rusage *all);
/// Clears the sums in a child made by fork, which starts without children.
void lt_child_usage_reset(void);

#endif
