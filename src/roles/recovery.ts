import { type ApprovePorts, type RunApproved, resumeApprovals } from '../manage/approvals/approve.ts';
import { type ReplacementPorts, resumeReplacements } from '../manage/imports/replacements.ts';
import type { Log } from '../ports/log.ts';

/** ms. */
const LOOK = 5000;

export function recoverReplacements(ports: ReplacementPorts & ApprovePorts, log: Log, run?: RunApproved): () => Promise<void> {
  let going: Promise<void> = Promise.resolve();
  let isOver = false;
  const look = () => {
    going = going.then(async () => {
      if (!isOver) await resumeReplacements(ports).catch((error: unknown) => log('warn', `a list could not be replaced yet: ${error}`));
      if (!isOver)
        await resumeApprovals(ports, run).catch((error: unknown) => log('warn', `an approved change could not be applied yet: ${error}`));
    });
  };
  look();
  const timer = setInterval(look, LOOK).unref();
  return async () => {
    isOver = true;
    clearInterval(timer);
    await going;
  };
}
