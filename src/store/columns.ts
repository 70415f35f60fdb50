import { parseNetwork } from '../network/parse.ts';
import type { Target } from '../rule.ts';

/** The target behind its canonical text. */
export function parseTarget(text: string): Target {
  if (/^AS\d+$/.test(text)) return { kind: 'asn', asn: Number(text.slice(2)) };
  if (/^[A-Z]{2}$/.test(text)) return { kind: 'country', country: text };
  const network = parseNetwork(text);
  if (typeof network === 'string') throw new Error(`the store holds a target that is none: ${text}`);
  return { kind: 'ip', network };
}

/** A network as one integer, for IPv4: first address × 64 + prefix length. */
export function packV4(target: Target): number | null {
  return target.kind === 'ip' && target.network.family === 4 ? target.network.address * 64 + target.network.prefix : null;
}

/** A network as 17 bytes, for IPv6: the first address and the prefix length. */
export function packV6(target: Target): Uint8Array | null {
  if (target.kind !== 'ip' || target.network.family !== 6) return null;
  const bytes = new Uint8Array(17);
  const view = new DataView(bytes.buffer);
  target.network.address.forEach((word, i) => {
    view.setUint32(i * 4, word);
  });
  bytes[16] = target.network.prefix;
  return bytes;
}
