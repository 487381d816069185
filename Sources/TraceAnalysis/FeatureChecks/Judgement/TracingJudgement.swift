// Finds out why the kernel forbids this process to trace another, and which change would allow it.

import Glibc

/// Explains a refusal from facts about both processes, because the kernel gives no reason. Makes the checks that
/// ptrace(2) lists, in the same order.
package struct TracingJudgement {
  private let machine: MachineFacts
  private let target: TargetFacts?

  /// - Parameter target: Nil for a child of this process, with the same user and the same rights.
  package init(_ machine: MachineFacts, _ target: TargetFacts?) { (self.machine, self.target) = (machine, target) }

  /// - Parameter errno: The kernel's error code.
  package func obstacle(errno code: Int32) -> TracingObstacle {
    // The kernel knows this system call, so ENOSYS comes from a filter.
    if code == ENOSYS { return .ownFilter }
    if target?.isHidden == true { return .hidden }
    let scope = machine.ptraceScope ?? 0
    // No right helps until the system restarts.
    if scope >= 3 { return .ptraceScope(scope) }
    if !machine.mayTraceOthers {
      if let other = otherUser { return machine.isRoot ? .rootWithoutCapability : .otherUser(other) }
      if let target {
        if !target.isDumpable { return .undumpable }
        if !target.capabilities.isSubset(of: machine.capabilities) { return .moreCapabilities }
      }
      if scope >= 1 { return .ptraceScope(scope) }
    }
    // Capabilities are valid in this process's user namespace and those below it. If the kernel refuses access to a
    // process, it does not show the process's namespace either.
    let isHidden = target?.userNamespace == .unknown && !machine.isInFirstUserNamespace
    if target?.userNamespace == .other || isHidden { return .otherUserNamespace }
    if let own = machine.securityLabel, let other = target?.securityLabel, own != other {
      return .securityModule(own: own, other: other)
    }
    if machine.filter != .none { return .ownFilter }
    if machine.isRoot, !machine.mayTraceOthers { return .rootWithoutCapability }
    return .unknown(errno: code)
  }

  /// The first of the target's user IDs that differs from this process's user ID. If only a group ID differs, the
  /// target's user. Nil if all IDs are equal. The kernel compares all these IDs.
  private var otherUser: UInt32? {
    guard let target else { return nil }
    if let user = target.userIDs.first(where: { $0 != machine.userID }) { return user }
    return target.groupIDs.contains { $0 != machine.groupID } ? target.userIDs.first ?? machine.userID : nil
  }

  /// Returns the change that lets this process trace the other; nil if none is known.
  package func remedy(for obstacle: TracingObstacle) -> Remedy? {
    switch obstacle {
    // This process already has every right that could help.
    case .unknown where machine.mayTraceOthers: return nil
    case .ownFilter: return .allowCalls
    case .ptraceScope(let scope) where scope >= 3: return .restartSystem
    case .securityModule: return .liftSecurityModule
    case .otherUserNamespace: return .inspectOutside
    case .rootWithoutCapability: return .addTracing
    case .otherUser(let user):
      // A user who cannot become root in this container can still be given the process's user from outside.
      return machine.container == .docker || machine.container == .podman ? .runAsUser(user) : moreRights
    case .ptraceScope, .undumpable, .moreCapabilities, .hidden, .unknown: return moreRights
    }
  }

  private var moreRights: Remedy {
    if machine.container != .none { return .addTracing }
    return machine.cannotGainRights ? .inspectOutside : machine.isRoot ? .addTracing : .runAsRoot
  }
}
