// Of every page: the button that copies the command, the files of each chart, and the line below a table that has more than is
// seen.
for (const button of document.querySelectorAll('.command button')) {
  const code = button.parentElement.querySelector('code');
  button.hidden = false;
  button.addEventListener('click', async () => {
    getSelection().selectAllChildren(code);
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      document.execCommand('copy');
    }
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
}
for (const figure of document.querySelectorAll('figure')) {
  /** The view that is seen, as a file of its own. */
  const picture = () => {
    const svg = [...figure.querySelectorAll('svg')].find((view) => view.checkVisibility()).cloneNode(true);
    const style = document.createElement('style');
    style.textContent = document.getElementById('chart-style').textContent + 'svg.chart { background: var(--paper); }';
    svg.prepend(style);
    return new XMLSerializer().serializeToString(svg);
  };
  const data = () => figure.querySelector('.csv').textContent;
  const name = figure.querySelector('svg').getAttribute('aria-label').replace(/[^\p{L}\p{N}]+/gu, '-').toLowerCase();
  const files = document.createElement('div');
  files.className = 'files';
  for (const [ending, type, text] of [['svg', 'image/svg+xml', picture], ['csv', 'text/csv', data]]) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = ending.toUpperCase();
    button.title = `Save this chart as ${button.textContent}`;
    button.addEventListener('click', () => {
      const link = document.createElement('a');
      link.download = `${name}.${ending}`;
      link.href = URL.createObjectURL(new Blob([text()], { type }));
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    files.append(button);
  }
  figure.append(files);
}
for (const box of document.querySelectorAll('.scroll')) {
  const cue = document.createElement('p');
  cue.className = 'cue';
  cue.textContent = 'There are more columns: scroll the table sideways →';
  box.after(cue);
  const update = () => { cue.hidden = box.scrollLeft + box.clientWidth >= box.scrollWidth - 1; };
  box.addEventListener('scroll', update);
  new ResizeObserver(update).observe(box);
  update();
}
