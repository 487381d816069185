import Foundation
import Dispatch

final class Question {
    let number: Int
    let correct: Int
    let points: Int
    init(number: Int, correct: Int, points: Int) {
        self.number = number
        self.correct = correct
        self.points = points
    }
}

final class AnswerSheet {
    let student: Int
    let answers: [Int]
    init(student: Int, answers: [Int]) {
        self.student = student
        self.answers = answers
    }
}

final class Result {
    let student: Int
    let points: Int
    let wrong: [Int]
    init(student: Int, points: Int, wrong: [Int]) {
        self.student = student
        self.points = points
        self.wrong = wrong
    }
}

final class Scanner {
    private let questionCount: Int
    init(questionCount: Int) { self.questionCount = questionCount }
    func scan(_ student: Int) -> AnswerSheet {
        let skill = student * 37 % 100
        let answers = (0..<questionCount).map { q -> Int in
            (student * 13 + q * 29) % 100 < skill ? q * 7 % 4 : (student + q) % 4
        }
        return AnswerSheet(student: student, answers: answers)
    }
}

final class Marker {
    private let questions: [Question]
    init(questions: [Question]) { self.questions = questions }
    func mark(_ sheet: AnswerSheet) -> Result {
        var points = 0
        var wrong: [Int] = []
        for (question, answer) in zip(questions, sheet.answers) {
            if answer == question.correct { points += question.points } else { wrong.append(question.number) }
        }
        return Result(student: sheet.student, points: points, wrong: wrong)
    }
}

final class ResultBook {
    private let lock = NSLock()
    private var results: [Result] = []
    private var sorted = true

    func add(_ result: Result) {
        lock.lock()
        results.append(result)
        sorted = false
        lock.unlock()
    }

    private func prepare() {
        guard !sorted else { return }
        results.sort { ($0.points, $0.student) < ($1.points, $1.student) }
        sorted = true
    }

    func rank(points: Int) -> Int {
        lock.lock()
        defer { lock.unlock() }
        prepare()
        var low = 0
        var high = results.count
        while low < high {
            let middle = (low + high) / 2
            if results[middle].points <= points { low = middle + 1 } else { high = middle }
        }
        return results.count - low
    }

    func median() -> Int {
        lock.lock()
        defer { lock.unlock() }
        prepare()
        return results.isEmpty ? 0 : results[results.count / 2].points
    }

    func hardest(of count: Int) -> [Int] {
        lock.lock()
        defer { lock.unlock() }
        var misses = [Int](repeating: 0, count: count)
        for result in results { for number in result.wrong { misses[number] += 1 } }
        return Array(misses.indices.sorted { (misses[$0], $0) > (misses[$1], $1) }.prefix(4))
    }

    var top: [Result] {
        lock.lock()
        defer { lock.unlock() }
        prepare()
        return Array(results.suffix(3).reversed())
    }

    var count: Int {
        lock.lock()
        defer { lock.unlock() }
        return results.count
    }
}

final class ExamOffice {
    private let scanner: Scanner
    private let marker: Marker
    private let book = ResultBook()
    private let questions: [Question]
    private let markers = DispatchQueue(label: "markers", attributes: .concurrent)
    private let group = DispatchGroup()

    init(questionCount: Int) {
        questions = (0..<questionCount).map { Question(number: $0, correct: $0 * 7 % 4, points: 1 + $0 % 3) }
        scanner = Scanner(questionCount: questionCount)
        marker = Marker(questions: questions)
    }

    func hold(students: Range<Int>) {
        for student in students {
            let sheet = scanner.scan(student)
            markers.async(group: group) { [marker, book] in
                book.add(marker.mark(sheet))
            }
            usleep(2400)
        }
        group.wait()
    }

    func publish() {
        print("results \(book.count), median \(book.median()), better than 40 points: \(book.rank(points: 40))")
        print("hardest questions \(book.hardest(of: questions.count))")
        for result in book.top { print("  student \(result.student): \(result.points) points, \(result.wrong.count) wrong") }
    }
}

func examDay() {
    let office = ExamOffice(questionCount: 36)
    office.hold(students: 1000..<1700)
    office.publish()
}

examDay()
