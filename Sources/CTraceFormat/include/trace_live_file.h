// The live file contains the records of threads since their last sealed chunk. It is mapped shared, so the records
// survive the process. A header of headerSize bytes comes first, then slots of liveSlotSize bytes. The file is removed
// when the trace is closed.

#ifndef LEAKTRACE_TRACE_LIVE_FILE_H
#define LEAKTRACE_TRACE_LIVE_FILE_H

#include <stddef.h>
#include <stdint.h>

/// First eight bytes of the live file, which exists next to a trace while it is being written.
#define LT_LIVE_MAGIC "\x89LKLIV\r\n"
/// The suffix that is appended to the trace's path to get the live file's path.
#define LT_LIVE_SUFFIX ".live"

struct lt_live_header {
  uint8_t magic[8];
  uint32_t version;
  uint32_t slotSize;
  uint64_t traceID;
  uint32_t slotCount;         ///< slots allocated so far
  uint32_t pauseSwitch;       ///< LT_SWITCH_…; written by `leaktrace pause` and `resume`, read by the hooks
  uint32_t snapshotSignal;    ///< the signal that requests a snapshot; 0 if snapshots cannot be requested
  uint32_t snapshotsAsked;    ///< incremented by the requester, before the signal
  uint32_t snapshotsAnswered; ///< the value of `snapshotsAsked` when the last finished snapshot began
  int32_t snapshotError;      ///< errno of the last snapshot, 0 if it was written
  uint32_t snapshotNumber;    ///< the number of the last snapshot that has ended
  /// LT_SNAPSHOT_ROUND if the requested snapshot ends a round. Any other value means LT_SNAPSHOT_REQUEST. Written
  /// before `snapshotsAsked`
  uint32_t snapshotReason;
  // A requester may make the process create a thread that takes the snapshot, by a call of clone(2) with these
  // registers. All addresses are in that process.
  /// 0 if there is no such thread. A requester claims this field by storing the number of its own process. The kernel
  /// then stores the thread's number here, and 0 when the thread has ended
  uint32_t servingThread;
  uint32_t servingMayBegin; ///< set to 0 with the claim, and to 1 once the process is no longer traced
  uint64_t servingCall;     ///< the `syscall` instruction to execute; 0 if no thread can be created
  uint64_t servingFlags;
  uint64_t servingStack; ///< stack pointer of the new thread
  uint64_t servingThreadPointer;
  uint64_t servingWord; ///< the address of `servingThread`
  uint32_t headerSize;  ///< offset of the first slot; 0 in older files, which means LT_LIVE_HEADER_SIZE
  uint32_t reserved;
};
_Static_assert(offsetof(struct lt_live_header, snapshotSignal) == 32, "layout");
_Static_assert(offsetof(struct lt_live_header, servingThread) == 56, "layout");
_Static_assert(sizeof(struct lt_live_header) == 112, "layout");

/// The smallest offset of the first slot. A recorder whose kernel may have larger pages leaves more room.
#define LT_LIVE_HEADER_SIZE 4096u
/// LT_SWITCH_SNAPSHOT: the next hook of any thread takes the requested snapshot, and sets LT_SWITCH_RECORD again.
enum { LT_SWITCH_RECORD = 0, LT_SWITCH_PAUSED = 1, LT_SWITCH_SNAPSHOT = 2 };

/// The start of every slot. Payload bytes before the `…Used` offsets are complete records.
struct lt_live_slot {
  uint32_t thread; ///< 0 if the slot is free and empty
  uint32_t osThread;
  uint32_t definitionSequence; ///< sequence numbers for the chunks that will contain these payloads
  uint32_t eventSequence;
  uint32_t definitionStart; ///< offsets from the slot's start
  uint32_t definitionUsed;  ///< the definitions' payload is [definitionStart, definitionUsed)
  uint32_t eventUsed;       ///< the events' payload is [eventStart, eventUsed)
  uint32_t eventCount;      ///< number of events; written together with eventUsed, as one word
  uint64_t firstTime;       ///< as in the chunk header
  uint32_t eventStart;
  uint32_t reserved[5];
};
_Static_assert(offsetof(struct lt_live_slot, eventUsed) == 24, "layout");
_Static_assert(sizeof(struct lt_live_slot) == 64, "layout");

#endif
