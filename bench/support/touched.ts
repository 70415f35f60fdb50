/**
 * Loaded into each thread of a service by `files-touched.ts` (`--import`): counts the calls of its functions, and returns, on request of the
 * parent process, the functions of src and packages that this thread has called since the last request.
 */
import { Session } from 'node:inspector/promises';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

const ROOT = new URL('../../', import.meta.url).href;
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

async function called(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result.flatMap(({ url, functions }) => {
    const file = url.startsWith(ROOT) ? url.slice(ROOT.length) : '';
    if (!/^(src|packages)\//.test(file)) return [];
    return functions
      .filter(({ ranges }) => ranges[0]!.count > 0 && ranges[0]!.startOffset > 0)
      .map(({ functionName, ranges }) => `${file} ${functionName} ${ranges[0]!.startOffset}`);
  });
}

const channel = new BroadcastChannel('files-touched');
channel.unref();
if (isMainThread) {
  process.on('message', () => {
    channel.postMessage('take');
    void called().then((functions) => process.send!(functions));
  });
  process.channel?.unref();
  channel.onmessage = ({ data }: { readonly data: unknown }) => {
    if (Array.isArray(data)) process.send!(data);
  };
} else {
  channel.onmessage = ({ data }: { readonly data: unknown }) => {
    if (data === 'take') void called().then((functions) => channel.postMessage(functions));
  };
}
