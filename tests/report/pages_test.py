#!/usr/bin/env python3
"""pages_test.py PROGRAM: makes pages of reports and parses each as XML and as HTML: whatever text
comes into them, they are well-formed, refer to nothing outside, run nothing and keep their limit."""
import html.parser
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = sys.argv.pop(1)
SEED = int(os.environ.get("TB_TEST_SEED", random.randrange(1 << 31)))
HOSTILE = 5
PAGE_MAX = 2_000_000
ALLOWED = set("""html head meta title style body header nav main section article h1 h2 h3 h4 h5 h6
p a span small b bdi code ul li dl dt dd div details summary table thead tbody tr th td figure
figcaption svg defs path use wbr""".split())
ATTRIBUTES = set("""lang charset name content http-equiv class id href style open scope data-l
viewBox preserveAspectRatio role aria-label aria-hidden width height d""".split())
VOID = {"meta"}


class Tags(html.parser.HTMLParser):
    """What a parser of HTML sees: it must be what the parser of XML sees."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, sorted((name, value or "") for name, value in attrs)))

    handle_startendtag = handle_starttag

    def error(self, message):
        raise AssertionError(message)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"TB_TEST_SEED={SEED}")
        cls.folder = tempfile.TemporaryDirectory()
        cls.texts = [cls.make(cls.folder.name), None]
        with tempfile.TemporaryDirectory() as again:
            cls.texts[1] = cls.make(again)
        cls.roots = {name: xml.etree.ElementTree.fromstring(text)
                     for name, text in cls.texts[0].items()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def make(folder):
        subprocess.run([PROGRAM, folder, str(SEED), str(HOSTILE)], check=True, timeout=200)
        texts = {}
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                texts[name] = file.read()
        return texts

    def each(self, kind=".html"):
        for name, text in self.texts[0].items():
            if not name.endswith(kind):
                continue
            with self.subTest(name=name):
                yield name, text

    def test_the_same_input_gives_the_same_page(self):
        self.assertEqual(self.texts[0], self.texts[1])
        self.assertEqual(len(self.texts[0]), 2 * (HOSTILE + 6))

    def test_bounds(self):
        for _, text in self.each():
            self.assertLessEqual(len(text), PAGE_MAX)

        for _, text in self.each(".xml"):
            self.assertLessEqual(len(text), PAGE_MAX)

    def test_junit(self):
        for name, _ in self.each(".xml"):
            suite = self.roots[name].find("testsuite")
            cases = suite.findall("testcase")
            self.assertEqual(int(suite.get("tests")), len(cases))
            self.assertEqual(len({case.get("name") for case in cases}), len(cases))
            for kind in ("failure", "skipped"):
                count = sum(case.find(kind) is not None for case in cases)
                self.assertEqual(int(suite.get("failures" if kind == "failure" else kind)), count)
            self.assertEqual({element.tag for case in cases for element in case} -
                             {"failure", "skipped", "system-out"}, set())
        cases = {case.get("name"): case for case in self.roots["faults.xml"].iter("testcase")}
        failure = cases["mixed-time-base"].find("failure")
        self.assertEqual(failure.get("type"), "error")
        self.assertEqual(failure.get("message"),
                         "/ekf is on wall time in a graph with /clock")
        self.assertIn("/ekf: parameter use_sim_time is false", failure.text)
        self.assertIsNone(cases["tf-late"].find("failure"))
        self.assertIn("812 ms late", cases["tf-late"].find("system-out").text)
        self.assertEqual(cases["clock-gap"].find("skipped").get("message"),
                         "pauses are part of the exercise")
        self.assertEqual(len(cases["clock-stall"]), 0)
        self.assertFalse(list(self.roots["healthy.xml"].iter("failure")))

    def test_pages_are_well_formed(self):
        for name, _ in self.each():
            root = self.roots[name]
            ids = [element.get("id") for element in root.iter() if element.get("id")]
            self.assertEqual(len(ids), len(set(ids)))
            for element in root.iter():
                self.assertIn(element.tag, ALLOWED)
                self.assertLessEqual(set(element.keys()), ATTRIBUTES)
                if element.get("href"):
                    self.assertIn(element.get("href")[1:], ids)
                    self.assertEqual(element.get("href")[0], "#")
                if element.get("style"):
                    self.assertRegex(element.get("style"), r"^(left|bottom):\d+(\.\d+)?%$")
                if element.get("d"):
                    self.assertRegex(element.get("d"), r"^[MHVvz0-9 .-]+$")

    def test_html_sees_the_same(self):
        for name, text in self.each():
            if name == "worst.html":
                continue  # large, and hostile ones have the same text
            seen = Tags()
            seen.feed(text.decode("utf-8"))
            root = self.roots[name]
            expected = [(element.tag.lower(),
                         sorted((name.lower(), value) for name, value in element.items()))
                        for element in root.iter()]
            self.assertEqual(seen.tags, expected)

    def test_nothing_from_outside(self):
        for _, text in self.each():
            style = re.search(rb"<style>(.*?)</style>", text, re.S).group(1)
            for word in (b"url(", b"@import", b"<", b"&", b"\\"):
                self.assertNotIn(word, style)
            self.assertNotIn(b"<script", text)
            self.assertIn(b"default-src 'none'", text)

    def test_what_is_shown(self):
        root = self.roots["faults.html"]
        sections = [section.get("id") for section in root.iter("section")]
        self.assertEqual(sections, ["findings", "clock", "topics", "ages", "facts"])
        articles = list(root.iter("article"))
        self.assertIn("/ekf is on wall time", "".join(articles[0].itertext()))
        self.assertIn("/robot_0/sensors/imu", "".join(articles[0].itertext()))
        self.assertIn("pauses are part of the exercise", "".join(root.itertext()))
        self.assertIn("3 jumps", "".join(root.itertext()))

    def test_many_topics(self):
        text = self.texts[0]["topics.html"]
        root = self.roots["topics.html"]
        shown = sum(1 for row in root.iter("tr") if row.find("td") is not None)
        self.assertEqual(shown, 1000)
        self.assertIn(b"<p class=\"q\">100 more topics are not shown.</p>", text)

    def test_nothing_to_show(self):
        root = self.roots["empty.html"]
        self.assertIn("no findings", "".join(root.itertext()))


if __name__ == "__main__":
    unittest.main()
