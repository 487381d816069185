// System calls, numbers as text, and memory for the first calls of the allocator.

#ifndef LEAKTRACE_OS_H
#define LEAKTRACE_OS_H

#include "arch/arch.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

// --- system calls ----------------------------------------------------------------------------------------------------

// The operating system calls that the recorder makes in several places. Other calls are made where they are needed, by
// lt_syscall.
//
// Calls go straight to the kernel: they leave errno unchanged, are no cancellation points, and cannot be interposed by
// another preloaded library. Results are the kernel's: a negative value is −errno.

/// Private zeroed memory, or NULL. Pages become resident when touched.
void *lt_map_private(size_t size);
/// Private zeroed memory that a child made by fork sees zeroed, too. NULL where the kernel cannot (before 4.14).
void *lt_map_wiped_on_fork(size_t size);
/// `size` bytes of the file at `offset`, shared. A child made by fork does not have the mapping. NULL on failure.
void *lt_map_file(int descriptor, uint64_t offset, size_t size);
/// The first `size` bytes of the file, private and read-only.
void *lt_map_file_read_only(int descriptor, size_t size);
void lt_unmap(void *address, size_t size);
/// Makes pages read-only, or writable too. They keep their contents. False if the kernel refuses.
bool lt_protect(void *address, size_t size, bool isWritable);
/// Private zeroed memory that stays shared with processes made by fork. NULL on failure.
void *lt_map_shared(size_t size);

/// Notes a mapping as one that the functions above gave out.
void lt_note_own(void *address, size_t size);

/// The start of this library's image, set by the linker.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
/// True if an address is in this library's image.
static inline bool lt_is_own_address(uintptr_t address) {
  return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)_end;
}

/// A piece of memory that is the recorder's own.
struct lt_own_range {
  uintptr_t start, end;
};
/// Copies at most `limit` ranges, in no order: ranges that the functions above gave out and that are still mapped, and
/// the ranges of this library's image.
uint32_t lt_own_ranges(struct lt_own_range *ranges, uint32_t limit);

int lt_open(const char *path, int flags, mode_t mode);
void lt_close(int descriptor);
/// Gives up this process's share of the descriptor table that CLONE_FILES left to it, and then has none open. Otherwise
/// the descriptors would stay open as long as this process lives: a lock would be held, a port taken, and a peer would
/// not see that a connection was closed.
void lt_leave_descriptors(void);
long lt_read(int descriptor, void *buffer, size_t size);
/// Writes all of it, past interruptions. Returns 0 or −errno.
int lt_write_all(int descriptor, const void *buffer, size_t size);
/// Writes all of it at `offset`. Returns 0 or −errno.
int lt_pwrite_all(int descriptor, const void *buffer, size_t size, uint64_t offset);
int lt_fstat(int descriptor, struct stat *result);
int lt_unlink(const char *path);
/// Makes the range of the file have storage, so that writing to its mapping cannot fail. Returns 0 or −errno.
int lt_allocate_storage(int descriptor, uint64_t offset, uint64_t size);
/// Largest file this process may write, or UINT64_MAX. Writing past it would raise SIGXFSZ.
uint64_t lt_file_size_limit(void);

pid_t lt_process_id(void);
pid_t lt_parent_process_id(void);
pid_t lt_thread_id(void);
/// False when the thread has ended.
bool lt_thread_exists(pid_t process, pid_t thread);
/// Nanoseconds of CLOCK_MONOTONIC or CLOCK_REALTIME.
uint64_t lt_clock_nanoseconds(clockid_t clock);
/// Sleeps for the given time, or until a signal's handler has run.
void lt_sleep(uint64_t nanoseconds);
/// Random bits, for identifiers.
uint64_t lt_random(void);
/// The most resident bytes that the process had; 0 when unknown.
uint64_t lt_peak_resident_size(void);
/// All signals, as a set: the lowest bit is signal 1.
#define LT_ALL_SIGNALS (~0ull)
/// Blocks signals in the calling thread, in addition to those already blocked. Returns the set of those.
uint64_t lt_block_signals(uint64_t signals);
/// Blocks the signals in `before` and no others.
void lt_restore_signals(uint64_t before);
/// Installs a handler for a fault of this process, and unblocks the signal. Only for a copy of the host.
void lt_set_fault_handler(int number, void (*handler)(int, siginfo_t *, void *));
/// Gives a signal its default action.
void lt_set_default_action(int number);
/// True if eight bytes at the address can be read. Costs a system call.
bool lt_is_readable(uintptr_t address);
/// True if the kernel itself keeps time by the processor's tick counter, so that it runs evenly on all cores.
bool lt_ticks_are_reliable(void);

// --- numbers as text -------------------------------------------------------------------------------------------------

/// Most bytes that a number takes, with the zero at its end.
enum { LT_NUMBER_SIZE = 24 };

/// Puts a number in a base from 8 to 16, and a zero behind it. Returns the address of that zero.
char *lt_put_number(char *p, uint64_t value, unsigned base);
static inline char *lt_put_decimal(char *p, uint64_t value) { return lt_put_number(p, value, 10); }

// --- bootstrap arena -------------------------------------------------------------------------------------------------

// A small arena that is never freed, for calls of the allocator that come before the next one is known: those that the
// loader makes before the recorder is there, and those that the recorder itself causes while it sets itself up.

void *lt_bootstrap_allocate(size_t size, size_t alignment);
enum { LT_BOOTSTRAP_SIZE = 256 << 10 };
extern uint8_t lt_bootstrap_arena[LT_BOOTSTRAP_SIZE] __attribute__((visibility("hidden")));
static inline int lt_bootstrap_owns(const void *pointer) {
  return (uintptr_t)pointer - (uintptr_t)lt_bootstrap_arena < LT_BOOTSTRAP_SIZE;
}
size_t lt_bootstrap_size(const void *pointer);
/// The end of the part of the arena that is in use.
uintptr_t lt_bootstrap_used_end(void);
/// Gives the pages of the arena, which holds blocks that others asked for.
void lt_bootstrap_range(uintptr_t *start, uintptr_t *end);

#endif
