import { readdirSync, readFileSync } from 'node:fs';

/** Stops a process (SIGSTOP). Returns once all of its threads have stopped: on a busy machine the kernel takes a while. */
export function suspend(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  while (readdirSync(`/proc/${pid}/task`).some((thread) => !'TZX'.includes(stateOf(pid, thread))));
}

/** The state of a thread: `T` is stopped, `Z` and `X` have ended (proc_pid_stat(5)). Empty for a thread that no longer exists. */
function stateOf(pid: number, thread: string): string {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return stat[stat.lastIndexOf(')') + 2];
  } catch {
    return '';
  }
}
