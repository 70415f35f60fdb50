/** weir under systemd: a socket that is handed over, and the reports of the process. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { needs } from '../support/programs.ts';
import { MAIN, testEnvironment } from '../support/weir.ts';

/** Receives datagrams as systemd does, and prints the first line of each. */
const RECEIVER = `
import socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("bound", flush=True)
while True:
    print(receiver.recv(4096).decode().split("\\n")[0], flush=True)
`;

/** The lines that a process prints, one a call. */
function lines(t: TestContext, child: ChildProcess): () => Promise<string> {
  t.after(() => child.kill('SIGKILL'));
  const found = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return async () => (await found.next()).value ?? '';
}

/** As systemd: LISTEN_PID is the process itself. */
const SERVE = ['-c', 'LISTEN_PID=$$ exec "$0" "$@" serve', process.execPath, MAIN];

test('D49.3 weir serves the socket of systemd, and reports when it is ready and when it stops', {
  skip: needs('python3', 'systemd-analyze'),
}, async (t) => {
  const folder = temporaryFolder(t);
  const NOTIFY_SOCKET = join(folder, 'notify');
  const reported = lines(t, spawn('python3', ['-c', RECEIVER, NOTIFY_SOCKET], { stdio: ['ignore', 'pipe', 'inherit'] }));
  assert.equal(await reported(), 'bound');

  const owner = createServer().listen(0, '127.0.0.1');
  await once(owner, 'listening');
  const { port } = owner.address() as AddressInfo;
  const { fd } = (owner as unknown as { _handle: { fd: number } })._handle;
  const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), LISTEN_FDS: '1', NOTIFY_SOCKET };
  const env = { ...testEnvironment(settings), HOST: undefined, PORT: undefined };
  const weir = spawn('sh', SERVE, { env, stdio: ['ignore', 'pipe', 'inherit', fd] });
  // The test itself must not accept connections.
  owner.close();
  const printed = lines(t, weir);
  assert.equal(await reported(), 'READY=1');
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
  for (let line = ''; !line.startsWith('weir ready'); ) {
    line = await printed();
    if (line.startsWith('weir ready')) assert.equal(line, `weir ready on http://127.0.0.1:${port}`);
  }
  weir.kill('SIGTERM');
  // After each report systemd-notify waits until it was read.
  const after = [await reported(), await reported()];
  assert.ok(after.includes('STOPPING=1'), after.join());
});

test('D49.3 HOST and PORT next to a socket of systemd, and two sockets, are errors that say what to do', (t) => {
  const serve = (settings: Record<string, string>) => {
    const env = { ...testEnvironment({ DATA_DIR: join(temporaryFolder(t), 'data'), ...settings }) };
    const { status, stderr } = spawnSync('sh', SERVE, { env, encoding: 'utf8' });
    return [status, stderr];
  };
  assert.deepEqual(serve({ LISTEN_FDS: '1' }), [
    2,
    'weir: HOST and PORT must be unset: weir.socket has the address. Change it there (systemctl edit weir.socket)\n',
  ]);
  assert.deepEqual(serve({ LISTEN_FDS: '2' }), [2, 'weir: weir.socket must have one ListenStream, not 2\n']);
});
