/** `weir sample` (SPEC D21). */

import { randomInt } from 'node:crypto';
import { layoutOf } from '@weir/expression/evaluate/value.ts';
import type { Command } from 'commander';
import { MOST_SAMPLED, SAMPLE_RULES, type SampleLimit, sampleJson } from '../../account/sample.ts';
import { WeirError } from '../../errors.ts';
import { decompressed, pieces } from '../../recording/bytes.ts';
import { readRecord } from '../../recording/record.ts';
import { readSchemes } from '../../runtime/schemes.ts';
import { SampleTaker } from '../../sample/content.ts';
import type { AddCommand } from '../command.ts';
import { type Context, workspaceIn } from '../context.ts';
import { openInput } from '../signals/input.ts';
import { inWorkspace, oneOf } from '../usage.ts';

export function sampleCommands(add: AddCommand): void {
  const limits = (c: Command) =>
    inWorkspace(c)
      .option(
        '--max-share <share>',
        'the share of the sample that a rule may block, such as 0.1%; none: only dry runs report it',
        readShare,
      )
      .option(
        '--rules <rules>',
        'which rules the limit is for: generated expression rules, or all that block',
        oneOf('--rules', SAMPLE_RULES),
      );
  for (const [name, summary] of [
    ['set', `keep the requests of a recording as the sample, at most ${MOST_SAMPLED}; secrets, query values and cookies are masked`],
    ['take', `the same from a recording of any size: each of its requests has the same chance to be one of the ${MOST_SAMPLED}`],
  ] as const) {
    add(`sample ${name} <recording>`, summary, limits, {
      async run(context, [file], options) {
        const taker = await readRecording(context, file!);
        if (name === 'set' && taker.seen > MOST_SAMPLED)
          throw new WeirError('USAGE', `${file} has ${taker.seen} requests, a sample at most ${MOST_SAMPLED}: weir sample take chooses`);
        const store = await context.store();
        const { id: workspace } = await workspaceIn(context, store, options.workspace);
        const written = await store.writeSample(workspace, taker.content(), context.author);
        const limit = limitOf(options);
        const sample = Object.keys(limit).length === 0 ? written : await store.limitSample(workspace, limit, { by: context.author });
        return { ...sampleJson(sample), seen: taker.seen, unreadable: taker.unreadable };
      },
      show: (sample) =>
        `${sampleText(sample)}; ${sample.seen} requests read${sample.unreadable > 0 ? `, ${sample.unreadable} lines could not be` : ''}`,
    });
  }
}

async function readRecording({ config }: Context, file: string): Promise<SampleTaker & { unreadable: number }> {
  const layout = layoutOf(readSchemes(config.schemesFile).waf_rule);
  const taker = Object.assign(new SampleTaker(layout, randomInt), { unreadable: 0 });
  const { chunks } = await openInput(file);
  for await (const lines of pieces(decompressed(chunks))) {
    for (const line of lines) {
      const record = readRecord(line, layout);
      if (typeof record === 'string') taker.unreadable += 1;
      else if (record !== null) taker.take(record);
    }
  }
  if (taker.seen === 0) throw new WeirError('USAGE', `${file} holds no request that can be read`);
  return taker;
}

/** A percentage or a fraction; null: none. */
export function readShare(given: string): number | null {
  if (given === 'none') return null;
  const share = /^\d+(\.\d+)?%?$/.test(given) ? Number.parseFloat(given) / (given.endsWith('%') ? 100 : 1) : Number.NaN;
  if (share >= 0 && share <= 1) return share;
  throw new WeirError('USAGE', `--max-share must be a share from 0 to 1, a percentage such as 0.1%, or none, not "${given}"`);
}

function limitOf({ maxShare, rules }: { maxShare?: number | null; rules?: SampleLimit['rules'] }): Partial<SampleLimit> {
  return { ...(maxShare !== undefined && { maxShare }), ...(rules !== undefined && { rules }) };
}

export function sampleText({ requests, max_sample_share: share, sample_rules: rules }: ReturnType<typeof sampleJson>): string {
  const of = rules === 'all' ? 'a rule that blocks' : 'a generated rule';
  const limit = share === null ? 'only dry runs report what a rule would block' : `${of} may block ${Math.floor(share * requests)} of them`;
  return `the sample has ${requests} requests; ${limit}`;
}
