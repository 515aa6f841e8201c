#!/usr/bin/env python3
"""schema/manifest.schema.json and `timebase manifest verify` accept and refuse the same manifests.

usage: manifest_schema_test.py SOURCE_DIR TIMEBASE [TEST...]

Exit status 77 without python3-jsonschema or python3-yaml."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

DISTRIBUTION = "/usr/bin/python3"  # packages of the distribution are for this one

try:
    import jsonschema
    import yaml
except ImportError as error:
    if sys.executable != DISTRIBUTION and os.path.exists(DISTRIBUTION):
        os.execv(DISTRIBUTION, [DISTRIBUTION, *sys.argv])
    print(f"skipped: {error}")
    sys.exit(77)

SOURCE, TIMEBASE = sys.argv[1:3]
SIMULATION = "timebase_manifest: 1\nmode: simulation\n"
VEHICLE = "timebase_manifest: 1\nmode: vehicle\n"

GOOD = [
    VEHICLE,
    SIMULATION + "name: x\nmax_error: 1.5s\n",
    SIMULATION + "clock: {source: topic, topic: /sim/clock, rate: 100, factor: 0.5}\n",
    SIMULATION + "clock: {factor: [0.5, 2], qos: {reliability: reliable, depth: 3}}\n",
    SIMULATION + "clock:\nthresholds:\nnodes:\ntopics:\npaths:\nevidence:\nrules_off:\n",
    SIMULATION + "thresholds: {age_min: -2s, age_max: 1m30s, rate_warn: 5%, rate_error: 0.4}\n",
    SIMULATION + "thresholds: {age_min: 0, stall: 2s, stall_periods: 3, host_offset: 20ms, diagnostics_stale: 9s}\n",
    SIMULATION + "nodes: {/a: , /b: {role: driver, timing_critical: true, timers: steady}}\n",
    SIMULATION + "nodes: {/ns/*: {use_sim_time: false, headers: none, hardware_timeouts: none}}\n",
    SIMULATION + "topics: {/a: {type: a/msg/B, rate: 0.5, budget: 5ms, thresholds: {future: 1s}}}\n",
    SIMULATION + "paths: [{from: /a, to: /b, budget: 1s, name: x}]\nevidence: [/clock, /cam/**]\n",
    SIMULATION + "rehearsal: {inputs: [/a, /b*], outputs: [/c], quiet: 1s, run: 9s, resume: 1s}\n",
    SIMULATION + "rehearsal: {safety: {topic: /a, field: b.c, trips: 2, within: 1s}}\n",
    SIMULATION + "rehearsal: {safety: {topic: /a, field: b, trips: true, within: 1s}}\n",
    SIMULATION + "rehearsal:\n",
    SIMULATION + "rules_off: {stamp-old: why, tf-late: {reason: why, subjects: [/a]}}\n",
]

BAD = [
    "mode: vehicle\n",
    "timebase_manifest: 1\n",
    "timebase_manifest: 2\nmode: vehicle\n",
    "timebase_manifest: 1\nmode: car\n",
    SIMULATION + "node: {}\n",
    SIMULATION + "name: ' '\n",
    SIMULATION + "max_error: 5\n",
    SIMULATION + "max_error: -5ms\n",
    SIMULATION + "max_error: soon\n",
    SIMULATION + "clock: /clock\n",
    SIMULATION + "clock: {rate: 0}\n",
    SIMULATION + "clock: {rate: fast}\n",
    SIMULATION + "clock: {factor: [1]}\n",
    SIMULATION + "clock: {factor: [1, 2, 3]}\n",
    SIMULATION + "clock: {source: gps}\n",
    SIMULATION + "clock: {topic: clock}\n",
    SIMULATION + "clock: {publisher: /sim*}\n",
    SIMULATION + "clock: {qos: {reliability: best}}\n",
    SIMULATION + "clock: {qos: {depth: 0}}\n",
    SIMULATION + "thresholds: {age: 1s}\n",
    SIMULATION + "thresholds: {rate_warn: much}\n",
    SIMULATION + "nodes: {ekf: }\n",
    SIMULATION + "nodes: {/a b: }\n",
    SIMULATION + "nodes: {/a: {use_sim_time: 1}}\n",
    SIMULATION + "nodes: {/a: {use_sim_time: 'true'}}\n",
    SIMULATION + "nodes: {/a: {timers: stedy}}\n",
    SIMULATION + "nodes: {/a: {headers: steady}}\n",
    SIMULATION + "nodes: {/a: {hardware_timeouts: ros}}\n",
    SIMULATION + "nodes: [/a]\n",
    SIMULATION + "topics: {/a: {budget: 0s1}}\n",
    SIMULATION + "topics: {/a: {thresholds: {diagnostics_stale: 1s}}}\n",
    SIMULATION + "topics: {/a: {thresholds: {host_offset: 1s}}}\n",
    SIMULATION + "paths: [{from: /a, to: /b}]\n",
    SIMULATION + "paths: [{from: /a*, to: /b, budget: 1s}]\n",
    SIMULATION + "rehearsal: /a\n",
    SIMULATION + "rehearsal: {play: [/a]}\n",
    SIMULATION + "rehearsal: {run: 5}\n",
    SIMULATION + "rehearsal: {withhold: /a}\n",
    SIMULATION + "rehearsal: {safety: {topic: /a, field: b, trips: 1}}\n",
    SIMULATION + "rehearsal: {safety: {topic: /a*, field: b, trips: 1, within: 1s}}\n",
    SIMULATION + "evidence: /clock\n",
    SIMULATION + "evidence: [/clock, /clock]\n",
    SIMULATION + "rules_off: {no-such-rule: why}\n",
    SIMULATION + "rules_off: {stamp-old: }\n",
    SIMULATION + "rules_off: {stamp-old: {subjects: [/a]}}\n",
]


class SchemaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(SOURCE, "schema/manifest.schema.json"), encoding="utf-8") as file:
            cls.schema = json.load(file)
        jsonschema.Draft7Validator.check_schema(cls.schema)
        cls.validator = jsonschema.Draft7Validator(cls.schema)

    def run_timebase(self, *arguments):
        return subprocess.run(
            [TIMEBASE, "manifest", *arguments], capture_output=True, text=True, timeout=120, check=False
        )

    def verdicts(self, text):
        """Whether the schema accepts it, and whether the command does."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result = self.run_timebase("verify", path)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return self.validator.is_valid(yaml.safe_load(text)), result.returncode == 0

    def test_both_accept(self):
        for text in GOOD:
            self.assertEqual(self.verdicts(text), (True, True), text)

    def test_both_refuse(self):
        for text in BAD:
            self.assertEqual(self.verdicts(text), (False, False), text)

    def test_the_example_of_the_docs(self):
        with open(os.path.join(SOURCE, "docs/manifest.md"), encoding="utf-8") as file:
            examples = re.findall(r"```yaml\n(.*?)```", file.read(), re.DOTALL)
        self.assertEqual(len(examples), 1)
        self.assertEqual(self.verdicts(examples[0]), (True, True))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(examples[0])
            file.flush()
            strict = self.run_timebase("verify", "--strict", file.name)
            self.assertEqual((strict.returncode, strict.stderr), (0, ""))
            shown = self.run_timebase("show", file.name).stdout
        self.assertEqual(self.verdicts(shown), (True, True), shown)

    def test_what_is_shown_is_the_same_manifest(self):
        for text in GOOD:
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(text)
                file.flush()
                shown = self.run_timebase("show", file.name).stdout
                json_of_text = self.run_timebase("show", "--json", file.name).stdout
            self.assertEqual(self.verdicts(shown), (True, True), shown)
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(shown)
                file.flush()
                json_of_shown = self.run_timebase("show", "--json", file.name).stdout
            first, second = json.loads(json_of_text), json.loads(json_of_shown)
            for node in first["nodes"] + second["nodes"]:
                del node["declared"]  # defaults are declared now
            self.assertEqual(first, second)

    def test_all_keys_of_the_schema_are_documented(self):
        with open(os.path.join(SOURCE, "docs/manifest.md"), encoding="utf-8") as file:
            docs = file.read()
        definitions = self.schema["definitions"]
        for properties in (
            self.schema["properties"],
            self.schema["properties"]["clock"]["properties"],
            self.schema["properties"]["thresholds"]["properties"],
            definitions["node"]["properties"],
            definitions["topic"]["properties"],
            definitions["path"]["properties"],
        ):
            for key in properties:
                self.assertRegex(docs, rf"`([a-z_A-Z]+\.)*{key}`", key)

    def test_the_schema_has_all_rules(self):
        with open(os.path.join(SOURCE, "src/contract/rules.c"), encoding="utf-8") as file:
            rules = re.findall(r'\.id = "([a-z0-9-]+)"', file.read())
        listed = self.schema["properties"]["rules_off"]["propertyNames"]["enum"]
        self.assertTrue(rules)
        self.assertEqual(sorted(listed), sorted(rules))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
