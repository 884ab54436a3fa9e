// What a reader would stumble over on a page: evaluated in it by the tests that open pages in a browser. The window must be as
// high as the page.
(() => {
  const LEAST_FONT_PX = 10.5;
  const LEAST_CONTRAST = 4.5;
  // Of shapes against what is behind them (WCAG 1.4.11).
  const LEAST_SHAPE_CONTRAST = 3;
  const SLACK_PX = 2;
  const problems = [];
  const start = (text) => text.replace(/\s+/g, ' ').trim().slice(0, 50);
  const box = (element) => element.getBoundingClientRect();
  const within = (inner, outer) =>
    inner.left >= outer.left - SLACK_PX && inner.right <= outer.right + SLACK_PX &&
    inner.top >= outer.top - SLACK_PX && inner.bottom <= outer.bottom + SLACK_PX;
  const drawn = (mark) => box(mark).width > 0 || box(mark).height > 0;

  // ---- colours ----
  const colour = (css) => {
    const parts = (css.match(/[\d.]+(e-?\d+)?%?/g) ?? []).map((part) =>
      part.endsWith('%') ? parseFloat(part) / 100 : parseFloat(part));
    if (css === 'none' || css === 'transparent' || parts.length < 3) return [0, 0, 0, 0];
    const scale = css.startsWith('color(') ? 255 : 1;
    return [...parts.slice(0, 3).map((part) => part * scale), parts[3] ?? 1];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((part, i) => part * a + under[i] * (1 - a));
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => part / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const opacity = (element) => {
    let share = 1;
    for (let at = element; at; at = at.parentElement) share *= parseFloat(getComputedStyle(at).opacity);
    return share;
  };
  /** What is painted behind an element, without patterns. */
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      if (!(at instanceof SVGElement)) layers.push(colour(getComputedStyle(at).backgroundColor));
    }
    return layers.reduceRight((under, layer) => over(layer, under), [255, 255, 255]);
  };
  /** The same with the shapes of an SVG behind a text. */
  const behind = (element, place) => {
    let under = ground(element);
    const svg = element.closest('svg');
    if (!svg) return under;
    const [x, y] = [(place.left + place.right) / 2, (place.top + place.bottom) / 2];
    const shapes = document.elementsFromPoint(x, y).filter((at) => svg.contains(at) && at.matches('rect, polygon, path, circle'));
    for (const shape of shapes.reverse()) {
      const style = getComputedStyle(shape);
      const [r, g, b, a] = colour(style.fill);
      under = over([r, g, b, a * parseFloat(style.fillOpacity) * opacity(shape)], under);
    }
    return under;
  };

  // ---- texts: size, contrast, nothing cut, nothing on top of another ----
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (node.data.trim() === '' || parent.closest('script, style, title') || !parent.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const style = getComputedStyle(parent);
    const svg = parent.closest('svg');
    const scale = svg && svg.viewBox.baseVal.width > 0 ? box(svg).width / svg.viewBox.baseVal.width : 1;
    const size = parseFloat(style.fontSize) * scale;
    if (size < LEAST_FONT_PX) problems.push(`text of ${size.toFixed(1)} px: ${start(node.data)}`);
    let contrasts = false;
    for (const line of range.getClientRects()) {
      if (line.width === 0) continue;
      let [left, right, top, bottom] = [line.left, line.right, line.top, line.bottom];
      if (!contrasts) {
        contrasts = true;
        const under = behind(parent, line);
        const [r, g, b, a] = colour(svg ? style.fill : style.color);
        const found = contrast(over([r, g, b, a * opacity(parent)], under), under);
        if (found < LEAST_CONTRAST) problems.push(`contrast of ${found.toFixed(2)}: ${start(node.data)}`);
      }
      for (let at = parent; at; at = at.parentElement) {
        const overflow = getComputedStyle(at).overflowX;
        if (overflow === 'visible' || at === document.documentElement) continue;
        const clip = box(at);
        if (overflow !== 'auto' && overflow !== 'scroll' && !within(line, clip)) problems.push(`text is cut: ${start(node.data)}`);
        [left, right] = [Math.max(left, clip.left), Math.min(right, clip.right)];
        [top, bottom] = [Math.max(top, clip.top), Math.min(bottom, clip.bottom)];
      }
      if (left >= right || top >= bottom) continue;
      if (left < -SLACK_PX || right > window.innerWidth + SLACK_PX) problems.push(`text leaves the window: ${start(node.data)}`);
      const section = parent.closest('section, figure, .origin');
      if (section && right > box(section).right) problems.push(`text leaves its section: ${start(node.data)}`);
      // Letters are lower than their lines.
      const inset = 0.18 * (bottom - top);
      texts.push({ left, right, top: top + inset, bottom: bottom - inset, text: node.data });
    }
  }
  texts.sort((a, b) => a.top - b.top);
  texts.forEach((one, index) => {
    for (const other of texts.slice(index + 1)) {
      if (other.top >= one.bottom - 1) break;
      if (one.left < other.right - 1 && other.left < one.right - 1)
        problems.push(`texts overlap: ${start(one.text)} / ${start(other.text)}`);
    }
  });

  // ---- charts: drawn, within their boxes, series told apart without colour, light colours outlined ----
  const charts = [...document.querySelectorAll('svg.chart')].filter((chart) => chart.checkVisibility());
  const told = (a, b, name) => {
    if (a.colour !== b.colour && a.form === b.form) problems.push(`${name}: neighbours differ in colour only`);
  };
  charts.forEach((chart, index) => {
    const name = `chart ${index + 1}`;
    const frame = box(chart);
    const marks = [...chart.querySelectorAll('polyline, rect, .mark')].filter(drawn);
    if (marks.length === 0) problems.push(`${name} has no marks`);
    if (!marks.every((mark) => within(box(mark), frame))) problems.push(`${name} draws outside of its box`);

    const lines = [...chart.querySelectorAll('.line')].map((line) => {
      const mark = line.parentElement.querySelector('.series > .mark');
      const form = (mark ? mark.getAttribute('d').replace(/^M[^a-z]*/, '') : '') + getComputedStyle(line).strokeDasharray;
      return { colour: getComputedStyle(line).stroke, form, line };
    }).filter(({ line }) => line.closest('.series'));
    lines.slice(1).forEach((one, at) => told(lines[at], one, name));

    const outlined = (element, paint, edge) => {
      const under = ground(element);
      const seen = (css) => contrast(over(colour(css), under), under) >= LEAST_SHAPE_CONTRAST && colour(css)[3] > 0;
      if (!seen(paint) && !(edge && seen(edge))) problems.push(`${name}: a light colour has no outline: ${paint}`);
    };
    chart.querySelectorAll('.mark').forEach((mark) =>
      outlined(mark, getComputedStyle(mark).fill, getComputedStyle(mark).stroke));
    chart.querySelectorAll('.line').forEach((line) => {
      const edge = line.previousElementSibling;
      outlined(line, getComputedStyle(line).stroke, edge?.matches('.edge') ? getComputedStyle(edge).stroke : null);
    });
  });

  // ---- the frame: what was found and where it comes from; tables that say that they scroll ----
  const said = (selector) => {
    const found = [...document.querySelectorAll(selector)];
    // What is folded is drawn when it is opened.
    const isSeen = (element) => drawn(element) || !element.checkVisibility();
    if (found.length === 0 || found.some((element) => element.textContent.trim() === '' || !isSeen(element)))
      problems.push(`the page does not say ${selector}`);
    return found.length;
  };
  said('h1');
  said('.verdict');
  // A headline is taken in at a glance.
  for (const verdict of document.querySelectorAll('.verdict')) {
    const lines = Math.round(verdict.getBoundingClientRect().height / parseFloat(getComputedStyle(verdict).lineHeight));
    if (window.innerWidth >= 1000 && lines > 2) problems.push(`a headline of ${lines} lines: ${start(verdict.textContent)}`);
  }
  said('.command code');
  said('.command button');
  if (said('.origin dd') < 5) problems.push('the page lacks profile, seed, settings, version or date');
  for (const scroll of document.querySelectorAll('.scroll')) {
    const scrolls = scroll.scrollWidth > scroll.clientWidth + 1;
    const cue = scroll.nextElementSibling;
    if (scroll.checkVisibility() && scrolls !== !!(cue?.matches('.cue') && drawn(cue)))
      problems.push(`a table ${scrolls ? 'scrolls and does not say so' : 'says that it scrolls'}: ${start(scroll.textContent)}`);
  }
  if (document.documentElement.scrollWidth > window.innerWidth)
    problems.push(`the page is wider than the window: ${document.documentElement.scrollWidth} px`);
  return { width: window.innerWidth, charts: charts.length, texts: texts.length, problems: [...new Set(problems)] };
})();
