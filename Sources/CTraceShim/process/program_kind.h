// A program that is about to replace another: whether this library can be preloaded into it.

#ifndef LEAKTRACE_PROGRAM_KIND_H
#define LEAKTRACE_PROGRAM_KIND_H

enum lt_program_kind {
  LT_PROGRAM_PRELOADS, ///< or nothing could be found out about it
  LT_PROGRAM_STATIC,   ///< it has no loader: the variables would mean nothing to it, and much to its children
  /// its loader is another, or for another processor, or a library insists on being the first: it complains about this
  /// one, or ends
  LT_PROGRAM_FOREIGN,
  LT_PROGRAM_MISSING, ///< no file that can be run: it cannot replace this program
};

/// Returns the kind of the program at `path`; a script's is its interpreter's.
enum lt_program_kind lt_program_kind_at(const char *path);
/// Returns the kind of the program that execvp and posix_spawnp find.
enum lt_program_kind lt_program_kind_named(const char *file);
enum lt_program_kind lt_program_kind_of_descriptor(int descriptor);

#endif
