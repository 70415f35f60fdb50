import { WeirError } from '../../errors.ts';
import type { JsonObject } from '../../rule.ts';
import { withoutBroad } from '../../source/broad-targets.ts';
import {
  countingWarnings,
  entrySignals,
  NO_ENTRIES,
  type PlacedEntry,
  type Reading,
  readContent,
  warningTexts,
} from '../../source/readers/content.ts';
import { type ListDefaults, signalOf } from '../../source/readers/entry.ts';
import { COLUMN_HELP, FORMS, MOST_SKIPPED, SKIP_HELP } from '../../source/readers/form.ts';
import { faultlessSignals } from '../../source/readers/items.ts';
import { type Condition, type Path, readCondition, readPath } from '../../source/readers/paths.ts';
import { LIST_ACTIONS } from '../../source/readers/verdict.ts';
import { plural } from '../../text/count.ts';
import type { AddCommand } from '../command.ts';
import { duration, oneOf, wholeNumber } from '../usage.ts';
import { withoutLargeNetworks } from './broad.ts';
import { sumLines } from './dry-run.ts';
import { openInput } from './input.ts';
import { replaceList } from './list-replace.ts';
import { jsonReport, reportTrimmed, type Sender, sending, textReport } from './sender.ts';
import { readKey, readUrl, serviceUrl } from './service.ts';
import { lifted } from './still-blocked.ts';

/** Options for plain lists only; signals contain these values. */
const OF_LISTS = {
  action: '--action',
  expiresIn: '--expires-in',
  reason: '--reason',
  label: '--label',
  replace: '--replace',
  refused: '--refused',
} as const;

export function sendCommand(add: AddCommand): void {
  add(
    'send <file>',
    'send a file of signals (a JSON array, or one object a line) or a plain list of addresses; "-" reads standard input',
    (c) =>
      c
        .option('--url <url>', 'address of the service, such as http://127.0.0.1:8080; else WEIR_URL', readUrl)
        .option('--list <list>', 'UUID or name of the list that access rules go to; else the list of the key or the default one')
        .option('--key <key>', 'API key in place of the one in WEIR_API_KEY; every user of the machine sees it in the process list')
        .option('--format <format>', `${FORMS.join(', ')}; found out when absent`, oneOf('--format', FORMS))
        .option('--path <path>', 'for JSON: where its entries stand, such as prefixes[].ip_prefix; repeatable', collectPath)
        .option(
          '--where <field=value>',
          'with --path: only entries of objects that say so, such as service=CLOUDFRONT or event.kind=alert',
          readCondition,
        )
        .option('--column <column>', COLUMN_HELP)
        .option('--skip <lines>', SKIP_HELP, wholeNumber('--skip', 0, MOST_SKIPPED))
        .option('--action <action>', `for a plain list: ${LIST_ACTIONS.join(', ')} (default: block)`, oneOf('--action', LIST_ACTIONS))
        .option('--expires-in <duration>', 'for a plain list: lifetime of its rules, such as 3600, 12h, 7d', duration('--expires-in'))
        .option('--reason <text>', 'for a plain list: reason of its rules')
        .option('--label <name=value>', 'for a plain list: a label of its rules; repeatable', collectLabel)
        .option('--replace', 'for a plain list: the list in weir becomes equal to it; what it does not have is removed')
        .option(
          '--refused <way>',
          'with --replace: entries that guard rails refuse hold back every removal (keep), or count as absent (skip)',
          oneOf('--refused', ['keep', 'skip']),
        )
        .option('--dry-run', 'send nothing: report the entries that would fail, and the size of feeds afterwards')
        .option('--keep-trying', 'wait for an unavailable service without a limit, instead of half a minute')
        .option(
          '--yes',
          'also whole countries and ASNs of a plain list, and networks that are more than half of the addresses of the list; with --replace: also when more than half of it would be removed or added',
        ),
    {
      sends: true,
      async run(context, [file], options) {
        const key = readKey(options.key ?? context.environment.WEIR_API_KEY);
        if (options.dryRun && options.replace) throw new WeirError('USAGE', '--dry-run cannot predict --replace; give one of them');
        const input = await openInput(file);
        if (options.key !== undefined) context.stderr.write(`weir: ${KEY_WARNING}\n`);
        const destination = {
          url: serviceUrl(context, options.url),
          list: options.list,
          key,
          actor: options.actor,
          keepTrying: options.keepTrying === true,
          dryRun: options.dryRun === true,
        };
        await sending(context, input, destination, options.json ? jsonReport : textReport, async (sender) => {
          const content = await readContent(sender.chunks, readingOf(file, options), defaultsOf(options));
          const lifts = lifted(destination.dryRun);
          if ('signals' in content) {
            const [, odd] = Object.entries(OF_LISTS).find(([name]) => options[name] !== undefined) ?? [];
            if (odd !== undefined) throw new WeirError('USAGE', `${odd} is for plain lists, and this file holds signals`);
            await sender.send(lifts.notingSignals(faultlessSignals(warnedIfEmpty(content.signals, sender))));
            await lifts.say(sender, destination);
            return;
          }
          const warnings = new Map<string, number>();
          const entries = lifts.noting(countingWarnings(warnedIfEmpty(content.entries, sender), warnings));
          const unconfirmed: PlacedEntry[] = [];
          if (options.replace) {
            await replaceList(sender, options.yes ? entries : withoutBroad(entries, unconfirmed), {
              ...destination,
              action: options.action ?? 'block',
              isSure: options.yes === true,
              refused: options.refused ?? 'keep',
            });
          } else {
            const isAsked = !options.yes && !options.dryRun;
            const aside = { ...destination, isPipe: input.size === undefined };
            const wanted = isAsked ? withoutLargeNetworks(withoutBroad(entries, unconfirmed), sender, aside) : entries;
            await sender.send(entrySignals(wanted, reportTrimmed(sender)));
          }
          for (const text of warningTexts(warnings)) sender.say(text);
          if (unconfirmed.length > 0) await sayUnconfirmed(sender, unconfirmed);
          await lifts.say(sender, destination);
        });
      },
      show: () => '',
    },
  );
}

