// The words that a shell offers for a command line that begins with leaktrace.

import Foundation
import Testing

/// A shell that uses the completions written by `scripts/manuals`. They are installed where the shell looks for them.
enum CompletingShell: String, CaseIterable {
  case bash, zsh, fish

  /// Returns the directory that `scripts/manuals` filled in this process.
  static func installed() throws -> TemporaryDirectory { try installation.get() }

  private static let installation = Result {
    let directory = try TemporaryDirectory()
    let outcome = try Command([
      BuildProducts.packageRoot + "/scripts/manuals", directory.path, BuildProducts.leaktrace,
    ]).run()
    guard outcome.end == .exit(0), outcome.errorOutput.isEmpty else { throw CommandFailure(outcome.errorOutput) }
    return directory
  }

  /// Returns the sorted words that the shell offers for the last of `words`, which follow `leaktrace` on the command
  /// line.
  ///
  /// - Parameter directory: The current directory of the shell.
  func offers(_ words: [String], in directory: TemporaryDirectory) throws -> [String] {
    let share = try Self.installed().path + "/share"
    let result = try TemporaryDirectory()
    var command: Command
    switch self {
    case .bash:
      command = Command(
        [
          "bash", "--norc", "-c", Self.bashScript, "\(share)/bash-completion/completions/leaktrace", "leaktrace",
        ] + words)
    case .zsh:
      command = Command([
        "zsh", "-f", "-c", Self.zshScript, "\(share)/zsh/site-functions", result.path,
        "leaktrace "
          + words.joined(separator: " "),
      ])
    case .fish:
      command = Command(["fish", "-c", "complete -C $argv[1]", "leaktrace " + words.joined(separator: " ")])
      // fish looks for completions of packages below these directories.
      command.environment["XDG_DATA_DIRS"] = share
    }
    command.directory = directory.path
    command.environment["HOME"] = directory.path
    command.environment["PATH"] = BuildProducts.directory + ":" + (command.environment["PATH"] ?? "")
    // A shell that waits for input has failed.
    command.timeLimit = 120
    let outcome = try withExtendedLifetime(result) { try command.run() }
    guard outcome.end == .exit(0), outcome.errorOutput.isEmpty else {
      throw CommandFailure("\(rawValue) with \(words): \(outcome.errorOutput)")
    }
    let lines = outcome.output.split(separator: "\n").map { String($0.split(separator: "\t")[0]) }
    return Set(lines).sorted()
  }

  /// Arguments: the completion script, and the words of the command line. The script below sets the variables that a
  /// shell sets for completions. It replaces `compopt`, which works only while a key is pressed.
  private static let bashScript = #"""
    source "$0"
    compopt() { :; }
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMP_LINE="$*"
    COMP_POINT=${#COMP_LINE}
    [[ $(complete -p leaktrace) == *"-F _leaktrace leaktrace" ]] || exit 1
    _leaktrace leaktrace "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}"
    """#

  /// Arguments: the directory of the completion functions, a directory for files, and the command line. An interactive
  /// shell in its own terminal gets the line and the tab key. The words that the completion adds are written to a file.
  private static let zshScript = #"""
    zmodload zsh/zpty
    # Waits for a file. What the terminal shows has to be read, or the shell waits for room.
    await() {
      local shown
      until [[ -e $1 ]]; do
        while zpty -r -t shell shown; do :; done
        sleep 0.05
      done
    }
    zpty -b shell zsh -f -i
    zpty -w shell "PROMPT= RPROMPT=; fpath=(${(q)0} \$fpath); autoload -Uz compinit; compinit -u -D"
    zpty -w shell 'offered=()
    compadd() {
      if [[ -z ${argv[(r)-[AOD]]} ]]; then
        local -a matches
        builtin compadd -A matches "$@"
        offered+=($matches)
      fi
      builtin compadd "$@"
    }
    _offer() { _main_complete; print -l -- $offered >'${(q)1}/writing'; mv '${(q)1}/writing' '${(q)1}/offered' }
    zle -C offer complete-word _offer
    bindkey "^I" offer'
    zpty -w shell "cd ${(q)PWD}; : >${(q)1}/ready"
    await $1/ready
    zpty -w -n shell $2$'\t'
    await $1/offered
    zpty -d shell
    cat $1/offered
    """#
}
