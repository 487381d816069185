import Foundation

final class Journalist {
    let name: String
    var published = 0
    init(name: String) { self.name = name }
}

final class Draft {
    let title: String
    let author: Journalist
    var paragraphs: [String] = []
    var revision = 0
    init(title: String, author: Journalist) {
        self.title = title
        self.author = author
    }
}

final class Article {
    let number: Int
    let day: Int
    let title: String
    let author: String
    let text: String
    init(number: Int, day: Int, title: String, author: String, text: String) {
        self.number = number
        self.day = day
        self.title = title
        self.author = author
        self.text = text
    }
}

final class Archive {
    private var articles: [Article] = []

    func store(_ article: Article) { articles.append(article) }

    func find(number: Int) -> Article? {
        var low = 0
        var high = articles.count - 1
        while low <= high {
            let middle = (low + high) / 2
            if articles[middle].number == number { return articles[middle] }
            if articles[middle].number < number { low = middle + 1 } else { high = middle - 1 }
        }
        return nil
    }

    func onThisDay(_ day: Int) -> [Article] { articles.filter { $0.day == day } }
    var count: Int { articles.count }
    var latestNumber: Int { articles.last?.number ?? 0 }
}

final class Desk {
    private var inbox: [Draft] = []
    private(set) var spiked = 0

    func submit(_ draft: Draft) { inbox.append(draft) }

    func edit() -> [Draft] {
        var ready: [Draft] = []
        var rest: [Draft] = []
        for draft in inbox {
            draft.revision += 1
            draft.paragraphs = draft.paragraphs.map { $0.trimmingCharacters(in: .whitespaces) }
            if draft.paragraphs.count < 2 {
                spiked += 1
            } else if draft.revision >= 3 {
                ready.append(draft)
            } else {
                rest.append(draft)
            }
        }
        inbox = rest
        return ready
    }

    var waiting: Int { inbox.count }
}

final class Reader {
    let id: Int
    private let archive: Archive
    private(set) var read = 0
    private(set) var characters = 0
    init(id: Int, archive: Archive) {
        self.id = id
        self.archive = archive
    }
    func visit(_ number: Int) {
        guard let article = archive.find(number: number) else { return }
        read += 1
        characters += article.text.count
    }
}

final class Newsroom {
    private let archive = Archive()
    private let desk = Desk()
    private let staff = ["Hild", "Imre", "Jola", "Kofi"].map(Journalist.init)
    private var seed = 4242
    private var number = 0
    private var visits = 0
    private var characters = 0

    private func pick(_ n: Int) -> Int {
        seed = (seed * 48_271) % 2_147_483_647
        return seed % n
    }

    private func write(_ index: Int) {
        let author = staff[pick(staff.count)]
        let draft = Draft(title: "Story \(index)", author: author)
        for p in 0..<(1 + pick(4)) {
            draft.paragraphs.append("  Paragraph \(p) of story \(index) by \(author.name), reported from place \(pick(900)). ")
        }
        desk.submit(draft)
    }

    private func publish(day: Int) {
        for draft in desk.edit() {
            number += 3
            draft.author.published += 1
            archive.store(Article(number: number, day: day, title: draft.title, author: draft.author.name, text: draft.paragraphs.joined(separator: "\n")))
        }
    }

    private func serve() {
        let reader = Reader(id: visits, archive: archive)
        for _ in 0..<3 {
            reader.visit((1 + pick(max(1, archive.latestNumber / 3))) * 3)
        }
        visits += reader.read
        characters += reader.characters
    }

    func run(days: Int) {
        for day in 0..<days {
            for shift in 0..<12 {
                write(day * 12 + shift)
                publish(day: day)
                if shift % 3 == 0 { serve() }
                usleep(3500)
            }
            if day % 10 == 9 {
                let old = archive.onThisDay(day - 9)
                print("ten days ago: \(old.count) articles, first \(old.first?.title ?? "-")")
            }
        }
        let names = staff.map { "\($0.name) \($0.published)" }.joined(separator: ", ")
        print("archive \(archive.count), spiked \(desk.spiked), visits \(visits), characters \(characters)")
        print(names)
    }
}

func edition() {
    Newsroom().run(days: 40)
}

edition()
