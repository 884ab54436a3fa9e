// One device in detail.

const element = (id) => document.getElementById(id);
const detailStrips = {};

/** A term and its value of a list. */
const pair = (name, value) => made('div', {}, made('dt', { text: name }), made('dd', { text: value }));

function layDetail() {
  for (const [share, name] of [['channels_busy', 'channels'], ['dies_busy', 'dies']]) {
    const canvas = strip(`${name} busy over the last minute`);
    const label = made('span', { class: 'name' });
    const value = made('span', { class: 'value' });
    element('detail-strips').append(made('div', { class: 'band' }, label, canvas, value));
    detailStrips[share] = { canvas, label, value, name };
  }
}

function showDetail(device, colours) {
  element('detail').hidden = !device;
  if (!device) return;
  const key = identity(device);
  say(element('detail-name'), `${device.device} at ${device.datanode}`);
  say(element('detail-about'), `${device.profile}, ${device.mode}, dilation ${number(device.dilation)}; volumes: ${device.volumes.join(', ') || DASH}`);
  const health = element('detail-health');
  say(health, device.healthy
    ? `In service; ${number(device.fallbacks)} fallbacks, ${number(device.errors)} errors, ${number(device.timeouts)} timeouts`
    : `OUT OF SERVICE, the volumes are stock HDFS: ${device.last_error}`);
  health.className = device.healthy ? '' : 'alarm';

  for (const [share, { canvas, label, value, name }] of Object.entries(detailStrips)) {
    say(label, `${number(device[name])} ${name}`);
    say(value, `now ${percent(device[share])} %, mean ${percent(mean(key, share))} %`);
    paint(canvas, key, share, colours);
  }

  const [read, write] = [device.read_percentiles_us, device.write_percentiles_us];
  rows(element('detail-latency'), ['µs', 'mean', 'p50', 'p99', 'p99.9'], [
    ['read', number(device.read_latency_us), ...read.map((value) => number(value))],
    ['write', DASH, ...write.map((value) => number(value))],
  ]);

  const { explicit, history, full_block: fullBlock, none } = device.hints;
  bars(element('detail-hints'), [['explicit', explicit], ['history', history], ['full block', fullBlock], ['nobody', none]]);

  element('detail-simulated').replaceChildren(
    pair('read in device time', `${number(device.simulated_read_mib_s)} MiB/s`),
    pair('melded', `${percent(device.melded_share)} %`),
    pair('write amplification', number(device.write_amplification, 2)),
    pair('free blocks', number(device.free_blocks)),
    pair('commands outstanding', number(device.outstanding)),
  );
  element('detail-measured').replaceChildren(
    pair('read IOPS', number(device.read_iops)),
    pair('write IOPS', number(device.write_iops)),
    pair('readers waiting', number(device.readers_waiting, 1)),
    pair('writers waiting', number(device.writers_waiting, 1)),
  );
}

function rows(table, heads, lines) {
  const head = made('tr', {}, ...heads.map((text) => made('th', { scope: 'col', text })));
  const body = lines.map(([name, ...values]) =>
    made('tr', {}, made('th', { scope: 'row', text: name }), ...values.map((text) => made('td', { text }))));
  table.replaceChildren(made('thead', {}, head), made('tbody', {}, ...body));
}

function bars(box, counts) {
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  box.replaceChildren(...counts.map(([name, count]) => {
    const fill = made('span', { class: 'part' });
    fill.style.width = `${all > 0 ? (100 * count) / all : 0}%`;
    return made('div', { class: 'band' }, made('span', { class: 'name', text: name }), made('span', { class: 'track' }, fill),
      made('span', { class: 'value', text: number(count) }));
  }));
}
