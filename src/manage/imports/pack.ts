/** Runs outside of the calling thread. */
import { gunzip, gzip } from 'node:zlib';

export const pack = (bytes: Uint8Array | string): Promise<Buffer> =>
  new Promise((resolve, reject) => gzip(bytes, { level: 1 }, (error, packed) => (error === null ? resolve(packed) : reject(error))));

export const unpack = (bytes: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) => gunzip(bytes, (error, unpacked) => (error === null ? resolve(unpacked) : reject(error))));
