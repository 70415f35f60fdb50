/** Light or dark: as the system has it, unless somebody has chosen. */

/** @typedef {'light' | 'dark'} Theme */

const KEY = 'weir-theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

/** @returns {Theme} */
export function currentTheme() {
  const chosen = localStorage.getItem(KEY);
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return systemIsDark.matches ? 'dark' : 'light';
}

/** Shows the page in the chosen theme. Plots, which are drawn once, hear of `weir-theme`. */
export function applyTheme() {
  const chosen = localStorage.getItem(KEY);
  if (chosen === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  dispatchEvent(new Event('weir-theme'));
}

/** Changes to the other theme; where that is the system's, nothing is chosen any more. */
export function toggleTheme() {
  const next = currentTheme() === 'dark' ? 'light' : 'dark';
  if (next === (systemIsDark.matches ? 'dark' : 'light')) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  applyTheme();
}

systemIsDark.addEventListener('change', applyTheme);
