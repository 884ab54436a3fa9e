// Timelines: decodes the records of devices (timeline/compact.rs says how they are written) and draws their spans.
//
// Spans are columns of numbers, sorted by track and start. A frame looks, for each pixel of a track, only at the spans that
// begin there: it finds the next one by bisection, so its time does not depend on how many spans there are.
(() => {
  const KINDS = ['command', 'data out', 'data in', 'sense LSB', 'sense CSB', 'sense MSB', 'sense top page', 'melded sense',
    'program', 'erase', 'copyback', 'suspended', 'busy', 'core', 'collection', 'read', 'write', 'deallocate', 'flush', 'zone command',
    'append'];
  const [COMMAND, DATA_OUT, , SENSE, , , , MELDED, PROGRAM, ERASE, COPYBACK, SUSPENDED, BUSY, CORE, COLLECTION, READ] = KINDS.keys();
  const THREADS = ['NVMQ', 'ILOCK', 'CACHE', 'TRANS', 'FCMD', 'BGC', 'LOG', 'thread'];
  const PARTS = ['queue', 'firmware', 'write buffer', 'die wait', 'sense', 'bus wait', 'transfer', 'controller',
    'mapping'];
  const GAUGES = ['outstanding', 'write buffer, pages', 'free block groups'];
  // Red, green and blue of each kind, on light and on dark paper; after Okabe and Ito (2008).
  const LIGHT = [[120, 120, 120], [0, 60, 110], [213, 94, 0], [170, 215, 245], [86, 180, 233], [20, 135, 205], [0, 100, 160],
    [0, 158, 115], [230, 159, 0], [204, 60, 60], [160, 120, 60], [204, 121, 167], [225, 229, 234], [120, 90, 160],
    [110, 75, 45], [110, 125, 150], [150, 45, 95], [140, 140, 140], [80, 80, 80], [95, 140, 60], [205, 60, 160]];
  const DARK = LIGHT.map((rgb) => rgb.map((part) => Math.round(part + (255 - part) * .22)));
  DARK[BUSY] = [42, 50, 60];
  const PART_COLOURS = [[150, 150, 150], [120, 90, 160], [230, 159, 0], [204, 60, 60], [86, 180, 233], [204, 121, 167],
    [0, 114, 178], [90, 110, 90], [160, 120, 60]];
  // Titles where there is little room.
  const SHORT = [[/channel (\d+) (bus|die )/, 'c$1 '], ['slot', 's'], ['outstanding', 'depth'], ['write buffer, pages', 'buffer'],
    ['free block groups', 'free'], [', set', '']];
  const LEAST_ROW = 3, MOST_ROW = 16, GAP = 2, NAMED = 11, LEAST_NAMED = 8, HEADER = 20, MOST_SLOTS = 64, STRIP = 9;

  const css = (rgb) => `rgb(${rgb.join()})`;
  const us = (ps) => `${(ps / 1e6).toLocaleString('en', { maximumFractionDigits: 3 })} us`;
  const lower = (column, from, to, value) => {
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (column[middle] < value) from = middle + 1; else to = middle;
    }
    return from;
  };
  /** The same where the answer is near the beginning: steps of 1, 2, 4 and so on, then bisection. */
  const near = (column, from, to, value) => {
    let step = 1, until = from;
    while (until < to && column[until] < value) {
      from = until + 1;
      until += step;
      step *= 2;
    }
    return lower(column, from, Math.min(until, to), value);
  };

  // ---- data ----

  async function unpacked(text) {
    const bytes = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** Reads numbers of variable length. */
  class Reader {
    constructor(bytes, at) { this.bytes = bytes; this.at = at; }
    number() {
      const { bytes } = this;
      let byte = bytes[this.at++];
      if (byte < 128) return byte;
      let value = byte & 127, scale = 128;
      do {
        byte = bytes[this.at++];
        value += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127);
      return value;
    }
  }

  /** The commands of a device by number. What is told of one is read again when it is asked for. */
  class Commands {
    constructor(bytes) {
      this.bytes = bytes;
      [this.numbers, this.places, this.starts, this.lengths] = [Uint32Array, Uint32Array, Float64Array, Float64Array].map((Type) => new Column(Type));
    }
    add(number, place, start, length) {
      this.numbers.push(number);
      this.places.push(place);
      this.starts.push(start);
      this.lengths.push(length);
    }
    /** By latency: the slowest first. */
    bySlowness() {
      const { lengths, numbers } = this;
      this.order ??= Uint32Array.from({ length: numbers.length }, (_, i) => i)
        .sort((a, b) => lengths.values[b] - lengths.values[a] || numbers.values[a] - numbers.values[b]);
      return this.order;
    }
    get(number) {
      const { numbers } = this;
      const index = numbers.values.subarray(0, numbers.length).indexOf(number);
      return number === null || index < 0 ? undefined : this.at(index);
    }
    at(index) {
      const reader = new Reader(this.bytes, this.places.values[index]), next = () => reader.number();
      const number = next(), slot = next(), opcode = next(), nsid = next(), offset = next(), size = next();
      const queue = next(), status = next(), melded = next(), pages = next();
      const parts = PARTS.map(next), behind = next(), whose = next();
      return { number, slot, opcode, nsid, offset, size, queue, status, melded, pages, parts, behind, whose,
        start: this.starts.values[index], length: this.lengths.values[index] };
    }
  }

  /** A column of numbers that grows. */
  class Column {
    constructor(Type) { this.values = new Type(1 << 12); this.length = 0; }
    push(value) {
      if (this.length === this.values.length) {
        const values = new this.values.constructor(2 * this.length);
        values.set(this.values);
        this.values = values;
      }
      this.values[this.length++] = value;
    }
  }

  /** The tracks, the commands and the levels of one device. */
  function decoded(bytes, name) {
    const reader = new Reader(bytes, 0), number = () => reader.number();
    const tracks = new Map(), commands = new Commands(bytes), levels = new Map(), served = new Column(Uint32Array);
    const track = (group, of, title, order) => {
      const key = `${group} ${of}`;
      let found = tracks.get(key);
      if (!found) {
        found = { group, title, order, starts: new Column(Float64Array), lengths: new Column(Float64Array),
          kinds: new Column(Uint8Array), firsts: new Column(Uint32Array), counts: new Column(Uint16Array) };
        tracks.set(key, found);
      }
      return found;
    };
    // The tracks of dies and buses by number: they are looked up for almost every record.
    let dies = 0, start = 0, end = 0, first = Infinity;
    const used = new Uint8Array(KINDS.length), buses = [], arrays = [], busies = [], suspensions = [];
    const time = () => {
      const step = number();
      const length = Math.floor(step / 2);
      start += step % 2 ? -length : length;
      first = Math.min(first, start);
    };
    const add = (to, kind, withCommands) => {
      time();
      const length = number();
      end = Math.max(end, start + length);
      to.starts.push(start);
      to.lengths.push(length);
      to.kinds.push(kind);
      used[kind] = 1;
      to.firsts.push(served.length);
      let count = 0;
      if (withCommands) {
        count = number();
        for (let i = 0; i < count; i++) served.push(number());
      }
      to.counts.push(Math.min(count, 65535));
    };
    while (reader.at < bytes.length) {
      const record = number();
      if (record <= 2) {
        const channel = number(), die = number();
        if (record === 0) {
          const bus = buses[channel] ??= track('channels', `${channel} bus`, `channel ${channel} bus`, channel * 65536);
          add(bus, COMMAND + number(), true);
          continue;
        }
        const index = channel * dies + die, order = channel * 65536 + 3 * die, title = `channel ${channel} die ${die}`;
        if (record === 2) {
          add(busies[index] ??= track('channels', `${channel} ${die} busy`, title, order + 1), BUSY, false);
          continue;
        }
        const work = number();
        number();
        number();
        const kind = SENSE + work;
        add(kind === SUSPENDED
          ? suspensions[index] ??= track('channels', `${channel} ${die} suspended`, title, order + 2)
          : arrays[index] ??= track('channels', `${channel} ${die}`, title, order + 3), kind, true);
      } else if (record === 3) {
        const core = number(), thread = number();
        add(track('firmware', core, `core ${core}`, core), CORE, false);
      } else if (record === 4) {
        const set = number(), lane = number();
        number();
        number();
        add(track('garbage collection', `${set} ${lane}`, `set ${set} lane ${lane}`, set * 65536 + lane), COLLECTION, false);
      } else if (record === 5) {
        const gauge = number(), set = number(), value = number();
        time();
        const title = GAUGES[gauge] + (gauge > 0 ? `, set ${set}` : '');
        const found = levels.get(title) ?? { title, times: new Column(Float64Array), values: new Column(Float64Array), most: 1 };
        levels.set(title, found);
        found.times.push(start);
        found.values.push(value);
        found.most = Math.max(found.most, value);
      } else if (record === 6) {
        const place = reader.at, of = number(), slot = number(), opcode = number();
        for (let i = 0; i < 7 + PARTS.length + 2; i++) number();
        const to = track('commands', slot, `slot ${slot}`, slot);
        add(to, READ + opcode, false);
        to.firsts.values[to.firsts.length - 1] = served.length;
        to.counts.values[to.counts.length - 1] = 1;
        served.push(of);
        commands.add(of, place, start, to.lengths.values[to.lengths.length - 1]);
      } else {
        number();
        dies = number();
      }
    }
    const groups = ['commands', 'firmware', 'garbage collection', 'channels'];
    const list = [...tracks.values()].map(sorted);
    list.sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.order - b.order);
    return { name, tracks: list, commands, levels, used, served: served.values, first: first === Infinity ? 0 : first, end, dies };
  }

  /** The columns of a track in order of start, with ends and sums of lengths. */
  function sorted(track) {
    const length = track.starts.length;
    const cut = (column) => column.values.subarray(0, length);
    const [starts, lengths, kinds, firsts, counts] = [track.starts, track.lengths, track.kinds, track.firsts, track.counts].map(cut);
    // They are nearly in order: what takes long is told at its end.
    for (let i = 1; i < length; i++) {
      if (starts[i - 1] <= starts[i]) continue;
      const row = [starts[i], lengths[i], kinds[i], firsts[i], counts[i]];
      let to = i;
      while (to > 0 && starts[to - 1] > row[0]) to--;
      for (const [n, column] of [starts, lengths, kinds, firsts, counts].entries()) {
        column.copyWithin(to + 1, to, i);
        column[to] = row[n];
      }
    }
    // Spans of a track do not overlap, so ends are in order as well.
    const ends = new Float64Array(length), sums = new Float64Array(length + 1);
    for (let i = 0; i < length; i++) {
      ends[i] = starts[i] + lengths[i];
      sums[i + 1] = sums[i] + lengths[i];
    }
    return { group: track.group, title: track.title, order: track.order, length, starts, ends, lengths, kinds, firsts, counts, sums };
  }

  /** For how much of each stretch of time there is a span: `count` stretches of `per` from a time on. */
  function addShares(shares, track, from, per, weight) {
    for (let x = 0, a = 0; x < shares.length && a < track.length; x++) {
      const start = from + x * per, end = start + per;
      a = near(track.ends, a, track.length, start);
      const b = near(track.starts, a, track.length, end);
      if (a < b) shares[x] += weight * within(track, a, b, start, end) / per;
    }
  }

  /** How long the spans from a to before b are between two times; all of them are in part. */
  const within = ({ sums, starts, ends }, a, b, from, to) =>
    sums[b] - sums[a] - Math.max(0, from - starts[a]) - Math.max(0, ends[b - 1] - to);

  // ---- view ----

  class View {
    constructor(frame, devices, began) {
      this.frame = frame;
      this.devices = devices;
      this.began = began;
      this.lit = null;
      this.scroll = 0;
      this.shifts = devices.map(() => 0);
      this.buildRows();
      this.buildPage();
      this.showAll();
      new ResizeObserver(() => this.resize()).observe(frame);
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.strips = null; this.draw(); });
    }

    /** Rows from top to bottom: a header for each device and group, a line for each bus, die, core, log and slot. */
    buildRows() {
      this.rows = [];
      for (const [device, { name, tracks, levels }] of this.devices.entries()) {
        this.rows.push({ header: name, device });
        for (const level of levels.values()) this.rows.push({ device, title: level.title, level, tracks: [] });
        let group = '', slots = 0, hidden = 0;
        for (const track of tracks) {
          if (track.group === 'commands' && ++slots > MOST_SLOTS) { hidden++; continue; }
          const of = track.group === 'channels' ? `channel ${Math.floor(track.order / 65536)}` : track.group;
          const last = this.rows[this.rows.length - 1];
          if (last.title === track.title && track.title.includes('die')) { last.tracks.push(track); continue; }
          this.rows.push({ device, title: track.title, gap: of !== group, tracks: [track] });
          group = of;
        }
        const after = this.rows.findLastIndex(({ tracks }) => tracks?.[0]?.group === 'commands') + 1;
        if (hidden > 0) this.rows.splice(after, 0, { header: `${hidden} more slots of commands are not drawn`, device });
      }
    }

    buildPage() {
      const make = (tag, name, to = this.frame) => {
        const element = document.createElement(tag);
        element.className = name;
        to.append(element);
        return element;
      };
      this.keys = make('p', 'keys soft');
      this.strip = make('canvas', 'strip');
      this.canvas = make('canvas', 'spans');
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute('role', 'img');
      this.canvas.setAttribute('aria-label', `Timeline of ${this.devices.map((device) => device.name).join(' and ')}`);
      const tools = make('div', 'tools');
      const button = (text, act) => {
        const element = make('button', '', tools);
        element.type = 'button';
        element.textContent = text;
        element.addEventListener('click', act);
      };
      button('Everything', () => this.showAll());
      button('Zoom in', () => this.zoom(.5));
      button('Zoom out', () => this.zoom(2));
      button('Slowest command', () => this.slower(0));
      button('Next slowest', () => this.slower(1));
      if (this.devices.length > 1) button('Align at the command', () => this.align());
      this.about = make('p', 'about soft');
      this.about.setAttribute('role', 'status');
      this.latency = make('div', 'latency');
      for (const kind of KINDS.keys()) {
        if (!this.devices.some((device) => device.used[kind])) continue;
        const key = make('span', '', this.keys);
        make('i', '', key).style.background = `light-dark(${css(LIGHT[kind])}, ${css(DARK[kind])})`;
        key.append(kind === BUSY ? 'die busy' : KINDS[kind]);
      }
      this.listen();
    }

    listen() {
      const { canvas, strip } = this, pointers = new Map();
      const x = (event) => event.offsetX - this.left();
      canvas.addEventListener('wheel', (event) => {
        event.preventDefault();
        if (event.shiftKey) this.scrollBy(event.deltaY || event.deltaX);
        else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX);
        else this.zoom(1.0015 ** event.deltaY, x(event));
      }, { passive: false });
      let moved = 0;
      canvas.addEventListener('pointerdown', (event) => {
        canvas.setPointerCapture(event.pointerId);
        pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
        moved = 0;
      });
      canvas.addEventListener('pointermove', (event) => {
        const before = pointers.get(event.pointerId);
        if (!before) { this.hover(event.offsetX, event.offsetY); return; }
        const spread = () => { const [a, b] = [...pointers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
        const width = pointers.size === 2 ? spread() : 0;
        pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
        moved += Math.abs(event.offsetX - before[0]) + Math.abs(event.offsetY - before[1]);
        if (pointers.size === 2) {
          const [a, b] = [...pointers.values()];
          this.zoom(width / Math.max(1, spread()), (a[0] + b[0]) / 2 - this.left());
        } else {
          this.pan(before[0] - event.offsetX);
          this.scrollBy(before[1] - event.offsetY);
        }
      });
      const up = (event) => {
        const wasDown = pointers.delete(event.pointerId);
        if (wasDown && moved < 5 && event.type === 'pointerup') this.click(event.offsetX, event.offsetY);
      };
      canvas.addEventListener('pointerup', up);
      canvas.addEventListener('pointercancel', up);
      canvas.addEventListener('keydown', (event) => {
        const step = (this.to - this.from) / 8;
        const acts = {
          ArrowLeft: () => this.show(this.from - step, this.to - step), ArrowRight: () => this.show(this.from + step, this.to + step),
          ArrowUp: () => this.scrollBy(-40), ArrowDown: () => this.scrollBy(40),
          '+': () => this.zoom(.5), '=': () => this.zoom(.5), '-': () => this.zoom(2), Home: () => this.showAll(), 0: () => this.showAll(),
          n: () => this.slower(1), p: () => this.slower(-1), Escape: () => this.light(null),
        };
        const act = acts[event.key];
        if (act) { event.preventDefault(); act(); }
      });
      const go = (event) => {
        const half = (this.to - this.from) / 2;
        const at = this.first + (event.offsetX - this.left()) / this.width() * (this.end - this.first);
        this.show(at - half, at + half);
      };
      strip.addEventListener('pointerdown', (event) => { strip.setPointerCapture(event.pointerId); go(event); });
      strip.addEventListener('pointermove', (event) => { if (event.buttons) go(event); });
    }

    left() { return this.canvas.clientWidth < 500 ? 42 : 132; }
    width() { return Math.max(50, this.canvas.clientWidth - this.left()); }

    showAll() {
      this.first = Math.min(...this.devices.map((device, i) => device.first - this.shifts[i]));
      this.end = Math.max(...this.devices.map((device, i) => device.end - this.shifts[i]), this.first + 1000);
      this.strips = null;
      this.show(this.first, this.end);
    }

    show(from, to) {
      const span = Math.min(Math.max(to - from, 1000), this.end - this.first);
      this.from = Math.min(Math.max(from, this.first), this.end - span);
      this.to = this.from + span;
      this.draw();
    }

    zoom(factor, x = this.width() / 2) {
      const share = x / this.width(), at = this.from + share * (this.to - this.from), span = (this.to - this.from) * factor;
      this.show(at - share * span, at + (1 - share) * span);
    }

    pan(pixels) {
      const step = pixels / this.width() * (this.to - this.from);
      this.show(this.from + step, this.to + step);
    }

    scrollBy(pixels) {
      this.scroll = Math.max(0, Math.min(this.scroll + pixels, this.total - this.height));
      this.draw();
    }

    resize() {
      this.strips = null;
      this.draw();
    }

    /** Heights of rows, so that all are seen where they can be. */
    layOut() {
      this.height = Math.max(240, Math.min(Math.round(innerHeight * .75), 760));
      // Of the slots only those with a command in sight.
      const isShown = ({ device, tracks: [track] = [] }) => {
        if (track?.group !== 'commands') return true;
        const [from, to] = [this.from, this.to].map((at) => at + this.shifts[device]);
        return track.starts[lower(track.ends, 0, track.length, from)] < to;
      };
      this.shown = this.rows.filter(isShown);
      const headers = this.shown.filter((row) => row.header).length, lines = this.shown.length - headers;
      // The first line of a group has its name beside it.
      const named = this.shown.filter((row) => row.gap || row.level).length;
      const room = (this.height - HEADER - headers * HEADER - named * (GAP + NAMED)) / Math.max(1, lines - named);
      const line = Math.max(LEAST_ROW, Math.min(MOST_ROW, Math.floor(room)));
      let y = HEADER;
      for (const row of this.shown) {
        y += row.gap ? GAP : 0;
        row.y = y;
        row.height = row.header ? HEADER : row.gap || row.level ? Math.max(NAMED, line) : line;
        y += row.height;
      }
      this.total = y;
      this.height = Math.min(this.height, Math.max(120, y));
      this.scroll = Math.max(0, Math.min(this.scroll, this.total - this.height));
    }

    draw() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.drawNow(); });
    }

    /** Draws a frame, and returns how many spans it shows. */
    drawNow() {
      if (this.canvas.clientWidth === 0) return 0;
      this.layOut();
      const begin = performance.now(), dark = matchMedia('(prefers-color-scheme: dark)').matches, colours = dark ? DARK : LIGHT;
      const style = getComputedStyle(this.frame), ink = style.getPropertyValue('--ink'), soft = style.getPropertyValue('--soft');
      const paper = dark ? [13, 17, 23] : [255, 255, 255];
      const { canvas } = this, scale = devicePixelRatio || 1, left = this.left();
      const pixels = Math.round(this.width() * scale);
      canvas.style.height = `${this.height}px`;
      canvas.width = Math.round(canvas.clientWidth * scale);
      canvas.height = Math.round(this.height * scale);
      const context = canvas.getContext('2d');
      const image = context.createImageData(pixels, canvas.height), data = new Uint32Array(image.data.buffer);
      const word = (rgb, share = 1) => {
        const [r, g, b] = rgb.map((part, i) => Math.round(part * share + paper[i] * (1 - share)));
        return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
      };
      // The colour of each kind, by how much of a pixel it covers and whether something else is lit.
      const shades = colours.map((rgb) => Array.from({ length: 17 }, (_, i) => word(rgb, .25 + .75 * i / 16)));
      const dim = colours.map((rgb) => word(rgb, .18));
      const first = colours.map((rgb) => word(rgb, .55));
      const bright = word(dark ? [255, 255, 255] : [0, 0, 0]);
      data.fill(word(paper));
      const perPixel = (this.to - this.from) / pixels;
      let drawn = 0;
      // A row is made as one line of pixels, and one for its edges where spans are lit.
      const line = new Uint32Array(pixels), edge = new Uint32Array(pixels), lit = this.lit;
      for (const row of this.shown) {
        const top = Math.round((row.y - this.scroll) * scale), bottom = Math.round((row.y + row.height - this.scroll) * scale) - 1;
        if (row.header || bottom < HEADER * scale || top >= canvas.height) continue;
        const from = this.from + this.shifts[row.device], end = from + perPixel * pixels;
        const [high, low] = [Math.max(top, Math.round(HEADER * scale)), Math.min(bottom, canvas.height)];
        if (row.level) {
          this.drawLevel(row.level, from, perPixel, (x, share) => {
            for (let y = low - Math.round((low - high) * share); y < low; y++) data[y * pixels + x] = word(colours[READ]);
          }, pixels);
          continue;
        }
        line.fill(word(paper));
        // A thin line has no room for them.
        const outlines = lit !== null && low - high > 4;
        if (lit !== null) edge.set(line);
        const { served } = this.devices[row.device];
        for (const track of row.tracks) {
          const { starts, ends, lengths, kinds, firsts, counts, length } = track, isBusy = kinds[0] === BUSY;
          const isLit = (i) => {
            for (let of = firsts[i], last = of + counts[i]; of < last; of++) if (served[of] === lit) return true;
            return false;
          };
          let i = lower(ends, 0, length, from), last = -1;
          while (i < length && starts[i] < end) {
            const x0 = Math.max(0, Math.floor((starts[i] - from) / perPixel), last + 1);
            if (x0 >= pixels) {
              drawn += lower(starts, i, length, end) - i;
              break;
            }
            const x1 = Math.min(pixels, Math.max(x0 + 1, Math.floor((ends[i] - from) / perPixel)));
            let next = i + 1, kind = kinds[i];
            if (x1 === x0 + 1) {
              // Several spans in one pixel: as much of the colour as they cover, in that of the longest of the first few.
              const until = from + (x0 + 1) * perPixel;
              next = Math.max(next, near(ends, i, length, until));
              let anyLit = lit !== null && !isBusy && isLit(i);
              for (let j = i + 1; j < Math.min(next, i + 8); j++) {
                if (lengths[j] > lengths[i]) kind = kinds[j];
                if (lit !== null && !anyLit) anyLit = isLit(j);
              }
              const b = next < length && starts[next] < until ? next + 1 : next;
              const share = Math.max(0, Math.min(1, within(track, i, b, until - perPixel, until) / perPixel));
              line[x0] = lit === null || isBusy ? shades[kind][Math.round(16 * share)] : anyLit ? bright : dim[kind];
              edge[x0] = line[x0];
            } else {
              const shown = lit !== null && !isBusy && isLit(i);
              line.fill(lit === null || isBusy || shown ? shades[kind][16] : dim[kind], x0, x1);
              // A lit span is outlined, and neighbours are told apart by their first pixel.
              if (x1 - x0 > 3 && !isBusy) line[x0] = shown && outlines ? bright : first[kind];
              if (lit !== null) edge.fill(shown ? bright : line[x0 + 1], x0, x1);
            }
            drawn += next - i;
            last = x1 - 1;
            i = next;
          }
        }
        for (let y = high; y < low; y++) data.set(outlines && (y === high || y === low - 1) ? edge : line, y * pixels);
      }
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.putImageData(image, Math.round(left * scale), 0);
      context.scale(scale, scale);
      this.labels(context, left, ink, soft, css(paper));
      this.drawStrip(colours, paper, ink, scale);
      this.drawn = drawn;
      this.frameMs = performance.now() - begin;
      return drawn;
    }

    /** Calls back with the share of the highest level within each pixel. */
    drawLevel({ times, values, most }, from, perPixel, put, pixels) {
      for (let x = 0, i = lower(times.values, 0, times.length, from); x < pixels; x++) {
        let value = i > 0 ? values.values[i - 1] : 0;
        const until = from + (x + 1) * perPixel;
        for (; i < times.length && times.values[i] < until; i++) value = Math.max(value, values.values[i]);
        put(x, value / most);
      }
    }

    labels(context, left, ink, soft, paper) {
      context.fillStyle = paper;
      context.fillRect(0, 0, left, this.height);
      context.fillRect(0, 0, left + this.width(), HEADER);
      context.font = '11px system-ui, sans-serif';
      context.textBaseline = 'middle';
      // Times along the top: steps of 1, 2 or 5.
      const span = this.to - this.from, rough = span / Math.max(2, this.width() / 130), power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((times) => times * power).find((value) => value >= rough);
      context.fillStyle = soft;
      for (let at = Math.ceil(this.from / step) * step; at < this.to; at += step) {
        const x = left + (at - this.from) / span * this.width();
        context.fillRect(x, HEADER - 5, 1, 5);
        if (x < left + this.width() - 50) context.fillText(us(at), x + 3, HEADER / 2);
      }
      // Lines that are too thin for names have one together: where they begin, and their first title.
      let thin = null;
      const nameThin = (end, last) => {
        const middle = (thin.y + end) / 2;
        if (thin.title !== last && end - thin.y >= NAMED && middle > HEADER && middle < this.height) {
          context.fillStyle = soft;
          context.font = '10px system-ui, sans-serif';
          const [first, until] = [thin.title, last].map((title) => title.match(/\d+$/)?.[0]);
          const text = `${last.match(/(\w+) \d+$/)?.[1]}s ${first}\u2013${until}`;
          context.fillText(text, 4 + (left < 100 ? 0 : 12), middle, left - 16);
        }
        thin = null;
      };
      for (const [index, row] of this.shown.entries()) {
        const y = row.y - this.scroll;
        const isThin = !row.header && row.height < LEAST_NAMED;
        if (isThin) thin ??= { y, title: row.title };
        const next = this.shown[index + 1];
        if (thin && (!next || next.header || next.gap || next.height >= LEAST_NAMED)) nameThin(y + row.height, row.title);
        if (y < HEADER - 2 || y > this.height) continue;
        if (row.header) {
          context.fillStyle = paper;
          context.fillRect(left, y, this.width(), row.height - 1);
          context.fillStyle = ink;
          context.font = '600 12px system-ui, sans-serif';
          context.fillText(row.header, 4, y + row.height / 2, left + this.width() - 8);
        } else if (row.height >= LEAST_NAMED) {
          context.fillStyle = soft;
          context.font = `${Math.min(row.height, 11)}px system-ui, sans-serif`;
          const title = left < 100 ? SHORT.reduce((text, [long, short]) => text.replace(long, short), row.title) : row.title;
          context.fillText(title, 4, y + Math.max(row.height / 2, 4), left - 8);
        }
      }
    }

    /** How busy channels and dies are over all time: two lines for each device. */
    drawStrip(colours, paper, ink, scale) {
      const { strip } = this, left = this.left(), width = Math.round(this.width());
      const height = 2 * STRIP * this.devices.length + 4;
      if (!this.strips) {
        this.heat = null;
        const per = (this.end - this.first) / width;
        this.strips = this.devices.flatMap((device, index) => {
          const share = (title, wanted) => {
            const tracks = device.tracks.filter(wanted), shares = new Float32Array(width);
            for (const track of tracks) addShares(shares, track, this.first + this.shifts[index], per, 1 / tracks.length);
            return { title, shares };
          };
          return [share('channels busy', (track) => track.title.endsWith('bus')), share('dies busy', (track) => track.kinds[0] === BUSY)];
        });
      }
      strip.style.height = `${height}px`;
      strip.width = Math.round(strip.clientWidth * scale);
      strip.height = Math.round(height * scale);
      const context = strip.getContext('2d');
      if (!this.heat) {
        this.heat = new OffscreenCanvas(width, height);
        const heat = this.heat.getContext('2d');
        for (const [index, { shares }] of this.strips.entries()) {
          const rgb = colours[index % 2 ? READ : DATA_OUT];
          for (let x = 0; x < width; x++) {
            heat.fillStyle = css(rgb.map((part, i) => Math.round(part * shares[x] + paper[i] * (1 - shares[x]))));
            heat.fillRect(x, 2 + index * STRIP, 1, STRIP - 1);
          }
        }
      }
      context.scale(scale, scale);
      context.drawImage(this.heat, left, 0);
      context.font = '9px system-ui, sans-serif';
      context.textBaseline = 'middle';
      context.fillStyle = ink;
      for (const [index, { title }] of this.strips.entries()) {
        if (left > 100) context.fillText(title, 4, 2 + index * STRIP + STRIP / 2);
      }
      const scaleOf = (at) => left + (at - this.first) / (this.end - this.first) * width;
      context.strokeStyle = ink;
      context.lineWidth = 2;
      context.strokeRect(scaleOf(this.from) + 1, 1, Math.max(2, scaleOf(this.to) - scaleOf(this.from) - 2), height - 2);
    }

    // ---- what is below the pointer ----

    at(x, y) {
      const row = this.shown.find((row) => !row.header && y + this.scroll >= row.y && y + this.scroll < row.y + row.height);
      if (!row || x < this.left()) return null;
      const time = this.from + this.shifts[row.device] + (x - this.left()) / this.width() * (this.to - this.from);
      if (row.level) {
        const { times, values } = row.level, i = lower(times.values, 0, times.length, time);
        return { row, value: i > 0 ? values.values[i - 1] : 0 };
      }
      const slack = (this.to - this.from) / this.width();
      // What is drawn last lies on top.
      for (const track of [...row.tracks].reverse()) {
        const i = lower(track.ends, 0, track.length, time);
        if (i < track.length && track.starts[i] <= time + slack) return { row, track, i };
      }
      return null;
    }

    hover(x, y) {
      const found = this.at(x, y);
      if (found?.row.level) { this.about.textContent = `${found.row.title}: ${found.value}, at most ${found.row.level.most}`; return; }
      if (!found) { this.about.textContent = this.lit === null ? '' : this.sentence; return; }
      const { row, track, i } = found, device = this.devices[row.device];
      const kind = track.kinds[i] === BUSY ? 'busy' : KINDS[track.kinds[i]];
      const numbers = [...device.served.subarray(track.firsts[i], track.firsts[i] + track.counts[i])];
      const whose = numbers.length ? `, for command ${numbers.slice(0, 6).join(', ')}${numbers.length > 6 ? ' and more' : ''}` : '';
      this.about.textContent = `${row.title}: ${kind}, ${us(track.lengths[i])} from ${us(track.starts[i])}${whose}`;
    }

    click(x, y) {
      const found = this.at(x, y);
      const of = found?.track?.counts[found.i] > 0 ? this.devices[found.row.device].served[found.track.firsts[found.i]] : null;
      this.light(of);
    }

    /** Lights the spans of a command, in all devices, and shows where its latency went. */
    light(number) {
      this.lit = number;
      this.latency.replaceChildren();
      this.sentence = '';
      const found = this.devices.map((device) => device.commands.get(number)), most = Math.max(1, ...found.map((c) => c?.length ?? 0));
      for (const [index, command] of found.entries()) {
        if (!command) continue;
        const doing = KINDS[READ + command.opcode];
        const wait = command.behind > 0 ? `, and waited for the die behind ${KINDS[SENSE + command.behind - 1]}`
          + ['', ' of garbage collection', ' of the write buffer', ' of the mapping'][command.whose] : '';
        this.sentence += `${this.devices[index].name}: command ${number}, ${doing} of ${command.size} B at ${command.offset} of namespace `
          + `${command.nsid}, ${us(command.length)} from ${us(command.start)}, ${command.melded} melded and ${command.pages} page reads${wait}. `;
        const parts = PARTS.map((name, i) => ({ name, ps: command.parts[i], colour: css(PART_COLOURS[i]) })).filter((part) => part.ps > 0);
        const line = document.createElement('div');
        line.className = 'bar';
        const bar = document.createElement('span');
        bar.className = 'track parts';
        bar.style.width = `${100 * command.length / most}%`;
        for (const part of parts) {
          const piece = document.createElement('i');
          piece.style.cssText = `width:${100 * part.ps / command.length}%;background:${part.colour}`;
          piece.title = `${part.name}: ${us(part.ps)}`;
          bar.append(piece);
        }
        const text = (name, words) => Object.assign(document.createElement('span'), { className: name, textContent: words });
        line.append(text('name', this.devices[index].name), bar, text('value', us(command.length)));
        const list = document.createElement('p');
        list.className = 'keys soft';
        for (const part of parts) {
          const key = text('', `${part.name} ${us(part.ps)}`);
          const mark = document.createElement('i');
          mark.style.background = part.colour;
          key.prepend(mark);
          list.append(key);
        }
        this.latency.append(line, list);
      }
      this.about.textContent = this.sentence;
      this.draw();
    }

    /** Goes to the slowest command, or from it to slower and faster ones. */
    slower(step) {
      const { commands } = this.devices[0], list = commands.bySlowness();
      if (!list.length) return;
      this.place = step === 0 ? 0 : Math.min(Math.max((this.place ?? -1) + step, 0), list.length - 1);
      const command = commands.at(list[this.place]), margin = .1 * command.length, from = command.start - this.shifts[0];
      this.light(command.number);
      this.show(from - margin, from + command.length + margin);
    }

    /** Moves the devices in time, so that the command that is lit begins in all at once. */
    align() {
      if (this.lit === null) return;
      this.shifts = this.devices.map((device) => device.commands.get(this.lit)?.start ?? 0);
      this.showAll();
    }
  }

  for (const frame of document.querySelectorAll('.timeline')) {
    const began = performance.now();
    const parts = [...frame.querySelectorAll('.timeline-data')];
    Promise.all(parts.map(async (part) => decoded(await unpacked(part.textContent), part.dataset.name))).then((devices) => {
      const view = new View(frame, devices, began);
      view.drawNow();
      // From when the page was opened.
      view.firstFrameMs = performance.now();
      frame.view = view;
    });
  }
})();
