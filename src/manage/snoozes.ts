/** What needs attention in a workspace, and what of it was put off (SPEC D18.72). */
import { randomUUID } from 'node:crypto';
import { LONGEST_TEXT, type Snooze, snoozeJson } from '../account/snooze.ts';
import { WeirError } from '../errors.ts';
import { type Alert, alertsOf } from './alerts.ts';
import type { ManageContext } from './context.ts';
import type { Names } from './rules/rule-json.ts';
import { factsOf } from './status.ts';
import { workspaceParts } from './workspace-status.ts';

type Context = Pick<ManageContext, 'store' | 'workspaceId' | 'guardRails' | 'now' | 'service'>;

/** What needs attention now, each with the snooze that it has in the state in which it is; `keys`: the names of keys. */
export const itemsWith = (items: readonly Alert[], snoozes: readonly Snooze[], keys: Names['keys']) => {
  const byKey = new Map(snoozes.map((each) => [each.key, each]));
  return items.map(({ key, state, text, urgent }) => {
    const snooze = byKey.get(key);
    return { key, state, text, urgent, snooze: snooze?.state === state ? snoozeJson(snooze, keys) : null };
  });
};

/** Puts off what has this key. Rejects with NOT_FOUND where nothing of it needs attention. */
export async function snooze(
  { by, ...context }: Context & Pick<ManageContext, 'by'>,
  { key, reason, seconds }: { readonly key: string; readonly reason: string; readonly seconds: number },
): Promise<Snooze> {
  const { store, workspaceId, now, service } = context;
  const items = alertsOf(factsOf(await workspaceParts(context, service, await service.processes())));
  const item = items.find((each) => each.key === key);
  if (item === undefined) throw new WeirError('NOT_FOUND', `nothing needs attention with the key ${JSON.stringify(key)}`);
  const of = { id: randomUUID(), key, state: item.state, text: item.text.slice(0, LONGEST_TEXT), reason, until: now() + seconds * 1000 };
  return store.snooze(workspaceId, of, by);
}
