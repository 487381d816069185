// A C structure from malloc with retained objects in it, that nobody frees.
import Glibc

struct CallbackContext {
  var flags: Int
  var handler: Unmanaged<CallbackHandler>
  var target: Unmanaged<CallbackHandler>
}

final class CallbackHandler {
  let code: Int
  init(code: Int) { self.code = code }
}

enum CallbackContexts: FaultyProgram {
  static func faulty() { for code in 0..<4 { register(code) } }
  static func correct() { for code in 0..<4 { registerAndRelease(code) } }

  @inline(never) private static func make(_ code: Int) -> UnsafeMutablePointer<CallbackContext> {
    let context = malloc(MemoryLayout<CallbackContext>.size)!.bindMemory(to: CallbackContext.self, capacity: 1)
    context.initialize(to: CallbackContext(
      flags: 0, handler: .passRetained(CallbackHandler(code: code)), target: .passRetained(CallbackHandler(code: code + 1))))
    return context
  }

  @inline(never) private static func register(_ code: Int) {
    note(make(code).pointee.handler.takeUnretainedValue().code)
  }

  @inline(never) private static func registerAndRelease(_ code: Int) {
    let context = make(code)
    note(context.pointee.handler.takeUnretainedValue().code)
    context.pointee.handler.release()
    context.pointee.target.release()
    free(context)
  }
}
