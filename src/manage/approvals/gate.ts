/** Changes over the second limit of a workspace wait for another person (SPEC D67.1 to D67.3). */
import { hash } from 'node:crypto';
import { v7 } from 'uuid';
import type { Author, Caller } from '../../account/caller.ts';
import { approvalReason, RECENT } from '../../account/large.ts';
import type { Workspace } from '../../account/workspace.ts';
import { DAY } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import { MOST_PENDING_BYTES } from '../../ports/stored/approval-store.ts';
import type { Message } from '../../ports/stream.ts';
import type { Meter } from '../../signal/accept.ts';
import { LIMITS } from '../../signal/limits.ts';
import { pack } from '../imports/pack.ts';
import { type MessageSize, NOTHING, sizeOfAdded, sizeOfMessages, sum } from './size.ts';

/** Of a request, ms. */
export const APPROVAL_LIFETIME = 3 * DAY;

export interface GateParts {
  readonly store: Pick<
    StoreReads,
    'workspace' | 'unapprovedAddresses' | 'countListRules' | 'rulesById' | 'rulesByRef' | 'namedRules' | 'defaultList' | 'batch'
  > &
    Pick<StoreWrites, 'requestApproval' | 'noteRemoved'>;
  readonly now: () => number;
}

export interface ApprovalGate {
  /** Stores a change over the limit and rejects with REFUSED: nothing may be published. */
  check(pieces: Iterable<readonly Message[]> | AsyncIterable<readonly Message[]>): Promise<void>;
  /** undefined: signals of this caller never wait. */
  meter(caller: Caller, by: Author, listId: string | undefined): Promise<Meter | undefined>;
  /** The messages over the limit: added rules, and removals. */
  sort(workspace: Workspace, messages: readonly Message[], isSignal: boolean): Promise<readonly Sorted[]>;
}

export interface Sorted {
  readonly messages: readonly Message[];
  readonly size: MessageSize;
  readonly why: string;
}

export const waits = (why: string, id: string) => `waits for the approval of another person: ${why} (request ${id})`;

const senderIn = ({ headers }: Message): Author =>
  headers.person === undefined
    ? { keyId: headers.key_id ?? null, actor: headers.actor ?? null }
    : { keyId: null, actor: headers.actor ?? null, personId: headers.person };

/** Of the exact content, without ids and times. */
export const hashOf = (messages: readonly Message[]): string =>
  hash('sha256', JSON.stringify(messages.map(({ headers, value }) => [headers.list_id, headers.source_id, value])));

/** Workspaces with recent changes in this process: those that have not landed count too. */
const MOST_RECENT = 10_000;

