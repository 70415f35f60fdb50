import { excessNow, runAsked } from './approvals/settings.ts';
import type { ApprovedRunner } from './context.ts';
import { FILE_OPERATIONS } from './file/operations.ts';
import type { Operation } from './operation.ts';
import { APPROVAL_OPERATIONS } from './operations/access/approvals.ts';
import { ENROLMENT_OPERATIONS } from './operations/access/enrolments.ts';
import { KEY_OPERATIONS } from './operations/access/keys.ts';
import { PEOPLE_OPERATIONS } from './operations/access/people.ts';
import { SIGNING_OPERATIONS } from './operations/access/signing-keys.ts';
import { ACTIVITY_OPERATIONS } from './operations/activity.ts';
import { ADDRESS_SPACE_OPERATIONS } from './operations/address-space.ts';
import { ATTENTION_OPERATIONS } from './operations/alerts.ts';
import { ANSWER_OPERATIONS } from './operations/answers.ts';
import { AUDIT_OPERATIONS } from './operations/audit.ts';
import { BACKTEST_OPERATIONS } from './operations/backtests.ts';
import { BOUNCER_OPERATIONS } from './operations/bouncers.ts';
import { CHANGES_OPERATIONS } from './operations/changes/changes.ts';
import { DIFFERENCE_OPERATIONS } from './operations/changes/difference.ts';
import { CONTENT_OPERATIONS } from './operations/content.ts';
import { DEAD_LETTER_OPERATIONS } from './operations/dead-letters.ts';
import { DELETED_OPERATIONS } from './operations/deleted.ts';
import { EXPRESSION_OPERATIONS } from './operations/expressions.ts';
import { FEED_OPERATIONS } from './operations/feeds.ts';
import { FREEZE_OPERATIONS } from './operations/freezes.ts';
import { LIST_OPERATIONS } from './operations/lists.ts';
import { LOOKUP_OPERATIONS } from './operations/lookup.ts';
import { OVERLAP_OPERATIONS } from './operations/overlap.ts';
import { ADDRESS_OPERATIONS } from './operations/rules/addresses.ts';
import { ALLOW_OPERATIONS } from './operations/rules/allow.ts';
import { BATCH_OPERATIONS } from './operations/rules/batches.ts';
import { EXTRACT_OPERATIONS } from './operations/rules/extract.ts';
import { IMPORT_OPERATIONS } from './operations/rules/imports.ts';
import { REPLACEMENT_OPERATIONS } from './operations/rules/replacements.ts';
import { RULE_CHANGING, RULE_DELETIONS } from './operations/rules/rule-changing.ts';
import { RULE_READS } from './operations/rules/rule-reads.ts';
import { RULE_OPERATIONS } from './operations/rules/rules.ts';
import { SAMPLE_OPERATIONS } from './operations/samples.ts';
import { CATALOGUE_OPERATIONS } from './operations/sources/catalogue.ts';
import { SOURCE_REFRESH_OPERATIONS } from './operations/sources/refreshes.ts';
import { SOURCE_OPERATIONS } from './operations/sources/sources.ts';
import { SOURCE_TRIAL } from './operations/sources/trial.ts';
import { STATUS_OPERATIONS } from './operations/status.ts';
import { TARGET_OPERATIONS } from './operations/targets.ts';
import { WEBHOOK_OPERATIONS } from './operations/webhooks.ts';
import { WHOAMI_OPERATIONS } from './operations/whoami.ts';
import { WORKSPACE_OPERATIONS } from './operations/workspace.ts';

/** Routes, checks, documents and tests are derived from it. */
export const OPERATIONS: readonly Operation[] = [
  ...WHOAMI_OPERATIONS,
  ...WORKSPACE_OPERATIONS,
  ...FILE_OPERATIONS,
  ...LIST_OPERATIONS,
  ...FEED_OPERATIONS,
  ...FREEZE_OPERATIONS,
  ...APPROVAL_OPERATIONS,
  ...TARGET_OPERATIONS,
  ...SOURCE_OPERATIONS,
  ...SOURCE_REFRESH_OPERATIONS,
  ...DELETED_OPERATIONS,
  ...RULE_READS,
  ...RULE_OPERATIONS,
  ...ALLOW_OPERATIONS,
  ...RULE_CHANGING,
  ...RULE_DELETIONS,
  ...IMPORT_OPERATIONS,
  ...ADDRESS_OPERATIONS,
  ...REPLACEMENT_OPERATIONS,
  ...BATCH_OPERATIONS,
  ...ANSWER_OPERATIONS,
  ...LOOKUP_OPERATIONS,
  ...EXTRACT_OPERATIONS,
  ...OVERLAP_OPERATIONS,
  ...EXPRESSION_OPERATIONS,
  ...BACKTEST_OPERATIONS,
  ...DEAD_LETTER_OPERATIONS,
  ...SAMPLE_OPERATIONS,
  ...KEY_OPERATIONS,
  ...PEOPLE_OPERATIONS,
  ...SOURCE_TRIAL,
  ...CATALOGUE_OPERATIONS,
  ...STATUS_OPERATIONS,
  ...ATTENTION_OPERATIONS,
  ...CONTENT_OPERATIONS,
  ...ADDRESS_SPACE_OPERATIONS,
  ...ACTIVITY_OPERATIONS,
  ...BOUNCER_OPERATIONS,
  ...ENROLMENT_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...SIGNING_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...CHANGES_OPERATIONS,
  ...DIFFERENCE_OPERATIONS,
];

const named = (name: string): Operation => OPERATIONS.find((each) => each.name === name)!;

export const APPROVED: ApprovedRunner = {
  run: (...args) => runAsked(named(args[0]), ...args),
  excess: (name, context, content) => excessNow(named(name), context, content),
};
