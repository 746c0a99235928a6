#include "pictures/page_assets.hpp"

namespace holdfast::pictures {

std::string_view pageStyle() {
  return R"css(
* { box-sizing: border-box; }
html, body { margin: 0; height: 100%; background: #fff; color: #111; }
body { display: grid; grid-template: auto 1fr / 1fr 340px;
  font: 13px "DejaVu Sans", "Segoe UI", Arial, sans-serif; }
header { grid-column: 1 / 3; padding: 8px 12px; border-bottom: 1px solid #bbb; background: #f7f7f5; }
h1 { font-size: 16px; margin: 0 0 4px; } h1 small { font-weight: normal; color: #444; font-size: 12px; }
.incident { margin: 4px 0; padding: 4px 8px; border-left: 5px solid #d55e00; background: #fff1ea;
  max-width: 130ch; }
.tools { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; margin-top: 4px; }
.tools fieldset { border: 1px solid #ccc; border-radius: 4px; margin: 0; padding: 1px 8px 3px; }
.tools legend { font-size: 11px; color: #444; } .tools label { margin-right: 8px; white-space: nowrap; }
button, input[type=search] { font: inherit; padding: 2px 8px; }
input[type=search] { width: 20em; }
main { overflow: auto; position: relative; }
main .strip { position: sticky; top: 0; background: #fff; z-index: 2; border-bottom: 1px solid #bbb; }
main svg { display: block; }
aside { border-left: 1px solid #bbb; padding: 8px 12px; overflow: auto; overflow-wrap: anywhere; }
aside h2 { font-size: 14px; margin: 0 0 6px; } aside h3 { font-size: 12px; margin: 10px 0 2px; color: #333; }
aside dl { display: grid; grid-template-columns: auto 1fr; gap: 1px 8px; margin: 0; }
dt { color: #555; } dd { margin: 0; }
aside ul { margin: 0; padding-left: 16px; }
kbd { border: 1px solid #999; border-radius: 3px; padding: 0 4px; }
.hidden { display: none; }
.row { cursor: pointer; outline: none; }
.row:hover .hit { fill: #fff3c4; fill-opacity: .8; }
.row:focus .hit, .row.picked .hit { fill: #ffe680; fill-opacity: .8; }
.row:focus .hit { stroke: #111; stroke-width: 2; }
.arrow.lit path { stroke-width: 4; } 
.bar.lit rect { stroke: #000; stroke-width: 2.5; }
body.noclocks .clock { display: none; }
button:focus-visible, input:focus-visible { outline: 2px solid #0072b2; outline-offset: 1px; }
)css";
}

std::string_view pageScript() {
  return R"js('use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const rows = [...document.querySelectorAll('#rows > .row')];
const bars = [...document.querySelectorAll('#bars > .bar, #faults > .bar')];
const arrows = [...document.querySelectorAll('#arrows > .arrow')];
const gaps = [...document.querySelectorAll('#gaps > .gap')];
const height = data.rowHeight;
const svg = byId('diagram');
let shown = rows.map(() => true);
let position = [];  // by row: how many shown rows stand above it
let picked = -1;

const place = (p) => {
  const row = p >> 1;
  return position[row] * height + (p & 1 && shown[row] ? height / 2 : 0);
};

function layOut() {
  let count = 0;
  position = shown.map((is) => is ? count++ : count);
  position.push(count);
  rows.forEach((g, r) => {
    g.classList.toggle('hidden', !shown[r]);
    if (shown[r]) g.setAttribute('transform', `translate(0,${place(2 * r)})`);
  });
  for (const g of bars) {
    const top = place(+g.dataset.a), length = Math.max(place(+g.dataset.b) - top, 3);
    const rect = g.querySelector('rect'), text = g.querySelector('text');
    rect.setAttribute('y', top);
    rect.setAttribute('height', length);
    if (!text) continue;
    const room = Math.floor((length - 6) / 5), label = g.dataset.l;
    const gap = ' '.repeat(140 - Math.min(label.length, 100));
    let again = '';
    for (let at = 700; at + 150 < length; at += 700) again += gap + label;
    text.setAttribute('transform', `translate(${+rect.getAttribute('x') + 3},${top + 3}) rotate(90)`);
    const full = label.length <= room;
    text.textContent = length < 30 ? '' : full ? label + again : label.slice(0, room - 1) + '\u2026';
  }
  for (const g of arrows) {
    const from = +g.dataset.a >> 1, to = +g.dataset.b >> 1;
    const off = !shown[from] || (to < rows.length && +g.dataset.b & 1 && !shown[to]);
    g.classList.toggle('hidden', off);
    const x = +g.dataset.x, z = +g.dataset.z, side = +g.dataset.s;
    const below = place(+g.dataset.a) + height / 2, end = place(+g.dataset.b);
    const rest = g.classList.contains('lost') ? `L${x + Math.trunc((z - x) / 3)} ${below}` :
      `L${z - 14 * side} ${end - height / 2}L${z - 5 * side} ${end - 4}`;
    g.querySelector('path').setAttribute('d', `M${x} ${below - height / 2}L${x + 14 * side} ${below}${rest}`);
  }
  for (const text of gaps) {
    const row = +text.dataset.a >> 1;
    text.classList.toggle('hidden', !shown[row] || (row > 0 && !shown[row - 1]));
    text.setAttribute('y', place(+text.dataset.a) + 3);
  }
  const bottom = count * height + 12;
  svg.setAttribute('height', bottom);
  svg.setAttribute('viewBox', `0 0 ${data.width} ${bottom}`);
  for (const line of document.querySelectorAll('#lanes line')) line.setAttribute('y2', count * height);
  byId('count').textContent = `${count} of ${rows.length} events shown`;
}

const checked = (name) =>
  new Set([...document.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value));

function filter() {
  const kinds = checked('kind'), nodes = checked('node');
  const words = byId('find').value.toLowerCase().split(/\s+/).filter(Boolean);
  const slice = byId('slice').checked;
  shown = data.events.map((e) => {
    if (e.incident) return true;
    if (slice && !e.step) return false;
    if (!kinds.has(e.category) && !(slice && e.step)) return false;
    if (e.node && !nodes.has(e.node)) return false;
    const text = `${e.node} ${e.kind} ${e.text}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  layOut();
}

function listed(title, items) {
  if (!items.length) return [];
  const head = document.createElement('h3'), list = document.createElement('ul');
  head.textContent = title;
  for (const item of items) list.appendChild(document.createElement('li')).textContent = item;
  return [head, list];
}

function show(row) {
  const e = data.events[row], p = 2 * row + 1;
  const active = data.spans.filter((s) => s.from <= p && p < s.to);
  const title = document.createElement('h2'), facts = document.createElement('dl');
  title.textContent = (e.step ? `Step ${e.step}. ` : '') + e.text;
  const add = (name, value) => {
    facts.appendChild(document.createElement('dt')).textContent = name;
    facts.appendChild(document.createElement('dd')).textContent = value;
  };
  add('node', e.node || 'harness');
  add('true time', e.time);
  if (e.node) {
    add('monotonic', e.monotonic);
    add('wall', e.wall);
  }
  add('kind', `${e.kind} (${e.category})`);
  add('event', e.n);
  if (e.incident) add(data.violation ? 'violation' : 'explained', data.incident);
  byId('detail').replaceChildren(title, facts,
    ...listed(`${e.node} believes`, active.filter((s) => s.node === e.node).map((s) => s.text)),
    ...listed('Meanwhile', active.filter((s) => s.node !== e.node).map((s) => `${s.node}: ${s.text}`)));
  for (const g of arrows) {
    g.classList.toggle('lit', +g.dataset.a === p || +g.dataset.b === p);
  }
  for (const g of bars) {
    const s = data.spans[+g.dataset.i];
    g.classList.toggle('lit', s.node === e.node && s.from <= p && p < s.to);
  }
}

function pick(row, focus = true) {
  if (row < 0 || row >= rows.length) return;
  if (picked >= 0) rows[picked].classList.remove('picked');
  picked = row;
  rows[row].classList.add('picked');
  show(row);
  if (!focus) return;
  rows[row].focus({preventScroll: true});
  rows[row].scrollIntoView({block: 'center', inline: 'nearest'});
  reveal(row);
}

// Brings the lane of a row into view, which is wider than the window with many nodes.
function reveal(row) {
  const sign = rows[row].querySelector('.sign').getBoundingClientRect(), frame = byId('frame');
  const box = frame.getBoundingClientRect();
  if (sign.left < box.left + 130 || sign.left > box.right - 320) {
    frame.scrollLeft += sign.left - box.left - box.width / 3;
  }
}

function step(by, wanted = () => true) {
  for (let row = picked + by; row >= 0 && row < rows.length; row += by) {
    if (shown[row] && wanted(data.events[row])) return pick(row);
  }
}

const goToIncident = () => pick(data.events.findIndex((e) => e.incident));
rows.forEach((g, r) => {
  g.addEventListener('pointerenter', () => show(r));
  g.addEventListener('pointerleave', () => { if (picked >= 0) show(picked); });
  g.addEventListener('click', () => pick(r, false));
  g.addEventListener('focus', () => { if (picked !== r) pick(r, false); });
});
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.matches('input[type=search]')) {
    if (event.key === 'Escape' || event.key === 'Enter') event.target.blur();
    return;
  }
  const keys = {
    ArrowDown: () => step(1), ArrowUp: () => step(-1), j: () => step(1), k: () => step(-1),
    n: () => step(1, (e) => e.step), p: () => step(-1, (e) => e.step), v: goToIncident,
    s: () => byId('slice').click(), '/': () => byId('find').focus(),
  };
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});
byId('find').addEventListener('input', filter);
for (const box of document.querySelectorAll('input[name=kind], input[name=node], #slice')) {
  box.addEventListener('change', filter);
}
byId('clocks').addEventListener('change',
  (e) => document.body.classList.toggle('noclocks', !e.target.checked));
byId('goto').addEventListener('click', goToIncident);
byId('next').addEventListener('click', () => step(1, (e) => e.step));
byId('previous').addEventListener('click', () => step(-1, (e) => e.step));
filter();
if (data.incident) goToIncident();
)js";
}

}  // namespace holdfast::pictures
