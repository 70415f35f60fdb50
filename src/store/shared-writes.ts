import { approvalChanges } from './accounts/access/approvals.ts';
import { enrolmentChanges } from './accounts/access/enrolments.ts';
import { peerChanges } from './accounts/access/peers.ts';
import { sessionChanges } from './accounts/access/sessions.ts';
import { signingChanges } from './accounts/access/signing-keys.ts';
import { feedChanges } from './accounts/feeds.ts';
import { freezeChanges } from './accounts/freezes.ts';
import { accountChanges } from './accounts/management.ts';
import { replacementChanges } from './accounts/replacements.ts';
import { deletedChanges } from './accounts/restore-deleted.ts';
import { sampleChanges } from './accounts/samples.ts';
import { snoozeChanges } from './accounts/snoozes.ts';
import { sourceStateChanges } from './accounts/source-states.ts';
import { sourceChanges } from './accounts/sources.ts';
import { togetherChanges } from './accounts/transaction.ts';
import { webhookStateChanges } from './accounts/webhook-states.ts';
import { webhookChanges } from './accounts/webhooks.ts';
import { restoreChanges } from './restore.ts';
import { activityChanges } from './usage/activity.ts';
import { bouncerChanges } from './usage/bouncers.ts';
import { deviceChanges } from './usage/devices.ts';
import { hitChanges } from './usage/hits.ts';
import { type Transact, transacted } from './work.ts';

const CHANGES = {
  ...accountChanges,
  ...approvalChanges,
  ...enrolmentChanges,
  ...feedChanges,
  ...freezeChanges,
  ...deletedChanges,
  ...restoreChanges,
  ...sampleChanges,
  ...peerChanges,
  ...sessionChanges,
  ...snoozeChanges,
  ...replacementChanges,
  ...activityChanges,
  ...bouncerChanges,
  ...deviceChanges,
  ...hitChanges,
  ...sourceChanges,
  ...sourceStateChanges,
  ...togetherChanges,
  ...signingChanges,
  ...webhookChanges,
  ...webhookStateChanges,
};

const AGAIN = { repeatable: true };
const QUIET = { isQuiet: true };
/** For workspaces with thousands of lists and keys, ms. */
const LONG = { limit: 60_000 };

export const sharedWrites = (transact: Transact) => ({
  ...transacted(CHANGES, transact, {
    bootstrap: { alone: true },
    setSubscription: AGAIN,
    revokeKey: AGAIN,
    touchKeys: { ...AGAIN, ...QUIET },
    recordLog: QUIET,
    noteRemoved: QUIET,
    recordTrim: { ...AGAIN, ...QUIET },
    rememberAnswer: AGAIN,
    adoptStream: AGAIN,
    closeSession: AGAIN,
    renewSession: AGAIN,
    endSessions: AGAIN,
    notePeers: AGAIN,
    seePerson: AGAIN,
    storeReplacementPiece: AGAIN,
    recordBouncers: { ...AGAIN, ...QUIET },
    forgetBouncers: { ...AGAIN, ...QUIET },
    recordHits: { ...AGAIN, ...QUIET },
    restoreLists: LONG,
    restoreKeys: LONG,
    restoreRepeats: AGAIN,
    freezeFeed: LONG,
    changeInOneTransaction: LONG,
    writeSources: AGAIN,
    claimLease: AGAIN,
    releaseLease: AGAIN,
    writeLog: { ...AGAIN, ...QUIET },
    reportProcess: { ...AGAIN, ...QUIET },
  }),
});
