// The coding of events: tags, and the tables that an encoder and a decoder keep identical. See
// docs/engineering/trace-format.md for the grammar.

#ifndef LEAKTRACE_TRACE_EVENT_CODING_H
#define LEAKTRACE_TRACE_EVENT_CODING_H

#include <stdint.h>

#define LT_TAG_PREDICTED 0x80u ///< operation and stack change equal those that followed this context the last time
#define LT_TAG_OPERANDS 0x40u  ///< size (and type) follow, since they differ from the last ones in this context
#define LT_TAG_LOW_MASK 0x3Fu  ///< in a predicted event: address code; in an explicit event: operation or control

/// Address codes, 0 … 63.
enum {
  LT_ADDRESS_RECENT = 0,    ///< 0 … 3: recent[code]
  LT_ADDRESS_SUCCESSOR = 4, ///< the address that followed recent[0] the previous time
  LT_ADDRESS_TABLE = 5,     ///< a byte follows: index into the table of hashed addresses
  LT_ADDRESS_DELTA16 = 6,   ///< zigzag varint follows: (address − recent[0]) / 16
  LT_ADDRESS_DELTA = 7,     ///< zigzag varint follows: address − recent[0]
  LT_ADDRESS_NEAR = 8,      ///< 8 … 35: recent[0] − 16 × (36 − code); 36 … 63: recent[0] + 16 × (code − 35)
};

/// Event times are counted in units of 2^LT_TIME_SHIFT ticks.
#define LT_TIME_SHIFT 3
#define LT_RECENT_COUNT 4u
#define LT_SUCCESSOR_COUNT 1024u
#define LT_ADDRESS_TABLE_COUNT 256u
#define LT_KEY_COUNT 4096u
#define LT_CONTEXT_COUNT 512u
/// The most frames that a predicted stack change pushes.
#define LT_PREDICTED_PUSHES 6u
#define LT_HASH_MULTIPLIER 0x9E3779B97F4A7C15ull

/// Returns the index into the successor table for the successor of an address.
static inline uint32_t lt_successor_index(uint64_t address) {
  return (uint32_t)(((address >> 4) * LT_HASH_MULTIPLIER) >> 54);
}
/// Returns the index into the table of hashed addresses.
static inline uint32_t lt_address_index(uint64_t address) {
  return (uint32_t)(((address >> 4) * LT_HASH_MULTIPLIER) >> 56);
}
/// Returns the index into the dictionary of frame keys.
static inline uint32_t lt_key_index(uint64_t key) { return (uint32_t)((key * LT_HASH_MULTIPLIER) >> 52); }
/// Returns the index of a context into the prediction table and the site table. The context of an event is its
/// operation and the two innermost frames of its stack (0 for missing frames).
static inline uint32_t lt_context_index(uint32_t operation, uint64_t innermost, uint64_t next) {
  return (uint32_t)(((innermost + (next << 17) + ((uint64_t)operation << 48)) * LT_HASH_MULTIPLIER) >> 55);
}

/// Push tokens. After 0, a literal key follows. 1 … LT_KEY_COUNT is a key of the dictionary. A greater token copies
/// keys of outer frames.
enum { LT_TOKEN_LITERAL = 0, LT_TOKEN_DICTIONARY = 1, LT_TOKEN_COPY = LT_KEY_COUNT + 1 };

#endif
