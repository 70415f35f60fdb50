/** Traffic samples (SPEC D21). */
import type { Author } from '../../account/caller.ts';
import { NO_SAMPLE, type SampleInfo, sampleJson, sampleLimit } from '../../account/sample.ts';
import type { SampleReads, SampleWrites } from '../../ports/stored/sample-store.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { sampleInfo } from '../rows.ts';
import { type Changes, one, type Reads, run, type Work } from '../work.ts';
import { findWorkspace, holdWorkspace, moveKeyRevision, requireState } from './account-statements.ts';
import { audit } from './audit.ts';

export const sampleReads = { sample: sampleOf, samplePart: partOf } satisfies Reads<SampleReads>;

export const sampleChanges = {
  *writeSample(now, workspaceId, { requests, bytes, parts }, by) {
    const workspacePk = yield* findWorkspace(workspaceId);
    yield* run('DELETE FROM sample_parts WHERE workspace_pk = $1', workspacePk);
    for (const [part, content] of parts.entries()) yield* run('INSERT INTO sample_parts VALUES ($1, $2, $3)', workspacePk, part, content);
    yield* run(
      `INSERT INTO samples (workspace_pk, revision, requests, bytes, taken_at) VALUES ($1, 1, $2, $3, ${now})
        ON CONFLICT (workspace_pk) DO UPDATE SET revision = samples.revision + 1, requests = excluded.requests, bytes = excluded.bytes,
        taken_at = excluded.taken_at`,
      workspacePk,
      requests,
      bytes,
    );
    return yield* noted(now, 'sample set', workspaceId, workspacePk, by);
  },
  *limitSample(now, workspaceId, { maxShare, rules }, { by, ifMatch } = {}) {
    const workspacePk = yield* holdWorkspace(workspaceId);
    requireState(sampleLimit((yield* sampleOf(workspaceId)) ?? NO_SAMPLE), ifMatch);
    // The limit can be set without a sample.
    yield* run(
      `INSERT INTO samples (workspace_pk, revision, requests, bytes, taken_at) VALUES ($1, 0, 0, 0, ${now}) ON CONFLICT DO NOTHING`,
      workspacePk,
    );
    if (maxShare !== undefined) yield* run('UPDATE samples SET max_share = $2 WHERE workspace_pk = $1', workspacePk, maxShare);
    if (rules !== undefined) yield* run('UPDATE samples SET rules = $2 WHERE workspace_pk = $1', workspacePk, rules);
    return yield* noted(now, 'sample changed', workspaceId, workspacePk, by);
  },
  *deleteSample(now, workspaceId, by) {
    const workspacePk = yield* findWorkspace(workspaceId);
    yield* run('DELETE FROM sample_parts WHERE workspace_pk = $1', workspacePk);
    if ((yield* run('DELETE FROM samples WHERE workspace_pk = $1', workspacePk)) === 0) return false;
    yield* moveKeyRevision();
    yield* audit(now, 'sample deleted', workspaceId, { workspacePk, by });
    return true;
  },
} satisfies Changes<SampleWrites>;

function* noted(now: string, action: string, workspaceId: string, workspacePk: number, by: Author | undefined): Work<SampleInfo> {
  const sample = (yield* sampleOf(workspaceId))!;
  yield* moveKeyRevision();
  yield* audit(now, action, workspaceId, { workspacePk, by, change: { before: null, after: sampleJson(sample) } });
  return sample;
}

function* sampleOf(workspaceId: string): Work<SampleInfo | undefined> {
  const row = yield* one('SELECT * FROM samples WHERE workspace_pk = (SELECT pk FROM workspaces WHERE id = $1)', workspaceId);
  return row && sampleInfo(row);
}

function* partOf(workspaceId: string, part: number): Work<Uint8Array | undefined> {
  const row = yield* one(`SELECT content FROM sample_parts WHERE workspace_pk = ${WORKSPACE_PK} AND part = $2`, workspaceId, part);
  return row?.content as Uint8Array | undefined;
}
