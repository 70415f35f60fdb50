/** Conditions for rules, and rules as commands print them (SPEC D9.6, D10.6). */

import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { Selected } from '../../manage/operations/rules/rule-selection.ts';
import { plural } from '../../text/count.ts';
import { readSince } from '../../text/duration.ts';
import type { Client, Fields } from '../client/client.ts';
import { printable } from '../context.ts';
import type { OptionRows } from '../rows/options.ts';

/** A rule in answers of management. */
export interface RuleRow extends Fields {
  readonly action: string;
  readonly rule_ref: string | null;
  readonly name: string | null;
  readonly reason: string | null;
  readonly expires_at: string | null;
  readonly batch_id: string | null;
  readonly key_id: string | null;
  readonly key_name?: string | null;
  readonly actor?: string;
  readonly list_id?: string;
  readonly target?: string;
  readonly type?: string;
  readonly expression?: string;
  readonly repeated?: string;
  readonly warning?: string;
}

export const SINCE_RULE = 'an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 2h';

/** As ISO 8601. */
export function sinceOf(text: string, option = '--since'): string {
  const at = readSince(text, Date.now());
  if (at === undefined) throw new WeirError('USAGE', `${option} must be ${SINCE_RULE}`);
  return isoTime(at)!;
}

/** Where the schema is not enough. */
export const CONDITION_OPTIONS: OptionRows = {
  list: { help: 'rules of this list' },
  address: { help: 'rules for this address, network, ASN or country' },
  match: { help: 'exact (default); covering: networks around it; covered: networks inside it' },
  label: { help: 'rules with this label, key=value; repeatable', joined: labelsOf },
  reason: { help: 'rules with exactly this reason' },
  reason_contains: { help: 'rules with this text in their reason, in any case' },
  wider: { help: 'networks wider than this prefix length, such as /16' },
  since: { help: `rules made or changed since: ${SINCE_RULE}`, read: sinceOf },
  key: { help: 'rules that this key has written last, by its id or name' },
  batch: { help: 'rules that this batch has written last' },
  person: { help: 'rules that this person has written last: a name, or PROVIDER:SUBJECT' },
};

function labelsOf(texts: readonly string[]): string {
  const wrong = texts.find((text) => !/^[^=:\n]+=[^\n]*$/.test(text));
  if (wrong !== undefined) throw new WeirError('USAGE', `--label must be key=value, not "${wrong}"`);
  return texts.map((text) => text.replace('=', ':')).join('\n');
}

/** Throws USAGE if the conditions match every rule of the kind. */
export function requireConditions({ kind: _kind, set: _set, ...conditions }: Fields): void {
  if (Object.values(conditions).every((each) => each === undefined))
    throw new WeirError('USAGE', 'say which rules: give --list, --address, --label, --reason, --since, --key, --person or --batch');
}

type Changed = Pick<Selected, 'batches' | 'unlanded' | 'next'>;

/** Repeats a request until no more rules match. */
export async function everyRequest<T extends Changed>(client: Client, operation: string, given: Fields): Promise<T[]> {
  const answers: T[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const answer = await client.call<T>(operation, { ...given, after });
    answers.push(answer);
    after = answer.next;
  }
  return answers;
}

export const sumOf = <T>(answers: readonly T[], field: keyof T): number => answers.reduce((sum, each) => sum + Number(each[field]), 0);

export const changedJson = (answers: readonly Changed[]) => ({
  batch_id: answers.flatMap(({ batches }) => batches)[0] ?? null,
  unlanded: sumOf(answers, 'unlanded'),
});

export function ruleLine({ action, target, type, expression, rule_ref: ref, expires_at: expiry, name, warning }: RuleRow): string {
  const parts = [action, target ?? `${type} ${expression}`, ref ?? '-', expiry ?? 'no expiry', name ?? ''];
  return printable([...parts, ...(warning === undefined ? [] : [`warning: ${warning}`])].join('  ').trimEnd());
}

export const waiting = ({ unlanded }: { readonly unlanded: number }): string =>
  unlanded === 0
    ? ''
    : `\n${plural(unlanded, 'message')} on the stream ${unlanded === 1 ? 'waits: it lands' : 'wait: they land'} when weir runs with the role consumer`;
