/** The documents: links lead somewhere, commands exist, and every command is told. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../src/cli/program.ts';
import { FORMAT_NAMES, FORMATS } from '../../src/feed/formats/table.ts';
import { OPERATIONS } from '../../src/manage/table.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = globSync(['*.md', 'docs/**/*.md', 'spec/*.md', 'bench/*.md', 'src/*/README.md', 'packages/*/README.md', 'test/README.md'], {
  cwd: ROOT,
}).sort();
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

/** The anchors of a page, as hosting platforms make them of headings. */
const anchors = (page: string) =>
  [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('docs: every link between the documents leads to a file and a heading', () => {
  for (const page of PAGES) {
    for (const [, link] of read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path, anchor] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      assert.ok(existsSync(join(ROOT, target)), `${page} links to ${link}`);
      if (anchor !== undefined) assert.ok(anchors(target).includes(anchor), `${page} links to ${link}`);
    }
  }
});

test('docs: every file and folder that the map and the READMEs of folders name is there', () => {
  const gone = PAGES.filter((page) => page === 'ARCHITECTURE.md' || /^(?:src|packages|test)\//.test(page)).flatMap((page) => {
    const named = [...read(page).matchAll(/`([\w-][\w./-]*(?:\.(?:ts|js|json|mjs)|\/))`/g)].map(([, name]) => name);
    const isThere = (name: string) => [dirname(page), '.', 'src', 'packages'].some((folder) => existsSync(join(ROOT, folder, name)));
    return named.filter((name) => !isThere(name)).map((name) => `${page}: ${name}`);
  });
  assert.deepEqual(gone, []);
  for (const page of PAGES) assert.doesNotMatch(read(page), /^(?:<{7}|>{7}) /m, page);
});

async function help(...words: string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  await runCommandLine([...words, '--help'], { environment: {}, stdout, stderr });
  return String(stdout.read() ?? '');
}

/** The commands that a help text lists. */
const listed = (text: string) =>
  [...(text.split('Commands:\n')[1] ?? '').matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => name).filter((name) => name !== 'help');

/** Every command as its words. */
async function commands(): Promise<string[]> {
  const found = listed(await help()).map(async (name) => {
    const inner = listed(await help(name));
    return inner.length === 0 ? [name] : inner.map((second) => `${name} ${second}`);
  });
  return (await Promise.all(found)).flat();
}

/** The commands that a page shows whole: in its blocks, over lines that a backslash joins, and between backticks in its text. */
function shownCommands(page: string): string[] {
  const text = read(page);
  const blocks = [...text.matchAll(/^ *```(?:sh)?\n([\s\S]*?)^ *```$|^ *```\w+\n[\s\S]*?^ *```$/gm)].flatMap(([, code = '']) =>
    code.replace(/\\\n/g, '').split('\n'),
  );
  const inline = [...text.matchAll(/`(\.\/weir [^`\n]+)`/g)].map(([, code]) => code);
  return [...blocks, ...inline].flatMap((line) => /\.\/weir ([a-z].*)$/.exec(line)?.[1] ?? []);
}

/** The words of a command, up to a comment, a pipe or the next command. */
const wordsOf = (command: string) =>
  [...command.split(/\s+[#|;<>]|&&|;/)[0].matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replace(/['"]/g, ''));

test('D1 docs: every command that a document shows is taken as it stands', async () => {
  for (const page of PAGES) {
    for (const command of shownCommands(page)) {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      // The command line is judged first, then the settings, of which one is wrong: so nothing is done.
      await runCommandLine(wordsOf(command), { environment: { PORT: 'none' }, stdout, stderr });
      assert.match(`${stdout.read() ?? ''}${stderr.read() ?? ''}`, /^(?:weir: PORT |Usage: )/, `${page}: ./weir ${command}`);
    }
  }
});

test('D1 docs: docs/commands.md lists every command, and no other', async () => {
  const rows = read('docs/commands.md').matchAll(/^\| (`weir [^|]*) \|/gm);
  const told = [...rows].flatMap(([, cell]) => {
    const names = [...cell.matchAll(/`(?:weir )?([^`]*)`/g)].map(([, words]) => words);
    // After `weir org create` a lone `set` is one more of the same group.
    const [group] = names[0].includes(' ') ? names[0].split(' ') : [];
    return names.map((words, i) => (i === 0 || group === undefined ? words : `${group} ${words}`));
  });
  assert.deepEqual(told.sort(), (await commands()).sort());
});

test('D49.7 the man page and the completions have every command and option', async () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/release/commands.mjs'), ROOT], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const [man, bash, zsh, fish] = Object.values(JSON.parse(stdout) as Record<string, string>).map((text) => text.replaceAll('\\-', '-'));
  for (const name of await commands()) {
    const options = [...(await help(...name.split(' '))).matchAll(/^ {2}(?:-\w, )?(--[a-z0-9-]+)/gm)].map(([, option]) => option!);
    const sections = man!.split('.SS ').filter((each) => each.startsWith(`weir ${name}`));
    assert.ok(
      sections.some((each) => options.every((option) => option === '--help' || each.includes(option))),
      name,
    );
    const [, words] = new RegExp(`^ +'${name}'\\) words='(.*)' ;;$`, 'm').exec(bash!) ?? [];
    assert.deepEqual(words?.split(' '), options, name);
    const [, entries] = new RegExp(`^ +'${name}'\\) entries=\\((.*)\\) ;;$`, 'm').exec(zsh!) ?? [];
    for (const option of options) assert.ok(entries?.includes(`'${option}:`), `${name} ${option}`);
    for (const word of name.split(' ')) assert.match(fish!, new RegExp(` -a ${word} -d `), name);
  }
  assert.equal(spawnSync('bash', ['-n'], { input: bash }).status, 0);
});

test('D15.1 docs: docs/management.md tells every operation with its permission, and no other', () => {
  const told = [...read('docs/management.md').matchAll(/^\| `([A-Z]+ \/\S+)` \| (?:`(\S+)`|any) \|/gm)].map(
    ([, name, needs = 'any']) => `${name} ${needs}`,
  );
  assert.deepEqual(told.sort(), OPERATIONS.map(({ method, path, permission }) => `${method} ${path} ${permission ?? 'any'}`).sort());
});

/** The first cells of a page's table of formats. */
function formatCells(page: string): string[] {
  const [, rows] = /^\| `?format`? \| for .*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(read(page))!;
  return [...rows.matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell);
}

test('4.5 docs: the tables tell every format, and no other; docs/feeds.md also the aliases', () => {
  assert.deepEqual(
    formatCells('README.md'),
    FORMAT_NAMES.map((name) => `\`${name}\``),
  );
  const also = (aliases: readonly string[]) => (aliases.length === 0 ? '' : ` (also ${aliases.map((alias) => `\`${alias}\``).join(', ')})`);
  assert.deepEqual(
    formatCells('docs/feeds.md'),
    FORMAT_NAMES.map((name) => `\`${name}\`${also(FORMATS[name].aliases)}`),
  );
});

test('docs: nothing sends people to the package of that name on npm', () => {
  for (const page of PAGES) assert.doesNotMatch(read(page), /npx weir/, page);
});
