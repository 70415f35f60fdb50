/** The recipes of docs/sources.md work as pasted, against a server that has what each address has, in its shape. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TryReport } from '../../src/source/try-source.ts';
import { command, commandJson, commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';

const PAGE = readFileSync(new URL('../../docs/sources.md', import.meta.url), 'utf8');
/** Every command of the page, as words. */
const COMMANDS = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
  .flatMap(([, block]) => block!.split('\n'))
  .filter((line) => line.startsWith('./weir '))
  .map((line) => [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!).slice(1));

/** What the addresses of the page have: text, or JSON; and the entries of it. */
const CONTENTS: Readonly<Record<string, { readonly content: string | object; readonly entries: number; readonly sends?: string }>> = {
  'lists.example/all.txt': { content: '192.88.99.1\n192.88.99.2\n', entries: 2 },
  'ip-ranges.amazonaws.com/ip-ranges.json': {
    content: {
      syncToken: '1',
      prefixes: [
        { ip_prefix: '192.88.99.0/24', service: 'CLOUDFRONT_ORIGIN_FACING' },
        { ip_prefix: '203.0.113.0/24', service: 'EC2' },
      ],
    },
    entries: 1,
  },
  'misp.example/attributes/restSearch/returnFormat:text/type:ip-src/to_ids:1/published:1/enforceWarninglist:1/last:7d': {
    content: '192.88.99.1\n192.88.99.2\n',
    entries: 2,
    sends: 'key',
  },
  'weir.example/v1/threat/feeds/edge': { content: '192.88.99.0/24\n2a00::/32\n', entries: 2, sends: basic('api:key') },
  'admin.api.crowdsec.net/v1/integrations/INTEGRATION/content': {
    content: '192.88.99.1\n192.88.99.7\n192.88.99.9\n',
    entries: 3,
    sends: basic('api:key'),
  },
  'taxii.example/api/collections/91a7b528-80eb-42ed-a74d-c6fbd5a26116/objects/': {
    content: {
      objects: [
        { type: 'indicator', id: 'indicator--1', pattern: "[ipv4-addr:value = '192.88.99.1']", pattern_type: 'stix' },
        { type: 'indicator', id: 'indicator--2', pattern: "[domain-name:value = 'a.example']", pattern_type: 'stix' },
      ],
    },
    entries: 1,
    sends: basic('api:key'),
  },
};
function basic(text: string) {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

const folder = temporaryFolder({ after });
const DATA_DIR = join(folder, 'data');
mkdirSync(DATA_DIR);
const settings = { DATA_DIR, SOURCE_NETWORKS: '127.0.0.1', SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'), ...smallGeo(folder) };
const server = createServer(({ url, headers }, response) => {
  const found = CONTENTS[new URL(url!, 'http://x').pathname.slice(1)];
  if (found === undefined || (found.sends ?? headers.authorization) !== headers.authorization) return response.writeHead(403).end();
  response.end(typeof found.content === 'string' ? found.content : JSON.stringify(found.content));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
after(() => void server.close());
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

test('D23.41 docs: every command of docs/sources.md works as pasted, and what is behind each address is read', async () => {
  await commandText(['org', 'create', 'acme'], settings);
  await commandText(['workspace', 'create', 'default', '--org', 'acme'], settings);
  writeFileSync(join(folder, 'misp.key'), 'key\n');
  for (const name of ['weir', 'crowdsec', 'taxii']) writeFileSync(join(folder, `${name}.key`), 'api:key\n');
  let tried = 0;
  for (const words of COMMANDS) {
    const here = words.map((word) => (word.endsWith('.key') ? join(folder, word) : word.replace(/^https:\/\//, `${origin}/`)));
    const { code, stderr } = await command(here, settings);
    assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
    const at = here.findIndex((word) => word.startsWith(origin));
    if (at < 0) continue;
    const { pathname } = new URL(here[at]!);
    const { entries } = CONTENTS[pathname.slice(1)] ?? CONTENTS[`${pathname.slice(1)}objects/`]!;
    const { content, fault } = await commandJson<TryReport>(['source', 'try', ...here.slice(at)], settings);
    assert.deepEqual([content?.entries, fault], [entries, null], words.join(' '));
    tried += 1;
  }
  assert.deepEqual([tried, COMMANDS.length > 12], [6, true]);
});
