/** SPEC D11.4, D15.41. */

import { requireOwnList } from '../../account/managed-list.ts';
import { WeirError } from '../../errors.ts';
import { type ForecastFields, forecastFields } from '../../feed/monitor/forecast-fields.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Message } from '../../ports/stream.ts';
import type { AccessRule } from '../../rule.ts';
import { encodeMessage } from '../../signal/message/encode.ts';
import { writeTarget } from '../../signal/target.ts';
import { largeText } from '../../source/addresses.ts';
import { planSync, type SyncPlan, type SyncTask } from '../../source/sync.ts';
import { findList } from '../find.ts';
import type { RuleManagement } from '../rules/rule-ports.ts';
import type { ImportContent, ImportRequest } from './import-content.ts';
import { giveUp, openReplacement, planReplacement, type ReplacementPorts, runReplacement, syncPorts } from './replacements.ts';

export interface ImportReplacePorts extends ReplacementPorts, Pick<RuleManagement, 'forecast'> {
  readonly store: ReplacementPorts['store'] & Pick<StoreReads, 'findNamed' | 'defaultList'>;
}

export interface ReplacedBy {
  readonly plan: SyncPlan;
  readonly batches: readonly string[];
  /** For undo; undefined in a preview. */
  readonly id?: string;
  readonly feeds?: ForecastFields;
}

/** Rejects with USAGE for signals, with REFUSED if a large change is not confirmed. */
export async function replaceByImport(
  ports: ImportReplacePorts,
  { caller, list: ref, defaults: { action }, refused, preview, isSure }: ImportRequest,
  content: ImportContent,
): Promise<ReplacedBy> {
  const { store } = ports;
  if (content.entries === undefined) throw new WeirError('USAGE', 'replace needs a plain list, but this file contains signals');
  const list = await findList(store, caller.workspaceId, ref ?? (await store.defaultList(caller.workspaceId))!);
  requireOwnList(list, caller.sourceId);
  if (preview) return { ...(await previewSync(ports, { caller, listId: list.id, action, refused }, all(content))), batches: [] };
  const id = await openReplacement(ports, caller, list, { action, refused }, 'planning');
  const before = { list: list.name, action, refused, steps: 0, batches: [] };
  const head = await planReplacement(ports, syncPorts(ports, caller), { id, caller, listId: list.id, isSure }, before, all(content));
  if (head.plan!.isLarge && !isSure) {
    const why = new WeirError('REFUSED', `${largeText(list.name, head.plan!)}: to do this anyway, send confirmed`);
    await giveUp(ports, id, 'planned', head, why);
    throw why;
  }
  await runReplacement(ports, caller.workspaceId, id);
  return { plan: head.plan!, batches: head.batches, id };
}

/** Changes that a preview counts; removals have to be read for that. */
const MOST_CHANGES = 50_000;

export async function previewSync(
  ports: ImportReplacePorts,
  task: SyncTask,
  entries: Parameters<typeof planSync>[2],
): Promise<{ readonly plan: SyncPlan; readonly feeds: ForecastFields }> {
  const { store, forecast, now, pause } = ports;
  const { workspaceId, organizationId } = task.caller;
  await ports.untilLanded();
  const messages: Message[] = [];
  let isTooMuch = false;
  const plan = await planSync(syncPorts(ports, task.caller), task, entries, async (step) => {
    for (const message of step) {
      const ids = (JSON.parse(message.value) as { rule_ids?: number[] }).rule_ids;
      isTooMuch ||= messages.length + (ids?.length ?? 1) > MOST_CHANGES;
      if (isTooMuch) return;
      if (ids === undefined) messages.push(message);
      else {
        for (const { rule } of await store.rulesById(workspaceId, 'access_rule', ids)) {
          const { target, action } = rule as AccessRule;
          const envelope = { schema_version: 2, kind: 'access_rule', op: 'delete', rule: { target: writeTarget(target), action } } as const;
          const context = { workspaceId, organizationId, listId: task.listId, receivedAt: now(), signalId: '' };
          messages.push(encodeMessage({ version: 2, envelope }, context));
        }
        await pause();
      }
    }
  });
  if (isTooMuch) return { plan, feeds: { feeds: 'unknown', feeds_reason: 'too many changes to count' } };
  if (messages.length === 0) return { plan, feeds: { feeds: [] } };
  return { plan, feeds: await forecastFields(forecast, { workspaceId, listId: task.listId, messages }, false) };
}

async function* all({ found }: ImportContent): AsyncGenerator<ImportContent['found'][number]> {
  yield* found;
}
