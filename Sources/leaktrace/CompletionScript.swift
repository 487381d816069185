// Scripts that complete leaktrace's command line in bash, zsh and fish.

import ArgumentParser

/// The ArgumentParser script for a shell, with functions for the values that ArgumentParser cannot complete.
enum CompletionScript {
  /// Returns the shell whose script the command line requests; nil if it requests none, or one that is unknown.
  static func shell(askedForBy arguments: [String]) -> CompletionShell? {
    let option = "--generate-completion-script"
    guard let first = arguments.first else { return nil }
    if first == option {
      return arguments.count == 1 ? CompletionShell.autodetected() : CompletionShell(rawValue: arguments[1])
    }
    return first.hasPrefix(option + "=") ? CompletionShell(rawValue: String(first.dropFirst(option.count + 1))) : nil
  }

  static func text(for shell: CompletionShell) -> String {
    let script = Leaktrace.completionScript(for: shell)
    let commands = Leaktrace.commandNames.joined(separator: " ")
    switch shell {
    case .bash:
      // The script is sourced, not run, so its `#!` line goes.
      let own = calling(
        script.dropping("#!/bin/bash\n\n"), "__leaktrace_add_completions -W \"$(eval '", "')\"", call: String.init)
      let help = "_leaktrace_help() {\n    COMPREPLY+=($(compgen -W '\(commands)' -- \"${cur}\"))\n}"
      return "\(bashFunctions)\n\n\(own)\n\n\(help)"
    case .zsh:
      let own = calling(
        script.dropping("#compdef leaktrace\n\n"), "{local -a list;list=(${(f)\"$(", ")\"});_describe -V \"\" list}"
      ) { "{\($0)}" }
      let help = own.replacing("'*:subcommands:'", with: "':command:(\(commands))'")
      return "#compdef leaktrace\n\n\(zshFunctions)\n\n\(help)"
    case .fish:
      let condition = "__leaktrace_should_offer_completions_for_positional \"leaktrace help\" -eq 1"
      return "\(fishFunctions)\n\n\(script)\ncomplete -c 'leaktrace' -n '\(condition)' -fa '\(commands)'"
    default: return script
    }
  }

  /// Replaces each command substitution of a leaktrace function by a plain call, because the functions add their words
  /// to the shell's completions themselves.
  private static func calling(
    _ script: String, _ beginning: String, _ end: String, call: (Substring) -> String
  ) -> String {
    var result = ""
    var rest = script[...]
    while let first = rest.firstRange(of: beginning + "__leaktrace_"),
      let last = rest[first.upperBound...].firstRange(of: end)
    {
      let name = rest.index(first.lowerBound, offsetBy: beginning.count)
      result += rest[..<first.lowerBound] + call(rest[name..<last.lowerBound])
      rest = rest[last.upperBound...]
    }
    return result + rest
  }

  // MARK: The functions

  /// The functions add words to COMPREPLY. The parser's script defines `cur` and `prev`.
  private static let bashFunctions = #"""
    # Completes the command line of leaktrace.

