// The trace format, defined once: the recorder in C writes these bytes and the analysis in Swift reads them. The
// recorder's settings (settings.h) are defined once in the same way.
//
// docs/engineering/trace-format.md explains the format in prose. If it and these headers disagree, the headers are
// right. The headers contain constants, fixed structs with asserted layouts, and a few index functions. An encoder and
// a decoder must compute the same index. Everything is little endian; compiling the header on a big-endian machine
// fails.

#ifndef LEAKTRACE_TRACE_FORMAT_H
#define LEAKTRACE_TRACE_FORMAT_H

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the trace format is little endian"
#endif

#include "attach_results.h"
#include "settings.h"
#include "trace_addresses.h"
#include "trace_checksum.h"
#include "trace_chunk.h"
#include "trace_closing.h"
#include "trace_definitions.h"
#include "trace_event_coding.h"
#include "trace_events.h"
#include "trace_header.h"
#include "trace_live_file.h"
#include "trace_marks.h"
#include "trace_names.h"
#include "trace_numbers.h"
#include "trace_snapshot.h"
#include "trace_status.h"

#endif
