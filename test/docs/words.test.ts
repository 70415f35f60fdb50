/** The texts are plain English (CONTRIBUTING.md, style): words of weir's old dialect are rare. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Most dialect words per 10,000 for each kind of text. Lower them, never raise them. */
const LIMITS = { comments: 10, docs: 7, contract: 6, console: 9, commands: 11 };

const WORDS = new Set([
  ...['told', 'tells', 'kept', 'held', 'gone', 'taken', 'beside', 'anew', 'lets', 'shall', 'lapse', 'lapses', 'of which', 'of whom'],
  ...['whatever', 'whoever', 'so that', 'by itself', 'goes on', 'as well', 'that of', 'those of', 'stands', 'away', 'said', 'meant'],
  ...['looked at', 'at once', 'what is', 'what has', 'who asks'],
]);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CODE = '{src,packages}/**/*.{ts,js}';
const COMMANDS = 'src/{cli,manage,source,signal,http}/**/*.ts';

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((found) => found.slice(1).join(''));
const comments = (text: string) => [...matches(text, /\/\*\*?([\s\S]*?)\*\//g), ...matches(text, /(?:^|\s)\/\/(?!\s*biome)(.*)$/gm)];
const code = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*import .*$/gm, '');
const strings = (text: string) =>
  matches(code(text), /'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g).filter(
    (string) => string.includes(' ') && !/SELECT|INSERT|UPDATE |DELETE FROM|CREATE /.test(string),
  );
const markup = (text: string) => [...matches(code(text), />\s*([A-Z][^<>{}$]{8,})/g), ...strings(text)];
const prose = (text: string) => [text.replace(/```[\s\S]*?```/g, '')];

/** Each kind of text: its files, and its pieces in the source of one. */
const KINDS: Readonly<Record<keyof typeof LIMITS, readonly [files: readonly string[], read: (source: string) => string[]]>> = {
  comments: [[CODE], comments],
  docs: [['{README,ARCHITECTURE,CONTRIBUTING,SECURITY}.md', '{docs,src,packages,test,bench}/**/*.md'], prose],
  contract: [['SPEC.md', 'spec/*.md'], prose],
  console: [['packages/console/**/*.js'], markup],
  commands: [[COMMANDS], strings],
};

/** The words of a text, and the dialect ones among them, with pairs such as `at once`. */
function count(text: string): { words: number; found: string[] } {
  const words = text.toLowerCase().match(/[a-z']+/g) ?? [];
  return { words: words.length, found: words.flatMap((word, i) => [word, `${word} ${words[i + 1]}`]).filter((word) => WORDS.has(word)) };
}

for (const [kind, [files, read]] of Object.entries(KINDS)) {
  const limit = LIMITS[kind as keyof typeof LIMITS];
  test(`${kind}: at most ${limit} words of the dialect in 10,000`, () => {
    const paths = globSync(files, { cwd: ROOT, exclude: ['**/node_modules/**', '**/*.test.ts'] });
    const counts = paths.map((path) => ({ path, ...count(read(readFileSync(ROOT + path, 'utf8')).join('\n')) }));
    const found = counts.toSorted((a, b) => b.found.length - a.found.length);
    const total = counts.reduce((sum, { words }) => sum + words, 0);
    const share = Math.round((1e4 * found.flatMap((file) => file.found).length) / total);
    const worst = found.slice(0, 10).map((file) => `${file.path}: ${[...new Set(file.found)].join(', ')}`);
    assert.ok(share <= limit, `${share} in 10,000 of ${total} words\n${worst.join('\n')}`);
  });
}
