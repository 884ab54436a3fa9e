// Asks for the devices every second, and shows them.

const INTERVAL = 1000; // ms
const PATIENCE = 15000; // ms; the first look after a rest takes a second or two

const order = { column: 'name', isTurned: false };
/** Which device is in detail; it stays the same one however the table is sorted. */
let chosen = null;
let usage = null;
let lastText = null;
const shownRows = new Map();

// ---- the table ----------------------------------------------------------------------------------

function layTable() {
  const head = element('devices').tHead;
  const kinds = made('tr', { class: 'kinds' }, made('td'));
  for (const [kind, time] of [['measured', 'wall time'], ['simulated', 'device time']]) {
    const columns = COLUMNS.filter((column) => column.kind === kind).length;
    kinds.append(made('th', { scope: 'colgroup', colspan: columns }, made('span', { class: `kind ${kind}`, text: kind }), ` ${time}`));
  }
  const heads = COLUMNS.map((column) => {
    const button = made('button', { type: 'button', text: column.head });
    button.addEventListener('click', () => sortBy(column.id));
    element('order').append(made('option', { value: column.id, text: column.head }));
    return made('th', { scope: 'col', 'data-column': column.id }, button);
  });
  head.append(kinds, made('tr', {}, ...heads));
  element('order').addEventListener('change', (event) => sortBy(event.target.value, false));
}

function sortBy(id, isTurned = order.column === id && !order.isTurned) {
  Object.assign(order, { column: id, isTurned });
  show();
}

function newRow(key) {
  const name = made('button', { type: 'button', class: 'choose' }, made('span', { class: 'host' }), made('span', { class: 'device' }));
  const cells = COLUMNS.slice(1).map((column) => {
    const cell = made('td', { 'data-column': column.id, 'data-head': column.head }, made('span', { class: 'number' }));
    if (column.strip) cell.prepend(strip(`${column.head} over the last minute`));
    return cell;
  });
  const row = made('tr', {}, made('th', { scope: 'row' }, name), ...cells);
  row.addEventListener('click', () => {
    choose(key);
    // On a phone the detail is far below.
    if (matchMedia('(max-width: 760px)').matches) element('detail').scrollIntoView({ behavior: 'smooth' });
  });
  return row;
}

function showRow(device, colours) {
  const key = identity(device);
  if (!shownRows.has(key)) shownRows.set(key, newRow(key));
  const row = shownRows.get(key);
  row.classList.toggle('out', !device.healthy);
  row.classList.toggle('chosen', key === chosen);
  const name = row.querySelector('.choose');
  name.setAttribute('aria-pressed', key === chosen);
  say(name.querySelector('.host'), host(device));
  say(name.querySelector('.device'), device.healthy ? device.device : `${device.device}: out of service`);
  COLUMNS.slice(1).forEach((column, at) => {
    const cell = row.cells[at + 1];
    say(cell.querySelector('.number'), column.text(device));
    if (column.strip) paint(cell.querySelector('canvas'), key, column.strip, colours);
  });
  return row;
}

function show() {
  if (!usage) return;
  const devices = sorted(usage.devices, order);
  if (!devices.some((device) => identity(device) === chosen)) chosen = devices.length > 0 ? identity(devices[0]) : null;
  const colours = ramp();
  const rows = devices.map((device) => showRow(device, colours));
  const keys = new Set(devices.map(identity));
  for (const key of shownRows.keys()) if (!keys.has(key)) shownRows.delete(key);
  const body = element('devices').tBodies[0];
  // Rows that stay where they are keep the focus.
  if (rows.length !== body.rows.length || rows.some((row, at) => body.rows[at] !== row)) body.replaceChildren(...rows);
  for (const head of element('devices').tHead.querySelectorAll('[data-column]')) {
    const isUp = (order.column === 'name') !== order.isTurned;
    if (head.dataset.column === order.column) head.setAttribute('aria-sort', isUp ? 'ascending' : 'descending');
    else head.removeAttribute('aria-sort');
  }
  element('order').value = order.column;
  showDetail(devices.find((device) => identity(device) === chosen), colours);
  const sum = (of) => devices.reduce((total, device) => total + of(device), 0);
  const outs = devices.filter((device) => !device.healthy).length;
  say(element('summary'), `${devices.length} ${devices.length === 1 ? 'device' : 'devices'}: ${number(sum((device) => device.read_mib_s))} MiB/s read, `
    + `${number(sum((device) => device.write_mib_s))} written; ${number(sum((device) => device.readers_waiting), 1)} readers wait`
    + (outs > 0 ? `; ${outs} out of service` : ''));
  showCue();
}

function choose(key) {
  chosen = key;
  show();
}

function showCue() {
  const box = document.querySelector('.scroll');
  document.querySelector('.cue').hidden = box.scrollLeft + box.clientWidth >= box.scrollWidth - 1;
}

// ---- what does not answer -------------------------------------------------------------------------

function showTroubles(lost) {
  const troubles = [...(lost ? [lost] : []), ...(usage?.troubles ?? [])];
  const box = element('troubles');
  box.hidden = troubles.length === 0;
  // What is the same is not told again to who hears it read.
  if (JSON.stringify(troubles) === box.dataset.told) return;
  box.dataset.told = JSON.stringify(troubles);
  box.replaceChildren(...troubles.map((text) => made('p', { text })));
}

// ---- asking ---------------------------------------------------------------------------------------

async function ask() {
  const response = await fetch('devices.json', { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE) });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  document.body.classList.remove('lost');
  // The same look again.
  if (text !== lastText) {
    lastText = text;
    usage = JSON.parse(text);
    keep(usage);
    show();
  }
  showTroubles();
}

let heard = new Date();
async function askAgain() {
  const started = performance.now();
  // Nobody looks: the server and the DataNodes rest, too.
  if (!document.hidden) {
    try {
      await ask();
      heard = new Date();
    } catch {
      document.body.classList.add('lost');
      showTroubles(`No answer from meld-top since ${heard.toLocaleTimeString()}; what is shown is old. Does it still run?`);
    }
  }
  setTimeout(askAgain, Math.max(0, INTERVAL - (performance.now() - started)));
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('select')) return;
  const step = { ArrowUp: -1, k: -1, ArrowDown: 1, j: 1 }[event.key];
  if (step && usage?.devices.length) {
    const devices = sorted(usage.devices, order);
    const at = devices.findIndex((device) => identity(device) === chosen);
    choose(identity(devices[Math.min(Math.max(at + step, 0), devices.length - 1)]));
    document.querySelector('tr.chosen').scrollIntoView({ block: 'nearest' });
    event.preventDefault();
  } else if (event.key === 's') {
    const at = COLUMNS.findIndex((column) => column.id === order.column);
    sortBy(COLUMNS[(at + 1) % COLUMNS.length].id, false);
  }
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
addEventListener('resize', showCue);
document.querySelector('.scroll').addEventListener('scroll', showCue);

layTable();
layDetail();
askAgain();
