/** Connections that somebody breaks: what passes from a port of our own to another one can be held, slowed down, lost and cut. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastingPort } from './ports.ts';

/** `lose`: what is asked arrives, and the connection ends when the answer begins. */
export type Mode = 'pass' | 'hang' | 'slow' | 'refuse' | 'lose';

export interface Link {
  readonly port: number;
  set(mode: Mode): void;
  /** Ends every connection at once. */
  cut(): void;
  close(): Promise<void>;
}

/** How much goes at once over a slow link, bytes, and the pause after it, ms. */
const SLOW = { bytes: 512, pause: 20 };

/** Opens a link to a port of this machine, which may become another one; `port`: its own, where somebody has to know it beforehand. */
export async function openLink(target: number | (() => number), port?: number): Promise<Link> {
  let mode: Mode = 'pass';
  let changed = Promise.withResolvers<void>();
  const open = new Set<Socket>();

  async function carry(from: Socket, to: Socket, isAnswer: boolean): Promise<void> {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        while (mode === 'hang') await changed.promise;
        if (mode === 'lose' && isAnswer) break;
        const size = mode === 'slow' ? SLOW.bytes : chunk.length;
        for (let at = 0; at < chunk.length && !to.destroyed; at += size) {
          if (!to.write(chunk.subarray(at, at + size))) await Promise.race([once(to, 'drain'), once(to, 'close')]);
          if (mode === 'slow') await sleep(SLOW.pause);
        }
      }
      if (mode === 'lose') to.destroy();
      else to.end();
    } catch {
      to.destroy();
      from.destroy();
    }
  }

  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (mode === 'refuse') return void near.destroy();
    const far = connect({ port: typeof target === 'number' ? target : target(), host: '127.0.0.1', allowHalfOpen: true });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => open.delete(socket));
    }
    void carry(near, far, false);
    void carry(far, near, true);
  });
  server.listen(port ?? (await lastingPort()), '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const set = (next: Mode) => {
    mode = next;
    if (next === 'refuse') cut();
    changed.resolve();
    changed = Promise.withResolvers();
  };
  return {
    port: (server.address() as { port: number }).port,
    set,
    cut,
    async close() {
      set('pass');
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}

/** Several links that are broken together. */
export const together = (links: readonly Link[]): Link => ({
  port: links[0]!.port,
  set: (mode) => links.forEach((each) => void each.set(mode)),
  cut: () => links.forEach((each) => void each.cut()),
  async close() {
    await Promise.all(links.map((each) => each.close()));
  },
});
