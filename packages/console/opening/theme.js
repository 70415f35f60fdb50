/** Before anything is painted: the colours that somebody has chosen, as theme.js keeps them. A plain script, which painting waits for. */
{
  const chosen = localStorage.getItem('weir-theme');
  if (chosen !== null) document.documentElement.dataset.theme = chosen;
}
