// Flame graphs of one run, or of the difference of two builds.

/// Trees prepared for drawing: the children of each node, and sums that include callees, by side and measure. Each tree
/// is prepared once.
const prepared = new WeakMap();

function prepare(tree) {
  const known = prepared.get(tree);
  if (known) return known;
  const sum = (values, scale) => values.map((own) => {
    const sums = Float64Array.from(own, (value) => value * scale);
    for (let node = sums.length - 1; node >= 0; node--) if (tree.parents[node] >= 0) sums[tree.parents[node]] += sums[node];
    return sums;
  });
  const children = tree.parents.map(() => []);
  const outermost = [];
  tree.parents.forEach((parent, node) => (parent < 0 ? outermost : children[parent]).push(node));
  const made = { children, outermost, totals: { new: sum(tree.values, tree.scale || 1) }, orders: new Map() };
  if (tree.before) made.totals.old = sum(tree.before, tree.beforeScale);
  prepared.set(tree, made);
  return made;
}

/// Returns the tree with each function at most once on a path. The allocations of a recursive call, direct or indirect,
/// are added to the function's outermost call.
function withoutRecursion(tree) {
  const [places, parents, nodeFrames] = [[], [], []];
  const known = new Map();
  const sides = [tree.values, ...(tree.before ? [tree.before] : [])];
  const merged = sides.map((values) => values.map(() => []));
  tree.parents.forEach((parent, node) => {
    const frame = tree.nodeFrames[node];
    const owner = parent < 0 ? -1 : places[parent];
    let place = -1;
    for (let each = owner; each >= 0 && place < 0; each = parents[each]) if (nodeFrames[each] === frame) place = each;
    if (place < 0) {
      const key = `${owner}/${frame}`;
      if (!known.has(key)) {
        known.set(key, parents.length);
        parents.push(owner);
        nodeFrames.push(frame);
        merged.forEach((values) => values.forEach((own) => own.push(0)));
      }
      place = known.get(key);
    }
    places.push(place);
    sides.forEach((values, side) => values.forEach((own, measure) => { merged[side][measure][place] += own[node]; }));
  });
  return { ...tree, parents, nodeFrames, values: merged[0], before: tree.before ? merged[1] : undefined };
}

