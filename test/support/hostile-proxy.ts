/** A proxy between a signed feed and its clients, and the three clients that verify it (SPEC D63). */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { sourceFetch } from '../../src/fetch/content-file.ts';
import { sourceReach } from '../../src/fetch/reach.ts';
import { seededRandom } from './random.ts';

export const WEIR_FETCH = new URL('../../integrations/weir-fetch', import.meta.url).pathname;
export const WEIR_FOLLOW = new URL('../../integrations/weir-follow', import.meta.url).pathname;
const FOLLOWING = new URL('follow-signed.py', import.meta.url).pathname;

interface Passed {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}
const ATTACKS = ['flip', 'cut', 'replay', 'swap', 'strip'] as const;
/** `rebuild`: content and signature are of two builds, once. */
type Attack = (typeof ATTACKS)[number] | 'rebuild';

export interface HostileProxy extends AsyncDisposable {
  readonly url: string;
  /** undefined: passes everything on, and remembers it for replays. */
  attack: Attack | undefined;
}

/** `other`: a key of another feed, whose content is swapped in. */
export async function hostileProxy(upstream: string, other: string, seed: number): Promise<HostileProxy> {
  const random = seededRandom(seed);
  const recorded = new Map<string, Passed>();
  const isSignature = (url: string) => url.includes('threat') && url.includes('signature');

  async function ask(url: string, headers: Record<string, string>): Promise<Passed> {
    const answer = await fetch(upstream + url, { headers });
    const kept = [...answer.headers].filter(([name]) => /^(x-feed|etag|last-mod|content-type)/.test(name));
    return { status: answer.status, headers: Object.fromEntries(kept), body: Buffer.from(await answer.arrayBuffer()) };
  }
  function flipped(bytes: Buffer): Buffer {
    const copy = Buffer.from(bytes);
    const at = random.below(copy.length);
    copy[at] = copy[at]! ^ (1 << random.below(7));
    return copy;
  }
  const withHeader = (passed: Passed, change: (text: Buffer) => Buffer): Passed => {
    const signed = Buffer.from(passed.headers['x-feed-signature']!, 'base64');
    return { ...passed, headers: { ...passed.headers, 'x-feed-signature': change(signed).toString('base64') } };
  };
  /** Changes the content or its signature: half of the attacks each. */
  const change = (passed: Passed, url: string, how: (bytes: Buffer) => Buffer): Passed => {
    const isOfSignature = chosen === 1;
    if (!url.includes('threat')) return isOfSignature ? withHeader(passed, how) : { ...passed, body: how(passed.body) };
    return isSignature(url) === isOfSignature ? { ...passed, body: how(passed.body) } : passed;
  };
  const without = ({ status, headers, body }: Passed): Passed => {
    const { 'x-feed-signature': _, ...rest } = headers;
    return { status, headers: rest, body };
  };
  let chosen = 0;
  const ATTACK: Readonly<Record<Attack, (passed: Passed, url: string) => Passed | Promise<Passed>>> = {
    flip: (passed, url) => change(passed, url, flipped),
    cut: (passed, url) => change(passed, url, (bytes) => bytes.subarray(0, random.below(bytes.length))),
    replay: (_, url) => recorded.get(nameOf(url))!,
    rebuild(_, url) {
      proxy.attack = undefined;
      return recorded.get(nameOf(url))!;
    },
    swap: (_, url) => ask(url.replace(/feeds\/[^?]+/, 'feeds/other'), { authorization: `Bearer ${other}`, 'x-api-key': other }),
    strip: (passed, url) =>
      isSignature(url) ? { ...passed, body: passed.body.subarray(0, passed.body.indexOf('-----BEGIN')) } : without(passed),
  };
  const nameOf = (url: string) => url.replace(/since=[^&]*|startup=true|wait=\d+/g, '');

  const server = createServer(async (request, response) => {
    const url = request.url!;
    const { authorization = '', 'x-api-key': key = '' } = request.headers as Record<string, string>;
    const passed = await ask(url, { authorization, 'x-api-key': key, 'accept-encoding': 'identity' });
    if (!isSignature(url)) chosen = random.below(2);
    if (proxy.attack === undefined && !recorded.has(nameOf(url))) recorded.set(nameOf(url), passed);
    const { status, headers, body } = proxy.attack === undefined ? passed : await ATTACK[proxy.attack](passed, url);
    response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: HostileProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    attack: undefined,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
  return proxy;
}

export interface SignedFeed {
  /** Of weir, or a proxy. */
  readonly url: string;
  readonly key: string;
  /** A name. */
  readonly feed: string;
  /** File with the allowed signers. */
  readonly signers: string;
  readonly folder: string;
}

export interface VerifyingClient extends AsyncDisposable {
  /** Fetches once; whether it was accepted. */
  fetch(): Promise<boolean>;
  /** The networks loaded last, a line each. */
  loaded(): string;
}

/** The three clients, each of which loads a feed once without a proxy in its way. */
export const CLIENTS: Readonly<Record<string, (feed: SignedFeed) => Promise<VerifyingClient>>> = {
  async 'weir-fetch'({ url, key, feed, signers, folder }) {
    const file = join(folder, 'fetched');
    const env = { ...process.env, WEIR_URL: url, WEIR_API_KEY: key, ALLOWED_SIGNERS: signers };
    return {
      fetch: () => new Promise((done) => execFile(WEIR_FETCH, [feed, 'plain', 'both', file], { env }, (error) => done(error === null))),
      loaded: () => readFileSync(file, 'utf8'),
      async [Symbol.asyncDispose]() {},
    };
  },
  async 'weir-follow'({ url, key, feed, signers, folder }) {
    const own = { WEIR_URL: url, WEIR_API_KEY: key, WEIR_FOLLOW_SIGNERS: signers, WEIR_FOLLOW_FEED: feed };
    const env = { PATH: process.env.PATH, ...own, WEIR_FOLLOW_STATE: folder };
    const child = spawn('python3', [FOLLOWING, WEIR_FOLLOW], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    let loaded = '';
    return {
      async fetch() {
        child.stdin.write('fetch\n');
        const { value } = await lines.next();
        const answer = JSON.parse(value as string) as { networks: string[] | null };
        if (answer.networks !== null) loaded = answer.networks.map((network) => `${network}\n`).join('');
        return answer.networks !== null;
      },
      loaded: () => loaded,
      async [Symbol.asyncDispose]() {
        child.stdin.end();
        await once(child, 'exit');
      },
    };
  },
  async source({ url, key, feed, signers, folder }) {
    const limits = { idleMs: 10_000, totalMs: 20_000, bytes: 1 << 20 };
    const get = sourceFetch({
      folder: join(folder, 'source'),
      reach: () => sourceReach(['127.0.0.1'], []),
      via: {},
      limits,
      now: Date.now,
    });
    const keys = readFileSync(signers, 'utf8').match(/ssh-ed25519 \S+/g)!;
    let [loaded, after] = ['', 0];
    return {
      async fetch() {
        const request = { url: `${url}/v1/threat/feeds/${feed}?format=plain&family=both`, credentials: { authorization: `Bearer ${key}` } };
        const asked = { ...request, known: undefined, signed: { signers: keys, after }, signal: new AbortController().signal };
        const content = await get(asked).catch((error) => assert.equal(error.code, 'FETCH', error.stack));
        if (content?.kind !== 'fetched') return false;
        [loaded, after] = [readFileSync(content.file, 'utf8'), content.signedAt!];
        await content[Symbol.asyncDispose]();
        return true;
      },
      loaded: () => loaded,
      async [Symbol.asyncDispose]() {},
    };
  },
};

/**
 * Runs attacks on a client that has loaded the feed through the proxy; how many it refused, and loads of anything else than `good`. An
 * attack that changes nothing that counts, such as a bit that base64 ignores, may be accepted.
 */
export async function attacked(client: VerifyingClient, proxy: HostileProxy, good: string, times: number) {
  let [refused, wrong] = [0, 0];
  for (let n = 0; n < times; n += 1) {
    proxy.attack = ATTACKS[n % ATTACKS.length];
    if (!(await client.fetch())) refused += 1;
    if (client.loaded() !== good) wrong += 1;
  }
  proxy.attack = undefined;
  return { refused, wrong };
}

export const writeSigners = (file: string, lines: readonly unknown[]): void => writeFileSync(file, `${lines.join('\n')}\n`);
