import { explainFault } from './faults.ts';
import type { Network } from './network.ts';
import { newReading, readNetwork } from './read.ts';

/** No network is longer: six groups, an IPv4 address in place of the last two, and a prefix. */
const MAX_TEXT = 49;

const bytes = new Uint8Array(MAX_TEXT);
const reading = newReading();

/**
 * Reads an address or a network. The text is taken strictly: no blanks, zone ids or netmasks, no leading zeros in octets and
 * prefix. Host bits are cleared, and IPv4-mapped IPv6 becomes IPv4. For any other text, what is wrong with it, in words.
 */
export function parseNetwork(text: string): Network | string {
  if (text.length > MAX_TEXT) return 'is too long for an IP address or network';
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // A character beyond ASCII must not look like the byte that it ends in.
    bytes[i] = code < 0x80 ? code : 0;
  }
  const end = readNetwork(bytes, 0, text.length, reading);
  if (end !== text.length) return explainFault(bytes, 0, text.length, end);
  const { family, prefix, words } = reading;
  return family === 4 ? { family, address: words[3], prefix } : { family, address: [words[0], words[1], words[2], words[3]], prefix };
}
