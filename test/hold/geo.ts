/** What a publisher of geo data that means harm can do to a server that downloads from it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { Figure } from '../../bench/support/figures.ts';
import { eventually } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';
import { neighbourOf, WATCHED } from './neighbour.ts';

const BYTES = 256 * 1024 * 1024;
const GOOD = '1.0.0.0,1.0.0.255,AU\n';
const PIECE = Buffer.alloc(64 * 1024, '1');

function* pieces() {
  for (let sent = 0; sent < BYTES; sent += PIECE.length) yield PIECE;
}

/** A list of checksums of 256 MiB, and files whose first line is as long: memory and polls while the server has its first try. */
export async function hostileGeo(settings: Settings): Promise<Figure[]> {
  const asked = new Set<string>();
  const publisher = createServer(({ url = '' }, response) => {
    const isSums = url.endsWith('SHA256SUMS');
    asked.add(isSums ? 'checksums' : url.includes('country') ? 'good' : 'bad');
    // Of one kind the files are good, and their checksums are asked for.
    if (!isSums && url.includes('country')) return void response.end(GOOD);
    Readable.from(pieces())
      .on('error', () => undefined)
      .pipe(response);
  });
  await new Promise<void>((resolve) => publisher.listen(0, '127.0.0.1', resolve));
  const { port } = publisher.address() as AddressInfo;
  const downloads = { GEO_UPDATE_HOURS: '1', GEO_UPDATE_URL: `http://127.0.0.1:${port}/`, LOG_LEVEL: 'warn' };
  try {
    return await on({ ...settings, ...WATCHED, ...downloads }, async (weir) => {
      const neighbour = await neighbourOf(weir, settings);
      const what = 'geo files and checksums of 256 MiB without a line end';
      const polls = await neighbour.during(what, () =>
        // The first try begins within a minute, and says that it has failed.
        eventually(() => {
          if (!weir.output().stderr.includes('geo update:')) throw new Error('it has not tried yet');
        }, 120_000),
      );
      const both = { what: `${what}: what was asked for`, figure: asked.size, limit: 3, least: true } as const;
      return [both, ...polls, neighbour.memory(what)];
    });
  } finally {
    publisher.closeAllConnections();
    publisher.close();
  }
}
