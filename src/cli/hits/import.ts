/** `weir hits import` (SPEC D31.7). */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { text } from 'node:stream/consumers';
import { secondOf } from '../../clock.ts';
import { ORIGIN } from '../../decisions/decisions.ts';
import { WeirError } from '../../errors.ts';
import { parsedJson } from '../../json/json.ts';
import { countText } from '../../text/count.ts';
import type { AddCommand } from '../command.ts';
import { printable } from '../context.ts';
import { openInput } from '../signals/input.ts';
import { ask, SendFailure, type Target } from '../signals/post.ts';
import { readKey, readUrl, serviceUrl } from '../signals/service.ts';
import { VERSION } from '../version.ts';
import { originsIn, usageReports } from './attribution.ts';
import { type Counter, type Counters, countedSince, countersOf, type NftElement, nftElements } from './nft-sets.ts';

/** Of the last import. */
interface State {
  /** Seconds. */
  readonly at: number;
  readonly counters: Counters;
  /** Unconfirmed reports. They are sent again unchanged: the service counts each once. */
  readonly unsent: readonly string[];
}

export function hitsCommands(add: AddCommand): void {
  add(
    'hits import <file>',
    'report to weir what each list of a feed has stopped: reads the output of nft -j list set, of sets with counters; "-" reads standard input',
    (c) =>
      c
        .option('--url <url>', 'address of the service, such as http://127.0.0.1:8080; else WEIR_URL', readUrl)
        .requiredOption('--state <file>', 'what was counted before; remove it when the sets were filled again')
        .option('--key <key>', 'API key in place of the one in WEIR_API_KEY: of the feed that the sets are filled from'),
    {
      sends: true,
      async run(context, [file], { url, state: path, key }) {
        const target = {
          key: readKey(key ?? context.environment.WEIR_API_KEY),
          agent: `weir-hits/${VERSION}`,
          keepTrying: false,
          onRetry: (said: string) => void context.stderr.write(`weir: ${said}\n`),
        };
        const { elements, withoutCounter } = nftElements(await text((await openInput(file!)).chunks));
        if (withoutCounter > 0)
          context.stderr.write(`weir: ${countText(withoutCounter)} elements have no counter: their sets lack \`counter\`\n`);
        const at = (name: string): Target => ({
          ...target,
          url: new URL(name, `${String(serviceUrl(context, url)).replace(/\/?$/, '/')}`),
        });
        return importHits(path, elements, at);
      },
      show: (dropped) =>
        dropped.length === 0
          ? 'nothing was dropped since the last import'
          : dropped
              .map(({ origin, packets, bytes }) => `${printable(origin)}: ${countText(packets)} packets, ${countText(bytes)} bytes`)
              .join('\n'),
    },
  );
}

async function importHits(path: string, elements: readonly NftElement[], at: (name: string) => Target) {
  const now = secondOf(Date.now());
  const before = readState(path) ?? { at: now, counters: {}, unsent: [] };
  const send = async (state: State) => {
    let { unsent } = state;
    for (const report of state.unsent) {
      await refusing(ask(at('v1/usage-metrics'), Buffer.from(report)));
      unsent = unsent.filter((each) => each !== report);
      writeState(path, { ...state, unsent });
    }
  };
  await send(before);
  const counted = elements
    .map((element) => ({ element, since: countedSince(element, before.counters) }))
    .filter(({ since }) => since.packets + since.bytes > 0);
  const dropped = new Map<string, Counter>();
  if (counted.length > 0) {
    const held = await refusing(ask(at('v1/decisions')));
    const originOf = originsIn(Array.isArray(held) ? held : []);
    for (const { element, since } of counted) {
      // A network that has left the feed since belongs to no list.
      const origin = originOf(element.value) ?? ORIGIN;
      const known = dropped.get(origin) ?? { packets: 0, bytes: 0 };
      dropped.set(origin, { packets: known.packets + since.packets, bytes: known.bytes + since.bytes });
    }
  }
  const unsent = usageReports(dropped, { name: hostname(), version: VERSION, at: now, window: Math.max(0, now - before.at) });
  const state = { at: now, counters: countersOf(elements), unsent };
  // Written before the report is sent: an interruption counts nothing twice.
  writeState(path, state);
  await send(state);
  return [...dropped].map(([origin, counter]) => ({ origin, ...counter }));
}

async function refusing<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof SendFailure) throw new WeirError('REFUSED', error.message);
    throw error;
  }
}

function readState(path: string): State | undefined {
  if (!existsSync(path)) return undefined;
  const state = parsedJson(readFileSync(path, 'utf8')) as State | undefined;
  if (typeof state?.counters !== 'object' || !Array.isArray(state.unsent))
    throw new WeirError('USAGE', `the state "${path}" is none of weir hits import`);
  return state;
}

function writeState(path: string, state: State): void {
  writeFileSync(`${path}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
