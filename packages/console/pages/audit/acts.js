/** Groups the entries of one act, such as an import in ten batches. @param {readonly AuditEntry[]} entries Newest first. @returns {Act[]} */
export function actsOf(entries) {
  /** @type {Map<string, Act>} */
  const acts = new Map();
  for (const entry of entries) {
    const name = entry.act ?? `entry ${entry.id}`;
    const known = acts.get(name);
    if (known === undefined) acts.set(name, { entry, parts: [entry] });
    else known.parts.push(entry);
  }
  return [...acts.values()];
}
