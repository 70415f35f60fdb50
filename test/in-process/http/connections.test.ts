import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type ConnectionLimits, connectionLimiter, type Ending, seldom } from '../../../src/http/connections.ts';

const LIMITS: ConnectionLimits = { most: 100, mostPerAddress: 100, unlimited: [], stalled: 30_000 };
const hello: RequestListener = (_request, response) => void response.end('hello');

/** A server with these limits on a free port, and what it reports. */
async function listening(t: TestContext, limits: Partial<ConnectionLimits>, answer = hello) {
  const endings: [Ending, string][] = [];
  const server = createServer(answer);
  connectionLimiter({ ...LIMITS, ...limits }, (...ending) => endings.push(ending))(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  /** A connection from this address of the machine, once it has had an answer or was closed. */
  const open = async (localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
    t.after(() => socket.destroy());
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const taken = await Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
    const close = async () => {
      // The server's side of this very connection, for it closes later.
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
    };
    return { taken, socket, close };
  };
  return { port, endings, open };
}

test('D1.19 more connections than MAX_CONNECTIONS are closed at once; one that ends makes room', async (t) => {
  const { open, endings } = await listening(t, { most: 2 });
  const [first, second, third] = [await open(), await open('127.0.0.2'), await open('127.0.0.3')];
  assert.deepEqual([first.taken, second.taken, third.taken], [true, true, false]);
  assert.deepEqual(endings, [['too many connections', '127.0.0.3']]);
  await first.close();
  for (let taken = false; !taken; ) ({ taken } = await open());
});

test('D1.19 one address has at most MAX_CONNECTIONS_PER_ADDRESS; another one, and one in a network without limit, has its own', async (t) => {
  const { open, endings } = await listening(t, { mostPerAddress: 1, unlimited: ['127.0.9.0/24', '::1'] });
  const taken = [];
  for (const from of ['127.0.0.1', '127.0.0.1', '127.0.0.2', '127.0.9.1', '127.0.9.1', '127.0.9.1']) taken.push((await open(from)).taken);
  assert.deepEqual(taken, [true, false, true, true, true, true]);
  assert.deepEqual(endings, [['too many connections from one address', '127.0.0.1']]);
});

test('D1.20 a client that does not read its answer loses its connection; one that reads slowly gets all of it', {
  timeout: 120_000,
}, async (t) => {
  const body = Buffer.alloc(64 * 1024 * 1024);
  const { port, endings } = await listening(t, { stalled: 1500 }, (_request, response) => void response.end(body));
  const request = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const deaf = connect(port, '127.0.0.1');
  const reset = once(deaf, 'error');
  deaf.pause();
  deaf.write(request);
  const slow = connect(port, '127.0.0.1');
  slow.write(request);
  let read = 0;
  slow.on('data', (bytes) => {
    read += bytes.length;
    slow.pause();
    setTimeout(() => slow.resume(), 1).unref();
  });
  await once(slow, 'end');
  assert.ok(read > body.length);
  while (endings.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(endings, [['nothing was read for too long', '127.0.0.1']]);
  // Reset, not ended: the kernel drops what it still holds for this client.
  deaf.resume();
  const [error] = await reset;
  assert.equal(error.code, 'ECONNRESET');
});

test('D1.20 an idle connection is closed without a word', async (t) => {
  const { port, endings } = await listening(t, { stalled: 50 });
  await once(connect(port, '127.0.0.1').resume(), 'close');
  assert.deepEqual(endings, []);
});

test('D1.20 closed connections are logged once a minute and reason, with how many there were since', () => {
  let now = 0;
  const lines: string[] = [];
  const report = seldom(
    () => now,
    (line) => lines.push(line),
  );
  for (let i = 0; i < 5; i += 1) report('too many connections', `192.0.2.${i}`);
  report('nothing was read for too long', '192.0.2.9');
  now = 60_000;
  report('too many connections', '192.0.2.7');
  assert.deepEqual(lines, [
    'connection closed: too many connections (192.0.2.0)',
    'connection closed: nothing was read for too long (192.0.2.9)',
    'connection closed: too many connections (192.0.2.7, and 4 others since the last such line)',
  ]);
});
