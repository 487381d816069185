// Types: a table with a curve for each type, and the heap image by holder.

function types() {
  const curves = new Map(process.typeCurves.map((each) => [each.type, each.live]));
  const retained = new Map((process.heap ? process.heap.types : []).map((each) => [each.qualifiedName, each.retained]));
  const rows = process.report.types.map((row) => ({ ...row, curve: curves.get(row.name) || [], retained: retained.get(row.name) }));
  const columns = [["Type", (row) => row.name, named, "name"]];
  if (process.heap) columns.push(["Retained in the heap image", (row) => row.retained || 0, (value, row) => (row.retained === undefined ? "" : bytes(value)), "number"]);
  for (const [title, key, unit] of [["Live", "liveBytes", bytes], ["Live blocks", "liveBlocks", count], ["Peak", "peakBytes", bytes],
    ["Allocated", "allocatedBytes", bytes], ["Allocated blocks", "allocatedBlocks", count], ["Temporary blocks", "temporaryBlocks", count]]) {
    columns.push([title, (row) => row.total[key], unit, "number"]);
  }
  // Growth begins at the middle of the run, because objects from the start of a program are no growth.
  const grown = (row) => (row.curve.length > 1 ? row.curve[row.curve.length - 1] - row.curve[Math.floor(row.curve.length / 2) - 1] : 0);
  columns.push(["Growth in the second half of the run", grown, (value, row) => element("span", { class: "curve" }, row.curve.length ? bars(row.curve, "Live blocks in the course of the run") : null,
    value > 0 ? `+${count(value)}` : count(value)), "number"]);
  main.append(element("h2", {}, "Types"), ...filtered("types", columns, rows, columns.findIndex((column) => column[0] === "Live"), 200));
}

// MARK: Heap image

function heap(wanted) {
  const outline = process.heap;
  if (!outline) {
    main.append(element("p", { class: "empty" }, "There is no heap image."));
    return;
  }
  const [picture, crumbs, info] = [element("div", { class: "treemap" }), element("p", { class: "crumbs" }), element("p", { class: "readout", "aria-live": "polite" })];
  main.append(element("h2", {}, "Who keeps memory alive"),
    element("p", { class: "quiet" }, "Nothing outside a box keeps its contents alive: if the box were freed, its contents would be freed, too. Objects of one type with the same holder share a box. Click a box to enlarge it; with the keyboard, use Tab, Enter and Escape."
      + (outline.omitted ? ` ${counted(outline.omitted, "small box")} ${outline.omitted === 1 ? "is" : "are"} left out.` : "")), crumbs, picture, info);
  treemap(outline, picture, crumbs, info);

  const holder = element("section", { id: "holders" });
  const columns = [["Type", (row) => row.name, (name, row) => element("button", { type: "button", class: "plain", onclick: () => { showHolders(outline, holder, row.index); holder.scrollIntoView({ block: "nearest" }); } }, named(name)), "name"],
    ["Objects", (row) => row.blocks, count, "number"], ["Size", (row) => row.bytes, bytes, "number"], ["Retained", (row) => row.retained, bytes, "number"]];
  main.append(element("h2", {}, "Types of the heap image"),
    element("p", { class: "quiet" }, "Retained: the memory that would be freed with all objects of the type. Choose a type to see who holds it." + (outline.typesOmitted ? ` The table has the ${count(outline.types.length)} largest types of ${count(outline.types.length + outline.typesOmitted)}.` : "")),
    holder, ...filtered("heap-types", columns, outline.types.map((type, index) => ({ ...type, index })), 3, 50));
  const chosen = outline.types.findIndex((type) => type.name === wanted);
  if (chosen >= 0) showHolders(outline, holder, chosen);
}

/// Shows the holders of a type's objects. Each holder unfolds to its own holders.
function showHolders(outline, place, index) {
  const type = outline.types[index];
  note(`heap/${type.name}`);
  const level = (index, chain) => {
    const holders = outline.types[index].holders;
    const rest = outline.types[index].holdersOmitted;
    if (!holders.length) return element("p", { class: "quiet" }, "Nothing that keeps it alive refers to it.");
    return element("ul", {}, holders.map((holder) => {
      const label = [element("strong", {}, holder.type === null ? holder.root : outline.types[holder.type].name), holder.field ? `.${holder.field}` : "",
        element("span", { class: "quiet" }, ` ${counted(holder.references, "reference")}`)];
      if (holder.type === null || chain.includes(holder.type)) return element("li", {}, element("span", { class: "leaf" }, label, holder.type === null ? null : element("span", { class: "quiet" }, ", above already")));
      const more = element("details", {}, element("summary", {}, label));
      more.addEventListener("toggle", () => { if (more.open && more.children.length === 1) more.append(level(holder.type, [...chain, holder.type])); });
      return element("li", {}, more);
    }), rest ? element("li", { class: "quiet" }, `and ${count(rest)} more`) : null);
  };
  const command = `leaktrace why ${quoted(process.trace.path)} ${quoted(type.name)}`;
  place.replaceChildren(element("h3", {}, `Who holds ${type.name}`), element("p", { class: "quiet" }, `${counted(type.blocks, "object")}, ${bytes(type.retained)} retained. Single paths: `, element("code", {}, command)),
    element("div", { class: "holders" }, level(index, [index])));
}

