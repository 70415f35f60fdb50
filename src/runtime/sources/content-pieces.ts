/** Reads a file in small chunks, so that other work can run in between. */
import { createReadStream } from 'node:fs';

const PIECE = 16 * 1024;

export const readPieces = (file: string): AsyncIterable<Buffer> => createReadStream(file, { highWaterMark: PIECE });
