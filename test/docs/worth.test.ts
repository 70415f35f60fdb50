/** The commands of docs/worth.md print what the page shows, of lists that are as it says. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { bare, listServer } from '../support/list-server.ts';
import { sourceWorld } from '../support/source-world.ts';

const PAGE = readFileSync(new URL('../../docs/worth.md', import.meta.url), 'utf8');
const blocks = (language: string) =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!.trim());

const hosts = (from: number, count: number) => Array.from({ length: count }, (_, i) => `198.18.${(from + i) >> 8}.${(from + i) & 255}`);
const LISTS = {
  scanners: hosts(0, 400),
  bundle: [...hosts(100, 300), ...hosts(1024, 240).filter((_, i) => i % 2 === 0), '203.0.113.0/24'],
  quiet: hosts(9000, 60),
};

/** What is printed, but for how long and when; columns are as wide as what is in them. */
const plain = (text: string) =>
  text
    .replace(/\b\d+ s\b/g, 'N s')
    .replace(/\d{4}-\S+Z/g, 'T')
    .replace(/ +/g, ' ')
    .trim();

test('D30.1 docs: the commands of docs/worth.md print what the page shows', async (t) => {
  const settings = { DATA_DIR: temporaryFolder({ after }) };
  const server = await listServer();
  t.after(() => server[Symbol.asyncDispose]());
  await using world = await sourceWorld(settings);
  await world.detect(hosts(0, 40));
  for (const [name, lines] of Object.entries(LISTS)) {
    server.set(`/${name}`, bare(lines.join('\n')));
    await world.add(name, { url: `${server.url}/${name}`, copies: name === 'bundle' ? ['scanners'] : [] });
  }
  await world.run();
  await world.landed();
  await world.detect(hosts(256, 90));
  const shown = blocks('text');
  const asked = blocks('sh');
  assert.deepEqual([asked.length, shown.length], [2, 2]);
  for (const [i, line] of asked.entries()) {
    const { stdout, stderr } = await command(line.split(' ').slice(1), settings);
    assert.equal(plain(stdout), plain(shown[i]!), `${line} ${stderr}`);
  }
});
