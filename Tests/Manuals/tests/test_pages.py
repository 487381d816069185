import json
import unittest

from manuals.commands import Command, UnknownForm, parse, usage
from manuals.pages import Edition, page, synopsis

EDITION = Edition("1.2.3", "2026-03-05")


def option(name, **fields):
    return {
        "kind": "option",
        "names": [{"kind": "long", "name": name}],
        "valueName": "value",
        "abstract": "Sets it.",
        "isRepeating": False,
        "shouldDisplay": True,
        **fields,
    }


def flag(name, **fields):
    return option(name, kind="flag", **fields)


def dump(**fields):
    show = {"commandName": "show", "abstract": "Show it.", "arguments": [], **fields}
    subcommands = [show, {"commandName": "help"}, {"commandName": "secret", "shouldDisplay": False}]
    root = {"commandName": "tool", "abstract": "Do it.", "arguments": [], "subcommands": subcommands}
    return json.dumps({"serializationVersion": 0, "command": root})


def shown(**fields):
    root = parse(dump(**fields))
    return page(root.subcommands[0], ["tool show [<options>] <trace> ..."], EDITION, root)


def section(text, title):
    """The lines of a section."""
    lines = text.split("\n")
    start = next(index for index, line in enumerate(lines) if line in (f".SH {title}", f'.SH "{title}"'))
    end = next((index for index in range(start + 1, len(lines)) if lines[index].startswith(".SH")), len(lines))
    return [line for line in lines[start + 1 : end] if line]


class CommandTests(unittest.TestCase):
    def test_hidden_commands_and_help_have_no_page(self):
        self.assertEqual([command.name for command in parse(dump()).subcommands], ["show"])

    def test_hidden_arguments_are_omitted(self):
        command = parse(dump(arguments=[option("a"), option("b", shouldDisplay=False)])).subcommands[0]
        self.assertEqual([argument.names for argument in command.arguments], [["--a"]])

    def test_a_flag_and_its_negation_are_one_entry(self):
        command = parse(dump(arguments=[flag("no-sites"), flag("follow"), flag("no-follow")])).subcommands[0]
        names = [argument.names for argument in command.arguments]
        self.assertEqual(names, [["--no-sites"], ["--follow", "--no-follow"]])

    def test_unknown_description_format_is_refused(self):
        with self.assertRaises(UnknownForm):
            parse(json.dumps({"serializationVersion": 1, "command": {}}))

    def test_usage_ends_at_a_blank_line(self):
        text = "OVERVIEW: It.\n\nUSAGE: tool a\n       tool b\n\nOPTIONS:\n"
        self.assertEqual(usage(text), ["tool a", "tool b"])
        with self.assertRaises(UnknownForm):
            usage("OVERVIEW: It.\n")


class PageTests(unittest.TestCase):
    def test_the_head_has_the_name_the_date_and_the_version(self):
        lines = shown().split("\n")
        self.assertIn('.TH TOOL\\-SHOW 1 2026-03-05 "tool 1.2.3" "User Commands"', lines)
        self.assertEqual(section(shown(), "NAME"), ["tool\\-show \\- Show it"])

    def test_synopsis_marks_literals_and_placeholders(self):
        self.assertEqual(
            synopsis("tool show [--pid <pid>] <trace> ..."),
            "\\fBtool\\fR \\fBshow\\fR [\\fB\\-\\-pid\\fR \\fIpid\\fR] \\fItrace\\fR .\\|.\\|.",
        )
        self.assertEqual(
            synopsis("tool show [--] COMMAND [ARGUMENT...]"),
            "\\fBtool\\fR \\fBshow\\fR [\\fB\\-\\-\\fR] \\fICOMMAND\\fR [\\fIARGUMENT\\fR.\\|.\\|.]",
        )

    def test_options_show_their_values_and_defaults(self):
        text = shown(arguments=[option("format", allValues=["text", "json"], defaultValue="text"), flag("weak")])
        self.assertEqual(
            section(text, "OPTIONS"),
            [
                ".TP",
                "\\fB\\-\\-format\\fR \\fIvalue\\fR",
                "Sets it. One of text and json. Default: text.",
                ".TP",
                "\\fB\\-\\-weak\\fR",
                "Sets it.",
            ],
        )

    def test_a_default_in_words_is_not_repeated(self):
        text = shown(arguments=[option("limit", abstract="Rows (default: 3).", defaultValue="3")])
        self.assertEqual(section(text, "OPTIONS")[-1], "Rows (default: 3).")

    def test_titled_groups_are_later_sections(self):
        text = shown(arguments=[option("a", sectionTitle="Gates"), option("b")])
        self.assertLess(text.index("OPTIONS"), text.index("GATES"))
        self.assertIn("\\fB\\-\\-a\\fR \\fIvalue\\fR", section(text, "GATES"))

    def test_exit_statuses_and_the_environment_are_sections(self):
        discussion = "It shows.\n\nEnvironment: NO_COLOR.\n\nExit status: 0 success, 64 wrong\nusage."
        text = shown(discussion=discussion)
        self.assertEqual(section(text, "EXIT STATUS"), ["0 success, 64 wrong usage."])
        self.assertEqual(section(text, "ENVIRONMENT"), ["NO_COLOR."])
        self.assertEqual(section(text, "DESCRIPTION"), ["Show it.", ".PP", "It shows."])

    def test_lines_of_a_table_are_a_list(self):
        text = shown(discussion="dot     graphs\nsqlite  tables:   --x")
        self.assertEqual(
            section(text, "DESCRIPTION")[1:],
            [".TP", "\\fBdot\\fR", "graphs", ".TP", "\\fBsqlite\\fR", "tables: \\fB\\-\\-x\\fR"],
        )

    def test_root_page_lists_the_commands_and_links_to_them(self):
        root = parse(dump())
        text = page(root, ["tool <subcommand>"], EDITION, root)
        self.assertEqual(section(text, "COMMANDS"), [".TP", "\\fBtool\\-show\\fR(1)", "Show it."])
        self.assertEqual(section(text, "SEE ALSO"), ["\\fBtool\\-show\\fR(1)"])
        self.assertEqual(section(shown(), "SEE ALSO"), ["\\fBtool\\fR(1)"])

    def test_command_without_arguments_has_no_argument_sections(self):
        text = shown()
        self.assertNotIn("OPTIONS", text)
        self.assertNotIn("ARGUMENTS", text)
        self.assertIsInstance(parse(dump()), Command)


if __name__ == "__main__":
    unittest.main()