/// Shows a flame graph. `wanted`: the key of the measure to show.
function flame(whole, wanted) {
  if (!whole.measures.length) {
    main.append(element("p", { class: "empty" }, "Nothing was allocated."));
    return;
  }
  let tree = whole;
  let { children, outermost, totals, orders } = prepare(tree);
  const isDifference = Boolean(tree.before);
  let measure = Math.max(0, tree.measures.findIndex((each) => each.key === (wanted || "live-bytes")));
  let side = "new";
  let [focus, selected] = [-1, -1];
  let boxes = [];
  let words = "";
  const rowHeight = 20;
  const canvas = element("canvas", { tabindex: "0", role: "img", "aria-describedby": "flame-info" });
  const info = element("p", { id: "flame-info", class: "readout", "aria-live": "polite" });
  const choice = element("select", { id: "measure", onchange: () => { measure = Number(choice.value); note(`flame/${tree.measures[measure].key}`); showAll(); fillTop(); } },
    tree.measures.map((each, index) => element("option", { value: index, selected: index === measure }, each.title)));
  const search = element("input", { type: "search", id: "search", placeholder: "Part of a name", oninput: () => { words = search.value.toLowerCase(); draw(); } });
  const flip = element("input", { type: "checkbox", id: "flip", onchange: () => draw() });
  const merge = element("input", { type: "checkbox", id: "merge", onchange: () => {
    tree = merge.checked ? withoutRecursion(whole) : whole;
    ({ children, outermost, totals, orders } = prepare(tree));
    showAll();
  } });
  const colouring = element("select", { id: "colouring", onchange: () => draw() }, element("option", { value: "kind" }, "own code and libraries"), element("option", { value: "image" }, "image"));
  const sides = element("select", { id: "side", onchange: () => { side = sides.value; draw(); fillTop(); } }, element("option", { value: "new" }, "new build"), element("option", { value: "old" }, "old build"));
  const reset = element("button", { type: "button", onclick: showAll }, "Show all");
  const top = element("div");
  const room = element("div", {}, canvas);
  const legend = element("p", { class: "legend" });
  main.append(element("h2", {}, isDifference ? "Flame graph of the difference" : "Flame graph"),
    element("p", { class: "controls" }, element("label", { for: "measure" }, "Show "), choice,
      isDifference ? [element("label", { for: "side" }, "Width "), sides] : [element("label", { for: "colouring" }, "Colour "), colouring],
      element("label", { for: "search" }, "Search "), search,
      element("label", {}, flip, " callers below"), element("label", {}, merge, " merge recursion"), reset), legend, info, room,
    element("p", { class: "quiet" }, (isDifference ? "Wider is more in the chosen build; the deeper the red, the larger the part that is new. " : "Wider is more. ")
      + "Click a frame to enlarge it; with the keyboard, use the arrow keys, Enter and Escape. "
      + (tree.omitted ? `${counted(tree.omitted, "small frame")} ${tree.omitted === 1 ? "is" : "are"} joined.` : "")),
    element("h3", {}, "Functions"), top);

  const unit = () => tree.measures[measure].unit;
  const value = (node) => totals[side][measure][node];
  const change = (node) => totals.new[measure][node] - totals.old[measure][node];
  const whole1 = (of) => outermost.reduce((sum, node) => sum + totals[of][measure][node], 0);
  const frame = (node) => tree.frames[tree.nodeFrames[node]];
  const figures = (old, now) => `${amount(old, unit())} → ${amount(now, unit())}` + (now === old ? "" : ` (${now > old ? "+" : ""}${amount(now - old, unit())})`);
  const text = (node) => `${frame(node)[0]}${frame(node)[1] ? ` (${frame(node)[1]})` : ""}: `
    + (isDifference ? figures(totals.old[measure][node], totals.new[measure][node])
      : `${amount(value(node), unit())}, ${((value(node) / Math.max(1, whole1(side))) * 100).toFixed(1)} %`);

  /// Returns the children of a node, or the outermost nodes for a negative number, widest first.
  function ordered(node) {
    const key = `${side}/${measure}/${node}`;
    if (!orders.has(key)) orders.set(key, [...(node < 0 ? outermost : children[node])].sort((a, b) => value(b) - value(a)));
    return orders.get(key);
  }

  function ancestors(node) {
    const found = [];
    for (let each = node; each >= 0; each = tree.parents[each]) found.unshift(each);
    return found;
  }

  function layout(width) {
    boxes = [];
    const place = (parent, left, room, sum, depth) => {
      let x = left;
      for (const node of ordered(parent)) {
        const share = (value(node) / sum) * room;
        if (!(share >= 0.5)) break;
        boxes.push({ node, x, width: share, depth });
        place(node, x, share, value(node), depth + 1);
        x += share;
      }
    };
    if (focus < 0) place(-1, 0, width, Math.max(1, whole1(side)), 0);
    else {
      const chain = ancestors(focus);
      chain.forEach((node, depth) => boxes.push({ node, x: 0, width, depth }));
      place(focus, 0, width, Math.max(1, value(focus)), chain.length);
    }
  }

  /// Shows the meanings of the colours.
  function explain() {
    const byImage = !isDifference && colouring.value === "image";
    const keys = isDifference ? [["more", "more than before"], ["less", "less"]]
      : [...(byImage ? [] : [["own", "the program’s own code"], ["library", "packages and the platform"]]), ["type", "what is allocated"]];
    legend.replaceChildren(...keys.map(([kind, title]) => element("span", { class: `key ${kind}` }, title)),
      ...(byImage ? images().map((name) => element("span", { class: "key swatch" }, swatch(name), shortName(name))) : []),
      ...(words ? [element("span", { class: "key found" }, "found")] : []));
  }

  /// Returns the images with the most visible frames.
  function images() {
    const counts = new Map();
    for (const box of boxes) { const image = frame(box.node)[3]; if (image) counts.set(image, (counts.get(image) || 0) + 1); }
    return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([name]) => name);
  }

  function swatch(name) {
    return drawing("svg", { viewBox: "0 0 12 12", class: "swatch" }, drawing("rect", { width: 12, height: 12, rx: 3, fill: imageColour(name) }));
  }

  const imageColour = (name) => `hsl(${hue(name)} 45% ${isDark() ? 34 : 78}%)`;

  /// Returns the sum of the chosen measure over all stacks with a function that matches the search. Counts each stack
  /// once.
  function matchingShare() {
    let sum = 0;
    const nodes = [...outermost];
    while (nodes.length) {
      const node = nodes.pop();
      if (frame(node)[0].toLowerCase().includes(words)) sum += value(node);
      else nodes.push(...children[node]);
    }
    return sum;
  }

  function showAll() { focus = selected = -1; draw(); }

  /// Returns an image's hue, which depends only on its name, so that it is equal on every page.
  function hue(name) {
    let sum = 7;
    for (const character of name) sum = (sum * 31 + character.codePointAt(0)) % 360;
    return sum;
  }

  function draw() {
    const width = Math.max(200, room.clientWidth);
    layout(width);
    const depth = boxes.reduce((most, box) => Math.max(most, box.depth + 1), 1);
    const height = depth * rowHeight + 2;
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const colours = { own: colour("--own"), library: colour("--library"), type: colour("--type"), omitted: colour("--omitted") };
    const [ink, found, edge, more, less] = ["--frame-ink", "--found", "--ink", "--more", "--less"].map(colour);
    for (const box of boxes) {
      const y = flip.checked ? height - (box.depth + 1) * rowHeight : box.depth * rowHeight;
      box.y = y;
      const [name, , kind, image] = frame(box.node);
      pen.fillStyle = words && name.toLowerCase().includes(words) ? found : isDifference ? colours.omitted
        : colouring.value === "image" && image ? imageColour(image) : colours[kind];
      const [left, wide] = [box.x + 0.5, Math.max(0.5, box.width - 1)];
      pen.fillRect(left, y + 0.5, wide, rowHeight - 1);
      if (isDifference && !(words && name.toLowerCase().includes(words))) {
        const most = Math.max(totals.old[measure][box.node], totals.new[measure][box.node], 1);
        pen.globalAlpha = Math.min(1, Math.abs(change(box.node)) / most);
        pen.fillStyle = change(box.node) > 0 ? more : less;
        pen.fillRect(left, y + 0.5, wide, rowHeight - 1);
        pen.globalAlpha = 1;
      }
      if (box.node === selected) {
        pen.strokeStyle = edge;
        pen.lineWidth = 2;
        pen.strokeRect(box.x + 1.5, y + 1.5, Math.max(0, box.width - 3), rowHeight - 3);
      }
      if (box.width > 24) {
        pen.save();
        pen.beginPath();
        pen.rect(box.x, y, box.width - 3, rowHeight);
        pen.clip();
        pen.fillStyle = ink;
        pen.fillText(name, box.x + 4, y + rowHeight / 2 + 0.5);
        pen.restore();
      }
    }
    explain();
    tell();
  }

  function tell() {
    const matching = words ? boxes.filter((box) => frame(box.node)[0].toLowerCase().includes(words)).length : 0;
    const share = words ? matchingShare() : 0;
    const all = isDifference ? figures(whole1("old"), whole1("new")) : amount(whole1(side), unit());
    info.textContent = (selected >= 0 ? text(selected) : `${tree.measures[measure].title}: ${all}`)
      + (words ? `; ${count(matching)} ${matching === 1 ? "match" : "matches"} in sight, in stacks with ${amount(share, unit())} (${((share / Math.max(1, whole1(side))) * 100).toFixed(1)} %)` : "");
    canvas.setAttribute("aria-label", info.textContent);
  }

  function boxAt(event) {
    const area = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - area.left, event.clientY - area.top];
    return boxes.find((box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + rowHeight);
  }

  canvas.addEventListener("pointermove", (event) => {
    const box = boxAt(event);
    info.textContent = box ? text(box.node) : "";
    canvas.title = box ? frame(box.node)[0] : "";
  });
  canvas.addEventListener("pointerleave", tell);
  canvas.addEventListener("click", (event) => {
    const box = boxAt(event);
    if (box) { focus = selected = box.node; draw(); }
  });
  canvas.addEventListener("keydown", (event) => {
    const own = boxes.find((box) => box.node === selected) || boxes[0];
    if (!own) return;
    const deeper = flip.checked ? "ArrowUp" : "ArrowDown";
    const outer = flip.checked ? "ArrowDown" : "ArrowUp";
    const row = boxes.filter((box) => box.depth === own.depth).sort((a, b) => a.x - b.x);
    let next = null;
    if (event.key === deeper) next = selected < 0 ? own : boxes.filter((box) => tree.parents[box.node] === own.node).sort((a, b) => a.x - b.x)[0];
    else if (event.key === outer) next = boxes.find((box) => box.node === tree.parents[own.node]);
    else if (event.key === "ArrowLeft") next = row[row.indexOf(own) - 1];
    else if (event.key === "ArrowRight") next = row[row.indexOf(own) + 1];
    else if (event.key === "Enter") focus = selected;
    else if (event.key === "Escape") focus = focus < 0 ? -1 : tree.parents[focus];
    else return;
    event.preventDefault();
    if (next) selected = next.node;
    draw();
  });

  /// Shows the figures of each function. A recursive function counts once per stack.
  function fillTop() {
    const { children, outermost, totals } = prepare(whole);
    const sums = new Map();
    const zero = () => ({ own: { new: 0, old: 0 }, total: { new: 0, old: 0 }, depth: 0 });
    const present = Object.keys(totals);
    const visit = (node) => {
      const number = whole.nodeFrames[node];
      const entry = sums.get(number) || zero();
      sums.set(number, entry);
      for (const side of present) {
        const all = totals[side][measure];
        if (entry.depth === 0) entry.total[side] += all[node];
        entry.own[side] += children[node].reduce((rest, child) => rest - all[child], all[node]);
      }
      entry.depth++;
    };
    const stack = [...outermost].reverse().map((node) => [node, false]);
    while (stack.length) {
      const [node, isDone] = stack.pop();
      if (isDone) { sums.get(whole.nodeFrames[node]).depth--; continue; }
      visit(node);
      stack.push([node, true]);
      for (const child of children[node]) stack.push([child, false]);
    }
    const rows = [...sums].filter(([, entry]) => entry.total.new > 0 || entry.total.old > 0)
      .map(([number, entry]) => ({ name: whole.frames[number][0], place: whole.frames[number][1], ...entry }));
    const shown = (sum) => amount(sum, unit());
    const columns = [["Function", (row) => row.name, named, "name"], ["File", (row) => row.place, String, "name"]];
    if (isDifference) columns.push(["Old", (row) => row.total.old, shown, "number"], ["New", (row) => row.total.new, shown, "number"],
      ["Difference", (row) => row.total.new - row.total.old, (sum) => `${sum > 0 ? "+" : ""}${shown(sum)}`, "number"]);
    else columns.push(["Itself", (row) => row.own.new, shown, "number"], ["With callees", (row) => row.total.new, shown, "number"]);
    top.replaceChildren(table("functions", columns, rows, columns.length - 1, 50));
  }

  redraw = draw;
  draw();
  fillTop();
}