    __leaktrace_program() {
        # An option of leaktrace.
        if [[ "${positional_number}" -eq 0 ]]; then
            return
        fi
        # The options behind the program's name are its own.
        COMPREPLY=()
        if [[ "${positional_number}" -eq 1 && "${cur}" != */* && "${prev}" != '=' ]]; then
            __leaktrace_add_completions -c
        fi
        __leaktrace_add_completions -f
    }

    __leaktrace_recording() {
        local pid rest
        while read -r pid rest; do
            if [[ "${pid}" == +([0-9]) && "${pid}" == "${cur}"* ]]; then
                COMPREPLY+=("${pid}")
            fi
        done < <("${COMP_WORDS[0]}" ps 2>/dev/null)
    }

    __leaktrace_recording_or_trace() {
        __leaktrace_recording
        __leaktrace_add_completions -f
    }

    __leaktrace_process() {
        local directory
        for directory in /proc/"${cur}"*; do
            # A kernel's thread has no program.
            if [[ "${directory}" == /proc/+([0-9]) && -O "${directory}" && -e "${directory}/exe" ]]; then
                COMPREPLY+=("${directory#/proc/}")
            fi
        done
    }

    __leaktrace_process_or_file() {
        __leaktrace_process
        __leaktrace_add_completions -f
    }

    __leaktrace_report_file() {
        local format
        for format in "${@}"; do
            if [[ "${format}" == "${cur}"* ]]; then
                COMPREPLY+=("${format}=")
            fi
        done
        # The path follows the sign.
        compopt -o nospace
    }

    __leaktrace_conditions() {
        local head='' name names=" ${*} "
        if [[ "${COMP_WORDS[1]}" == diff ]]; then
            names="${names#* -- }"
        else
            names="${names% -- *}"
        fi
        if [[ "${cur}" == *,* ]]; then
            head="${cur%,*},"
        fi
        for name in ${names}; do
            # Each once, and "none" alone.
            if [[ "${head}${name}" == "${cur}"* && ",${head}none," != *",${name},"* || -z "${head}" && "${name}" == "${cur}"* ]]; then
                COMPREPLY+=("${head}${name}")
            fi
        done
    }
    """#

  private static let zshFunctions = #"""
    __leaktrace_program() {
        # The place of "--", or of the first word that is no option and follows none.
        local -i start="${words[(i)--]}" index
        if (( start >= CURRENT )); then
            for (( index = 2; index < CURRENT; index++ )); do
                if [[ "${words[index]}" != -* && "${words[index-1]}" != -* ]]; then
                    start=index-1
                    break
                fi
            done
        fi
        if (( start < CURRENT )); then
            shift "${start}" words
            (( CURRENT -= start ))
            _normal
        else
            _alternative 'commands:command:_command_names -e' 'files:file:_files'
        fi
    }

    __leaktrace_recording() {
        local line
        local -a recordings
        for line in "${(@f)$("${command_name}" ps 2>/dev/null)}"; do
            if [[ "${${=line}[1]}" == <-> ]]; then
                recordings+=("${${=line}[1]}:${${=line}[2]}")
            fi
        done
        _describe -V recording recordings
    }

    __leaktrace_recording_or_trace() {
        _alternative 'recordings:recording:__leaktrace_recording' 'files:trace:_files'
    }

    __leaktrace_process() {
        _alternative 'processes:process:_pids'
    }

    __leaktrace_process_or_file() {
        _alternative 'processes:process:_pids' 'files:file:_files'
    }

    __leaktrace_report_file() {
        if compset -P '*='; then
            _files
        else
            local expl
            _wanted formats expl format compadd -q -S = -- "${@}"
        fi
    }

    __leaktrace_conditions() {
        local -i separator="${@[(i)--]}"
        if [[ "${words[1]}" == diff ]]; then
            _values -s , condition "${(@)argv[separator+1,-1]}"
        else
            _values -s , condition "${(@)argv[1,separator-1]}"
        fi
    }
    """#

  /// The functions print the words.
  private static let fishFunctions = #"""
    # Completes the command line of leaktrace.

    function __leaktrace_program
        set -l tokens (__leaktrace_tokens -pc)
        set -l token (commandline -ct)
        # The place of "--", or of the first word behind the command's name that is no option and follows none.
        set -l start (contains -i -- -- $tokens)
        for index in (seq 3 (count $tokens))
            set -q start[1]; and break
            string match -q -- '-*' $tokens[$index] $tokens[(math $index - 1)]
            or set start (math $index - 1)
        end
        if set -q start[1]
            set -e tokens[1..$start]
            complete -C(string join ' ' -- (string escape -- $tokens) $token)
        else if not string match -q -- '-*' $token
            __fish_complete_path $token
            complete -C$token
        end
    end

    function __leaktrace_recording
        set -l tokens (__leaktrace_tokens -pc)
        command $tokens[1] ps 2>/dev/null | string replace -rf '^\s*(\d+)\s+(\S+).*' '$1'\t'$2'
    end

    function __leaktrace_recording_or_trace
        __leaktrace_recording
        __fish_complete_path (commandline -ct)
    end

    function __leaktrace_process
        __fish_complete_pids
    end

    function __leaktrace_process_or_file
        __fish_complete_pids
        __fish_complete_path (commandline -ct)
    end

    function __leaktrace_report_file
        set -l parts (string split -m 1 = -- (commandline -ct))
        if set -q parts[2]
            for path in (__fish_complete_path $parts[2])
                printf '%s=%s\n' $parts[1] $path
            end
        else
            printf '%s=\n' $argv
        end
    end

    function __leaktrace_conditions
        set -l head (string match -r '^.*,' -- (commandline -ct))
        set -q head[1]; or set head ''
        set -l tokens (__leaktrace_tokens -pc)
        set -l separator (contains -i -- -- $argv)
        if test "$tokens[2]" = diff
            set argv $argv[(math $separator + 1)..]
        else
            set argv $argv[..(math $separator - 1)]
        end
        if test -n "$head"
            set argv (string match -v none -- $argv)
        end
        printf '%s\n' $head$argv
    end
    """#
}

extension String {
  /// Returns the text after the given beginning, which must be there.
  fileprivate func dropping(_ beginning: String) -> String {
    precondition(hasPrefix(beginning), "the parser's script begins otherwise")
    return String(dropFirst(beginning.count))
  }
}
