import { classTable, DEFAULT_LEVEL } from '../levels.ts';
import type { FeedFormat, NetworkClass } from './format.ts';
import { stampText } from './stamp.ts';

/** 198.51.100.0/24, 203.0.113.7/32 and 2001:db8::/32. */
const NETWORKS: Omit<NetworkClass, 'index'> = {
  v4: { length: 2, addresses: Uint32Array.of(0xc6336400, 0xcb007107), prefixes: Uint8Array.of(24, 32) },
  v6: { length: 1, words: Uint32Array.of(0x20010db8, 0, 0, 0), prefixes: Uint8Array.of(32) },
};
const HEADING = { name: 'edge', description: 'Networks that edge firewalls drop', action: 'block', family: 'both' } as const;

/** Renders three networks, with Last-Modified `second` (since 1970): the example in the API documents. */
export function exampleBody({ rated, render }: FeedFormat, second: number): string {
  const index = rated ? classTable({ confidence: DEFAULT_LEVEL, severity: DEFAULT_LEVEL })[0] : 0;
  const text = render({ classes: [{ index, ...NETWORKS }], count: 3 }, HEADING);
  stampText(text, second);
  return Buffer.from(text.bytes).toString();
}