/// Shows nested boxes that are as square as possible.
function treemap(outline, picture, crumbs, info) {
  const tree = outline.tree;
  const sums = Float64Array.from(tree.bytes);
  for (let node = sums.length - 1; node >= 0; node--) if (tree.parents[node] >= 0) sums[tree.parents[node]] += sums[node];
  const children = tree.parents.map(() => []);
  const top = [];
  tree.parents.forEach((parent, node) => (parent < 0 ? top : children[parent]).push(node));
  const name = (node) => tree.names[tree.nodeNames[node]];
  const whole = top.reduce((sum, node) => sum + sums[node], 0);
  const words = (node) => `${name(node)}: ${bytes(sums[node])}, ${((sums[node] / Math.max(1, whole)) * 100).toFixed(1)} %` + (tree.blocks[node] ? `, ${counted(tree.blocks[node], "object")} of its own` : "");
  let focus = -1;

  /// Places boxes in squarified rows (Bruls, Huizing and van Wijk).
  function squares(nodes, x, y, width, height) {
    const found = [];
    const rest = nodes.filter((node) => sums[node] > 0).sort((a, b) => sums[b] - sums[a]);
    let room = rest.reduce((sum, node) => sum + sums[node], 0);
    while (rest.length && width > 0.5 && height > 0.5) {
      const side = Math.min(width, height);
      const scale = (width * height) / room;
      let [row, sum, worst] = [[], 0, Infinity];
      while (rest.length) {
        const next = sum + sums[rest[0]];
        const most = Math.max(...[...row, rest[0]].map((node) => Math.max((side * side * sums[node]) / (next * next * scale), (next * next * scale) / (side * side * sums[node]))));
        if (most > worst) break;
        [sum, worst] = [next, most];
        row.push(rest.shift());
      }
      const thickness = (sum * scale) / side;
      let along = 0;
      for (const node of row) {
        const length = (sums[node] * scale) / thickness;
        found.push(width >= height ? { node, x, y: y + along, width: thickness, height: length } : { node, x: x + along, y, width: length, height: thickness });
        along += length;
      }
      if (width >= height) { x += thickness; width -= thickness; } else { y += thickness; height -= thickness; }
      room -= sum;
    }
    return found;
  }

  function show(node) {
    focus = node;
    const width = Math.max(280, picture.clientWidth || 1200);
    const [height, head] = [width < 600 ? 340 : 460, 20];
    const svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, class: "map" });
    const add = (box, depth) => {
      if (box.width < 3 || box.height < 3) return;
      const inner = children[box.node];
      const group = drawing("g", { class: `depth${depth % 3} ${tree.kinds[tree.nodeNames[box.node]]}`, tabindex: depth === 0 ? "0" : null, role: "button", "aria-label": words(box.node) },
        drawing("rect", { x: box.x + 1, y: box.y + 1, width: Math.max(0, box.width - 2), height: Math.max(0, box.height - 2) }),
        drawing("title", {}, words(box.node)));
      if (box.width > 40 && box.height > 16) {
        const room = Math.floor((box.width - 10) / 6.6);
        const label = name(box.node);
        group.append(drawing("text", { x: box.x + 6, y: box.y + 14 }, label.length > room ? `${label.slice(0, Math.max(1, room - 1))}…` : label));
      }
      group.addEventListener("click", (event) => { event.stopPropagation(); if (inner.length) show(box.node); info.textContent = words(box.node); });
      group.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && inner.length) { event.preventDefault(); event.stopPropagation(); show(box.node); }
      });
      group.addEventListener("pointerenter", () => { info.textContent = words(box.node); });
      group.addEventListener("focus", () => { info.textContent = words(box.node); });
      svg.append(group);
      if (depth < 2 && inner.length && box.height > 2 * head && box.width > 30) {
        // The share of a box's own memory stays empty.
        const share = inner.reduce((sum, each) => sum + sums[each], 0) / sums[box.node];
        const below = box.height - head - 4;
        squares(inner, box.x + 4, box.y + head, (box.width - 8) * share, below).forEach((each) => add(each, depth + 1));
      }
    };
    squares(node < 0 ? top : children[node], 0, 0, width, height).forEach((box) => add(box, 0));
    picture.replaceChildren(svg);
    const chain = [];
    for (let each = node; each >= 0; each = tree.parents[each]) chain.unshift(each);
    crumbs.replaceChildren(element("button", { type: "button", onclick: () => show(-1) }, "The whole heap"),
      ...chain.map((each) => [" › ", element("button", { type: "button", onclick: () => show(each) }, name(each))]).flat());
    info.textContent = node < 0 ? `${bytes(whole)} in the heap image` : words(node);
  }
  picture.addEventListener("keydown", (event) => { if (event.key === "Escape" && focus >= 0) show(tree.parents[focus]); });
  redraw = () => show(focus);
  show(-1);
}
