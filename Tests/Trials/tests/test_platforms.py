"""Tests how the mirror is found, how checks are judged, and the page about platforms."""

import argparse
import os
import tempfile
import unittest

from trials import matrix, platform_corpus, platform_report, roots


class MirrorTests(unittest.TestCase):
    def mirror(self, **files):
        with tempfile.TemporaryDirectory() as directory:
            os.mkdir(os.path.join(directory, "sources.list.d"))
            for name, text in files.items():
                place = "sources.list" if name == "main" else os.path.join("sources.list.d", f"{name}.sources")
                with open(os.path.join(directory, place), "w") as file:
                    file.write(text)
            return roots.mirror(directory)

    def test_both_formats_name_the_mirror(self):
        address = "http://mirror.test/debian"
        self.assertEqual(self.mirror(main=f"deb [arch=amd64] {address} sid main\n"), address)
        self.assertEqual(self.mirror(debian=f"Types: deb\n# old\nURIs: {address}\nSuites: sid\n"), address)

    def test_other_archives_are_not_mirrors(self):
        self.assertIsNone(self.mirror(main="deb http://mirror.test/debian-security sid main\n"))
        self.assertIsNone(self.mirror(main="# deb http://mirror.test/debian sid main\n"))


class JudgementTests(unittest.TestCase):
    reasons = [{"suites": ["sid"], "checks": ["light"], "complaint": "^no image", "reason": "known"}]  # noqa: RUF012

    def judged(self, suite, name, *complaints):
        outcome = {"state": matrix.FAILED, "complaints": list(complaints)}
        matrix.judge(suite, name, outcome, self.reasons)
        return outcome["state"]

    def test_every_complaint_must_be_known(self):
        self.assertEqual(self.judged("sid", "light", "no image: x"), matrix.KNOWN_GAP)
        self.assertEqual(self.judged("sid", "light", "no image: x", "the program ended with 1"), matrix.FAILED)

    def test_reason_applies_only_to_its_suites_and_checks(self):
        self.assertEqual(self.judged("trixie", "light", "no image: x"), matrix.FAILED)
        self.assertEqual(self.judged("sid", "attached", "no image: x"), matrix.FAILED)


class KeptResultsTests(unittest.TestCase):
    def kept(self, directory, check=()):
        return matrix.KeptResults(argparse.Namespace(roots=directory, products=directory, quick=False, check=check))

    def test_suite_result_is_kept_for_its_build(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ("leaktrace", "libleaktrace.so"):
                with open(os.path.join(directory, name), "w") as file:
                    file.write("1")
            self.kept(directory).add("sid", {"glibc": "2.43"})
            self.assertEqual(self.kept(directory).get("sid"), {"glibc": "2.43"})
            self.assertIsNone(self.kept(directory).get("trixie"))
            # A run of single checks neither stores nor reads results.
            self.assertIsNone(self.kept(directory, check=["light"]).get("sid"))
            self.kept(directory, check=["light"]).add("trixie", {})
            self.assertIsNone(self.kept(directory).get("trixie"))
            with open(os.path.join(directory, "leaktrace"), "w") as file:
                file.write("2")
            self.assertIsNone(self.kept(directory).get("sid"))


class CorpusTests(unittest.TestCase):
    def test_missing_library_is_read_from_the_linkers_message(self):
        for words in ("ld.bfd: cannot find -lxml2: No such file", "lld: error: unable to find library -lxml2"):
            self.assertEqual(platform_corpus.missing_library(words), "libxml2")
        self.assertIsNone(platform_corpus.missing_library("error: cannot find 'lookup' in scope"))

    def test_versions_are_compared_by_their_first_two_numbers(self):
        self.assertLess(platform_corpus._numbers("6.0.3"), platform_corpus._numbers("// swift-tools-version: 6.1"))
        self.assertEqual(platform_corpus._numbers("no version"), (0, 0))


class ReportTests(unittest.TestCase):
    def test_report_has_cells_and_explanations(self):
        results = {
            "bookworm": {"glibc": "2.36", "checks": {"light": {"state": "yes", "complaints": []}}},
            "sid": {
                "glibc": "2.43",
                "checks": {"light": {"state": "known", "complaints": ["x"], "reasons": ["Not read yet."]}},
            },
            "trixie": {"glibc": "?", "checks": {}, "not_run": "debootstrap failed"},
        }
        lines = platform_report.tables(results, ["light"], "2026-01-02")
        self.assertIn("| light | yes | in part (1) | not run (2) |", lines)
        self.assertIn("1. Not read yet.", lines)
        self.assertIn("2. debootstrap failed", lines)
        self.assertEqual(lines[0], "Checked on 2026-01-02.")
