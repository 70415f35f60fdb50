/** A small load generator over keep-alive connections: each lane sends its next request when the last is answered. */
import { Agent, request } from 'node:http';

export interface LoadResult {
  /** Milliseconds of each answered request. */
  readonly latencies: number[];
  readonly seconds: number;
}

/** Posts bodies from `next` until it gives undefined; how long `next` takes is nobody's latency. Throws unless all are answered 200. */
export async function postLoad(
  url: URL,
  headers: Record<string, string>,
  lanes: number,
  next: () => Buffer | undefined | Promise<Buffer | undefined>,
): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes });
  const latencies: number[] = [];
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let body = await next(); body !== undefined; body = await next()) {
        const sent = performance.now();
        const status = await post(url, headers, body, agent);
        latencies.push(performance.now() - sent);
        if (status !== 200) throw new Error(`answered with ${status}: ${url}`);
      }
    }),
  );
  agent.destroy();
  return { latencies, seconds: (performance.now() - begun) / 1000 };
}

function post(url: URL, headers: Record<string, string>, body: Buffer, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

/** The value below which a share of the numbers lies. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A text, a figure, or the figures of all rounds. */
export type Cell = string | number | readonly number[];

/** A table for people: first row is the heading. Of rounds it shows the median, and in brackets the least and the most. */
export function printTable(rows: readonly (readonly Cell[])[]): void {
  const cells = rows.map((row) => row.map(cellText));
  const widths = cells[0].map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  for (const row of cells) console.log(row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '));
}

function cellText(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number') return figureText(cell);
  const [median, least, most] = [quantile(cell, 0.5), Math.min(...cell), Math.max(...cell)].map(figureText);
  return least === most ? median : `${median} (${least}–${most})`;
}

/** Three digits after the point of what is small, none of what is large. */
const figureText = (figure: number) => String(Math.abs(figure) >= 1000 ? Math.round(figure) : Math.round(figure * 1000) / 1000);
