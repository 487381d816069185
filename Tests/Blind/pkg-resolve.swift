import Foundation

// pkgresolve: picks one version per package so that every requirement holds,
// using backtracking over the newest versions first, then prints an install
// order. The index is generated.

struct Version: Comparable, Hashable, CustomStringConvertible {
    let major: Int, minor: Int
    static func < (a: Version, b: Version) -> Bool { (a.major, a.minor) < (b.major, b.minor) }
    var description: String { "\(major).\(minor)" }
}

struct Requirement {
    let package: String
    let lower: Version
    let upper: Version
    func accepts(_ version: Version) -> Bool { version >= lower && version < upper }
}

final class Release {
    unowned let package: Package
    let version: Version
    let requirements: [Requirement]

    init(package: Package, version: Version, requirements: [Requirement]) {
        self.package = package
        self.version = version
        self.requirements = requirements
    }
}

final class Package {
    let name: String
    private(set) var releases: [Release] = []
    init(name: String) { self.name = name }

    func publish(_ version: Version, requires requirements: [Requirement]) {
        releases.append(Release(package: self, version: version, requirements: requirements))
        releases.sort { $0.version > $1.version }
    }
}

final class PackageIndex {
    private var packages: [String: Package] = [:]

    func package(_ name: String) -> Package {
        if let known = packages[name] { return known }
        let fresh = Package(name: name)
        packages[name] = fresh
        return fresh
    }

    var count: Int { packages.count }
}

enum ResolutionError: Error { case unsatisfiable(String) }

/// One node of the chosen graph.
final class GraphNode {
    let release: Release
    var dependencies: [GraphNode] = []
    private struct Back { unowned let node: GraphNode }
    private var dependents: [Back] = []
    var visited = false

    init(_ release: Release) { self.release = release }

    func depend(on other: GraphNode) {
        dependencies.append(other)
        other.dependents.append(Back(node: self))
    }

    var dependentNames: [String] { dependents.map { $0.node.release.package.name } }
}

final class Resolver {
    private let index: PackageIndex
    private(set) var steps = 0

    init(index: PackageIndex) { self.index = index }

    func resolve(_ roots: [Requirement]) throws -> [String: Release] {
        guard let result = search(roots[...], chosen: [:]) else { throw ResolutionError.unsatisfiable(roots.map(\.package).joined(separator: ",")) }
        return result
    }

    private func search(_ open: ArraySlice<Requirement>, chosen: [String: Release]) -> [String: Release]? {
        guard let next = open.first else { return chosen }
        steps += 1
        if let existing = chosen[next.package] {
            return next.accepts(existing.version) ? search(open.dropFirst(), chosen: chosen) : nil
        }
        for release in index.package(next.package).releases where next.accepts(release.version) {
            let compatible = release.requirements.allSatisfy { requirement in
                chosen[requirement.package].map { requirement.accepts($0.version) } ?? true
            }
            guard compatible else { continue }
            var extended = chosen
            extended[next.package] = release
            if let result = search(ArraySlice(release.requirements) + open.dropFirst(), chosen: extended) { return result }
            if steps > 20_000 { return nil }
        }
        return nil
    }
}

struct InstallPlan {
    private var nodes: [String: GraphNode] = [:]
    private(set) var order: [GraphNode] = []

    init(_ selection: [String: Release]) {
        for (name, release) in selection { nodes[name] = GraphNode(release) }
        for node in nodes.values {
            for requirement in node.release.requirements {
                if let target = nodes[requirement.package] { node.depend(on: target) }
            }
        }
        for name in nodes.keys.sorted() { visit(nodes[name]!) }
    }

    private mutating func visit(_ node: GraphNode) {
        guard !node.visited else { return }
        node.visited = true
        for dependency in node.dependencies { visit(dependency) }
        order.append(node)
    }

    var mostShared: (name: String, users: Int) {
        let best = order.max { ($0.dependentNames.count, $0.release.package.name) < ($1.dependentNames.count, $1.release.package.name) }
        return (best?.release.package.name ?? "-", best?.dependentNames.count ?? 0)
    }
}

struct Generator {
    var state: UInt64
    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}

func buildIndex(packages: Int) -> PackageIndex {
    let index = PackageIndex()
    var random = Generator(state: 7)
    for number in 0..<packages {
        let package = index.package("lib\(number)")
        for major in 1...4 {
            for minor in 0..<5 {
                var requirements: [Requirement] = []
                // Packages only depend on lower numbers, so the graph has no loops.
                for _ in 0..<min(number, 3) {
                    let target = random.below(number)
                    let low = Version(major: max(1, major - random.below(2)), minor: 0)
                    requirements.append(Requirement(package: "lib\(target)", lower: low, upper: Version(major: 6, minor: 0)))
                }
                package.publish(Version(major: major, minor: minor), requires: requirements)
            }
        }
    }
    return index
}

let index = buildIndex(packages: 400)
var random = Generator(state: 99)
var solved = 0, failed = 0, installed = 0
var popularity: [String: Int] = [:]
var sample = ""
for project in 0..<190 {
    let roots = (0..<4).map { _ -> Requirement in
        let major = 1 + random.below(3)
        return Requirement(package: "lib\(random.below(400))", lower: Version(major: major, minor: 0), upper: Version(major: major + 2, minor: 0))
    }
    let resolver = Resolver(index: index)
    do {
        let plan = InstallPlan(try resolver.resolve(roots))
        solved += 1
        installed += plan.order.count
        popularity[plan.mostShared.name, default: 0] += plan.mostShared.users
        if project % 45 == 0, let last = plan.order.last {
            sample += " \(last.release.package.name)@\(last.release.version)"
        }
    } catch {
        failed += 1
    }
}
let top = popularity.max { ($0.value, $0.key) < ($1.value, $1.key) }
print("packages \(index.count), solved \(solved), failed \(failed), installed \(installed), most shared \(top?.key ?? "-")")
print("samples:\(sample)")