async function* warnedIfEmpty<T>(content: AsyncIterable<T>, sender: Sender): AsyncGenerator<T> {
  let isEmpty = true;
  for await (const each of content) {
    isEmpty = false;
    yield each;
  }
  if (isEmpty) sender.say(`the file has no entries: ${NO_ENTRIES}`);
}

/** Countries and ASNs in the dry run. */
const MOST_TRIED = 1000;

/** Lists unconfirmed entries and their effect on feeds. */
async function sayUnconfirmed(sender: Sender, unconfirmed: readonly PlacedEntry[]): Promise<void> {
  const kinds = Map.groupBy(unconfirmed, ({ entry: { target } }) => target.kind);
  const names = [...kinds].map(([kind, { length }]) => (kind === 'asn' ? plural(length, 'ASN') : plural(length, 'country', 'countries')));
  sender.say(`not sent: ${names.join(' and ')}; to send them, add --yes`);
  const signals = unconfirmed.slice(0, MOST_TRIED).flatMap(({ entry }) => signalOf({ ...entry, name: undefined }, Date.now()) ?? []);
  if (signals.length === 0) return;
  for (const line of sumLines(await sender.tryOut(signals))) sender.say(`with them: ${line}`);
}

const KEY_WARNING = 'every user of this machine sees a key that is given with --key in the process list; WEIR_API_KEY is not shown there';

type ReadingOptions = Pick<Reading, 'format' | 'column' | 'skip'> & { readonly path?: readonly Path[]; readonly where?: Condition };

const readingOf = (file: string, { format, path, where, column, skip }: ReadingOptions): Reading => ({
  ...{ file, format, paths: path, condition: where, column, skip },
});

const collectPath = (text: string, before: readonly Path[] = []): readonly Path[] => [...before, readPath(text)];

const defaultsOf = (options: Partial<ListDefaults> & { label?: JsonObject }): ListDefaults => ({
  action: options.action ?? 'block',
  expiresIn: options.expiresIn,
  reason: options.reason,
  labels: options.label ?? {},
});

function collectLabel(text: string, before: JsonObject = {}): JsonObject {
  const at = text.indexOf('=');
  if (at < 1) throw new WeirError('USAGE', '--label must be name=value, such as source=spamhaus');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
