/** Runs operations over HTTP. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Author } from '../../account/caller.ts';
import { type ErrorCode, WeirError } from '../../errors.ts';
import { parsedJson } from '../../json/json.ts';
import { VERSION } from '../version.ts';
import { type Answer, pathOf, type Send } from './client.ts';

export interface Service {
  readonly url: URL;
  readonly key: string;
  readonly author: Author;
}

/** Polling interval, and limit for landing, ms. */
const PAUSE = 250;
const LANDING = 30_000;
/** Longest `Retry-After`, s, and attempts. */
const LONGEST_PAUSE = 60;
const ATTEMPTS = 5;

const CODES: Readonly<Record<number, ErrorCode>> = {
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'REFUSED',
  412: 'CHANGED',
  413: 'TOO_LARGE',
  429: 'LIMITED',
};

export function remoteSend({ url, key, author }: Service): Send {
  const base = `${String(url).replace(/\/$/, '')}/v1/manage`;
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'user-agent': `weir/${VERSION}`,
    ...(author.actor !== null && { 'x-actor': encodeURIComponent(author.actor) }),
  };

  async function request(method: string, path: string, more: RequestInit = {}) {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(`${base}${path}`, {
        redirect: 'manual',
        method,
        ...more,
        headers: { ...headers, ...more.headers },
      }).catch(unreachable);
      const text = await response.text().catch(unreachable);
      const pause = Number(response.headers.get('retry-after') ?? 1);
      if (response.status === 429 && pause <= LONGEST_PAUSE && attempt < ATTEMPTS) {
        await sleep(pause * 1000);
        continue;
      }
      if (!response.ok) throw failureOf(response.status, text);
      const tag = response.headers.get('etag');
      return {
        status: response.status,
        body: parsedJson(text) as Record<string, unknown>,
        tag: tag?.startsWith('W/') ? undefined : (tag ?? undefined),
      };
    }
  }

  const unreachable = (error: Error & { cause?: NodeJS.ErrnoException }): never => {
    throw new WeirError('REFUSED', `${url} cannot be reached: ${error.cause?.message || error.cause?.code || error.message}`);
  };

  function failureOf(status: number, text: string): WeirError {
    const { message, details } = Object(parsedJson(text)) as { message?: string; details?: unknown };
    if (status === 400 && Array.isArray(details)) return new WeirError('USAGE', message ?? '', { cause: details });
    if (status === 401) return new WeirError('FORBIDDEN', `${url} does not accept the key in WEIR_API_KEY`);
    return new WeirError(CODES[status] ?? 'REFUSED', message ?? `${url} answered ${status}: ${text.slice(0, 200)}`);
  }

  /** Waits for asynchronous operations and for landing. */
  async function finished(answer: Answer & { readonly status: number }): Promise<Answer> {
    let { status, body, tag } = answer;
    const { answer: id } = body as { answer?: string };
    while (id !== undefined && status === 202 && (body as { answer?: string }).answer === id) {
      await sleep(PAUSE);
      ({ status, body, tag } = await request('GET', `/answers/${id}`));
    }
    const { landed, batches = [] } = body as { landed?: boolean; batches?: readonly string[] };
    if (landed !== false) return { body, tag };
    return { body: { ...(body as object), ...((await haveLanded(batches)) && { landed: true, unlanded: 0 }) }, tag };
  }

  async function haveLanded(batches: readonly string[]): Promise<boolean> {
    for (const end = Date.now() + LANDING; Date.now() < end; await sleep(PAUSE)) {
      const found = await Promise.allSettled(batches.map((batch) => request('GET', `/batches/${batch}`)));
      if (found.every(({ status }) => status === 'fulfilled')) return true;
    }
    return false;
  }

  return async (operation, { params, query, body }, tag) => {
    const asked = new URLSearchParams(query as Record<string, string>).toString();
    return finished(
      await request(operation.method, `${pathOf(operation, params)}${asked === '' ? '' : `?${asked}`}`, {
        ...(operation.method !== 'GET' && operation.body !== undefined && { body: JSON.stringify(body) }),
        ...(operation.edits && { headers: { 'if-match': tag ?? '*' } }),
      }),
    );
  };
}
