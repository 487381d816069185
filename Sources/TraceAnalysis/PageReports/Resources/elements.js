// Elements, numbers and tables. All text is inserted into the page as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  fill(made, attributes, children);
  return made;
}

function drawing(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  fill(made, attributes, children);
  return made;
}

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : visible(String(value)));
  }
  for (const child of children.flat(2)) {
    if (child !== null && child !== undefined) made.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
}

/// Returns text with control characters and text-direction marks replaced by their code points.
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (mark) => `\\u{${mark.codePointAt(0).toString(16).toUpperCase()}}`);
}

// MARK: Numbers

function bytes(value) {
  if (value < 0) return `−${bytes(-value)}`;
  if (value < 1024) return `${Math.round(value)} B`;
  let scaled = value;
  for (const unit of ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]) {
    scaled /= 1024;
    if (scaled < 1023.5 || unit === "EiB") return `${scaled.toFixed(scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0)} ${unit}`;
  }
  return "";
}

const count = (value) => (value < 0 ? `−${count(-value)}` : Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, ",") : value < 100 ? value.toFixed(1) : count(Math.round(value)));
const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
const amount = (value, unit) => (unit === "bytes" ? bytes(value) : count(value));

function seconds(value) {
  if (value === null || value === undefined) return "?";
  if (value >= 7200) return `${(value / 3600).toFixed(1)} h`;
  if (value >= 120) return `${(value / 60).toFixed(1)} min`;
  return value >= 1 ? `${value.toFixed(1)} s` : `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;
}

const shortName = (path) => path.split("/").pop() || path;

/// Quotes text for a shell.
const quoted = (text) => (/^[\w./:+@%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/// Returns a name that may wrap where its parts meet. A very long name shows its two ends; its tooltip shows all of it.
function named(text) {
  const name = visible(text);
  const shown = name.length <= longestName ? name : `${name.slice(0, longestName / 2)}…${name.slice(-longestName / 2)}`;
  const parts = shown.split(/(?<=[.<,(\[:/ ])/).flatMap((part, index) => (index ? [element("wbr"), part] : [part]));
  return element("span", { title: shown === name ? null : name }, parts);
}
const longestName = 240;

// MARK: Tables

/// Returns a sortable table. A column has a title, a function for a row's value, a function for the value's text or
/// element, and a class. `limit`: the number of rows to show at first.
function table(name, columns, rows, sorted, limit) {
  const body = element("tbody");
  const heads = columns.map(([title, , , kind], index) => element("th", { scope: "col", class: kind },
    element("button", { type: "button", onclick: () => sort(index) }, title)));
  let [by, descending, shownCount] = [-1, false, limit || rows.length];
  function sort(index) {
    descending = by === index ? !descending : (columns[index][3] || "").includes("number");
    by = index;
    show();
  }
  function show() {
    const value = columns[by][1];
    const order = [...rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1);
    });
    heads.forEach((head, each) => { if (each === by) head.setAttribute("aria-sort", descending ? "descending" : "ascending"); else head.removeAttribute("aria-sort"); });
    body.replaceChildren(...order.slice(0, shownCount).map((row) => element("tr", {}, columns.map(([, value, text, kind]) => element("td", { class: kind }, text(value(row), row))))));
    const rest = order.length - shownCount;
    if (rest > 0) body.append(element("tr", {}, element("td", { colspan: columns.length },
      element("button", { type: "button", onclick: () => { shownCount += limit; show(); } }, `Show ${count(Math.min(rest, limit))} of ${count(rest)} more`))));
  }
  sort(sorted);
  return element("div", { class: "wide" }, element("table", { id: `${name}-table` }, element("thead", {}, element("tr", {}, heads)), body));
}

/// A table with a field that filters its rows by name.
function filtered(name, columns, rows, sorted, limit) {
  const holder = element("div");
  const field = element("input", { type: "search", id: `${name}-filter`, placeholder: "Part of a name", oninput: show });
  function show() {
    const words = field.value.toLowerCase();
    holder.replaceChildren(table(name, columns, rows.filter((row) => row.name.toLowerCase().includes(words)), sorted, limit));
  }
  show();
  return [element("p", {}, element("label", { for: `${name}-filter` }, "Filter "), field), holder];
}

// MARK: Pictures

/// Functions that redraw the pictures that are as wide as the page.
let fitted = [];

/// Returns a picture that is as wide as the page. `draw` makes the picture for a width in pixels.
function fit(draw) {
  const room = element("div");
  const fill = () => {
    const style = getComputedStyle(main);
    room.replaceChildren(draw(Math.max(240, main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight))));
  };
  fitted.push(fill);
  fill();
  return room;
}

/// Returns at most four round values above 0 and up to `top`, for an axis.
function ticks(top, unit) {
  const [power, part] = unit === "bytes" ? [1024, 0.25] : [10, 0.2];
  const base = power ** Math.floor(Math.log(Math.max(1, top)) / Math.log(power));
  const steps = [part, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].map((factor) => Math.max(1, base * factor));
  const step = steps.find((each) => top / each <= 4);
  return Array.from({ length: Math.floor(top / step) }, (_, index) => step * (index + 1));
}

/// Returns lines across a picture at round values, with the values at the left edge. A second scale has only values, at
/// the right edge.
function axis(top, unit, y, left, right, isSecond) {
  return ticks(top, unit).map((value) => drawing("g", { class: "tick" },
    isSecond ? null : drawing("line", { x1: left, x2: right, y1: y(value), y2: y(value) }),
    drawing("text", { x: isSecond ? right + 5 : left - 5, y: y(value) + 4, "text-anchor": isSecond ? "start" : "end", class: isSecond ? "second" : null }, roundAmount(value, unit))));
}

/// Formats an amount without the decimals that a round value does not need.
const roundAmount = (value, unit) => amount(value, unit).replace(/\.0+ /, " ");

/// Returns bars of equal width, one for each value.
function bars(values, title) {
  const most = Math.max(1, ...values);
  const width = 120 / Math.max(1, values.length);
  return drawing("svg", { viewBox: "0 0 120 40", role: "img", class: "bars", preserveAspectRatio: "none", "aria-label": `${title}: ${values.join(", ")}` },
    values.map((value, index) => drawing("rect", { x: index * width + width * 0.06, width: width * 0.88, y: 40 - (value / most) * 38, height: (value / most) * 38 })));
}
