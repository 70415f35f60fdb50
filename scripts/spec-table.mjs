// `node scripts/spec-table.mjs [--check] [FOLDER]`: writes the table rule → tests of SPEC.md from the titles of the tests, or,
// with --check, says what is wrong with it and ends with exit code 1. A title begins with the numbers of the rules that it
// proves: `4.4.3 …`, `5, D2 …`, `4.3 D5 …`.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BEGIN = '<!-- rules and tests: begin -->';
const END = '<!-- rules and tests: end -->';
const TESTS = ['src/**/*.test.ts', 'test/**/*.ts'];

const args = process.argv.slice(2);
const check = args.includes('--check');
const root = args.find((arg) => arg !== '--check') ?? fileURLToPath(new URL('..', import.meta.url));
const spec = readFileSync(join(root, 'SPEC.md'), 'utf8');

/** Numbers in the order of the document: 1–9, then D1–D6. */
const weight = (number) => number.replace(/^D/, '1000.').split('.').map(Number);
function byNumber(a, b) {
  const [x, y] = [weight(a), weight(b)];
  const at = x.findIndex((part, i) => part !== y[i]);
  return at < 0 ? x.length - y.length : x[at] - (y[at] ?? -1);
}

/** What SPEC.md says: sections by their headings, and rules, which begin a paragraph or a list item in bold. */
function readRules() {
  const [text] = spec.split(BEGIN);
  const sections = [...text.matchAll(/^#{2,3} (D?\d+(?:\.\d+)*)\.? /gm)].map(([, number]) => number);
  const rules = [...text.matchAll(/^(?:- )?\*\*(D?\d+(?:\.\d+)+)\*\* /gm)].map(([, number]) => number);
  return { sections, known: new Set([...sections, ...rules]) };
}

/** The titles in a source: what stands as text in the calls of node:test, with … for what is only known when it runs. */
function titlesOf(source) {
  const calls = source.matchAll(
    /^\s*(?:await )?(?:t\.)?(?:test|it|describe|suite)(?:\.\w+)?\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)/gm,
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

/** Rule → file → words of its titles. */
function readTests() {
  const tests = new Map();
  for (const file of globSync(TESTS, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()) {
    for (const title of titlesOf(readFileSync(join(root, file), 'utf8'))) {
      const { numbers, words } = readTitle(title);
      for (const number of numbers) {
        const files = tests.get(number) ?? tests.set(number, new Map()).get(number);
        files.set(file, [...(files.get(file) ?? []), words]);
      }
    }
  }
  return tests;
}

/** A cell of the table: no bars, no tags, no emphasis. */
const cell = (text) => text.replace(/[\\|<>*_`[\]]/g, (sign) => `\\${sign}`).replace(/\s+/g, ' ');

function block(sections, tests) {
  const rows = [...tests.keys()]
    .sort(byNumber)
    .flatMap((number) =>
      [...tests.get(number)].map(([file, titles]) => `| ${number} | \`${file}\` | ${[...new Set(titles)].map(cell).join(' · ')} |`),
    );
  const covered = (section) => [...tests.keys()].some((number) => number === section || number.startsWith(`${section}.`));
  const gaps = sections.filter((section) => !covered(section));
  return [
    BEGIN,
    '',
    `Sections that no test names: ${gaps.length === 0 ? 'none' : gaps.join(', ')}.`,
    '',
    '| rule | file | tests |',
    '|---|---|---|',
    ...rows,
    '',
    END,
  ].join('\n');
}

const { sections, known } = readRules();
const tests = readTests();
const [before, rest] = spec.split(BEGIN);
const after = rest?.split(END)[1];
if (after === undefined) throw new Error(`SPEC.md has no block between ${BEGIN} and ${END}`);
const fresh = before + block(sections, tests) + after;

const faults = [...tests]
  .filter(([number]) => !known.has(number))
  .map(([number, files]) => `${[...files.keys()].join(', ')}: a test names the rule ${number}, which SPEC.md does not have`);
if (check && fresh !== spec) faults.push('the table in SPEC.md is stale: run node scripts/spec-table.mjs');
if (!check) writeFileSync(join(root, 'SPEC.md'), fresh);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
