import Foundation

struct Version: Comparable, Hashable, CustomStringConvertible {
    let major: Int
    let minor: Int
    static func < (a: Version, b: Version) -> Bool {
        a.major != b.major ? a.major < b.major : a.minor < b.minor
    }
    var description: String { "\(major).\(minor)" }
}

struct Requirement: Hashable {
    let package: String
    let atLeast: Version
}

final class Release {
    let version: Version
    let needs: [Requirement]
    init(version: Version, needs: [Requirement]) {
        self.version = version
        self.needs = needs
    }
}

final class Package {
    let name: String
    private(set) var releases: [Release] = []
    init(name: String) { self.name = name }

    func publish(_ release: Release) {
        releases.append(release)
        releases.sort { $0.version > $1.version }
    }

    func newest(atLeast minimum: Version) -> Release? {
        releases.first { $0.version >= minimum }
    }
}

final class Pin {
    let package: String
    let version: Version
    init(package: String, version: Version) {
        self.package = package
        self.version = version
    }
}

final class Resolution {
    let pins: [Pin]
    let conflicts: Int
    init(pins: [Pin], conflicts: Int) {
        self.pins = pins
        self.conflicts = conflicts
    }
    var lockfile: String { pins.map { "\($0.package)@\($0.version)" }.joined(separator: "\n") }
}

struct BuildRequest {
    let project: String
    let requestedAt: Double
    let roots: [Requirement]
}

final class Registry {
    private var packages: [String: Package] = [:]
    private(set) var revision = 0

    func publish(_ name: String, _ release: Release) {
        if packages[name] == nil { packages[name] = Package(name: name) }
        packages[name]!.publish(release)
        revision += 1
    }

    func package(_ name: String) -> Package? { packages[name] }
}

final class Resolver {
    private let registry: Registry
    private var solved: [String: Resolution] = [:]
    private(set) var reused = 0

    init(registry: Registry) { self.registry = registry }

    func resolve(_ request: BuildRequest) -> Resolution {
        let key = fingerprint(request)
        if let known = solved[key] {
            reused += 1
            return known
        }
        let resolution = solve(request.roots)
        solved[key] = resolution
        return resolution
    }

    func registryChanged() {
        guard registry.revision % 50 == 0 else { return }
        reused = 0
    }

    private func fingerprint(_ request: BuildRequest) -> String {
        let roots = request.roots.map { "\($0.package)>=\($0.atLeast)" }.sorted().joined(separator: ",")
        return "\(request.project)|\(request.requestedAt)|\(roots)|\(registry.revision)"
    }

    private func solve(_ roots: [Requirement]) -> Resolution {
        var chosen: [String: Release] = [:]
        var floor: [String: Version] = [:]
        var pending = roots
        var conflicts = 0
        while let requirement = pending.popLast() {
            let minimum = max(requirement.atLeast, floor[requirement.package] ?? requirement.atLeast)
            floor[requirement.package] = minimum
            if let current = chosen[requirement.package], current.version >= minimum { continue }
            guard let release = registry.package(requirement.package)?.newest(atLeast: minimum) else {
                conflicts += 1
                continue
            }
            chosen[requirement.package] = release
            pending.append(contentsOf: release.needs)
        }
        let pins = chosen.map { Pin(package: $0.key, version: $0.value.version) }
            .sorted { $0.package < $1.package }
        return Resolution(pins: pins, conflicts: conflicts)
    }
}

final class BuildFarm {
    private let resolver: Resolver
    private let registry: Registry
    private var lockfiles: [String: String] = [:]
    private var clock = 0.0
    private(set) var changedLocks = 0

    init(registry: Registry) {
        self.registry = registry
        resolver = Resolver(registry: registry)
    }

    func build(_ project: String, _ roots: [Requirement]) {
        clock += 0.25
        let resolution = resolver.resolve(BuildRequest(project: project, requestedAt: clock, roots: roots))
        let text = resolution.lockfile
        if lockfiles[project] != text {
            lockfiles[project] = text
            changedLocks += 1
        }
    }

    func publishPatch(_ index: Int) {
        let name = "lib\(index % 30)"
        registry.publish(name, Release(version: Version(major: 1, minor: 10 + index), needs: needs(index)))
        resolver.registryChanged()
    }

    var reuseCount: Int { resolver.reused }
}

func needs(_ index: Int) -> [Requirement] {
    let i = index % 30
    return (1...3).map { k in
        Requirement(package: "lib\(min(31, i + k * 2))", atLeast: Version(major: 1, minor: (i * k) % 4))
    }
}

let registry = Registry()
for i in 0..<32 {
    for minor in 0..<5 {
        registry.publish("lib\(i)", Release(version: Version(major: 1, minor: minor),
                                            needs: i < 30 ? needs(i) : []))
    }
}

func nightly(rounds: Int) {
    let farm = BuildFarm(registry: registry)
    let projects = (0..<14).map { "project-\($0)" }
    for round in 0..<rounds {
        for (n, project) in projects.enumerated() where (round + n) % 3 == 0 {
            let roots = [Requirement(package: "lib\(n)", atLeast: Version(major: 1, minor: 1)),
                         Requirement(package: "lib\(n + 9)", atLeast: Version(major: 1, minor: 0))]
            farm.build(project, roots)
        }
        if round % 20 == 19 { farm.publishPatch(round / 20) }
        usleep(10_000)
    }
    print("lockfile changes \(farm.changedLocks), reused \(farm.reuseCount)")
}

nightly(rounds: 160)
