"use strict";
// Shows a report's data. All text goes into the page as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const report = data.report.reports[0];
  const trace = report.traces[0];
  const findings = (report.findings || []).filter((finding) => data.pictures[finding.fingerprint]);
  const main = document.getElementById("main");

  // MARK: Elements

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
      else made.setAttribute(key, value === true ? "" : value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined) made.append(child instanceof Node ? child : document.createTextNode(child));
    }
  }

  // MARK: Numbers

  function bytes(value) {
    if (value < 1024) return `${value} B`;
    let scaled = value;
    for (const unit of ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]) {
      scaled /= 1024;
      if (scaled < 1023.5 || unit === "EiB") return `${scaled.toFixed(scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0)} ${unit}`;
    }
    return "";
  }

  const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
  const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
  const amount = (value, unit) => (unit === "bytes" ? bytes(value) : count(value));

  function seconds(value) {
    if (value === null || value === undefined) return "?";
    if (value >= 7200) return `${(value / 3600).toFixed(1)} h`;
    if (value >= 120) return `${(value / 60).toFixed(1)} min`;
    return value >= 1 ? `${value.toFixed(1)} s` : `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;
  }

  const shortName = (path) => path.split("/").pop() || path;

  // MARK: Views

  const views = [
    ["overview", "Overview", overview],
    ["findings", `Findings (${findings.length})`, showFindings],
    ["flame", "Flame graph", flame],
    ["types", "Types", types],
  ];

  function show() {
    const [name, ...rest] = decodeURIComponent(location.hash.slice(1)).split("/");
    const view = views.find((each) => each[0] === name) || views[0];
    for (const link of document.querySelectorAll("#tabs a")) {
      if (link.hash === `#${view[0]}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    main.replaceChildren();
    main.className = view[0];
    view[2](rest.join("/"));
  }

  /// Changes the fragment without a new view.
  function note(fragment) {
    history.replaceState(null, "", `#${fragment}`);
  }

  // MARK: Overview

  const verdictNames = {
    retainCycle: "Retain cycle", lost: "Lost", deinitialised: "Deinitialised, still held", suspended: "Suspended for ever",
    dangling: "Dangling reference", outlived: "Outlived its scope", accumulating: "Accumulating", growing: "Growing",
  };

  function overview() {
    main.append(element("h2", {}, "Leaks"), verdicts(), element("h2", {}, "Memory over time"), chart(), element("h2", {}, "Run"), facts());
    const remarks = [...(report.findingRemarks || []), ...(report.namingRemarks || [])];
    if (remarks.length) main.append(element("h2", {}, "Remarks"), element("ul", {}, remarks.map((text) => element("li", {}, text))));
    if ((trace.threads || []).length) main.append(element("h2", {}, "Threads"), threads());
  }

  function verdicts() {
    if (report.findings === null || report.findings === undefined) return element("p", { class: "empty" }, `Leaks were not checked: ${report.findingsUnavailable}`);
    const none = findings.some((finding) => !finding.library) ? null : element("p", { class: "empty" }, "No leaks were found.");
    const row = ([certainty, title]) => {
      const own = findings.filter((finding) => finding.certainty === certainty && !finding.library);
      return own.length ? [element("h3", {}, title), element("ul", { class: "cards" }, own.map(card))] : [];
    };
    const libraries = findings.filter((finding) => finding.library);
    return element("div", {}, none, [["proven", "Proven"], ["suspected", "Suspected"]].flatMap(row),
      libraries.length ? [element("h3", {}, "Not caused by the program"), element("ul", { class: "cards" }, libraries.map(card))] : []);
  }

  function card(finding) {
    return element("li", {}, element("a", { href: `#findings/${finding.fingerprint}`, class: `card ${finding.certainty}` },
      element("span", { class: "verdict" }, verdictNames[finding.verdict] || finding.verdict),
      element("strong", {}, finding.title),
      element("span", { class: "quiet" }, `${counted(finding.instances, "instance")}, ${bytes(finding.retainedBytes)} retained`)));
  }

  function facts() {
    const started = new Date(Number(BigInt(trace.startNanosecondsSince1970) / 1000000n));
    const rows = [
      ["Program", trace.program], ["Process", trace.processID], ["Started", started.toISOString().replace("T", " ").slice(0, 19) + " UTC"],
      ["Duration", seconds(trace.durationSeconds)], ["Events", count(trace.eventCount)],
      ["Live at exit", `${bytes(trace.atExit.liveBytes)} in ${counted(trace.atExit.liveBlocks, "block")}`],
      ["Live at the peak", `${bytes(trace.atPeak.liveBytes)} in ${counted(trace.atPeak.liveBlocks, "block")}, after ${seconds(trace.atPeak.seconds)}`],
      ["Resident at exit", trace.atExit.residentBytes === null ? "not recorded" : bytes(trace.atExit.residentBytes)],
      ["Allocated in all", `${bytes(report.total.allocatedBytes)} in ${counted(report.total.allocatedBlocks, "block")}`],
      ["Temporary", `${bytes(report.total.temporaryBytes)} in ${counted(report.total.temporaryBlocks, "block")}`],
      ["Trace", `${trace.path}, ${bytes(trace.fileBytes)}, ${trace.completeness}`],
    ];
    return element("dl", { class: "facts" }, rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]));
  }

  function chart() {
    const line = data.timeline;
    const times = line && line.seconds.every((each) => each !== null) ? line.seconds : null;
    if (!times || !times.length) return element("p", { class: "empty" }, "The trace does not say when its events happened.");
    const [width, height, left, bottom] = [900, 200, 8, 22];
    const end = times[times.length - 1] || 1;
    const resident = line.resident.filter((each) => each.seconds !== null);
    const most = Math.max(1, ...line.liveBytes);
    const mostResident = Math.max(most, ...resident.map((each) => each.bytes));
    const x = (time) => left + (Math.max(0, Math.min(time, end)) / end) * (width - 2 * left);
    const y = (value, top) => height - bottom - (value / top) * (height - bottom - 16);
    const area = `M${x(0)},${y(0, most)} ` + times.map((time, index) => `L${x(time).toFixed(1)},${y(line.liveBytes[index], most).toFixed(1)}`).join(" ") + ` L${x(end)},${y(0, most)} Z`;
    const picture = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart", "aria-label": `Live bytes over ${seconds(end)}, at most ${bytes(most)}` },
      drawing("path", { d: area, class: "live" }),
      resident.length > 1 ? drawing("polyline", { class: "resident", points: resident.map((each) => `${x(each.seconds).toFixed(1)},${y(each.bytes, mostResident).toFixed(1)}`).join(" ") }) : null,
      line.images.filter((each) => each.seconds !== null).map((each) => drawing("g", { class: "mark" },
        drawing("line", { x1: x(each.seconds), x2: x(each.seconds), y1: 8, y2: height - bottom }))),
      drawing("line", { class: "axis", x1: left, x2: width - left, y1: height - bottom, y2: height - bottom }),
      drawing("text", { x: left, y: height - 6 }, "0 s"), drawing("text", { x: width - left, y: height - 6, "text-anchor": "end" }, seconds(end)));
    const cursor = drawing("line", { class: "cursor", y1: 8, y2: height - bottom, visibility: "hidden" });
    picture.append(cursor);
    const readout = element("p", { class: "readout", "aria-live": "off" });
    const usual = `Live bytes, at most ${bytes(most)}` + (resident.length > 1 ? `; resident size, at most ${bytes(Math.max(...resident.map((each) => each.bytes)))}` : "") + (line.images.length ? "; the dashed line is the heap image" : "");
    readout.textContent = usual;
    picture.addEventListener("pointermove", (event) => {
      const box = picture.getBoundingClientRect();
      const time = (((event.clientX - box.left) / box.width) * width - left) / (width - 2 * left) * end;
      const index = Math.max(0, Math.min(times.length - 1, Math.floor((time / end) * times.length)));
      cursor.setAttribute("visibility", "visible");
      cursor.setAttribute("x1", x(times[index]));
      cursor.setAttribute("x2", x(times[index]));
      readout.textContent = `After ${seconds(times[index])}: ${bytes(line.liveBytes[index])} live in ${counted(line.liveBlocks[index], "block")}`;
    });
    picture.addEventListener("pointerleave", () => { readout.textContent = usual; cursor.setAttribute("visibility", "hidden"); });
    return element("figure", {}, picture, element("figcaption", {},
      element("span", { class: "key live" }, "live"), resident.length > 1 ? element("span", { class: "key resident" }, "resident (own scale)") : null, readout));
  }

  function threads() {
    const rows = [...trace.threads].sort((a, b) => b.allocatedBytes - a.allocatedBytes);
    return table("threads", [
      ["Thread", (each) => each.osThread, String, "number"], ["Events", (each) => each.events, count, "number"],
      ["Allocations", (each) => each.allocations, count, "number"], ["Allocated", (each) => each.allocatedBytes, bytes, "number"],
    ], rows, 3);
  }

  // MARK: Findings

  function showFindings(fingerprint) {
    if (!findings.length) {
      main.append(verdicts());
      return;
    }
    const chosen = Math.max(0, findings.findIndex((finding) => finding.fingerprint === fingerprint));
    const detail = element("article", { class: "detail", "aria-live": "polite" });
    const list = element("ul", { class: "list", "aria-label": "Findings" });
    const buttons = findings.map((finding, index) => element("button", { type: "button", onclick: () => select(index) },
      element("span", { class: `verdict ${finding.certainty}` }, verdictNames[finding.verdict] || finding.verdict),
      element("span", { class: "name" }, finding.title),
      element("span", { class: "quiet" }, `${counted(finding.instances, "instance")}, ${bytes(finding.retainedBytes)}` + (finding.library ? ", a library's" : ""))));
    function select(index) {
      buttons.forEach((button, each) => button.setAttribute("aria-pressed", String(each === index)));
      detail.replaceChildren(...about(findings[index]));
      note(`findings/${findings[index].fingerprint}`);
    }
    list.append(...buttons.map((button) => element("li", {}, button)));
    list.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      const next = buttons[buttons.indexOf(document.activeElement) + step];
      if (step && next) { event.preventDefault(); next.focus(); next.click(); }
    });
    main.append(list, detail);
    select(chosen);
  }

  function about(finding) {
    const picture = data.pictures[finding.fingerprint];
    const parts = [element("h2", {}, picture.headline),
      element("p", { class: "quiet" }, `${counted(finding.instances, "instance")}, ${bytes(finding.retainedBytes)} retained in ${counted(finding.retainedObjects, "block")}`
        + (finding.strength ? `. ${finding.strength === "strong" ? "Strong" : "Weak"} suspicion` : "") + (finding.library ? `. Not caused by the program: ${finding.libraryReason}` : ""))];
    if (finding.advice.length) parts.push(element("section", { class: "fix" }, element("h3", {}, "Fix"), finding.advice.map((text) => element("p", {}, text))));
    parts.push(element("h3", {}, finding.isCycle ? "The cycle" : "What holds it"), path(finding, picture));
    if (finding.outliving && finding.outliving.live && finding.outliving.live.length) parts.push(growth(finding.outliving.live));
    const places = excerpts(finding);
    if (places.length) parts.push(element("h3", {}, "Source"), ...places);
    parts.push(...stacks(finding));
    parts.push(element("h3", {}, "In full"), element("pre", { class: "text", tabindex: "0" }, picture.text));
    parts.push(element("h3", {}, "Next"), element("pre", { class: "text", tabindex: "0" }, commands(finding)));
    return parts;
  }

  /// Quoted for a shell.
  const quoted = (text) => (/^[\w./:+@%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  /// The program's own object, as far as there is one: of what outlived its scope the last on the path.
  function commands(finding) {
    const steps = finding.outliving ? [...finding.path].reverse() : finding.path;
    const step = steps.find((each) => !each.library) || steps[0];
    if (!step) return `leaktrace analyze ${quoted(trace.path)}`;
    const type = finding.subject ? finding.subject.type : step.type;
    return [`leaktrace why ${quoted(trace.path)} ${quoted(type)}`, `leaktrace history ${quoted(trace.path)} ${quoted(type)}`,
      "# This line hides it, in a file for --suppressions:", `leak:^${step.type}$`].join("\n");
  }

  /// The objects from the root down; of a cycle with the reference back to the first.
  function path(finding, picture) {
    const rows = [];
    if (picture.root) rows.push(element("li", { class: "root" }, element("span", { class: "box" }, picture.root)));
    picture.rows.forEach((row, index) => {
      const leads = row.reference || (index > 0 || picture.root ? " " : null);
      rows.push(element("li", { class: `${row.suspect ? "suspect" : ""} ${row.folded || row.library ? "library" : ""}` },
        leads === null ? null : element("span", { class: "reference" }, `↓ ${leads}${row.suspect ? "  (the reference to let go)" : ""}`),
        element("span", { class: "box" }, element("strong", {}, row.name), row.function ? element("span", {}, `made in ${row.function}`) : null,
          row.position ? element("span", { class: "quiet" }, row.position) : null)));
    });
    if (picture.back !== null) rows.push(element("li", { class: picture.backSuspect ? "suspect" : "" },
      element("span", { class: "reference" }, `↺ ${picture.back}, back to ${picture.rows[0].name}${picture.backSuspect ? "  (the reference to let go)" : ""}`)));
    return element("ol", { class: `path ${finding.isCycle ? "cycle" : ""}` }, rows);
  }

  function growth(live) {
    const most = Math.max(1, ...live);
    return element("figure", { class: "growth" }, element("figcaption", {}, `Live after each quarter of the run: ${live.map(count).join(", ")}`),
      drawing("svg", { viewBox: "0 0 120 40", role: "img", "aria-label": `Live after each quarter: ${live.join(", ")}` },
        live.map((value, index) => drawing("rect", { x: index * 30 + 2, width: 26, y: 40 - (value / most) * 38, height: (value / most) * 38 }))));
  }

  function excerpts(finding) {
    const places = [];
    const add = (file, line) => { if (file && line && !places.some((each) => each[0] === file && each[1] === line)) places.push([file, line]); };
    for (const step of finding.path) {
      add(step.ownFile || step.file, step.ownLine || step.line);
      add(step.closureFile, step.closureLine);
      if (step.edge) add(step.edge.closureFile, step.edge.closureLine);
    }
    return places.map(([file, line]) => data.sources.find((each) => each.file === file && each.line === line)).filter(Boolean).map((source) =>
      element("figure", { class: "source" }, element("figcaption", {}, `${source.file}:${source.line}`),
        element("pre", { tabindex: "0" }, source.lines.map((text, index) => element("span", { class: source.first + index === source.line ? "line meant" : "line" },
          element("span", { class: "number" }, String(source.first + index).padStart(5)), ` ${text}\n`)))));
  }

  function stacks(finding) {
    const list = finding.stacks || [];
    if (!list.length) return [];
    return [element("h3", {}, "Allocated by"), ...list.slice(0, 5).map((stack) => element("details", {},
      element("summary", {}, `${counted(stack.instances, "instance")}: ${(stack.frames[stack.userFrame || 0] || { function: "no stack was recorded" }).function}`),
      element("ol", { class: "frames" }, stack.frames.map((frame) => element("li", { class: frame.kind }, frame.function,
        frame.file ? element("span", { class: "quiet" }, ` ${shortName(frame.file)}${frame.line ? `:${frame.line}` : ""}`) : null)))))];
  }

  // MARK: Tables

  /// A sortable table. Columns: title, value of a row, text of a value, class.
  function table(name, columns, rows, sorted, limit) {
    const body = element("tbody");
    const heads = columns.map(([title, , , kind], index) => element("th", { scope: "col", class: kind },
      element("button", { type: "button", onclick: () => sort(index) }, title)));
    let [by, descending] = [-1, false];
    function sort(index) {
      descending = by === index ? !descending : columns[index][3] === "number";
      by = index;
      const value = columns[index][1];
      const order = [...rows].sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1);
      });
      heads.forEach((head, each) => { if (each === by) head.setAttribute("aria-sort", descending ? "descending" : "ascending"); else head.removeAttribute("aria-sort"); });
      const shown = limit ? order.slice(0, limit) : order;
      body.replaceChildren(...shown.map((row) => element("tr", {}, columns.map(([, value, text, kind]) => element("td", { class: kind }, text(value(row)))))));
      if (shown.length < order.length) body.append(element("tr", {}, element("td", { colspan: columns.length, class: "quiet" }, `${count(order.length - shown.length)} more`)));
    }
    sort(sorted);
    return element("div", { class: "wide" }, element("table", { id: name }, element("thead", {}, element("tr", {}, heads)), body));
  }

  function types() {
    const columns = [["Type", (row) => row.name, String, "name"]];
    for (const [title, key, unit] of [["Live", "liveBytes", bytes], ["Live blocks", "liveBlocks", count], ["Peak", "peakBytes", bytes],
      ["Allocated", "allocatedBytes", bytes], ["Allocated blocks", "allocatedBlocks", count], ["Temporary blocks", "temporaryBlocks", count]]) {
      columns.push([title, (row) => row.total[key], unit, "number"]);
    }
    const holder = element("div");
    const field = element("input", { type: "search", id: "filter", placeholder: "Part of a name" });
    const fillTable = () => {
      const words = field.value.toLowerCase();
      holder.replaceChildren(table("types", columns, report.types.filter((row) => row.name.toLowerCase().includes(words)), 1, 500));
    };
    field.addEventListener("input", fillTable);
    main.append(element("h2", {}, "Types"), element("p", {}, element("label", { for: "filter" }, "Filter "), field), holder);
    fillTable();
  }

  // MARK: Flame graph

  const tree = data.flame;
  const totals = tree.measures.map((measure, index) => {
    const sums = Float64Array.from(tree.values[index]);
    for (let node = sums.length - 1; node >= 0; node--) if (tree.parents[node] >= 0) sums[tree.parents[node]] += sums[node];
    return sums;
  });
  const children = tree.parents.map(() => []);
  const outermost = [];
  tree.parents.forEach((parent, node) => (parent < 0 ? outermost : children[parent]).push(node));

  function flame(wanted) {
    if (!tree.measures.length) {
      main.append(element("p", { class: "empty" }, "Nothing was allocated."));
      return;
    }
    let measure = Math.max(0, tree.measures.findIndex((each) => each.key === (wanted || "live-bytes")));
    let focus = -1;
    let selected = -1;
    let boxes = [];
    let words = "";
    const rowHeight = 20;
    const canvas = element("canvas", { tabindex: "0", role: "img", "aria-describedby": "flame-info" });
    const info = element("p", { id: "flame-info", class: "readout", "aria-live": "polite" });
    const choice = element("select", { id: "measure", onchange: () => { measure = Number(choice.value); note(`flame/${tree.measures[measure].key}`); focus = selected = -1; draw(); fillTop(); } },
      tree.measures.map((each, index) => element("option", { value: index, selected: index === measure }, each.title)));
    const search = element("input", { type: "search", id: "search", placeholder: "Part of a name", oninput: () => { words = search.value.toLowerCase(); draw(); } });
    const flip = element("input", { type: "checkbox", id: "flip", onchange: () => draw() });
    const reset = element("button", { type: "button", onclick: () => { focus = selected = -1; draw(); } }, "Show all");
    const top = element("div");
    const room = element("div");
    room.append(canvas);
    main.append(element("h2", {}, "Flame graph"),
      element("p", { class: "controls" }, element("label", { for: "measure" }, "Show "), choice, element("label", { for: "search" }, "Search "), search,
        element("label", {}, flip, " callers below"), reset), info, room,
      element("p", { class: "quiet" }, "Wider is more. Click a frame to enlarge it; with the keyboard, use the arrow keys, Enter and Escape. "
        + (tree.omitted ? `${count(tree.omitted)} small frames are joined.` : "")),
      element("h3", {}, "Functions"), top);

    const value = (node) => totals[measure][node];
    const whole = () => outermost.reduce((sum, node) => sum + value(node), 0);
    const frame = (node) => tree.frames[tree.nodeFrames[node]];
    const text = (node) => `${frame(node)[0]}${frame(node)[1] ? ` (${frame(node)[1]})` : ""}: ${amount(value(node), tree.measures[measure].unit)}, ${((value(node) / whole()) * 100).toFixed(1)} %`;

    function ancestors(node) {
      const found = [];
      for (let each = node; each >= 0; each = tree.parents[each]) found.unshift(each);
      return found;
    }

    function layout(width) {
      boxes = [];
      const place = (nodes, left, room, sum, depth) => {
        let x = left;
        for (const node of [...nodes].sort((a, b) => value(b) - value(a))) {
          const share = (value(node) / sum) * room;
          if (share < 0.5) continue;
          boxes.push({ node, x, width: share, depth });
          if (children[node].length) place(children[node], x, share, value(node), depth + 1);
          x += share;
        }
      };
      if (focus < 0) place(outermost, 0, width, Math.max(1, whole()), 0);
      else {
        const chain = ancestors(focus);
        chain.forEach((node, depth) => boxes.push({ node, x: 0, width, depth }));
        place(children[focus], 0, width, Math.max(1, value(focus)), chain.length);
      }
    }

    function draw() {
      const width = Math.max(200, room.clientWidth);
      layout(width);
      const depth = Math.max(1, ...boxes.map((box) => box.depth + 1));
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
      const [ink, found, edge] = [colour("--frame-ink"), colour("--found"), colour("--ink")];
      for (const box of boxes) {
        const y = flip.checked ? height - (box.depth + 1) * rowHeight : box.depth * rowHeight;
        box.y = y;
        const name = frame(box.node)[0];
        pen.fillStyle = words && name.toLowerCase().includes(words) ? found : colours[frame(box.node)[2]];
        pen.fillRect(box.x + 0.5, y + 0.5, Math.max(0.5, box.width - 1), rowHeight - 1);
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
      tell();
    }

    function tell() {
      const matching = words ? boxes.filter((box) => frame(box.node)[0].toLowerCase().includes(words)).length : 0;
      info.textContent = (selected >= 0 ? text(selected) : `${tree.measures[measure].title}: ${amount(whole(), tree.measures[measure].unit)}`) + (words ? `; ${counted(matching, "match").replace("matchs", "matches")} in sight` : "");
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

    /// Figures by function; a function that calls itself counts once for a stack.
    function fillTop() {
      const sums = new Map();
      const path = [];
      const visit = (node) => {
        const number = tree.nodeFrames[node];
        const entry = sums.get(number) || { own: 0, total: 0, depth: 0 };
        sums.set(number, entry);
        if (entry.depth === 0) entry.total += value(node);
        entry.own += tree.values[measure][node];
        entry.depth++;
        path.push(node);
      };
      const stack = [...outermost].reverse().map((node) => [node, false]);
      while (stack.length) {
        const [node, isDone] = stack.pop();
        if (isDone) { sums.get(tree.nodeFrames[node]).depth--; continue; }
        visit(node);
        stack.push([node, true]);
        for (const child of children[node]) stack.push([child, false]);
      }
      const rows = [...sums].filter(([, entry]) => entry.total > 0).map(([number, entry]) => ({ name: tree.frames[number][0], place: tree.frames[number][1], kind: tree.frames[number][2], ...entry }));
      const unit = (sum) => amount(sum, tree.measures[measure].unit);
      top.replaceChildren(table("functions", [["Function", (row) => row.name, String, "name"], ["File", (row) => row.place, String, "name"],
        ["Itself", (row) => row.own, unit, "number"], ["With callees", (row) => row.total, unit, "number"]], rows, 3, 50));
    }

    flame.redraw = draw;
    draw();
    fillTop();
  }

  // MARK: Page

  document.getElementById("program").textContent = shortName(trace.program || trace.path);
  document.getElementById("tabs").append(...views.map(([name, title]) => element("a", { href: `#${name}` }, title)));
  document.getElementById("footer").textContent = `leaktrace ${data.version}: ${trace.path}`;
  const theme = document.getElementById("theme");
  const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); if (main.className === "flame") flame.redraw(); });
  nameTheme();
  addEventListener("hashchange", show);
  addEventListener("resize", () => { if (main.className === "flame") flame.redraw(); });
  show();
})();
