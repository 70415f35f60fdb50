/** Valid for every store: no U+0000, no lone surrogate. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
