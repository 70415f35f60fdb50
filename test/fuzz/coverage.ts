/** Which blocks of code have run, told by V8: what steers the fuzzers. */
import { Session } from 'node:inspector';

interface Taken {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** Begins to count. The function that is given back names the blocks of files under `folder` that have run since it was last asked. */
export function coverageOf(folder: string): () => ReadonlySet<string> {
  const session = new Session();
  session.connect();
  const post = <T>(method: string, params: object = {}): T => {
    let answer: { error: Error | null; result?: unknown } | undefined;
    session.post(method, params, (error, result) => {
      answer = { error, result };
    });
    if (answer === undefined || answer.error !== null) throw answer?.error ?? new Error(`${method} has no answer`);
    return answer.result as T;
  };
  post('Profiler.enable');
  post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return () => {
    const blocks = new Set<string>();
    for (const { url, functions } of post<Taken>('Profiler.takePreciseCoverage').result) {
      if (!url.includes(folder)) continue;
      const file = url.slice(url.indexOf(folder) + folder.length);
      for (const { ranges } of functions)
        for (const { startOffset, endOffset, count } of ranges) if (count > 0) blocks.add(`${file}:${startOffset}-${endOffset}`);
    }
    return blocks;
  };
}
