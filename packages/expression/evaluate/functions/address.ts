import type { ByteString } from '../../bytes.ts';

/** Lengths are unsigned 32-bit and may be too long; the engine does not check them. */
export function networkAddress(address: ByteString, bits4: number, bits6: number): ByteString {
  if (address.length === 4) return mask(address, bits4 === 0 ? 0 : 32 - ((32 - bits4) & 31));
  return mask(address, bits6 > 128 ? 0 : bits6);
}

function mask(address: ByteString, bits: number): ByteString {
  let network = '';
  for (let i = 0; i < address.length; i++) {
    const networkBits = Math.max(0, Math.min(8, bits - i * 8));
    network += String.fromCharCode(address.charCodeAt(i) & (0xff << (8 - networkBits)));
  }
  return network;
}
