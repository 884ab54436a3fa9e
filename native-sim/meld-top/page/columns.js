// What the table shows of a device, and how numbers are written.

const DASH = '–';

/** A number with so many digits; a dash where there is none. */
const number = (value, digits = 0) =>
  typeof value === 'number' && isFinite(value)
    ? value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : DASH;
const percent = (share) => number(typeof share === 'number' ? 100 * share : share);

const iops = (device) => device.read_iops + device.write_iops;
const p99 = (device) => device.read_percentiles_us[1];

// `key` sorts, largest first; a column with `strip` shows the last minute of that share.
const COLUMNS = [
  { id: 'name', head: 'device' },
  { id: 'read', head: 'read MiB/s', kind: 'measured', key: (device) => device.read_mib_s, text: (device) => number(device.read_mib_s) },
  { id: 'write', head: 'write MiB/s', kind: 'measured', key: (device) => device.write_mib_s, text: (device) => number(device.write_mib_s) },
  { id: 'iops', head: 'IOPS', kind: 'measured', key: iops, text: (device) => number(iops(device)) },
  { id: 'waiting', head: 'readers waiting', kind: 'measured', key: (device) => device.readers_waiting, text: (device) => number(device.readers_waiting, 1) },
  { id: 'mean', head: 'mean read µs', kind: 'simulated', key: (device) => device.read_latency_us, text: (device) => number(device.read_latency_us) },
  { id: 'p99', head: 'p99 read µs', kind: 'simulated', key: p99, text: (device) => number(p99(device)) },
  { id: 'dies', head: 'dies busy %', kind: 'simulated', key: (device) => device.dies_busy, text: (device) => percent(device.dies_busy), strip: 'dies_busy' },
  { id: 'channels', head: 'channels busy %', kind: 'simulated', key: (device) => device.channels_busy, text: (device) => percent(device.channels_busy), strip: 'channels_busy' },
  { id: 'melded', head: 'melded %', kind: 'simulated', key: (device) => device.melded_share, text: (device) => percent(device.melded_share) },
  { id: 'amplification', head: 'write ampl.', kind: 'simulated', key: (device) => device.write_amplification, text: (device) => number(device.write_amplification, 2) },
];

const identity = (device) => JSON.stringify([device.datanode, device.device]);
const host = (device) => device.datanode.replace(/:\d+$/, '');

/** The devices by a column; those that are equal go by name. */
function sorted(devices, order) {
  const column = COLUMNS.find((one) => one.id === order.column);
  const turn = order.isTurned ? -1 : 1;
  const byName = (a, b) => (a.datanode < b.datanode ? -1 : a.datanode > b.datanode ? 1 : a.device < b.device ? -1 : a.device > b.device ? 1 : 0);
  // What has no value comes after what has one.
  const value = (device) => column.key(device) ?? -1;
  return [...devices].sort((a, b) => (column.key ? turn * (value(b) - value(a)) || byName(a, b) : turn * byName(a, b)));
}

/** An element with a class and a text; what comes from outside is a text and nothing else. */
function made(name, { text, ...attributes } = {}, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  if (text !== undefined) element.textContent = text;
  element.append(...children);
  return element;
}

/** Changes a text only where it is another, so that a selection stays. */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
