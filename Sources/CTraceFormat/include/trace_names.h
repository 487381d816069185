// Names: the parts of the program's files that contain the names of functions, lines, fields and layouts.
//
// A command adds these parts when the recording has ended, and a copy of the closing record after them. All their
// chunks have thread 0. Chunks of LT_CHUNK_FILE_PARTS are counted from 0. One LT_CHUNK_NAMES follows them.

#ifndef LEAKTRACE_TRACE_NAMES_H
#define LEAKTRACE_TRACE_NAMES_H

/// The payload of an LT_CHUNK_FILE_PARTS is as follows. Numbers are varints.
///
///     count, then for each range: offset in the file minus the end of the previous range, size
///     the bytes of all ranges
///
/// The payload of an LT_CHUNK_NAMES is as follows. A text or a blob is a varint length and that many bytes.
///
///     LT_NAMES_VERSION, LT_NAMES_ flags, text: the version of the command
///     count, then for each file: text: path, blob: build ID, size in bytes, first chunk of parts, number of chunks
///
/// The bytes of a file that are in no range are unknown.
enum {
  LT_NAMES_VERSION = 1, ///< raised by a change that an older reader cannot skip; older readers do not use such names
  /// Some names are missing, because a limit of time or memory was reached
  LT_NAMES_INCOMPLETE = 1 << 0,
};

#endif
