import unittest

from manuals.roff import Page, escaped, sentence


class EscapingTests(unittest.TestCase):
    def test_requests_and_special_characters_are_escaped(self):
        self.assertEqual(escaped(r"a\n 'b' x-y …"), r"a\en \(aqb\(aq x\-y \[u2026]")

    def test_text_is_ascii(self):
        for text in ["…", "×", "λ", "🐛"]:
            self.assertTrue(escaped(text).isascii(), text)

    def test_lines_that_resemble_requests_are_escaped(self):
        page = Page()
        for line in [".TH", "'x", "text"]:
            page.line(line)
        self.assertEqual(page.lines, [r"\&.TH", r"\&'x", "text"])

    def test_long_text_is_wrapped_and_no_line_begins_as_a_request(self):
        page = Page()
        page.text(escaped("word " * 15 + ".x 'y " * 30 + "z" * 100))
        self.assertTrue(all(len(line) <= 80 for line in page.lines[:-1]), page.lines)
        self.assertFalse(any(line.startswith((".", "'")) for line in page.lines), page.lines)
        self.assertEqual(page.lines[-1], "z" * 100)

    def test_words_of_a_request_stay_together(self):
        page = Page()
        page.request("SH", 'EXIT "STATUS"')
        page.request("ad", "l")
        page.request("TH", "")
        self.assertEqual(page.lines, [r'.SH "EXIT \(dqSTATUS\(dq"', ".ad l", '.TH ""'])


class SentenceTests(unittest.TestCase):
    def test_options_are_bold(self):
        self.assertEqual(sentence("With --pid, or -o x."), r"With \fB\-\-pid\fR, or \fB\-o\fR x.")

    def test_other_dashes_are_not_bold(self):
        for text in ["new-leaks", "a - b", "1-2", "app-2.html", "x/-y", "--", "-1"]:
            self.assertNotIn(r"\fB", sentence(text), text)


if __name__ == "__main__":
    unittest.main()
