/** Saves a file on the reader's machine. @param {string} name @param {Blob} content */
export function save(name, content) {
  const href = URL.createObjectURL(content);
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
