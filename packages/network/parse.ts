import { explainFault } from './faults.ts';
import type { Network } from './network.ts';
import { newReading, readNetwork, textOf } from './read.ts';

/** The longest text of a network: six groups, an IPv4 address for the last two, and a prefix length. */
const MAX_TEXT = 49;

const bytes = new Uint8Array(MAX_TEXT);
const view = textOf(bytes);
const reading = newReading();

/**
 * Parses an address or a network strictly: no blanks, zone ids or netmasks, and no leading zeros in octets and prefix lengths
 * (D3). Clears host bits; IPv4-mapped IPv6 becomes IPv4, and is a fault with a prefix length from 96 to 103 (D41.1). Returns the fault in words when the text is not a network.
 */
export function parseNetwork(text: string): Network | string {
  if (text.length > MAX_TEXT) return 'is too long for an IP address or network';
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // The low byte of a character beyond ASCII must not pass for an ASCII character.
    bytes[i] = code < 0x80 ? code : 0;
  }
  const end = readNetwork(view, 0, text.length, reading);
  if (end !== text.length) return explainFault(bytes, 0, text.length, end);
  const { family, prefix, words } = reading;
  return family === 4 ? { family, address: words[3], prefix } : { family, address: [words[0], words[1], words[2], words[3]], prefix };
}
