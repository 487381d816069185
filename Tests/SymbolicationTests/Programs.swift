// The sources of the programs that the tests examine.

enum Programs {
  /// Classes, closures, generics, a private function, an extension of a type of another module, and async code.
  static let swift = """
    final class Poller {
      var tick: (() -> Void)?
      var count = 0

      func start(every interval: Int, _ name: String) {
        tick = { [self] in
          count += interval
          log(name)
        }
        func log(_ text: String) {
          count += text.count
        }
        tick!()
      }
    }

    extension Array where Element == Int {
      @inline(never)
      func total() -> Int {
        var sum = 0
        for element in self { sum += square(element) }
        return sum
      }
    }

    @inline(__always)
    func square(_ number: Int) -> Int {
      number &* number
    }

    @inline(never)
    private func distinct<T: Hashable>(_ values: [T]) -> Int {
      var seen = Set<T>()
      for value in values { seen.insert(value) }
      return seen.count
    }

    @inline(never)
    func work() async -> Int {
      await Task.yield()
      let poller = Poller()
      poller.start(every: 3, "abc")
      await Task.yield()
      return poller.count
    }

    @main
    struct Program {
      static func main() async {
        let count = await work()
        print(count, [1, 2, 3].total(), distinct([1, 1]), distinct(["a", "b"]))
      }
    }

    """

  /// Inlined calls, a function that ends with a call of a function that never returns, and code that is never called.
  static let c = """
    #include <stdio.h>
    #include <stdlib.h>

    static inline __attribute__((always_inline)) int add_one(int number) {
      return printf("%d\\n", number) + 1;
    }

    __attribute__((noinline)) void give_up(void) {
      puts("no more");
      abort();
    }

    __attribute__((noinline)) int twice(int number) {
      return add_one(number)
        + add_one(number + 1);
    }

    int never_called(int number) {
      for (int i = 0; i < number; i++) printf("%d", i * number);
      return number;
    }

    int main(int count, char **arguments) {
      if (count > 100) give_up();
      return twice(count);
    }

    """
}

/// Programs that several tests share. Each is compiled at its first use.
enum SharedProgram {
  static func swift(_ arguments: [String]) throws -> ProgramFixture {
    try ProgramFixture(
      "swiftc", ["-parse-as-library", "-module-name", "sample"] + arguments, source: Programs.swift,
      fileName: "sample.swift")
  }

  static let swiftDebug = Result { try swift(["-Onone", "-g"]) }
  static let swiftOptimised = Result { try swift(["-O", "-g"]) }
  static let swiftStaticLibraries = Result { try swift(["-O", "-g", "-static-stdlib"]) }
  static let cOptimised = Result {
    try ProgramFixture("clang", ["-O2", "-g"], source: Programs.c, fileName: "sample.c")
  }
}
