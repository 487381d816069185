struct Story: Sendable {
    enum Section: String, CaseIterable, Sendable { case politics, sports, culture, science }
    let section: Section
    let headline: String
    let urgency: Int
}

actor Wire {
    private var outlets: [String: AsyncStream<Story>.Continuation] = [:]
    private(set) var sent = 0

    func subscribe(_ name: String) -> AsyncStream<Story> {
        outlets[name]?.finish()
        let (stream, outlet) = AsyncStream.makeStream(of: Story.self)
        outlets[name] = outlet
        return stream
    }

    func unsubscribe(_ name: String) {
        outlets.removeValue(forKey: name)?.finish()
    }

    func send(_ story: Story) {
        sent += 1
        for outlet in outlets.values { outlet.yield(story) }
    }

    var outletNames: [String] { outlets.keys.sorted() }
}

actor NewsDesk {
    nonisolated let name: String
    private let section: Story.Section
    private var frontPage: [Story] = []

    init(name: String, section: Story.Section) {
        self.name = name
        self.section = section
    }

    func work(on wire: Wire) async {
        let stories = await wire.subscribe(name)
        Task {
            for await story in stories where story.section == section {
                edit(story)
            }
        }
    }

    private func edit(_ story: Story) {
        frontPage.append(story)
        frontPage.sort { ($0.urgency, $0.headline) > ($1.urgency, $1.headline) }
        if frontPage.count > 4 { frontPage.removeLast() }
    }

    var lead: String { frontPage.first.map { "\(name): \($0.headline)" } ?? "\(name): –" }
}

actor Newsroom {
    let wire = Wire()
    private var desks: [NewsDesk] = []
    private(set) var closures = 0

    func staff(shift: Int, desks count: Int) async {
        for n in 0..<count {
            let section = Story.Section.allCases[n % 4]
            let desk = NewsDesk(name: "s\(shift)-\(section.rawValue)-\(n)", section: section)
            await desk.work(on: wire)
            desks.append(desk)
        }
    }

    func closeShift(keeping survivors: Int) async {
        while desks.count > survivors {
            let desk = desks.removeFirst()
            await wire.unsubscribe(desk.name)
            closures += 1
        }
    }

    func leads() async -> [String] {
        var lines: [String] = []
        for desk in desks { lines.append(await desk.lead) }
        return lines
    }
}

let newsroom = Newsroom()

func cover(day: Int, stories: Int) async {
    for n in 0..<stories {
        let section = Story.Section.allCases[(n + day) % 4]
        await newsroom.wire.send(Story(section: section, headline: "day \(day) item \(n)", urgency: (n * 7 + day) % 10))
    }
}

for shift in 1...5 {
    await newsroom.staff(shift: shift, desks: 9)
    for day in 1...4 {
        await cover(day: shift * 10 + day, stories: 12)
        try await Task.sleep(for: .milliseconds(12))
    }
    await newsroom.closeShift(keeping: 3)
}

for day in 100..<130 {
    await cover(day: day, stories: 8)
    try await Task.sleep(for: .milliseconds(15))
}
print(await newsroom.leads().joined(separator: "; "))
print("\(await newsroom.closures) closed, \(await newsroom.wire.sent) stories, outlets \(await newsroom.wire.outletNames.count)")
