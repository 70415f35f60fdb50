/** SPEC D18.72. */
import { randomUUID } from 'node:crypto';
import { LONGEST_TEXT, type Snooze, snoozeJson } from '../account/snooze.ts';
import { WeirError } from '../errors.ts';
import { type Alert, alertsOf } from './alerts.ts';
import type { ManageContext } from './context.ts';
import type { Names } from './rules/rule-json.ts';
import { factsOf } from './status.ts';
import { workspaceParts } from './workspace-status.ts';

type Context = Pick<ManageContext, 'store' | 'workspaceId' | 'guardRails' | 'now' | 'service'>;

/** A snooze is bound to a state. */
export const itemsWith = (items: readonly Alert[], snoozes: readonly Snooze[], keys: Names['keys']) => {
  const byKey = new Map(snoozes.map((each) => [each.key, each]));
  return items.map(({ key, state, text, urgent }) => {
    const snooze = byKey.get(key);
    return { key, state, text, urgent, snooze: snooze?.state === state ? snoozeJson(snooze, keys) : null };
  });
};

/** Rejects with NOT_FOUND. */
export async function snooze(
  { by, ...context }: Context & Pick<ManageContext, 'by'>,
  { key, reason, seconds }: { readonly key: string; readonly reason: string; readonly seconds: number },
): Promise<Snooze> {
  const { store, workspaceId, now, service } = context;
  const items = alertsOf(factsOf(await workspaceParts(context, service, await service.processes())));
  const item = items.find((each) => each.key === key);
  if (item === undefined) throw new WeirError('NOT_FOUND', `there is no alert with the key ${JSON.stringify(key)}`);
  const of = { id: randomUUID(), key, state: item.state, text: item.text.slice(0, LONGEST_TEXT), reason, until: now() + seconds * 1000 };
  return store.snooze(workspaceId, of, by);
}
