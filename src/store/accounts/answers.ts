/** Answers to idempotent requests (SPEC D15.11). */
import { WeirError } from '../../errors.ts';
import { ANSWER_RETENTION, type EarlierAnswer, type OnceOnly } from '../../ports/stored/account-store.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { all, one, run, type Work } from '../work.ts';
import { addUsage, bytesOf, releaseUsage } from './storage-usage.ts';

export function* earlierAnswer(
  workspaceId: string,
  { keyId, token }: Omit<OnceOnly, 'fingerprint'>,
  since: number,
): Work<EarlierAnswer | undefined> {
  const row = yield* one(
    `SELECT fingerprint, answer FROM answers
     WHERE workspace_pk = ${WORKSPACE_PK} AND key_id = $2 AND token = $3 AND at > $4`,
    workspaceId,
    keyId,
    token,
    since,
  );
  return row && { fingerprint: String(row.fingerprint), answer: String(row.answer) };
}

/** False if an answer is stored already. */
export function* remember(now: string, workspacePk: number, { keyId, token, fingerprint }: OnceOnly, answer: string): Work<boolean> {
  const old = yield* all(
    `DELETE FROM answers WHERE workspace_pk = $1 AND key_id = $2 AND token = $3 AND at <= ${now} - ${ANSWER_RETENTION} RETURNING workspace_pk, bytes`,
    workspacePk,
    keyId,
    token,
  );
  const bytes = bytesOf(answer);
  const count = yield* run(
    `INSERT INTO answers (workspace_pk, key_id, token, fingerprint, answer, at, bytes) VALUES ($1, $2, $3, $4, $5, ${now}, $6) ON CONFLICT DO NOTHING`,
    workspacePk,
    keyId,
    token,
    fingerprint,
    answer,
    bytes,
  );
  yield* releaseUsage('answers', old);
  if (count > 0) yield* addUsage('answers', workspacePk, bytes);
  return count > 0;
}

/** Stores the result. Throws ANSWERED_BEFORE, and so rolls back, if the request was done before. */
export function* doneOnce(now: string, workspacePk: number, once: OnceOnly | undefined, made: object): Work<void> {
  if (once === undefined || (yield* remember(now, workspacePk, once, JSON.stringify(made)))) return;
  throw new WeirError('ANSWERED_BEFORE', 'a request with this Idempotency-Key was done before');
}
