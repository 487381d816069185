// Names: parts of the program's files that reports read functions, lines, fields and layouts from.
//
// A command adds them when the recording has ended, with a copy of the closing record behind them. All chunks have
// thread 0. Chunks of LT_CHUNK_FILE_PARTS are counted from 0. One LT_CHUNK_NAMES comes after them.

#ifndef LEAKTRACE_TRACE_NAMES_H
#define LEAKTRACE_TRACE_NAMES_H

/// The payload of an LT_CHUNK_FILE_PARTS. Numbers are varints.
///
///     count, then so many times: offset in the file less the end of the range before, size
///     the bytes of all ranges
///
/// The payload of an LT_CHUNK_NAMES. A text or a blob is a varint length and as many bytes.
///
///     LT_NAMES_VERSION, LT_NAMES_ flags, text: the version of the command
///     count, then so many files: text: path, blob: build ID, size in bytes, first chunk of parts, number of chunks
///
/// Bytes of a file that no range covers are unknown.
enum {
  LT_NAMES_VERSION = 1, ///< raised by a change that an older reader cannot skip; such names are not used
  /// A limit of time or memory was reached: some names are missing
  LT_NAMES_INCOMPLETE = 1 << 0,
};

#endif
