// The layouts of Swift metadata records, for C and Swift. They are part of the ABI. Source: swiftlang/swift,
// docs/ABI/TypeMetadata.rst, include/swift/ABI/Metadata.h, MetadataValues.h and MetadataKind.def, and
// include/swift/RemoteInspection/Records.h; seen with Swift 6.1.2 and 6.3.1.

#ifndef LEAKTRACE_METADATA_LAYOUT_H
#define LEAKTRACE_METADATA_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/// The first word of a record is its kind. A class may have an address there, which is greater than SWIFT_KIND_LAST.
enum {
  SWIFT_KIND_CLASS = 0,
  SWIFT_KIND_STRUCT = 0x200,
  SWIFT_KIND_ENUM = 0x201,
  SWIFT_KIND_OPTIONAL = 0x202,
  SWIFT_KIND_FOREIGN_CLASS = 0x203,
  SWIFT_KIND_OPAQUE = 0x300,
  SWIFT_KIND_TUPLE = 0x301,
  SWIFT_KIND_FUNCTION = 0x302,
  SWIFT_KIND_EXISTENTIAL = 0x303,
  SWIFT_KIND_METATYPE = 0x304,
  SWIFT_KIND_EXISTENTIAL_METATYPE = 0x306,
  SWIFT_KIND_CONTEXT = 0x400,
  SWIFT_KIND_BOX = 0x500,
  SWIFT_KIND_ERROR = 0x501,
  SWIFT_KIND_TASK = 0x502,
  SWIFT_KIND_LAST = 0x7ff,
};

/// Returns the kind of the record that begins with `word`.
static inline uint64_t lt_metadata_kind(uint64_t word) { return word > SWIFT_KIND_LAST ? SWIFT_KIND_CLASS : word; }
/// True for the kinds of types other than Swift's own classes.
static inline bool lt_is_value_kind(uint64_t kind) { return kind >= SWIFT_KIND_STRUCT && kind < SWIFT_KIND_CONTEXT; }

/// Offsets and sizes in bytes, from the record's address unless stated otherwise. A field has 8 bytes unless stated
/// otherwise.
enum {
  // every record
  SWIFT_DESTROYER_BEFORE = 16, ///< distance back from the record: the function that frees an object of this type
  SWIFT_WITNESSES_BEFORE = 8,  ///< distance back from the record: the address of the value witness table

  // class
  SWIFT_CLASS_SUPERCLASS = 8,
  SWIFT_CLASS_INSTANCE_SIZE = 24, ///< 4 bytes
  SWIFT_CLASS_SIZE = 32,          ///< 4 bytes: size of the record, including the words before its address
  SWIFT_CLASS_ADDRESS_POINT = 36, ///< 4 bytes: the bytes of the record before its address
  SWIFT_CLASS_DESCRIPTOR = 40,
  SWIFT_CLASS_FIXED_PART = 56, ///< bytes from the record's address to the members of the class

  // struct, enum, optional; a foreign class has the descriptor alone
  SWIFT_VALUE_DESCRIPTOR = 8,
  SWIFT_VALUE_ARGUMENTS = 16,

  // tuple
  SWIFT_TUPLE_COUNT = 8,
  SWIFT_TUPLE_ELEMENTS = 24,
  SWIFT_TUPLE_ELEMENT_SIZE = 16, ///< the element's type and its offset

  // function
  SWIFT_FUNCTION_FLAGS = 8, ///< the number of parameters in the low 16 bits
  SWIFT_FUNCTION_RESULT = 16,
  SWIFT_FUNCTION_PARAMETERS = 24,

  // existential
  SWIFT_EXISTENTIAL_FLAGS = 8,  ///< 4 bytes
  SWIFT_EXISTENTIAL_COUNT = 12, ///< 4 bytes: the number of protocols
  SWIFT_EXISTENTIAL_PARTS = 16, ///< the superclass if there is one, then the protocols

  SWIFT_METATYPE_INSTANCE = 8, ///< metatype, existential metatype

  SWIFT_CONTEXT_DESCRIPTOR = 16, ///< closure context: the capture descriptor

