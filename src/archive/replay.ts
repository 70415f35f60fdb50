/** Rules and settings at an earlier moment, from the archive, then from the store (SPEC D61.4). */
import { dayOf, isoTime } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';
import { type Ending, filesOf } from './folder.ts';
import { changes, MissingChanges, readNow, SETTLED } from './next-segment.ts';
import { type Position, readSegments, type Segment, type SegmentHead } from './segments.ts';
import type { ArchivedSettings, ServiceSettings } from './settings.ts';

interface By {
  readonly batch_id: string | null;
  readonly key_id: string | null;
  readonly actor?: string;
  readonly person?: string;
}

/** A line of the archive. */
export interface PastRule {
  readonly id: number;
  readonly target: string;
  readonly list: string;
  readonly at: string;
  readonly seq: number;
  readonly rule: (Record<string, unknown> & { readonly seq: number; readonly updated_at: string }) | null;
  readonly by?: By;
}

export type SettingsThen = readonly [ArchivedSettings, later?: ArchivedSettings];

export interface Past<R = PastRule> {
  readonly rules: readonly R[];
  /** Two settings if it is not known when they changed. */
  readonly settings: SettingsThen;
}

export type ActiveRule = PastRule & { readonly rule: NonNullable<PastRule['rule']> };

export interface Wanted<R> {
  readonly workspaceId: string;
  /** ms */
  readonly at: number;
  isWanted(target: string): boolean;
  /** undefined: it was not a rule at that moment. */
  keep(rule: ActiveRule): R | undefined;
  /** Rules in memory. */
  readonly most: number;
  readonly tooMany: () => WeirError;
}

export const HEAD = /^\{"id":(\d+),"target":"([^"]+)"/;

/** Rejects with REFUSED if the archive does not have that moment, or is damaged. */
export async function replay<R extends Pick<PastRule, 'seq'>>(
  folder: string,
  wanted: Wanted<R>,
  store: StoreReads,
  service: ServiceSettings,
): Promise<Past<R>> {
  const { at, workspaceId } = wanted;
  const reader = new PastReader(wanted);
  const bases = filesOf(folder, 'base');
  const firstDay = await reader.readBase(bases.filter(({ day }) => day <= dayOf(at)).map(({ path }) => path));
  if (firstDay === undefined) throw new WeirError('REFUSED', await beginning(bases[0]?.path));
  for (const { path, day } of filesOf(folder, 'changes')) if (day >= firstDay && !reader.isDone) await reader.readChanges(path);
  if (!reader.isDone) await readStore(reader, workspaceId, store, service);
  return { rules: reader.rules(), settings: reader.settingsThen() };
}

async function beginning(path: string | undefined): Promise<string> {
  let first: SegmentHead | undefined;
  if (path !== undefined) {
    await readSegments(path, {
      head(head) {
        first = head;
        return false;
      },
    });
  }
  return first === undefined ? 'the archive has nothing about this workspace yet' : `the archive begins at ${isoTime(first.until.at)}`;
}

/** Changes since the end of the archive. */
async function readStore(
  reader: Pick<PastReader<never>, 'end' | 'take'>,
  workspaceId: string,
  store: StoreReads,
  service: ServiceSettings,
): Promise<void> {
  const end = reader.end()!;
  const reading = await readNow(store, workspaceId, service, end);
  if (reading === undefined) throw new WeirError('NOT_FOUND', 'the workspace was deleted');
  try {
    await reader.take(await changes(store, reading, end));
  } catch (error) {
    if (error instanceof MissingChanges) throw nothingBetween(end.until.at, reading.head.until.at);
    throw error;
  }
}

const nothingBetween = (from: number, to: number) =>
  new WeirError(
    'REFUSED',
    `the archive has nothing between ${isoTime(from)} and ${isoTime(to)}: weir did not write it, or a file is missing or was set aside as damaged`,
  );

/** A segment, and the settings before and after it. */
interface Then {
  readonly head: SegmentHead;
  readonly earlier: ArchivedSettings;
  later?: ArchivedSettings;
}

class PastReader<R extends Pick<PastRule, 'seq'>> {
  readonly #at: number;
  readonly #wanted: Wanted<R>;
  readonly #rules = new Map<number, R>();
  #position: Position | undefined;
  #audit = 0;
  #digest = '';
  /** At `#position`. */
  #settings: ArchivedSettings | undefined;
  /** The segment that has the moment. */
  #then: Then | undefined;
  #isSkipped = false;

