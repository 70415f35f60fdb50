// `npm run spec [NUMBER…]`: which tests prove which rule of SPEC.md and spec/, one title a line; with numbers only those and their parts.
// A title begins with the numbers of the rules that it proves: `4.4.3 …`, `5, D2 …`, `4.3 D5 …`. Ends with exit code 1 when a
// title names a rule that none of them has, when a number stands twice, or when no test names a section or a part of it.
import { globSync, readFileSync } from 'node:fs';

const CONTRACT = ['SPEC.md', 'spec/*.md'];
const TESTS = ['src/**/*.test.ts', 'packages/**/*.test.ts', 'test/**/*.ts'];

/** Numbers in the order of the document: 1–9, then D1–D12. */
const weight = (number) => number.replace(/^D/, '1000.').split('.').map(Number);
function byNumber(a, b) {
  const [x, y] = [weight(a), weight(b)];
  const at = x.findIndex((part, i) => part !== y[i]);
  return at < 0 ? x.length - y.length : x[at] - (y[at] ?? -1);
}

/** What the contract says: sections by their headings, and rules, which begin a paragraph or a list item in bold. */
function readRules() {
  const text = globSync(CONTRACT)
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const sections = [...text.matchAll(/^#{2,3} (D?\d+(?:\.\d+)*)\.? /gm)].map(([, number]) => number);
  const rules = [...text.matchAll(/^(?:- )?\*\*(D?\d+(?:\.\d+)+)\*\* /gm)].map(([, number]) => number);
  const numbers = [...sections, ...rules];
  return { sections, known: new Set(numbers), twice: numbers.filter((number, at) => numbers.indexOf(number) < at) };
}

/** The titles in a source: what stands as text in the calls of node:test, with … for what is only known when it runs. */
function titlesOf(source) {
  const calls = source.matchAll(
    /^\s*(?:await )?(?:t\.)?(?:test|once|whereBuilt|it|describe|suite)(?:\.\w+)?\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)/gm,
  );
  return [...calls].map(([, single, double, template]) =>
    (single ?? double ?? template.replace(/\$\{[^{}]*\}/g, '…')).replace(/\\(.)/g, '$1'),
  );
}

/** The rules at the beginning of a title, and its words. After a blank a bare number is a word: `D2 20 failures`. */
function readTitle(title) {
  const numbers = [];
  let rest = title;
  for (
    let pattern = /^(D?\d+(?:\.\d+)*)(?=[ ,:])/;
    ;
    pattern = rest.startsWith(',') ? /^, *(D?\d+(?:\.\d+)*)(?=[ ,:])/ : /^ (D\d+(?:\.\d+)*|\d+(?:\.\d+)+)(?=[ ,:])/
  ) {
    const found = pattern.exec(rest);
    if (found === null) return { numbers, words: rest.replace(/^[ ,:]+/, '') };
    numbers.push(found[1]);
    rest = rest.slice(found[0].length);
  }
}

/** One entry for each rule that a title names. */
function readTests() {
  const files = globSync(TESTS).map((path) => path.replaceAll('\\', '/'));
  return files.sort().flatMap((file) =>
    titlesOf(readFileSync(file, 'utf8')).flatMap((title) => {
      const { numbers, words } = readTitle(title);
      return numbers.map((number) => ({ number, file, words }));
    }),
  );
}

const { sections, known, twice } = readRules();
const tests = readTests().sort((a, b) => byNumber(a.number, b.number));
const within = (section) => (number) => number === section || number.startsWith(`${section}.`);

const asked = process.argv.slice(2);
for (const { number, file, words } of tests) {
  if (asked.length === 0 || asked.some((section) => within(section)(number))) console.log(`${number.padEnd(6)}  ${file}  ${words}`);
}

const faults = [
  ...twice.map((number) => `${number} stands twice`),
  ...tests
    .filter(({ number }) => !known.has(number))
    .map(({ number, file }) => `${file}: a test names the rule ${number}, which SPEC.md does not have`),
  ...sections.filter((section) => !tests.some(({ number }) => within(section)(number))).map((section) => `no test names ${section}`),
];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
