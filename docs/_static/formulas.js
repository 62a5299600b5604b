// Formulas, as Sphinx writes them (\( \) and \[ \] in .math), by KaTeX, which is loaded after this.
addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".math")) {
    const source = place.textContent.trim();
    katex.render(source.slice(2, -2), place, {displayMode: source.startsWith("\\["), throwOnError: false});
  }
});
