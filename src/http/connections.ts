import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { HttpCounts } from '../ports/http-counts.ts';
import { newHttpCounts } from './counts.ts';
import { networks, sourceOf } from './source.ts';

/** Shared by all servers of an application. */
export interface ConnectionLimits {
  /** In total, and per address (IPv6: per /64). */
  readonly most: number;
  readonly mostPerAddress: number;
  /** Unlimited networks, such as proxies. */
  readonly unlimited: readonly string[];
  /** Longest time without progress, ms. Node checks a stalled write twice: it may take double. */
  readonly stalled: number;
}

export type Ending = 'too many connections' | 'too many connections from one address' | 'nothing was read for too long';

export type ReportEnding = (ending: Ending, address: string) => void;

export const THIS_MACHINE = ['127.0.0.0/8', '::1'];

export function connectionLimiter(
  limits: ConnectionLimits,
  report: ReportEnding,
  counts: Pick<HttpCounts, 'connections' | 'limited'> = newHttpCounts(),
): (server: Server) => void {
  const isUnlimited = networks(limits.unlimited);
  const open = new Map<string, number>();

  function admit(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const source = sourceOf(address);
    const ofSource = open.get(source) ?? 0;
    const isOver = ofSource >= limits.mostPerAddress && !isUnlimited(address);
    if (isOver || counts.connections >= limits.most) {
      counts.limited[isOver ? 'connections_per_address' : 'connections'] += 1;
      socket.destroy();
      report(isOver ? 'too many connections from one address' : 'too many connections', address);
      return;
    }
    counts.connections += 1;
    open.set(source, ofSource + 1);
    socket.once('close', () => {
      counts.connections -= 1;
      const left = open.get(source)! - 1;
      if (left > 0) open.set(source, left);
      else open.delete(source);
    });
  }

  return (server) => {
    server.on('connection', admit);
    // Node's own timers: progress resets them, and idle connections use keep-alive's.
    server.setTimeout(limits.stalled, (socket) => {
      if (socket.writableLength === 0) return void socket.destroy();
      report('nothing was read for too long', socket.remoteAddress ?? '');
      // Reset, so that the kernel drops its buffers. TLS cannot be reset.
      if (socket instanceof TLSSocket) socket.destroy();
      else socket.resetAndDestroy();
    });
  };
}

/** ms. */
const REPORT_EVERY = 60_000;

/** Per kind and minute, with the count since the last. `now`: ms, monotonic. */
export function seldom(now: () => number, write: (line: string) => void): ReportEnding {
  const kinds = new Map<Ending, { at: number; suppressed: number }>();
  return (ending, address) => {
    const kind = kinds.get(ending);
    if (kind !== undefined && now() - kind.at < REPORT_EVERY) {
      kind.suppressed += 1;
      return;
    }
    kinds.set(ending, { at: now(), suppressed: 0 });
    const others = kind === undefined || kind.suppressed === 0 ? '' : `, and ${kind.suppressed} others since the last such line`;
    write(`connection closed: ${ending} (${address}${others})`);
  };
}
