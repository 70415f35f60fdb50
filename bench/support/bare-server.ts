/** The peer of bench/feed.ts: a node:http server that knows one body and compares If-None-Match with its tag. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const bytes = readFileSync(process.argv[2]);
const packed = gzipSync(bytes, { level: 4 });
const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`;
const common = {
  ETag: etag,
  'Last-Modified': new Date().toUTCString(),
  'Cache-Control': 'private, max-age=30, must-revalidate',
  Vary: 'Accept-Encoding, Authorization',
  'X-Feed-Entry-Count': '131072',
  'X-Feed-Entry-Limit': '131072',
};
// The same option as weir's server has.
const server = createServer({ optimizeEmptyRequests: true }, (request, response) => {
  if (request.headers['if-none-match'] === etag) response.writeHead(304, common).end();
  else {
    const isPacked = request.url === '/gzip';
    const body = isPacked ? packed : bytes;
    const own = {
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Length': body.length,
      ...(isPacked && { 'Content-Encoding': 'gzip' }),
    };
    response.writeHead(200, { ...common, ...own }).end(body);
  }
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
