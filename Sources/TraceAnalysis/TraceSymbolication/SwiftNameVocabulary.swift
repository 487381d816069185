// The phrases that the Swift demangler uses for functions that the compiler made or changed.

extension SwiftNameShortener {
  /// Wrappers around an entity, their replacements in the short form, and whether the function has no source code.
  static let wrappers: [(text: [UInt8], short: [UInt8], isThunk: Bool)] = [
    ("partial apply forwarder for ", "partial apply for ", true),
    ("partial apply ObjC forwarder for ", "partial apply for ", true),
    ("dispatch thunk of ", "dispatch thunk of ", true), ("curry thunk of ", "curry thunk of ", true),
    ("vtable thunk for ", "vtable thunk for ", true),
    ("method lookup function for ", "method lookup function for ", true),
    ("distributed thunk ", "distributed thunk ", true),
    ("distributed accessor for ", "distributed accessor for ", true),
    ("back deployment thunk for ", "back deployment thunk for ", true), ("back deployment fallback for ", "", false),
    ("key path getter for ", "key path getter for ", true), ("key path setter for ", "key path setter for ", true),
    ("key path equality for ", "key path equality for ", true), ("key path hash for ", "key path hash for ", true),
    ("async function pointer to ", "async function pointer to ", true),
    ("@objc completion handler block implementation for ", "", true),
    ("@objc ", "@objc ", true), ("@nonobjc ", "", true), ("dynamic ", "", false), ("super ", "", false),
    ("one-time initialization function for ", "one-time initialization function for ", false),
    ("variable initialization expression of ", "variable initialization expression of ", false),
    ("property wrapper backing initializer of ", "property wrapper backing initializer of ", false),
    ("property wrapper init accessor of ", "property wrapper init accessor of ", false),
    ("default argument ", "default argument ", false),
  ].map { (Array($0.0.utf8), Array($0.1.utf8), $0.2) }

  /// Functions that the compiler makes for types. The text after `of`, `for` or `from` is a type or an entity.
  static let artifacts: [[UInt8]] = [
    "type metadata accessor for ", "type metadata completion function for ",
    "type metadata instantiation function for ",
    "type metadata instantiation cache for ", "lazy protocol witness table accessor for type ",
    "lazy protocol witness table cache variable for type ",
    "instantiation function for generic protocol witness table for ",
    "base witness table accessor for ", "associated type witness table accessor for ",
    "associated type metadata accessor for ",
    "associated conformance descriptor for ", "default associated conformance accessor for ",
    "protocol witness table accessor for ",
    "generic protocol witness table for ", "metadata instantiation cache for ",
    "canonical specialized generic type metadata accessor for ",
    "canonical prespecialized generic type caching token for ", "noncanonical specialized generic type metadata for ",
    "pack expansion ",
    "coroutine continuation prototype for ", "implicit conversion of ", "bridged ", "mutating partial apply ",
    "reverse-mode ",
    "forward-mode ", "autodiff ", "global initialization token ", "opaque type descriptor accessor ",
    "block copy helper ", "block destroy helper ",
  ].map { Array($0.utf8) }

  static let specializations: [[UInt8]] = [
    "generic specialization <", "generic not re-abstracted specialization <", "generic partial specialization <",
    "generic partial not-reabstracted specialization <", "generic pre-specialization <", "inlined generic function <",
    "function signature specialization <", "generic not-reabstracted specialization <",
  ].map { Array($0.utf8) }
}
