import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../test/support/folder.ts';
import { runCommandLine } from './program.ts';

type Entry = Record<string, unknown>;
const block = (n: number): Entry => ({ type: 'access_rules', action: 'block', ip: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` });

/** A service that takes every batch and says that each entry with `bad` failed. */
async function service(t: TestContext) {
  const batches: { path: string; entries: Entry[] }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const entries = JSON.parse(body) as Entry[];
      batches.push({ path: request.url!, entries });
      const errors = entries.flatMap((entry, i) => ('bad' in entry ? [`Entry ${i}: is bad`] : []));
      response.writeHead(errors.length > 0 ? 206 : 200).end(JSON.stringify({ success: errors.length === 0, errors }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { batches, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
}

async function send(file: string, url: string) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCommandLine(['send', file, '--url', url, '--json'], { environment: { WEIR_API_KEY: 'k' }, stdout, stderr });
  return { code, result: JSON.parse(String(stdout.read() ?? 'null')), stderr: String(stderr.read() ?? '') };
}

const FORMS: Record<string, (entries: readonly Entry[]) => string> = {
  'a JSON array': (entries) => ` ${JSON.stringify(entries)}`,
  'one object a line': (entries) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('\r\n'),
};
for (const [form, write] of Object.entries(FORMS)) {
  test(`D1.8 weir send: every entry of a file with ${form} arrives, in order and in batches of 1000`, async (t) => {
    const { batches, url } = await service(t);
    const file = join(temporaryFolder(t), 'signals');
    for (const count of [1, 2, 3456]) {
      batches.length = 0;
      const entries = Array.from({ length: count }, (_, n) => block(n));
      writeFileSync(file, write(entries));
      const { code, result } = await send(file, url);
      assert.deepEqual([code, result], [0, { sent: count, failed: [] }]);
      assert.deepEqual(
        batches.flatMap((batch) => batch.entries),
        entries,
      );
      assert.ok(
        batches.every(({ path, entries: { length } }, i) => path === '/v1/signal' && (length === 1000 || i === batches.length - 1)),
      );
    }
  });
}

test('D1.8 weir send: failed entries are told by their number in the file, exit 1', async (t) => {
  const { url } = await service(t);
  const file = join(temporaryFolder(t), 'signals');
  writeFileSync(file, JSON.stringify(Array.from({ length: 1500 }, (_, n) => ({ ...block(n), ...(n === 1234 && { bad: true }) }))));
  const { code, result } = await send(file, url);
  assert.deepEqual([code, result], [1, { sent: 1499, failed: ['Entry 1234: is bad'] }]);
});

test('D1.8 weir send: a mixed file is refused at its first odd line, exit 2', async (t) => {
  const { batches, url } = await service(t);
  const file = join(temporaryFolder(t), 'signals');
  writeFileSync(file, `${JSON.stringify(block(1))}\n{"kind":"access_rule"}\n`);
  const { code, stderr } = await send(file, url);
  assert.equal(code, 2);
  assert.match(stderr, /line 2 is a v2 signal among v1 signals; send them as two files; nothing was sent/);
  assert.deepEqual(batches, []);
});
