/** What readers paste from the documents works, on the data that weir is shipped with. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LIMITS } from '../../src/signal/limits.ts';
import { temporaryFolder } from '../support/folder.ts';
import { needs } from '../support/programs.ts';
import { KEY, weir as runWeir, startWeir, type Weir } from '../support/weir.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8080';
const PAGES = ['README.md', 'docs/signals.md', 'docs/feeds.md'];

/** The code blocks of a page in one language. */
const blocks = (page: string, language: string) =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text]) => text,
  );

/** The commands of a shell block: a line, with those that its quotes go on over. */
const commands = (block: string) => block.match(/^(?:'[^']*'|"[^"]*"|\\\n|[^\n'"])+/gm) ?? [];

suite('pasted', { skip: needs('curl') }, () => {
  const folder = temporaryFolder({ after });
  let weir: Weir;

  before(async () => {
    weir = await startWeir({ DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0' });
  });
  after(() => weir?.kill('SIGKILL'));

  const post = async (path: string, body: string) => {
    const response = await fetch(weir.url + path, { method: 'POST', headers: { authorization: `Bearer ${KEY}` }, body });
    return { status: response.status, text: await response.text() };
  };

  for (const page of PAGES) {
    test(`D1 docs: every curl line of ${page} works as pasted`, async () => {
      const curls = blocks(page, 'sh')
        .flatMap(commands)
        .filter((line) => line.startsWith('curl '));
      assert.ok(curls.length > 0);
      for (const line of curls) {
        // Each on a line of its own behind whatever the document itself prints.
        const pasted = `${line} -w '\\n%{http_code}\\n'`.replaceAll(ADDRESS, weir.url);
        const { stdout } = await promisify(execFile)('sh', ['-ec', pasted], { cwd: folder, env: { ...process.env, WEIR_API_KEY: KEY } });
        assert.match(stdout, /^200$/m, `${line}\n${stdout}`);
      }
    });
  }

  test('2.2, 2.3 docs: the envelopes of docs/signals.md are accepted as they are', async () => {
    const [envelopes] = blocks('docs/signals.md', 'json').filter((block) => block.startsWith('['));
    assert.deepEqual(await post('/v2/signal', envelopes), {
      status: 200,
      text: '{"success":true,"message":"Processed 4 entries, 0 failed","errors":[]}',
    });
  });

  test('2.1 docs: a block for good, as README and docs/signals.md name it, is accepted, and no longer one is', async () => {
    for (const page of ['README.md', 'docs/signals.md']) {
      const [, field] = /`("expiration": \d+)`/.exec(readFileSync(join(ROOT, page), 'utf8')) ?? assert.fail(page);
      assert.equal(field, `"expiration": ${LIMITS.expirySeconds}`);
      assert.equal((await post('/v1/signal', `[{"type":"access_rules","action":"block","ip":"192.0.2.9",${field}}]`)).status, 200);
    }
    const longer = await post(
      '/v1/signal',
      `[{"type":"access_rules","action":"block","ip":"192.0.2.9","expiration":${LIMITS.expirySeconds + 1}}]`,
    );
    assert.equal(longer.status, 206);
  });

  test('2.1, 7.2 the ASN that a fault and the API documents name as an example is accepted', async () => {
    const block = (asn: string) => post('/v1/signal', JSON.stringify([{ type: 'access_rules', action: 'block', asn }]));
    const fault = await block('13335');
    assert.equal(fault.status, 206);
    const advised = /such as (AS\d+)/.exec(fault.text)?.[1] ?? assert.fail(fault.text);
    const api = await (await fetch(`${weir.url}/docs/signal/swagger/json`)).text();
    const shown = [...api.matchAll(/"AS\d+"/g)].map(([text]) => JSON.parse(text) as string);
    assert.ok(shown.length > 0);
    for (const asn of new Set([advised, ...shown])) assert.equal((await block(asn)).status, 200, asn);
  });

  // The last one: guard rails stay as the page leaves them.
  test('D1 docs: docs/management.md works as pasted, from top to bottom', async () => {
    const [making, naming, ...lines] = blocks('docs/management.md', 'sh').flatMap(commands);
    const { stdout: made } = await runWeir(making.trim().split(/\s+/).slice(1), { DATA_DIR: join(folder, 'data') });
    assert.match(naming, /^export KEY=/);
    // Prints the tag, which a line of the page reads, and the status apart.
    const curl = `curl() { command curl "$@" -w '%header{etag}%{stderr}%{http_code}\\n'; }\n`;
    const script = curl + lines.map((line) => `${line}\n`.replaceAll(ADDRESS, weir.url)).join('');
    const environment = { ...process.env, KEY: /weir_[\w-]{43}/.exec(made)![0] };
    const { stdout, stderr } = await promisify(execFile)('sh', ['-ec', script], { cwd: folder, env: environment });
    const asked = lines.filter((line) => line.includes('curl '));
    const statuses = stderr.trim().split('\n');
    assert.equal(statuses.length, asked.length, stderr);
    for (const [i, line] of asked.entries()) {
      const namesSample = /[0-9a-f]{8}-[0-9a-f]{4}-|\[3\]|\/3$/m.test(line);
      assert.match(statuses[i], namesSample ? /^404$/ : /^20[012]$/, `${line}\n${stdout}`);
    }
  });
});
