/** Which connections are accepted, and how long one may stand still. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { HttpCounts } from '../ports/http-counts.ts';
import { newHttpCounts } from './counts.ts';
import { networks, sourceOf } from './source.ts';

/** The limits of one process; servers that listen for the same application share them. */
export interface ConnectionLimits {
  /** Open connections at most: in all, and from one address (IPv6: one /64). */
  readonly most: number;
  readonly mostPerAddress: number;
  /** Networks for which the limit of one address does not hold: one that is a proxy has the connections of many clients. */
  readonly unlimited: readonly string[];
  /** How long an open request may neither send nor take a byte, ms. Node looks twice at a send that stands still: it may take double. */
  readonly stalled: number;
}

/** Why the server ends a connection by itself. */
export type Ending = 'too many connections' | 'too many connections from one address' | 'nothing was read for too long';

/** Gets each connection that is ended, with the address of its client. */
export type ReportEnding = (ending: Ending, address: string) => void;

/** The networks of the machine itself. */
export const THIS_MACHINE = ['127.0.0.0/8', '::1'];

/** Holds the connections of each server that it is given to the limits, and counts those that are open in `counts`. */
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
    // Node's own timers: they are kept while bytes flow, and idle connections have the one of keep-alive.
    server.setTimeout(limits.stalled, (socket) => {
      if (socket.writableLength === 0) return void socket.destroy();
      report('nothing was read for too long', socket.remoteAddress ?? '');
      // Otherwise the kernel would keep what is in its buffers, and go on offering it. TLS cannot be reset.
      if (socket instanceof TLSSocket) socket.destroy();
      else socket.resetAndDestroy();
    });
  };
}

/** How often one kind of ending is reported, ms. */
const REPORT_EVERY = 60_000;

/** Passes on at most one report a minute of each kind, with how many there have been since the last. `now`: ms, monotonic. */
export function seldom(now: () => number, write: (line: string) => void): ReportEnding {
  const kinds = new Map<Ending, { at: number; kept: number }>();
  return (ending, address) => {
    const kind = kinds.get(ending);
    if (kind !== undefined && now() - kind.at < REPORT_EVERY) {
      kind.kept += 1;
      return;
    }
    kinds.set(ending, { at: now(), kept: 0 });
    const others = kind === undefined || kind.kept === 0 ? '' : `, and ${kind.kept} others since the last such line`;
    write(`connection closed: ${ending} (${address}${others})`);
  };
}