/** One per process. */
export function approvalGate({ store, now }: GateParts): ApprovalGate {
  const recent = new Map<string, { readonly at: number; readonly size: MessageSize }>();

  /** A window that begins with its first change. */
  function recentOf(workspaceId: string): MessageSize {
    const found = recent.get(workspaceId);
    return found === undefined || found.at < now() - RECENT ? NOTHING : found.size;
  }
  /** Removals have no landing to be counted at. */
  async function noteRemoved(workspaceId: string, size: MessageSize): Promise<void> {
    note(workspaceId, size);
    const removed = size.addresses - size.blocked;
    if (removed > 0) await store.noteRemoved(workspaceId, removed);
  }
  function note(workspaceId: string, size: MessageSize): void {
    const at = now();
    const before = recentOf(workspaceId);
    const since = before === NOTHING ? at : recent.get(workspaceId)!.at;
    recent.delete(workspaceId);
    recent.set(workspaceId, { at: since, size: sum(before, size) });
    const [oldest] = recent.keys();
    if (recent.size > MOST_RECENT) recent.delete(oldest!);
  }
  async function beforeOf({ id }: Workspace): Promise<MessageSize> {
    const own = recentOf(id);
    return { ...own, addresses: Math.max(own.addresses, await store.unapprovedAddresses(id, now())) };
  }
  const whyOf = (workspace: Workspace, { addresses, rules, places }: MessageSize, isSignal: boolean, before: number | undefined) =>
    approvalReason(workspace, { isSignal, addresses, places, networks: rules, before });

  /** Rules of the lists, as far as a change of `rules` needs them; undefined: there is no limit in percent. */
  async function listedOf({ id, approvalPercent }: Workspace, lists: Iterable<string | undefined>, rules: number) {
    if (approvalPercent === null) return undefined;
    const most = Math.ceil((rules * 100) / approvalPercent);
    let listed = 0;
    for (const list of new Set(lists)) {
      const listId = list ?? (await store.defaultList(id))!;
      if (listed < most) listed += await store.countListRules(id, listId, most - listed);
    }
    return listed;
  }

  async function request(workspaceId: string, { messages, size, why }: Sorted, by: Author): Promise<string> {
    const { addresses, blocked, rules } = size;
    const content = await pack(JSON.stringify(messages));
    const asked = { id: v7(), operation: 'messages', why, hash: hashOf(messages), content, by, addresses, blocked, rules };
    return (await store.requestApproval(workspaceId, asked, APPROVAL_LIFETIME)).id;
  }

  /** Sorts changes of one sender in their order. */
  async function sorterOf(workspace: Workspace, isSignal: boolean, lists: Iterable<string | undefined>, most: number) {
    let before = await beforeOf(workspace);
    const listed = await listedOf(workspace, lists, before.rules + most);
    const adds = { messages: [] as Message[], size: NOTHING, why: '' };
    const removals: Message[] = [];
    return {
      /** Those that wait. */
      adds,
      /** Whether it waits; decided later for removals. */
      add(message: Message): boolean {
        const added = sizeOfAdded(message);
        if (added.rules === 0) removals.push(message);
        const why = added.rules === 0 ? undefined : whyOf(workspace, sum(before, added), isSignal, listed);
        if (why === undefined) {
          before = sum(before, added);
          note(workspace.id, added);
          return false;
        }
        adds.why ||= why;
        adds.size = sum(adds.size, added);
        adds.messages.push(message);
        return true;
      },
      /** All of them, if they wait. */
      async removals(): Promise<Sorted | undefined> {
        const size = await sizeOfMessages(store, workspace.id, removals, now());
        const why = size.rules + size.places === 0 ? undefined : whyOf(workspace, sum(before, size), isSignal, listed);
        if (why === undefined) await noteRemoved(workspace.id, size);
        return why === undefined ? undefined : { messages: removals, size, why };
      },
    };
  }

  return {
    async check(pieces) {
      let [workspace, size, bytes]: [Workspace | undefined, MessageSize, number] = [undefined, NOTHING, 0];
      const messages: Message[] = [];
      const lists = new Set<string | undefined>();
      for await (const piece of pieces) {
        const [first] = piece;
        if (first === undefined) continue;
        workspace ??= await store.workspace(first.key);
        if (workspace === undefined || (workspace.approval ?? 'none') === 'none') return;
        size = sum(size, await sizeOfMessages(store, workspace.id, piece, now()));
        for (const { value, headers } of piece) {
          bytes += value.length;
          lists.add(headers.list_id);
        }
        if (bytes <= MOST_PENDING_BYTES) messages.push(...piece);
      }
      if (workspace === undefined || size.rules + size.places === 0) return;
      const all = sum(size, await beforeOf(workspace));
      const why = whyOf(workspace, all, false, await listedOf(workspace, lists, all.rules));
      if (why === undefined) return noteRemoved(workspace.id, size);
      if (bytes > MOST_PENDING_BYTES)
        throw new WeirError('REFUSED', `${why}: it needs approval, and is too large to wait for it: divide it`);
      throw new WeirError(
        'REFUSED',
        `the change ${waits(why, await request(workspace.id, { messages, size, why }, senderIn(messages[0]!)))}`,
      );
    },
    async meter({ workspaceId, guardRails }, by, listId) {
      if (guardRails.signalsWait !== true) return undefined;
      const workspace = await store.workspace(workspaceId);
      if (workspace === undefined) return undefined;
      const sorting = await sorterOf(workspace, true, [listId], LIMITS.batchEntries);
      const { adds } = sorting;
      return {
        faultOf: (message) => (sorting.add(message) ? waits(adds.why, '') : undefined),
        async request() {
          const held = await sorting.removals();
          if (held !== undefined) throw new WeirError('REFUSED', `the unblocks ${waits(held.why, await request(workspaceId, held, by))}`);
          if (adds.messages.length === 0) return (text) => text;
          const id = await request(workspaceId, adds, by);
          return (text) => (text === waits(adds.why, '') ? waits(adds.why, id) : text);
        },
      };
    },
    async sort(workspace, messages, isSignal) {
      if (isSignal && workspace.approval !== 'all') return [];
      const lists = messages.map(({ headers }) => headers.list_id);
      const sorting = await sorterOf(workspace, isSignal, lists, messages.length);
      for (const message of messages) sorting.add(message);
      const held = await sorting.removals();
      return [sorting.adds, ...(held === undefined ? [] : [held])].filter((each) => each.messages.length > 0);
    },
  };
}