  constructor(wanted: Wanted<R>) {
    this.#at = wanted.at;
    this.#wanted = wanted;
  }

  /** Nothing later is about the moment. */
  get isDone(): boolean {
    return this.#position !== undefined && this.#position.at > this.#at + SETTLED;
  }

  /** The newest base up to the moment; returns its day. */
  async readBase(paths: readonly string[]): Promise<number | undefined> {
    for (const path of paths.toReversed()) {
      await readSegments(path, {
        head: (head) => {
          if (head.until.at > this.#at) return false;
          this.#rules.clear();
          this.#reached(head);
          return true;
        },
        settings: (settings) => this.#take(settings),
        event: (line) => this.#event(line),
      });
      if (this.#position !== undefined) return dayOf(this.#position.at);
    }
    return undefined;
  }

  readChanges(path: string): Promise<void> {
    return readSegments(path, {
      head: (head) => this.#head(head),
      settings: (settings) => this.#take(settings),
      event: (line) => this.#event(line),
      end: () => this.#ended(),
    });
  }

  async take({ head, settings, events }: Segment): Promise<void> {
    if (!this.#head(head)) return;
    if (settings !== undefined) this.#take(settings);
    for await (const line of events) this.#event(line);
    this.#ended();
  }

  end(): Ending | undefined {
    return this.#position && { until: this.#position, settings: this.#digest, audit: this.#audit };
  }

  #head(head: SegmentHead): boolean {
    const known = this.#position!;
    this.#isSkipped = head.until.seq <= known.seq && head.until.at <= known.at;
    if (this.#isSkipped) return true;
    if (this.isDone) return false;
    // Only the segment that reaches over a base may begin before it.
    const { from } = head;
    if (from === null || from.at > known.at || from.seq > known.seq) throw nothingBetween(known.at, from?.at ?? head.until.at);
    const isThen = known.at <= this.#at && head.until.at > this.#at;
    if (isThen) this.#then = { head, earlier: this.#settings! };
    this.#reached(head);
    return true;
  }

  #reached({ until, settings, audit }: SegmentHead): void {
    if (settings !== this.#digest) this.#settings = undefined;
    [this.#position, this.#audit, this.#digest] = [until, audit, settings];
  }

  #take(settings: ArchivedSettings): void {
    if (!this.#isSkipped) this.#settings = settings;
  }

  #ended(): void {
    if (this.#isSkipped) return;
    if (this.#settings === undefined) throw new WeirError('REFUSED', 'a segment of the archive has no settings');
    if (this.#then !== undefined) this.#then.later ??= this.#settings;
  }

  #event(line: string): void {
    if (this.#isSkipped) return;
    const [, id, target] = HEAD.exec(line)!;
    const { isWanted, keep, most, tooMany } = this.#wanted;
    if (!this.#rules.has(Number(id)) && !isWanted(target!)) return;
    const event = JSON.parse(line) as PastRule;
    const known = this.#rules.get(event.id);
    if (Date.parse(event.at) > this.#at || (known !== undefined && event.seq < known.seq)) return;
    const kept = event.rule === null || !isWanted(event.target) ? undefined : keep(event as ActiveRule);
    if (kept === undefined) this.#rules.delete(event.id);
    else this.#rules.set(event.id, kept);
    if (this.#rules.size > most) throw tooMany();
  }

  rules(): R[] {
    return [...this.#rules.values()];
  }

  settingsThen(): SettingsThen {
    if (this.#then === undefined) return [this.#settings!];
    const { head } = this.#then;
    const [settings, later] = this.#settingsIn(this.#then);
    const lost = settings.lists.find(({ id }) => head.lost.includes(id));
    if (lost === undefined) return [settings, later];
    const span = `between ${isoTime(head.from!.at)} and ${isoTime(head.until.at)}`;
    throw new WeirError('REFUSED', `the list ${lost.name} was deleted for good ${span}: choose another time`);
  }

  #settingsIn({ head, earlier, later = earlier }: Then): SettingsThen {
    if (head.settings_changed === null) return earlier === later ? [earlier] : [earlier, later];
    const [first, last] = head.settings_changed;
    if (this.#at < first) return [earlier];
    if (this.#at >= last) return [later];
    const changed = `between ${isoTime(first)} and ${isoTime(last)}`;
    throw new WeirError('REFUSED', `settings changed several times ${changed}: choose a time before or after`);
  }
}
