/** SHA-256, for clients that check their own networks (SPEC D50.5). */
import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { formatAddress } from '@weir/network/format.ts';
import { keyAt, networkOf, networksOf } from './network-key.ts';
import { placesIn, type SortedNetworks } from './sorted-networks.ts';

/** Lines per turn of the thread, and bytes hashed. */
const LINES = 8_192;
const BYTES = 1 << 20;
/** An IPv6 address, a prefix length and the end. */
const LONGEST_LINE = 44;

interface Lines {
  readonly networks: SortedNetworks;
  readonly bytes: Buffer;
  /** And where the last one ends. */
  readonly starts: Uint32Array;
}

const NOTHING: Lines = { networks: networksOf([]), bytes: Buffer.alloc(0), starts: new Uint32Array(1) };

/** Caches the lines of the last version: the next one differs little. */
export class NetworkDigest {
  #lines = NOTHING;
  #last: { readonly networks: SortedNetworks; readonly digest: Promise<string> } | undefined;

  /** In networks of a decision log, which take about twice as many bytes as a line. */
  get size(): number {
    return this.#lines.starts.length >> 1;
  }

  /** One line per network in its canonical form with its prefix length, each ended by a line feed. */
  of(networks: SortedNetworks): Promise<string> {
    const { v4, v6 } = networks;
    if (this.#last?.networks.v4 !== v4 || this.#last.networks.v6 !== v6) this.#last = { networks, digest: this.#digest({ v4, v6 }) };
    return this.#last.digest;
  }

  async #digest(networks: SortedNetworks): Promise<string> {
    const lines = await nextLines(this.#lines, networks);
    this.#lines = lines;
    const hash = createHash('sha256');
    const end = lines.starts.at(-1)!;
    for (let at = 0; at < end; at += BYTES) {
      if (at > 0) await turn();
      hash.update(lines.bytes.subarray(at, Math.min(end, at + BYTES)));
    }
    return hash.digest('hex');
  }
}

/** Copies the lines of networks that stay, run by run. */
async function nextLines(before: Lines, networks: SortedNetworks): Promise<Lines> {
  const places = placesIn(before.networks, networks);
  let added = 0;
  for (const place of places) if (place < 0) added += 1;
  const bytes = Buffer.allocUnsafe(before.starts.at(-1)! + added * LONGEST_LINE);
  const starts = new Uint32Array(places.length + 1);
  let end = 0;
  for (let at = 0, written = 0; at < places.length; ) {
    const first = places[at];
    if (first < 0) {
      const network = networkOf(keyAt(networks, at));
      end += bytes.write(`${formatAddress(network)}/${network.prefix}\n`, end, 'latin1');
      starts[++at] = end;
      if (++written % LINES === 0) await turn();
      continue;
    }
    const from = before.starts[first];
    const begun = end;
    for (let place = first; places[at] === place; place++) starts[++at] = begun + before.starts[place + 1] - from;
    end = starts[at];
    before.bytes.copy(bytes, begun, from, from + end - begun);
  }
  return { networks, bytes, starts };
}
