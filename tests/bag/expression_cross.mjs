// Expressions beside Node.js.
//   table TABLE       compares its answers with those of ECMAScript in src/bag/expression_table.inc
//   random COUNT      lines with an expression and a topic, in hexadecimal, and its answer (yes, no
//                     or refused) for expression_cross.c; TB_TEST_SEED is taken, and printed first
import { readFileSync, writeFileSync } from "node:fs";

function checkTable(path) {
  const text = '("(?:[^"\\\\]|\\\\.)*")';
  const row = new RegExp(`^(BOTH|ECMA)\\(${text}, ${text}, (YES|NO)\\)$`);
  const refused = new RegExp(`^REFUSED\\(${text}, \\d+\\)$|^STD\\(.*\\)$`);
  const value = (literal) => Function(`return ${literal}`)();
  let rows = 0;
  let failures = 0;

  for (const line of readFileSync(path, "utf8").split("\n")) {
    const match = line.match(row);
    if (!match) {
      if (/^[A-Z]/.test(line) && !refused.test(line)) {
        console.log(`not understood: ${line}`);
        failures++;
      }
      continue;
    }
    rows++;
    const answer = new RegExp(value(match[2])).test(value(match[3])) ? "YES" : "NO";
    if (answer === match[4]) continue;
    console.log(`Node.js says ${answer}: ${line}`);
    failures++;
  }
  console.log(`expression_cross: ${rows} rows, ${failures} failures`);
  process.exit(failures > 0 || rows < 100 ? 1 : 0);
}

const ATOMS = ["a", "b", "c", "/", "1", "-", "\\d", "\\w", "\\s", "\\b", "\\B", ".", "[ab]", "[^a]", "[a-c]", "[]",
  "[^]", "\\1", "\\2", "\\3", "(", "(", "(?:", "(?=", "(?!", ")", ")", ")", ")", "|", "*", "+", "?", "*?", "+?", "??",
  "{2}", "{0,1}", "{1,}", "{2,3}?", "^", "$", "{", "}", "]", "\\x61", "\\v", "\\/"];
const LETTERS = ["a", "b", "c", "/", "1", "\n", " ", "aa", "ab", "\v"];

function printRandom(count) {
  const seed = Number(process.env.TB_TEST_SEED ?? Date.now() % 1000000007);
  let state = (seed * 2654435761 + 1) | 0;
  const random = (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const pick = (list) => list[random(list.length)];
  const hex = (string) => Buffer.from(string, "latin1").toString("hex") || "-";
  const lines = [`seed ${seed}`];
  for (let i = 0; i < count; i++) {
    const expression = Array.from({ length: 1 + random(9) }, () => pick(ATOMS)).join("");
    const open = expression.split("(").length - expression.split(")").length;
    const closed = expression + ")".repeat(Math.max(open, 0));
    const topic = Array.from({ length: random(7) }, () => pick(LETTERS)).join("");
    let answer = "refused";
    try {
      answer = new RegExp(closed).test(topic) ? "yes" : "no";
    } catch {}
    lines.push(`${hex(closed)} ${hex(topic)} ${answer}`);
  }
  writeFileSync(1, lines.join("\n") + "\n");
}

if (process.argv[2] === "table") checkTable(process.argv[3]);
else printRandom(Number(process.argv[3]));
