/** Applies the chosen theme before the first paint. Inlined into the page. */
{
  const chosen = localStorage.getItem('weir-theme');
  if (chosen !== null) document.documentElement.dataset.theme = chosen;
}
