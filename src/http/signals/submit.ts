import type { Caller } from '../../account/caller.ts';
import type { FeedForecast } from '../../feed/monitor/forecast.ts';
import { type ForecastFields, forecastFields, unknownFeeds } from '../../feed/monitor/forecast-fields.ts';
import { type Accept, type Foreseen, TOO_MANY_ENTRIES } from '../../signal/accept.ts';
import { type BatchFault, type EntryFault, errorTexts } from '../../signal/faults.ts';
import type { Refusal } from '../../signal/refusal.ts';
import { badRequest, type HttpFault, statusOf } from '../errors.ts';
import { intendedParameter } from '../intended-parameter.ts';
import type { SignalSummary } from './schema.ts';

export interface SignalParts {
  readonly accept: Accept;
  /** undefined: this process builds no feeds. */
  readonly forecast: FeedForecast | undefined;
}

export interface SignalRequest {
  readonly version: 1 | 2;
  readonly caller: Caller;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  readonly traceparent?: string | undefined;
}

export interface SignalAnswer {
  readonly status: 200 | 206;
  readonly body: SignalSummary;
  /** D9.1; null: no entry accepted. */
  readonly batchId: string | null;
}

/** When the accepted entries are durable on the stream (spec 4.1, 4.2). */
export type SubmitSignals = (request: SignalRequest) => Promise<SignalAnswer | HttpFault>;

export const signalSubmission =
  ({ accept, forecast }: SignalParts): SubmitSignals =>
  async ({ query, body: entries, ...request }) => {
    const options = readOptions(query);
    if ('status' in options) return options;
    const result = await accept({ ...request, ...options, entries, isSignal: true });
    if (result.refused !== undefined) return refusalFault(result.refused);
    const { accepted, faults, warnings, batchId, foreseen } = result;
    const { status, body } = summary(request.version, accepted, faults);
    const more = {
      ...(warnings.length > 0 && { warnings: [...warnings] }),
      ...(options.dryRun && (await dryRunFields(request.caller, forecast, foreseen))),
    };
    return { status, body: { ...body, ...more }, batchId };
  };

/** D10.14. */
async function dryRunFields(
  { permissions, listId }: Caller,
  forecast: FeedForecast | undefined,
  signals: Foreseen,
): Promise<ForecastFields> {
  if (!permissions.includes('feed:read')) return unknownFeeds('the API key does not have the permission feed:read');
  return forecastFields(forecast, signals, listId !== null);
}

/** Internal faults become a 500: the client can do nothing about them. */
function refusalFault({ code, message, faults, retryAfter }: Refusal): HttpFault {
  if (faults !== undefined) return badRequest(faults);
  const status = statusOf(code);
  if (status === undefined) return { status: 500 };
  return { status, message, ...(retryAfter !== undefined && { headers: { 'Retry-After': String(retryAfter) } }) };
}

interface Options {
  readonly list: string | undefined;
  readonly dryRun: boolean;
}
const DRY_RUN: Record<string, boolean> = { '1': true, true: true, '0': false, false: false };

const OPTIONS = ['list', 'dry_run'];

function readOptions(query: Readonly<Record<string, unknown>>): Options | HttpFault {
  const { list, dry_run: dryRun = '0' } = query;
  const faults = almostOptions(query);
  if (list !== undefined && (typeof list !== 'string' || list === '')) {
    faults.push({ field: 'list', message: 'must be the id or the name of one access-rules list', value: null });
  }
  if (typeof dryRun !== 'string' || !Object.hasOwn(DRY_RUN, dryRun)) {
    faults.push({ field: 'dry_run', message: `must be one of: ${Object.keys(DRY_RUN).join(', ')}`, value: null });
  }
  return faults.length > 0 ? badRequest(faults) : { list: list as string | undefined, dryRun: DRY_RUN[dryRun as string]! };
}

/** Rejects misspelt parameters: with `?dryrun=1` the batch would change rules. */
const almostOptions = (query: Readonly<Record<string, unknown>>): BatchFault[] =>
  Object.keys(query).flatMap((field) => {
    const intended = OPTIONS.includes(field) ? undefined : intendedParameter(field, OPTIONS);
    return intended === undefined ? [] : [{ field, message: `is no parameter; did you mean ${intended}?`, value: null }];
  });

export const OVER_ENTRIES: HttpFault = { status: 429, message: TOO_MANY_ENTRIES };

/** spec 2.5. */
export function summary(version: 1 | 2, processed: number, faults: readonly EntryFault[]): Omit<SignalAnswer, 'batchId'> {
  const errors = errorTexts(faults);
  const message = `Processed ${processed} entries, ${errors.length} failed`;
  if (errors.length > 0) return { status: 206, body: { success: false, message, errors } };
  return { status: 200, body: version === 1 ? { success: true, message } : { success: true, message, errors } };
}
