import { filledLevels } from '../../feed/levels.ts';
import type { RuleSink } from '../../ports/snapshot.ts';

/** A `levelCode`. */
export function withLevels(sink: RuleSink, levels: number): RuleSink {
  if (levels === 0) return sink;
  const filled = filledLevels(levels);
  return {
    v4: (id, action, address, prefix, expires, own) => sink.v4(id, action, address, prefix, expires, filled[own]),
    v6: (id, action, bytes, at, prefix, expires, own) => sink.v6(id, action, bytes, at, prefix, expires, filled[own]),
    geo: (id, action, target, expires, own) => sink.geo(id, action, target, expires, filled[own]),
  };
}
