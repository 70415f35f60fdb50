import type { Network } from './network.ts';
import { MAX_V6_TEXT, SLACK, writeV6 } from './render.ts';

const scratch = new Uint8Array(MAX_V6_TEXT + SLACK);
const view = new DataView(scratch.buffer);

/** First address of a network as text, IPv6 in the form of RFC 5952. */
export function formatAddress(network: Network): string {
  if (network.family === 4) {
    const { address } = network;
    return `${address >>> 24}.${(address >>> 16) & 0xff}.${(address >>> 8) & 0xff}.${address & 0xff}`;
  }
  return String.fromCharCode(...scratch.subarray(0, writeV6(view, 0, network.address, 0)));
}

/** Canonical text: the bare address of a single host, otherwise address and prefix length. */
export function formatNetwork(network: Network): string {
  const host = network.prefix === (network.family === 4 ? 32 : 128);
  return host ? formatAddress(network) : `${formatAddress(network)}/${network.prefix}`;
}
