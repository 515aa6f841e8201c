#!/usr/bin/env python3
"""claims_test.py README TIME_MODEL SOURCE_DIR...: a sentence of the README with an absolute word
names the rules of the time model that support it, and a test carries the number of each."""

import pathlib
import re
import sys

ABSOLUTE = re.compile(r"\b(never|always|nobody|no others|guarantee[sd]?)\b", re.I)
RULES = re.compile(r"\((?:rules? )?([A-Z]\d+(?:, [A-Z]\d+)*)\)")

readme, model, *folders = sys.argv[1:]
text = pathlib.Path(readme).read_text(encoding="utf-8")
text = re.sub(r"^```.*?^```|^    .*?$", "", text, flags=re.DOTALL | re.MULTILINE)
known = set(re.findall(r"^- \*\*([A-Z]\d+)\*\*", pathlib.Path(model).read_text(encoding="utf-8"), re.M))
tested = set()
for folder in folders:
    for file in pathlib.Path(folder).rglob("*_test*"):
        if file.suffix in (".c", ".py"):
            tested |= set(re.findall(r"test_([A-Z]\d+)_", file.read_text(encoding="utf-8")))

claims = failed = 0
for sentence in re.split(r"(?<=[.;:])\s+(?=[A-Za-z`-])|\n\n|\n- ", text):
    words = ABSOLUTE.search(sentence)
    if not words:
        continue
    claims += 1
    rules = [rule for found in RULES.findall(sentence) for rule in found.split(", ")]
    wrong = [rule for rule in rules if rule not in known or rule not in tested]
    if rules and not wrong:
        continue
    failed += 1
    shown = " ".join(sentence.split())
    why = f"has no test or is no rule: {', '.join(wrong)}" if wrong else "names no rule, as in (M2)"
    print(f"{readme}: \"{words.group(0)}\" in \"{shown[:100]}\" {why}")
print(f"{claims - failed} passed, {failed} failed")
sys.exit(failed > 0 or claims == 0)
