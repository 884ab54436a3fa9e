// How busy dies and channels were during the last minute. The server tells one look at a time, so the page keeps them.

const MINUTE = 60; // seconds
const DOTS = 240; // of a strip, in a minute
const SHARES = ['dies_busy', 'channels_busy'];

/** Looks by device: how many seconds each stands for, and the shares. */
const strips = new Map();
let lastLook = null;

/** Keeps a look, and drops what is older than a minute; devices that are gone go with it. */
function keep(usage) {
  const now = performance.now() / 1000;
  // Where the page was not looked at for a while, nothing is known.
  const gap = lastLook === null ? 0 : now - lastLook - usage.seconds;
  lastLook = now;
  const present = new Map(usage.devices.map((device) => [identity(device), device]));
  for (const key of present.keys()) if (!strips.has(key)) strips.set(key, []);
  for (const [key, looks] of strips) {
    const device = present.get(key);
    if (gap > 2) looks.push({ seconds: Math.min(gap, MINUTE) });
    looks.push({ seconds: Math.max(usage.seconds, 0.1), dies_busy: device?.dies_busy, channels_busy: device?.channels_busy });
    let kept = 0;
    let from = looks.length;
    while (from > 0 && kept < MINUTE) kept += looks[--from].seconds;
    looks.splice(0, from);
    const isSeen = looks.some((look) => SHARES.some((share) => look[share] !== undefined));
    if (!isSeen) strips.delete(key);
  }
}

const rgb = (css) => css.match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));

/** The colours of nothing and of all, as the style has them now. */
function ramp() {
  const style = getComputedStyle(document.documentElement);
  return ['--cold', '--hot'].map((name) => rgb(style.getPropertyValue(name)));
}

/** Paints a strip, the latest look at its right end. */
function paint(canvas, key, share, [cold, hot]) {
  const looks = strips.get(key) ?? [];
  const context = canvas.getContext('2d');
  context.clearRect(0, 0, DOTS, 1);
  let right = DOTS;
  for (let at = looks.length - 1; at >= 0 && right > 0; at--) {
    const left = right - (looks[at].seconds / MINUTE) * DOTS;
    const busy = looks[at][share];
    if (typeof busy === 'number') {
      const depth = Math.min(Math.max(busy, 0), 1);
      context.fillStyle = `rgb(${cold.map((part, i) => Math.round(part + depth * (hot[i] - part))).join(' ')})`;
      // Whole dots, so that neighbours have no seam.
      context.fillRect(Math.round(left), 0, Math.round(right) - Math.round(left), 1);
    }
    right = left;
  }
  canvas.dataset.looks = looks.filter((look) => typeof look[share] === 'number').length;
}

/** The mean of a share over the last minute, or nothing. */
function mean(key, share) {
  const looks = (strips.get(key) ?? []).filter((look) => typeof look[share] === 'number');
  const seconds = looks.reduce((sum, look) => sum + look.seconds, 0);
  return seconds > 0 ? looks.reduce((sum, look) => sum + look.seconds * look[share], 0) / seconds : null;
}

const strip = (label) => made('canvas', { class: 'strip', width: DOTS, height: 1, role: 'img', 'aria-label': label });
