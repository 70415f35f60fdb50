/** The bytes of a file in pieces so small that between two of them others get on. */
import { createReadStream } from 'node:fs';

const PIECE = 16 * 1024;

export const readPieces = (file: string): AsyncIterable<Buffer> => createReadStream(file, { highWaterMark: PIECE });
