// Of every page: the button that copies the command, and the line below a table that has more than is seen.
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