  // box
  SWIFT_BOX_OFFSET = 8, ///< 4 bytes: the offset of the value in the box
  SWIFT_BOX_TYPE = 16,  ///< the type of the value
};

/// Offsets in a value witness table, after eight functions. The table of an enumeration has three more functions after
/// these fields.
enum { SWIFT_WITNESSES_SIZE = 64, SWIFT_WITNESSES_STRIDE = 72, SWIFT_WITNESSES_FLAGS = 80 };
/// Bits of the flags, which have 4 bytes.
enum {
  SWIFT_VALUE_ALIGNMENT_MASK = 0xFF,
  SWIFT_VALUE_IS_NOT_PLAIN = 0x10000,   ///< copies need more than a copy of the bytes
  SWIFT_VALUE_IS_NOT_INLINE = 0x20000,  ///< an `any P` holds the value in a box
  SWIFT_VALUE_IS_INCOMPLETE = 0x400000, ///< the runtime has not finished the table
};
/// The bytes of the buffer of an `any P`.
enum { SWIFT_EXISTENTIAL_BUFFER = 24 };

/// Offsets in a context descriptor, which is in an image. A field has 4 bytes, and addresses are relative.
enum {
  SWIFT_DESCRIPTOR_FLAGS = 0,
  SWIFT_DESCRIPTOR_PARENT = 4,
  SWIFT_DESCRIPTOR_NAME = 8,
  SWIFT_DESCRIPTOR_FIELDS = 16, ///< type: the field descriptor

  // class
  SWIFT_CLASS_BOUNDS = 24, ///< resilient superclass: address of the bounds; otherwise the words before the record
  SWIFT_CLASS_POSITIVE_WORDS = 28, ///< words from the record's address on
  SWIFT_CLASS_OWN_WORDS = 32,      ///< words of the class's own members
  SWIFT_CLASS_FIELD_COUNT = 36,
  SWIFT_CLASS_FIELD_VECTOR = 40, ///< offset in words of the fields' offsets
  SWIFT_CLASS_GENERICS = 44,     ///< the header of a generic class

  // struct, enum
  SWIFT_STRUCT_FIELD_COUNT = 20,
  SWIFT_STRUCT_FIELD_VECTOR = 24, ///< offset in words of the fields' offsets
  SWIFT_VALUE_GENERICS = 28,      ///< the header of a generic type

  // the header of a generic type
  SWIFT_GENERICS_PARAMETERS = 8,     ///< 2 bytes
  SWIFT_GENERICS_KEY_ARGUMENTS = 12, ///< 2 bytes
};

/// The kinds of contexts that a descriptor describes.
enum {
  SWIFT_DESCRIBES_MODULE = 0,
  SWIFT_DESCRIBES_EXTENSION = 1,
  SWIFT_DESCRIBES_ANONYMOUS = 2,
  SWIFT_DESCRIBES_CLASS = 16,
};

/// Returns the kind of context by the flags of its descriptor.
static inline uint32_t lt_context_kind(uint32_t flags) { return flags & 31; }
/// True if a descriptor's flags describe a generic type.
static inline bool lt_flags_are_generic(uint32_t flags) { return flags >> 7 & 1; }
/// True if a class has its generic arguments before the record's address.
static inline bool lt_flags_have_negative_members(uint32_t flags) { return flags >> (16 + 12) & 1; }
/// True if a superclass may grow without a new compilation of the class.
static inline bool lt_flags_have_resilient_superclass(uint32_t flags) { return flags >> (16 + 13) & 1; }

/// Offsets in a field descriptor and in its records.
enum {
  SWIFT_FIELDS_RECORD_SIZE = 10, ///< 2 bytes
  SWIFT_FIELDS_COUNT = 12,       ///< 4 bytes
  SWIFT_FIELDS_RECORDS = 16,

  SWIFT_FIELD_TYPE = 4, ///< 4 bytes: relative address of the mangled name
  SWIFT_FIELD_NAME = 8, ///< 4 bytes: relative address
  SWIFT_FIELD_SIZE = 12,
};

#endif
