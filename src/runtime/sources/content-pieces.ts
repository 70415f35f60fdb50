/** Reads a file in small chunks and yields in between. */
import { createReadStream } from 'node:fs';

const PIECE = 16 * 1024;

export const readPieces = (file: string): AsyncIterable<Buffer> => createReadStream(file, { highWaterMark: PIECE });
