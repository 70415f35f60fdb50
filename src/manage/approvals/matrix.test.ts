import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATIONS } from '../table.ts';

/** How changes of each operation reach a feed. A new operation needs a place here; test/http/approvals.test.ts tries those that wait. */
const WAYS = {
  /** As a whole, by the rules of its lists. */
  settings: 'changeWorkspace applyWorkspaceFile changeList deleteList changeFeed deleteFeed deleteSource restoreList restoreFeed',
  /** Its messages. */
  messages:
    'blockTarget allowTarget splitBlocks changeRules deleteRule deleteRules importFile startReplacement undoBatches replayDeadLetters',
  /** The messages of the next refresh. */
  refresh: 'createSource changeSource pauseSource resumeSource refreshSource acceptSource discardSource',
  /** Waits itself, or ends the wait. */
  decision: 'approveChange rejectChange withdrawChange forceChange',
  /** Serves content that waited, or was small, before; or no content of its own yet. */
  served: 'freezeFeed thawFeed stopCanary promoteCanary createList createFeed',
  /** In no feed. */
  none: `tryGuardRails putExpressionRule countAddresses openReplacement addReplacementPart extractTargets checkExpression testExpression
    startBacktest deleteBacktest dropDeadLetter limitSample deleteSample changeKey createKey revokeKey trySource snoozeAttention endSnooze
    measureFeed createEnrolment revokeEnrolment createWebhook changeWebhook deleteWebhook testWebhook createSigningKey deleteSigningKey`,
};
const namesOf = (text: string) => text.trim().split(/\s+/).sort();

test('D67.1 of every operation that changes something it is known whether it waits for approval', () => {
  const writing = OPERATIONS.filter(({ method }) => method !== 'GET');
  assert.deepEqual(writing.map(({ name }) => name).sort(), namesOf(Object.values(WAYS).join(' ')));
  const whole = writing.filter(({ touches }) => touches !== undefined).map(({ name }) => name);
  assert.deepEqual(whole.sort(), namesOf(WAYS.settings));
});
