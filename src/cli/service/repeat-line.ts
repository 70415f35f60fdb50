/** The line of a target in an export that was blocked in a list with `repeat` (SPEC D56.6). */
import { NEVER, type SavedRepeat } from '../../account/repeat.ts';
import { isoTime } from '../../clock.ts';
import { nullable, Type } from '../../json/schema.ts';
import { formatTarget, targetFieldOf } from '../../signal/target.ts';
import { reader } from '../../signal/validate.ts';
import { type Line, time, unchanged, uuid } from './line-shapes.ts';
import { onlyTarget } from './workspace-line.ts';

/** `ends_at` null: never. */
const counted = { blocks: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }), ends_at: nullable(time) };
const RepeatShape = Type.Object({
  list_id: uuid,
  target: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  ...counted,
  sent_seconds: Type.Integer({ minimum: 0, maximum: 2 ** 40 }),
  before: nullable(Type.Object(counted)),
});

const endOf = (text: string | null) => (text === null ? NEVER : Date.parse(text));
const endText = (ms: number) => (ms === NEVER ? null : isoTime(ms));

export const REPEAT_LINE: Line<SavedRepeat> = {
  read: reader(RepeatShape, (line) => {
    const target = onlyTarget(line.target);
    if (typeof target === 'string') return `target.${target}`;
    const saved: SavedRepeat = {
      ...{ listId: line.list_id, target: formatTarget(target), blocks: line.blocks, endsAt: endOf(line.ends_at) },
      sent: line.sent_seconds * 1000,
      before: line.before === null ? { blocks: 0, endsAt: 0 } : { blocks: line.before.blocks, endsAt: endOf(line.before.ends_at) },
    };
    return unchanged(line, saved, REPEAT_LINE.write(saved));
  }),
  write: ({ listId, target, blocks, endsAt, sent, before }) => ({
    list_id: listId,
    target: { [targetFieldOf(target)]: target },
    ...{ blocks, ends_at: endText(endsAt), sent_seconds: Math.max(0, Math.floor(sent / 1000)) },
    before: before.blocks === 0 ? null : { blocks: before.blocks, ends_at: endText(before.endsAt) },
  }),
};
