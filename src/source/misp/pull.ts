/** Fetches a MISP feed as a list (SPEC D41.16): the manifest, and events new or changed since the last fetch. */
import { formatNetwork } from '@weir/network/format.ts';
import { hasCode, WeirError } from '../../errors.ts';
import { isObject } from '../../signal/normalize.ts';
import { type ListDefaults, readRow } from '../readers/entry.ts';
import { rowOf } from '../readers/row.ts';
import { type Ask, asker, isRefused, MISP_ANSWERS, type Refused, type TaxiiAnswer, type TaxiiServer } from '../taxii/ask.ts';
import type { KnownObject } from '../taxii/indicator.ts';
import { type KnownCollection, listOf, objectKeeper } from '../taxii/known.ts';
import { digestOf, pulledOf, type TaxiiPulled } from '../taxii/pull.ts';

/** In a feed, and per fetch (the next one continues). */
const MOST_EVENTS = 10_000;
const MOST_FETCHED = 500;
const TURN = 1000;
const MOST_NAME = 200;

const BLOCK: ListDefaults = { action: 'block', expiresIn: undefined, reason: undefined, labels: {} };

/** Rejects with FETCH and a sentence for an unreadable response; the known events are then unchanged. */
export async function pullMisp({
  server,
  known,
  now,
}: {
  readonly server: TaxiiServer;
  readonly known: KnownCollection | undefined;
  readonly now: () => number;
}): Promise<TaxiiPulled | Refused> {
  const { ask, bytes } = asker(server, now, MISP_ANSWERS);
  const of = pulledOf(server.url, undefined);
  const manifestUrl = new URL(
    /\.json$/.test(new URL(server.url).pathname) ? server.url : `${server.url.replace(/\/*$/, '/')}manifest.json`,
  );
  const manifest = await ask(manifestUrl);
  if (isRefused(manifest)) return manifest;
  const versions = versionsOf(manifest.json, manifestUrl);
  const before = known?.of === of ? known.objects : new Map<string, KnownObject>();
  const keeper = objectKeeper(before.values().filter(({ id, modified }) => versions.get(id) === modified));
  const wanted = [...versions].filter(([id]) => !keeper.objects.has(id));
  let fault: string | undefined;
  let refused: Refused | undefined;
  for (const [id, modified] of wanted.slice(0, MOST_FETCHED)) {
    const url = new URL(`${id}.json`, manifestUrl);
    const event = await readEvent(ask, url, server.pause);
    if (typeof event !== 'string' && !isRefused(event)) keeper.take({ id, modified, ...event });
    else {
      fault = typeof event === 'string' ? event : `the server answers ${event.status} for ${url.pathname}`;
      refused = typeof event === 'string' ? undefined : event;
      break;
    }
  }
  const list = listOf(keeper.objects.values(), now());
  const isComplete = keeper.objects.size === versions.size;
  return {
    known: { of, cursor: undefined, completeAt: now(), objects: keeper.objects },
    list,
    digest: await digestOf(list, server.pause),
    pages: Math.min(wanted.length, MOST_FETCHED) + 1,
    bytes: bytes(),
    note: undefined,
    ...(!isComplete && {
      partial: `${keeper.objects.size} of ${versions.size} events are read; the next fetch continues${fault ? `: ${fault}` : ''}`,
      refused,
    }),
  };
}

/** Event → version, newest first. */
function versionsOf(manifest: unknown, { origin, pathname }: URL): Map<string, string> {
  const rows = isObject(manifest) ? Object.entries(manifest) : [];
  const versions = rows.map(([id, event]) => [id.toLowerCase(), isObject(event) ? String(event.timestamp ?? '') : ''] as const);
  if (
    versions.some(([id, timestamp]) => !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id) || !/^\d{1,12}$/.test(timestamp)) ||
    versions.length === 0
  )
    throw new WeirError('FETCH', `${origin}${pathname}: this is no manifest of a MISP feed`);
  if (versions.length > MOST_EVENTS) throw new WeirError('FETCH', `the feed has more than ${MOST_EVENTS} events`);
  return new Map(versions.sort(([, one], [, other]) => Number(other) - Number(one)));
}

async function readEvent(
  ask: Ask,
  url: URL,
  pause: () => Promise<void>,
): Promise<Pick<KnownObject, 'networks' | 'passed' | 'name'> | Refused | string> {
  const answer = await answerOf(ask, url);
  if (typeof answer === 'string' || isRefused(answer)) return answer;
  const event = isObject(answer.json) ? answer.json.Event : undefined;
  if (!isObject(event)) return `${url.pathname} is no event of MISP`;
  const networks = new Set<string>();
  const passed = new Set<string>();
  const objects = [event.Object ?? []].flat().map((each) => (isObject(each) ? each.Attribute : []));
  const attributes = [event.Attribute ?? [], ...objects].flat(2);
  for (const [i, attribute] of attributes.entries()) {
    if (i % TURN === TURN - 1) await pause();
    const read = isObject(attribute) ? readRow(rowOf(attribute), BLOCK) : { fault: '' };
    if ('passed' in read) passed.add(read.passed);
    else if ('fault' in read) passed.add('an attribute that cannot be read');
    else for (const { target } of read.entries) if (target.kind === 'ip') networks.add(formatNetwork(target.network));
  }
  const name = typeof event.info === 'string' && event.info !== '' ? { name: event.info.slice(0, MOST_NAME) } : {};
  return { networks: [...networks], passed: [...passed], ...name };
}

async function answerOf(ask: Ask, url: URL): Promise<TaxiiAnswer | Refused | string> {
  try {
    return await ask(url);
  } catch (error) {
    if (hasCode(error, 'FETCH')) return error.message;
    throw error;
  }
}
