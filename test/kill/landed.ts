/** Whether what landed is what was sent (D3.20, D4.4, D4.10): every acknowledged batch once, whole, in its order; others at most as often as they were tried. */
import { type Client, must, told } from './api.ts';
import { insist } from './house.ts';
import type { Sent } from './senders.ts';

/** A batch as `GET /v1/manage/batches` tells it. */
export interface LandedBatch {
  readonly id: string;
  readonly list_id: string | null;
  readonly entries: number;
  readonly undoes: string | null;
}

/** The batches that have landed since those that are known, in the order in which they did. */
export async function readLanded(client: Client, known: Set<string>): Promise<LandedBatch[]> {
  const fresh: LandedBatch[] = [];
  for (let after = ''; ; ) {
    const reply = await insist(() => client.ask(`/v1/manage/batches?limit=200${after}`), [200]);
    const { batches, next } = told(reply) as { batches: LandedBatch[]; next: string | null };
    const unseen = batches.filter(({ id }) => !known.has(id));
    fresh.push(...unseen);
    if (unseen.length < batches.length || next === null) break;
    after = `&after=${encodeURIComponent(next)}`;
  }
  for (const { id } of fresh) {
    must(!known.has(id), `the batch ${id} has landed twice`);
    known.add(id);
  }
  return fresh.reverse();
}

const sizeOf = ({ what }: Sent) => ('entries' in what ? what.entries.length : 1);

/** What was sent for each of the batches of one list that have landed, in their order. `sent` in the order in which it was sent. */
export function matchLanded(
  list: string,
  sent: readonly Sent[],
  landed: readonly LandedBatch[],
): { readonly batch: string; readonly sent: Sent }[] {
  const taken = sent.filter(({ outcome }) => outcome === 'taken');
  const order = landed.filter(({ id }) => taken.some(({ batch }) => batch === id)).map(({ id }) => id);
  const wanted = taken.map(({ batch }) => batch!);
  const lost = wanted.filter((batch) => !order.includes(batch));
  must(lost.length === 0, `${list}: acknowledged and not landed: ${lost}`);
  must(order.join() === wanted.join(), `${list}: acknowledged as ${wanted}, landed as ${order}`);
  const left = sent.filter(({ outcome }) => outcome === 'unknown' || outcome === 'refused');
  // An undo that finds when it lands that another try was first changes nothing, and is a batch all the same (D9.12).
  const idle = sent.filter(({ outcome, what }) => outcome === 'nothing' && 'undoes' in what);
  return landed.map(({ id, entries, undoes }, at) => {
    const known = taken.find(({ batch }) => batch === id);
    const isIt = (each: Sent) => sizeOf(each) === entries && ('undoes' in each.what ? each.what.undoes : null) === undoes;
    const found = known ?? left.find(isIt);
    const vain = found === undefined && entries === 1 && undoes === null ? idle.shift() : undefined;
    if (vain !== undefined) return { batch: id, sent: vain };
    must(found !== undefined, `${list}: nobody sent the batch ${id} of ${entries} entries`);
    must(isIt(found), `${list}: of the batch ${id} with ${sizeOf(found)} entries ${entries} have landed`);
    if (known === undefined) left.splice(left.indexOf(found), 1);
    // Who was refused may send the next one: what the same process takes then must not be overtaken by what was refused (7.1).
    const later = sent.slice(sent.indexOf(found) + 1).filter(({ outcome, life }) => outcome === 'taken' && life === found.life);
    const overtaken = found.outcome === 'refused' && later.some(({ batch }) => landed.findIndex((each) => each.id === batch) < at);
    must(!overtaken, `${list}: the batch ${id} was refused and has landed behind a later one`);
    return { batch: id, sent: found };
  });
}
