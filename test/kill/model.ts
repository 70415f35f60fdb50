/** What the rules of one list have to be after what has landed in it, told by SPEC.md alone (2.2, 2.3, 3.3, D3.10 to D3.16, D9.3, D9.9). */

/** An entry of a batch as it was sent: an envelope of v2, or an event of v1. */
export type Entry = Readonly<Record<string, unknown>> & {
  readonly kind?: string;
  readonly op?: string;
  readonly rule_ref?: string;
  readonly reason?: string;
  readonly description?: string;
  readonly labels?: { readonly group?: string };
  readonly rule?: { readonly target?: { readonly ip: string }; readonly action?: string };
  /** Of v1. */
  readonly ip?: string;
  readonly action?: string;
  readonly expires_at?: string;
};

export interface Rule {
  readonly kind: string;
  readonly ref: string | null;
  /** Of an access rule. */
  readonly target: string | null;
  readonly action: string;
  /** Which entry made it what it is. */
  readonly reason: string;
  readonly group: string | null;
  /** ms; null: not within the run. */
  readonly expiresAt: number | null;
}

/** A rule as a batch has left it; undefined: deleted. */
interface Layer {
  readonly batch: string;
  readonly rule: Rule | undefined;
}

/** What landed as one batch. */
export type Landed =
  | { readonly batch: string; readonly entries: readonly Entry[] }
  | { readonly batch: string; readonly undoes: string }
  | { readonly batch: string /** The access rules with this label are deleted. */; readonly group: string };

export class ListModel {
  /** By identity (D3.10), what batches have made of it, the oldest first. */
  readonly #layers = new Map<string, Layer[]>();
  /** What an undo took away, for its own undoing. */
  readonly #taken = new Map<string, { readonly key: string; readonly layer: Layer; readonly left: number }[]>();

  /** Lands a batch; `each` is called whenever the rules may be seen in between: after each entry, and at the end. */
  land(landed: Landed, each: () => void = () => {}): void {
    if ('entries' in landed) {
      for (const entry of landed.entries) {
        this.#take(landed.batch, entry);
        each();
      }
      return;
    }
    if ('undoes' in landed) this.#undo(landed.undoes, landed.batch);
    else
      for (const [key, rule] of this.#now())
        if (rule.kind === 'access_rule' && rule.group === landed.group) this.#put(landed.batch, key, undefined);
    each();
  }

  /** The rules, those that have expired included. */
  rules(): Rule[] {
    return [...this.#now().values()];
  }

  #now(): Map<string, Rule> {
    const now = new Map<string, Rule>();
    for (const [key, layers] of this.#layers) {
      const rule = layers.at(-1)?.rule;
      if (rule !== undefined) now.set(key, rule);
    }
    return now;
  }

  #take(batch: string, entry: Entry): void {
    const kind = entry.kind ?? 'access_rule';
    const ref = entry.rule_ref ?? null;
    const target = kind === 'access_rule' ? (entry.ip ?? entry.rule?.target?.ip ?? null) : null;
    const isDelete = entry.op === 'delete' || entry.action === 'unblock';
    const action = entry.rule?.action ?? 'block';
    const key = ref === null ? `${action} ${target}` : `${kind} ${ref}`;
    if (!isDelete) {
      const expiresAt = entry.expires_at === undefined ? null : Date.parse(entry.expires_at);
      const reason = entry.reason ?? entry.description ?? '';
      this.#put(batch, key, { kind, ref, target, action, reason, group: entry.labels?.group ?? null, expiresAt });
    } else if (ref !== null) {
      this.#put(batch, key, undefined);
    } else {
      for (const [each, rule] of this.#now()) if (rule.target === target && rule.action === action) this.#put(batch, each, undefined);
    }
  }

  #put(batch: string, key: string, rule: Rule | undefined): void {
    const layers = this.#layers.get(key) ?? [];
    this.#layers.set(key, layers);
    if (layers.at(-1)?.batch === batch) layers.pop();
    // Deleting what was not there before the batch is no change that an undo could take back, or that is in the way of another one.
    if (rule !== undefined || layers.at(-1)?.rule !== undefined) layers.push({ batch, rule });
  }

  #undo(batch: string, by: string): void {
    const again = this.#taken.get(batch);
    const taken = [];
    for (const [key, layers] of this.#layers) {
      if (layers.at(-1)?.batch !== batch) continue;
      taken.push({ key, layer: layers.pop()!, left: layers.length });
    }
    for (const { key, layer, left } of again ?? []) {
      const layers = this.#layers.get(key)!;
      if (layers.length === left) layers.push(layer);
    }
    this.#taken.set(by, taken);
    this.#taken.delete(batch);
  }
}
