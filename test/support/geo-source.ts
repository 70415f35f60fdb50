/** A publisher of geo files on this machine, with files that can be as wrong as in life. */
import { createHash } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** What is published under each name: a text with its validators, or what answers. */
type Published = string | RequestListener;

export interface GeoSource {
  readonly url: string;
  readonly files: Record<string, Published>;
  /** Method-less log: name and status of each answer that was a text or missing. */
  readonly answers: string[];
  readonly server: Server;
}

/** Publishes files until the test ends. Texts come with ETag and Last-Modified, packed where the client takes that. */
export async function publish(t: { after(work: () => void): void }, files: Record<string, Published>): Promise<GeoSource> {
  const answers: string[] = [];
  const server = createServer(serve(files, answers)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, files, answers, server };
}

/** Answers for the files as they are then. */
export function serve(files: Record<string, Published>, answers: string[] = []): RequestListener {
  return (request, response) => {
    const name = request.url!.slice(1);
    const file = files[name];
    if (typeof file === 'function') return file(request, response);
    const etag = file === undefined ? '' : `"${createHash('sha256').update(file).digest('hex').slice(0, 16)}"`;
    const status = file === undefined ? 404 : request.headers['if-none-match'] === etag ? 304 : 200;
    answers.push(`${name} ${status}`);
    response.writeHead(status, { etag, 'last-modified': 'Fri, 20 Nov 2026 10:00:00 GMT', 'content-encoding': 'gzip' });
    response.end(status === 200 ? gzipSync(file!, { level: 1 }) : undefined);
  };
}

/** How many rows of a family the published files have: the least that is taken. */
export const ROWS = 10_000;
/** The countries that the rows go round. */
export const COUNTRIES = ['AT', 'BE', 'CH', 'DE', 'ES', 'FR', 'GB', 'HR'];

/** The rows of one file; `keyOf` names the country or AS of each. */
export function rowsOf(family: 4 | 6, keyOf: (i: number) => string | number, count = ROWS): string[] {
  const range = (i: number) =>
    family === 4 ? `10.${i >> 8}.${i & 255}.0,10.${i >> 8}.${i & 255}.255` : `2001:${i.toString(16)}::,2001:${i.toString(16)}::ffff`;
  return Array.from({ length: count }, (_, i) => `${range(i)},${keyOf(i)}\n`);
}

/** Good files of both kinds. */
export function goodFiles(countryOf = (i: number) => COUNTRIES[i % COUNTRIES.length]): Record<string, string> {
  const asnOf = (i: number) => 64500 + (i % 10);
  return {
    'user-country-ipv4.csv': rowsOf(4, countryOf).join(''),
    'user-country-ipv6.csv': rowsOf(6, countryOf).join(''),
    'origin-asn-ipv4.csv': rowsOf(4, asnOf).join(''),
    'origin-asn-ipv6.csv': rowsOf(6, asnOf).join(''),
  };
}
