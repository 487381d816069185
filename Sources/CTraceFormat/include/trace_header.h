// The part of a trace file's header page that is written once. This page has LT_TRACE_HEADER_SIZE bytes, whatever the
// kernel's page size is. Chunks follow it until the end of the file.

#ifndef LEAKTRACE_TRACE_HEADER_H
#define LEAKTRACE_TRACE_HEADER_H

#include <stddef.h>
#include <stdint.h>

/// First eight bytes of a trace file.
#define LT_TRACE_MAGIC "\x89LKTRC\r\n"
/// The version of most traces. Each change that an older reader cannot skip gets a higher version.
#define LT_FORMAT_VERSION 2u
/// The version of traces whose recorder samples, or may switch to sampling (LT_OPTION_LIGHT, LT_OPTION_LIMITED). A
/// reader that does not know LT_OP_HEAP_LISTED would add each list of blocks to the previous list.
#define LT_FORMAT_LIGHT_VERSION 3u
/// The newest version, for recordings that remove heap images and reuse their space.
#define LT_FORMAT_THINNED_VERSION 4u
/// The oldest version that is still read. Version 1 had 1,024 keys in a payload's dictionary.
#define LT_FORMAT_OLDEST_VERSION 2u
/// The bytes before the first chunk of a trace file. The bytes that belong to neither of the two structs are zero.
#define LT_TRACE_HEADER_SIZE 4096u
/// Offset of the mutable status block in the header page.
#define LT_TRACE_STATUS_OFFSET 2048u

/// The clock whose ticks are the unit of `time` fields.
enum {
  LT_CLOCK_TSC = 1,       ///< processor time stamp counter, with the header's `ticksPerSecond`
  LT_CLOCK_MONOTONIC = 2, ///< CLOCK_MONOTONIC in nanoseconds
};

/// Ways to record retains and releases.
enum {
  LT_ARC_STACKS = 0, ///< record each with its stack
  LT_ARC_COUNTS = 1, ///< record each with its object, without a stack
  LT_ARC_OFF = 2,    ///< record none
};

enum {
  LT_OPTION_FOLLOW_CHILDREN = 1u << 0,
  LT_OPTION_START_PAUSED = 1u << 1,
  LT_OPTION_VERIFY_STACKS = 1u << 2, ///< each stack was compared with a fresh unwind
  /// the trace was made by reading a process or its core from outside. Its blocks are recorded as allocations without
  /// stacks, all at the time of the only image. Nothing before that time is known
  LT_OPTION_INSPECTED = 1u << 3,
  /// the recorder samples, and records no events. It takes the stacks of the first allocations, and then one stack for
  /// every `samplePeriod` bytes. The blocks of each image are recorded as allocations at the image's time, after
  /// LT_OP_HEAP_LISTED. Sampled blocks have their stacks
  LT_OPTION_LIGHT = 1u << 4,
  /// every call is recorded until the trace reaches a given size, at the time in LT_DEF_LIMIT. From then on, the
  /// recorder samples. Images with LT_SNAPSHOT_LISTED were taken while sampling
  LT_OPTION_LIMITED = 1u << 5,
};

/// Processors, by e_machine of <elf.h>.
enum {
  LT_MACHINE_X86_64 = 62,
  LT_MACHINE_ARM64 = 183,
};

/// The static part of the header page, at offset 0. Written once, before the first chunk.
struct lt_trace_header {
  uint8_t magic[8];
  uint32_t version;
  uint32_t headerSize; ///< LT_TRACE_HEADER_SIZE
  uint16_t machine;    ///< LT_MACHINE_…, which is e_machine of the traced program
  uint8_t pointerSize;
  uint8_t clockKind;
  uint32_t pageSize; ///< bytes of the kernel's pages: 4,096, 16,384 or 65,536; 0 means 4,096
  uint32_t processID;
  uint32_t parentProcessID;
  uint64_t traceID;        ///< random; equal in a trace and its live file
  uint64_t sessionID;      ///< random; equal in all traces of one `leaktrace record`; 0 if preloaded by hand
  uint64_t startRealtime;  ///< nanoseconds since 1970
  uint64_t startMonotonic; ///< nanoseconds, CLOCK_MONOTONIC
  uint64_t startTime;      ///< the trace's clock at the same moment
  uint64_t ticksPerSecond; ///< of the trace's clock; 0 if unknown (calibrate by LT_DEF_CLOCK records)
  uint32_t options;        ///< LT_OPTION_… bits
  uint8_t arcMode;         ///< LT_ARC_…
  uint8_t reserved[3];
  uint32_t stackDepthLimit; ///< in frames
  uint32_t liveSlotSize;    ///< bytes of a slot in the live file
  uint64_t
      samplePeriod; ///< LT_OPTION_LIGHT, LT_OPTION_LIMITED: bytes of allocation from one sample to the next, on average
  /// LT_OPTION_LIGHT: the most allocations that are all sampled, from the start on; 0 in older traces
  uint32_t firstSamples;
  uint8_t reserved2[16];
  uint32_t headerChecksum; ///< CRC-32C of all preceding bytes of this struct
};
_Static_assert(sizeof(struct lt_trace_header) == 128, "layout");
_Static_assert(offsetof(struct lt_trace_header, traceID) == 32, "layout");
_Static_assert(offsetof(struct lt_trace_header, options) == 80, "layout");
_Static_assert(offsetof(struct lt_trace_header, samplePeriod) == 96, "layout");
_Static_assert(offsetof(struct lt_trace_header, headerChecksum) == 124, "layout");

#endif
