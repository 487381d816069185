// Marks of the program: the payloads of LT_CONTROL_MARK.

#ifndef LEAKTRACE_TRACE_MARKS_H
#define LEAKTRACE_TRACE_MARKS_H

/// Marks that a program makes through the LeakTrace library, in the event stream of the calling thread. Strings are cut
/// at 255 bytes.
enum {
  /// varint scope number (unique in the process, not 0), string name, string file, varint line
  LT_MARK_SCOPE_BEGIN = 1,
  /// varint scope number, varint grace in ticks (UINT64_MAX: the scope's objects may stay; the scope only groups them)
  LT_MARK_SCOPE_END = 2,
  LT_MARK_GENERATION = 3, ///< string name, string file, varint line
  /// varint expectation number (not 0), varint object's address, varint deadline (trace clock), string name, string
  /// file, varint line
  LT_MARK_EXPECTATION = 4,
  /// varint repetition number (not 0), varint round (from 1), varint number of the snapshot at its end, varint number
  /// of the only scope that counts (0: all work), string name, string file, varint line
  LT_MARK_ROUND = 5,
  /// no payload. The program is about to end the process, so control does not return to the frames on the stack
  LT_MARK_END = 6,
};

#endif
