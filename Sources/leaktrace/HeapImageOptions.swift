// The option for the number of a heap image.

import ArgumentParser

/// The heap image of a command that searches for leaks.
struct SearchedImageOption: ParsableArguments {
  @Option(
    help: "Heap image to look for leaks in, by number (default: the last, or one requested right before the exit).")
  var snapshot: Int?
}

/// The heap image of a command that answers a question.
struct ShownImageOption: ParsableArguments {
  @Option(help: "Heap image to look at, by number (default: the last one).")
  var snapshot: Int?
}
