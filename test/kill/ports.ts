/** Ports that stay free while whoever listens on them is killed: no other test is given one of these. */
import { createServer } from 'node:net';

/** Below those of `freePort`. */
const PORTS = { first: 3000, count: 9000 };
let asked = 0;

/** The next one that nobody listens on. */
export async function lastingPort(): Promise<number> {
  for (let tries = 0; tries < PORTS.count; tries += 1) {
    const port = PORTS.first + ((process.pid * 97 + asked) % PORTS.count);
    asked += 1;
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) =>
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)),
    );
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error('no port is free');
}
