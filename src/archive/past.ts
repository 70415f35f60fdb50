/** The rules that concerned an address at an earlier moment (SPEC D61.4). */
import { addressSet, overlaps } from '@weir/network/address-set.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { dayOf } from '../clock.ts';
import { WeirError } from '../errors.ts';
import { isHostNetwork, networkAround } from '../feed/widening.ts';
import type { StoreReads } from '../ports/store.ts';
import { filePath, filesOf } from './folder.ts';
import { HEAD, type Past, type PastRule, replay, type Wanted } from './replay.ts';
import { readSegments } from './segments.ts';
import type { ServiceSettings } from './settings.ts';

/** Rules around the address that a look-up has in memory. */
const MOST_RULES = 50_000;
/** Rules whose senders are searched in earlier files. */
const SENDERS = 100;

/** Blocked hosts are served as at most these networks (`widen_v4`, `widen_v6`). */
const WIDEST = { 4: 24, 6: 48 } as const;

export interface PastAsked extends Pick<Wanted<PastRule>, 'workspaceId' | 'at'> {
  readonly network: Network;
}

/** The rules that concerned a network. Rejects like `replay`. */
export async function pastOf(folder: string, { network, ...about }: PastAsked, store: StoreReads, service: ServiceSettings): Promise<Past> {
  const found = await replay<PastRule>(
    folder,
    {
      ...about,
      isWanted: nearTo(network),
      keep: (each) => (typeof each.rule.expires_at !== 'string' || Date.parse(each.rule.expires_at) > about.at ? each : undefined),
      most: MOST_RULES,
      tooMany: () => new WeirError('REFUSED', `more than ${MOST_RULES} rules must be examined; ask about an address or a smaller network`),
    },
    store,
    service,
  );
  const rules = [...found.rules];
  await findSenders(folder, rules);
  return { ...found, rules };
}

function nearTo(network: Network): Wanted<PastRule>['isWanted'] {
  const wide = networkAround(network, Math.min(network.prefix, WIDEST[network.family]));
  const [asked, around] = [addressSet([network]), addressSet([wide])];
  const other = network.family === 4 ? ':' : '.';
  return (target) => {
    if (target.includes(other) && !(other === '.' && target.includes(':'))) return false;
    const found = parseNetwork(target);
    if (typeof found === 'string') return true;
    return overlaps(isHostNetwork(found) ? around : asked, found);
  };
}

/** A base lacks the senders of rules whose batches were no longer stored: earlier files have them. Descriptive: damage is no error. */
async function findSenders(folder: string, rules: PastRule[]): Promise<void> {
  const unknown = rules.flatMap((each, place) => (each.by === undefined ? [{ each, place }] : [])).slice(0, SENDERS);
  const days = unknown.flatMap(({ each }) => [0, 1].map((later) => dayOf(Date.parse(each.rule!.updated_at)) + later));
  const present = new Set(filesOf(folder, 'changes').map(({ path }) => path));
  for (const path of new Set(days.map((day) => filePath(folder, day, 'changes')))) {
    if (!present.has(path)) continue;
    await readSegments(path, {
      head: () => true,
      event(line) {
        const id = Number(HEAD.exec(line)?.[1]);
        for (const { each, place } of unknown) {
          if (each.id !== id) continue;
          const { rule, by } = JSON.parse(line) as PastRule;
          if (rule?.seq === each.rule!.seq && by !== undefined) rules[place] = { ...each, by };
        }
      },
    }).catch(() => {});
  }
}
