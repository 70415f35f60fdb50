const KEY = 'weir-theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

/** @returns {'light' | 'dark'} */
export function currentTheme() {
  const chosen = localStorage.getItem(KEY);
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return systemIsDark.matches ? 'dark' : 'light';
}

/** Plots redraw on `weir-theme`. */
export function applyTheme() {
  const chosen = localStorage.getItem(KEY);
  if (chosen === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  dispatchEvent(new Event('weir-theme'));
}

/** Choosing the system's theme clears the choice. */
export function toggleTheme() {
  const next = currentTheme() === 'dark' ? 'light' : 'dark';
  if (next === (systemIsDark.matches ? 'dark' : 'light')) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  applyTheme();
}

systemIsDark.addEventListener('change', applyTheme);
