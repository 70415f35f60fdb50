import type { AnyRow } from './row.ts';

/** Rows by the first word of their commands. */
export const ROW_GROUPS: readonly (readonly [words: readonly string[], load: () => Promise<readonly AnyRow[]>])[] = [
  [['workspace'], async () => (await import('../account/workspaces.ts')).WORKSPACE_ROWS],
  [['key'], async () => (await import('../account/keys.ts')).KEY_ROWS],
  [['person'], async () => (await import('../account/people.ts')).PEOPLE_ROWS],
  [['list'], async () => (await import('../account/lists.ts')).LIST_ROWS],
  [['feed', 'canary'], async () => (await import('../account/feeds.ts')).FEED_ROWS],
  [['target'], async () => (await import('../account/targets.ts')).TARGET_ROWS],
  [['source'], async () => (await import('../sources/sources.ts')).SOURCE_ROWS],
  [['webhook'], async () => (await import('../account/webhooks.ts')).WEBHOOK_ROWS],
  [['approval'], async () => (await import('../account/approvals.ts')).APPROVAL_ROWS],
  [['signing-key'], async () => (await import('../account/signing-keys.ts')).SIGNING_ROWS],
  [['batch', 'undo'], async () => (await import('../rules/batches.ts')).BATCH_ROWS],
  [['rule'], async () => (await import('../rules/rules.ts')).RULE_ROWS],
  [['history'], async () => (await import('../rules/history.ts')).HISTORY_ROWS],
  [['feed'], async () => (await import('../rules/difference.ts')).DIFFERENCE_ROWS],
  [['changes'], async () => (await import('../rules/changes.ts')).CHANGES_ROWS],
  [['worth'], async () => (await import('../rules/overlap.ts')).WORTH_ROWS],
  [['sample'], async () => (await import('../rules/sample-rows.ts')).SAMPLE_ROWS],
  [['bouncer', 'device'], async () => (await import('../state/clients.ts')).CLIENT_ROWS],
];

export const COMMAND_ROWS = async (): Promise<AnyRow[]> => (await Promise.all(ROW_GROUPS.map(([, load]) => load()))).flat();
