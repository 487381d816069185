import Glibc
import Testing

@testable import FeatureChecks

/// Facts that are read from the kernel's files.
@Suite struct MachineLookTests {
  @Test("A container is detected by its control group, a file or a variable") func containers() {
    func kind(
      docker: Bool = false, podman: Bool = false, pod: Bool = false, groups: String = "0::/", confined: Bool = true,
      filtered: Bool = false
    ) -> MachineFacts.Container {
      MachineFacts.container(
        hasDockerFile: docker, hasPodmanFile: podman, isPod: pod, groups: groups, isFiltered: filtered,
        hasNamespace: confined)
    }
    #expect(kind(confined: false) == .none)
    #expect(kind() == .other)
    #expect(kind(docker: true) == .docker && kind(podman: true) == .podman && kind(pod: true) == .kubernetes)
    #expect(kind(groups: "0::/system.slice/docker-1f2e.scope", confined: false) == .docker)
    #expect(kind(groups: "12:memory:/docker/1f2e", confined: false) == .docker)
    #expect(kind(docker: true, groups: "0::/kubepods/besteffort/pod1/2") == .kubernetes)
    #expect(kind(groups: "0::/user.slice/libpod-12.scope", confined: false) == .podman)
    // A virtual machine that was made from a container image still has the image's file.
    #expect(kind(docker: true, podman: true, confined: false) == .none)
    #expect(kind(docker: true, confined: false, filtered: true) == .docker)
    #expect(kind(confined: false, filtered: true) == .none)
  }

  @Test(
    "hidepid is read by number and by name",
    arguments: [
      ("rw,hidepid=2", true), ("rw,gid=4,hidepid=invisible", true), ("rw,hidepid=noaccess", true), ("rw", false),
      ("rw,hidepid=0", false), ("rw,hidepid=off", false),
    ])
  func hidepid(_ options: String, _ hides: Bool) {
    let line = "23 28 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc \(options)"
    #expect(MachineFacts.hidesProcesses(mounts: "22 28 0:20 / /sys rw - sysfs sysfs rw\n\(line)\n") == hides)
    // A later mount at the same path replaces the earlier one.
    #expect(!MachineFacts.hidesProcesses(mounts: "\(line)\n24 23 0:22 / /proc rw,relatime - proc proc rw\n"))
  }

  @Test func coreLimits() {
    func text(_ soft: String) -> String {
      "Limit                     Soft Limit           Hard Limit           Units\n"
        + "Max stack size            8388608              unlimited            bytes\n"
        + "Max core file size        \(soft)                    unlimited            bytes\n"
    }
    #expect(MachineFacts.coreLimit(limits: text("0")) == 0)
    #expect(MachineFacts.coreLimit(limits: text("4096")) == 4096)
    #expect(MachineFacts.coreLimit(limits: text("unlimited")) == nil)
  }

  @Test("AT_SECURE marks a program started with extra privileges") func secureExecution() {
    func vector(_ pairs: [(UInt64, UInt64)]) -> [UInt8] {
      pairs.flatMap { pair in
        [pair.0, pair.1].flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
      }
    }
    #expect(TargetFacts.isSecure(vector([(6, 4096), (UInt64(AT_SECURE), 1), (0, 0)])) == true)
    #expect(TargetFacts.isSecure(vector([(UInt64(AT_SECURE), 0)])) == false)
    #expect(TargetFacts.isSecure(vector([(6, 4096)])) == nil)
    #expect(TargetFacts.isSecure([1, 2, 3]) == nil)
  }

  @Test("Write permission follows owner, group and other bits") func writing() {
    #expect(DirectoryFacts.mayWrite(33, [33], mode: 0o1777, owner: 0, group: 0))
    #expect(!DirectoryFacts.mayWrite(33, [33], mode: 0o755, owner: 0, group: 0))
    #expect(DirectoryFacts.mayWrite(33, [33], mode: 0o700, owner: 33, group: 0))
    #expect(DirectoryFacts.mayWrite(33, [4, 33], mode: 0o770, owner: 0, group: 4))
    // For the owner only the owner's bits count, even if others have more rights.
    #expect(!DirectoryFacts.mayWrite(33, [4], mode: 0o077, owner: 33, group: 4))
    #expect(DirectoryFacts.mayWrite(0, [0], mode: 0, owner: 33, group: 33))
  }
}
