// What a reader would stumble over on a report page: evaluated in it by ITReportPage.
(() => {
  const LEAST_FONT_PX = 11;
  const SLACK_PX = 2;
  const problems = [];
  const box = (element) => element.getBoundingClientRect();
  const within = (inner, outer) =>
    inner.left >= outer.left - SLACK_PX && inner.right <= outer.right + SLACK_PX &&
    inner.top >= outer.top - SLACK_PX && inner.bottom <= outer.bottom + SLACK_PX;
  const drawn = (mark) => box(mark).width > 0 || box(mark).height > 0;

  const charts = [...document.querySelectorAll('.bars, .plot, table.heat')];
  charts.forEach((chart, index) => {
    const frame = box(chart.querySelector('svg') ?? chart);
    const marks = [...chart.querySelectorAll('.fill, polyline, tbody td')].filter(drawn);
    const name = `chart ${index + 1}`;
    if (marks.length === 0) problems.push(`${name} has no marks`);
    if (!marks.every((mark) => within(box(mark), frame))) problems.push(`${name} draws outside of its box`);
  });

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement;
    const text = texts.currentNode.data.trim();
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const place = range.getBoundingClientRect();
    if (text === '' || place.width === 0 || parent.closest('script, style, title')) continue;
    const size = parseFloat(getComputedStyle(parent).fontSize);
    if (size < LEAST_FONT_PX) problems.push(`text of ${size} px: ${text.slice(0, 40)}`);
    // Tables and listings may be wider: they scroll by themselves.
    const section = parent.closest('section');
    if (section && !parent.closest('.scroll, pre') && place.right > box(section).right)
      problems.push(`text leaves its section: ${text.slice(0, 40)}`);
  }

  if (document.documentElement.scrollWidth > window.innerWidth)
    problems.push(`the page is wider than the window: ${document.documentElement.scrollWidth} px`);
  return { width: window.innerWidth, charts: charts.length, problems };
})();
