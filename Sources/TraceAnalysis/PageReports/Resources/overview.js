// The overview of a process: its verdicts, memory over time, and facts about the run.

const verdictNames = {
  retainCycle: "Retain cycle", lost: "Lost", deinitialised: "Deinitialised, still held", suspended: "Suspended for ever",
  dangling: "Dangling reference", outlived: "Outlived its scope", accumulating: "Accumulating", growing: "Growing",
};

function overview() {
  main.append(element("h2", {}, "Leaks"), verdicts());
  // An inspection knows only one moment.
  if (!process.trace.isInspection) main.append(element("h2", {}, "Memory over time"), chart());
  if (process.report.residentMemory) main.append(element("h2", {}, "Resident memory"), residentMemory(process.report.residentMemory));
  main.append(element("h2", {}, "Run"), facts());
  const remarks = [...(process.report.findingRemarks || []), ...(process.report.namingRemarks || [])];
  if (remarks.length) main.append(element("h2", {}, "Remarks"), element("ul", {}, remarks.map((text) => element("li", {}, text))));
}

function verdicts() {
  const report = process.report;
  const answer = element("p", { class: "answer" }, report.summary);
  if (report.conclusion === "notChecked") return answer;
  const findings = process.findings;
  const row = ([certainty, title]) => {
    const own = findings.filter((finding) => finding.certainty === certainty && !finding.library);
    return own.length ? [element("h3", {}, title), element("ul", { class: "cards" }, own.map(card))] : [];
  };
  const others = ([isUnknown, title]) => {
    const found = findings.filter((finding) => finding.library && finding.unknownOwner === isUnknown);
    return found.length ? [element("h3", {}, title), element("ul", { class: "cards" }, found.map(card))] : [];
  };
  return element("div", {}, answer, [["proven", "Proven"], ["suspected", "Suspected"]].flatMap(row),
    grownCollections(report.grown || []),
    [[false, "Not caused by the program"], [true, "Of unknown origin"]].flatMap(others));
}

/// Returns the collections that grew. They are facts, and accuse no code.
function grownCollections(grown) {
  if (!grown.length) return [];
  return [element("h3", {}, "Grew during the run"), table("grown-collections", [
    ["Collection", (row) => row.holder, named, "name"], ["Elements", (row) => row.type, named, "name"],
    ["Number", (row) => row.elements, count, "number"], ["Holders", (row) => row.holders, count, "number"],
    ["Size", (row) => row.bytes, bytes, "number"],
    ["After each quarter", (row) => row.quarters[3] - row.quarters[2], (_, row) => element("span", { class: "curve" }, bars(row.quarters, "Elements after each quarter of the run")), "number"],
  ], grown, 4, 10)];
}

function card(finding) {
  return element("li", {}, element("a", { href: address(`findings/${finding.fingerprint}`), class: `card ${finding.certainty}` },
    element("span", { class: "verdict" }, verdictNames[finding.verdict] || finding.verdict),
    element("strong", {}, finding.title),
    element("span", { class: "quiet" }, `${counted(finding.instances, "instance")}, ${bytes(finding.retainedBytes)} retained`),
    finding.advice.length ? element("span", { class: "advice" }, finding.advice[0]) : null));
}

/// Returns the parts of the resident memory at the heap image, as one bar.
function residentMemory(memory) {
  const isKnown = memory.freed !== null && memory.freed !== undefined;
  const parts = [["liveBlocks", "live blocks"], ["stacks", "stacks in use"], ...(isKnown ? [["freed", "freed, and kept by the allocator"]] : []),
    ["otherPrivate", isKnown ? "other private memory" : "private memory in no live block"], ["mapped", "code, files and shared memory"]];
  const size = (key) => (key === "otherPrivate" && isKnown ? memory.otherPrivate - memory.freed : memory[key]);
  let x = 0;
  const bar = drawing("svg", { viewBox: "0 0 1000 24", role: "img", class: "parts", preserveAspectRatio: "none",
    "aria-label": parts.map(([key, name]) => `${bytes(size(key))} ${name}`).join(", ") },
  parts.map(([key]) => {
    const width = (size(key) / Math.max(1, memory.resident)) * 1000;
    x += width;
    return drawing("rect", { class: key, x: x - width, width, y: 0, height: 24 });
  }));
  const moments = memory.course || [];
  const course = moments.length > 2 ? [element("h3", {}, `In ${counted(moments.length, "heap image")}`),
    lines(moments.map((each) => each.seconds), [["live", moments.map((each) => each.inUse)], ["freed", moments.map((each) => each.freed)], ["resident", moments.map((each) => each.resident)]], "Live, freed and resident memory from image to image", Math.max(1, ...moments.map((each) => each.resident)), "bytes"),
    element("p", {}, [["live", "inUse", "in live blocks"], ["freed", "freed", "freed and kept"], ["resident", "resident", "resident"]].map(([kind, key, name]) =>
      element("span", { class: `key ${kind}` }, `${name}: ${bytes(moments[0][key])} → ${bytes(moments[moments.length - 1][key])}`)))] : [];
  return element("figure", {}, bar, element("figcaption", {}, element("span", { class: "quiet" }, `${bytes(memory.resident)} at the heap image: `),
    parts.map(([key, name]) => element("span", { class: `key ${key}` }, `${bytes(size(key))} ${name}`)), course,
    memory.remark ? element("p", {}, `${memory.remark[0].toUpperCase()}${memory.remark.slice(1)}.`) : "",
    element("p", { class: "quiet" }, "Private memory in no live block is not leaked: the allocator holds it for later or needs it for itself, or it is variables and memory that was mapped without the allocator.")));
}

function facts() {
  const { trace, report } = process;
  const started = new Date(Number(BigInt(trace.startNanosecondsSince1970) / 1000000n));
  const resident = trace.atExit.residentBytes === null ? "not recorded" : bytes(trace.atExit.residentBytes);
  const live = `${bytes(trace.atExit.liveBytes)} in ${counted(trace.atExit.liveBlocks, "block")}`;
  const file = `${trace.path}, ${bytes(trace.fileBytes)}, ${trace.completeness}`;
  const subject = [["Program", trace.program], ["Process", trace.processID], ["Started", started.toISOString().replace("T", " ").slice(0, 19) + " UTC"]];
  const rows = trace.isInspection ? [...subject, ["Inspected after", seconds(trace.durationSeconds)], ["In use", live], ["Resident", resident], ["Trace", file]] : [
    ...subject, ["Duration", seconds(trace.durationSeconds)], ["Events", count(trace.eventCount)],
    ["Live at exit", live],
    ["Live at the peak", `${bytes(trace.atPeak.liveBytes)} in ${counted(trace.atPeak.liveBlocks, "block")}, after ${seconds(trace.atPeak.seconds)}`],
    ["Resident at exit", resident],
    ["Allocated in all", `${bytes(report.total.allocatedBytes)} in ${counted(report.total.allocatedBlocks, "block")}`],
    ["Temporary", `${bytes(report.total.temporaryBytes)} in ${counted(report.total.temporaryBlocks, "block")}`],
    ["Trace", file],
  ];
  return element("dl", { class: "facts" }, rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]));
}

// MARK: Chart

/// Width in pixels of the space for the values of an axis.
const axisWidth = 58;

function chart() {
  const line = process.timeline;
  const times = line && line.seconds.every((each) => each !== null) ? line.seconds : null;
  if (!times || !times.length) return element("p", { class: "empty" }, "The trace does not say when its events happened.");
  const end = times[times.length - 1] || 1;
  const resident = line.resident.filter((each) => each.seconds !== null);
  const most = Math.max(1, ...line.liveBytes);
  const mostResident = Math.max(most, ...resident.map((each) => each.bytes));
  const readout = element("p", { class: "readout", "aria-live": "off" });
  const usual = `Live bytes, at most ${bytes(most)}` + (resident.length > 1 ? `; resident size, at most ${bytes(Math.max(...resident.map((each) => each.bytes)))}` : "");
  readout.textContent = usual;

  function draw(width) {
    const [height, bottom] = [240, 26];
    const [left, right] = [axisWidth, width - (resident.length > 1 ? axisWidth : 8)];
    const x = (time) => left + (Math.max(0, Math.min(time, end)) / end) * (right - left);
    const scale = (top) => (value) => height - bottom - (value / top) * (height - bottom - 16);
    const [y, residentY] = [scale(most), scale(mostResident)];
    const area = `M${x(0)},${y(0)} ` + times.map((time, index) => `L${x(time).toFixed(1)},${y(line.liveBytes[index]).toFixed(1)}`).join(" ") + ` L${x(end)},${y(0)} Z`;
    const cursor = drawing("line", { class: "cursor", y1: 8, y2: height - bottom, visibility: "hidden" });
    const picture = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart", "aria-label": `Live bytes over ${seconds(end)}, at most ${bytes(most)}` },
      line.pauses.map((each) => drawing("rect", { class: "pause", x: x(each.from), width: Math.max(1, x(each.to === null ? end : each.to) - x(each.from)), y: 8, height: height - bottom - 8 })),
      drawing("path", { d: area, class: "live" }),
      axis(most, "bytes", y, left, right),
      resident.length > 1 ? [drawing("polyline", { class: "resident", points: resident.map((each) => `${x(each.seconds).toFixed(1)},${residentY(each.bytes).toFixed(1)}`).join(" ") }),
        ...axis(mostResident, "bytes", residentY, left, right, true)] : null,
      line.images.filter((each) => each.seconds !== null).map((each) => drawing("g", { class: "mark" },
        drawing("line", { x1: x(each.seconds), x2: x(each.seconds), y1: 8, y2: height - bottom }))),
      line.scopes.map((each) => drawing("rect", { class: "scope", x: x(each.from), width: Math.max(2, x(each.to === null ? end : each.to) - x(each.from)), y: height - bottom, height: 4 },
        drawing("title", {}, `${each.name}, after ${seconds(each.from)}`))),
      timeAxis(left, right, height - bottom, end), cursor);
    picture.addEventListener("pointermove", (event) => {
      const box = picture.getBoundingClientRect();
      const time = (((event.clientX - box.left) / box.width) * width - left) / (right - left) * end;
      const index = Math.max(0, Math.min(times.length - 1, Math.floor((time / end) * times.length)));
      cursor.setAttribute("visibility", "visible");
      cursor.setAttribute("x1", x(times[index]));
      cursor.setAttribute("x2", x(times[index]));
      const scopes = [...new Set(line.scopes.filter((each) => each.from <= times[index] && (each.to === null || each.to >= times[index])).map((each) => each.name))];
      readout.textContent = `After ${seconds(times[index])}: ${bytes(line.liveBytes[index])} live in ${counted(line.liveBlocks[index], "block")}` + (scopes.length ? `; in ${scopes.join(", ")}` : "");
    });
    picture.addEventListener("pointerleave", () => { readout.textContent = usual; cursor.setAttribute("visibility", "hidden"); });
    return picture;
  }

  return element("figure", {}, fit(draw), element("figcaption", {},
    element("span", { class: "key live" }, "live"), resident.length > 1 ? element("span", { class: "key resident" }, "resident (scale at the right)") : null,
    line.images.length ? element("span", { class: "key image" }, counted(line.images.length, "heap image")) : null,
    line.pauses.length ? element("span", { class: "key pause" }, "recording paused") : null,
    line.scopes.length ? element("span", { class: "key scope" }, "scopes" + (line.scopesOmitted ? ` (${count(line.scopesOmitted)} more)` : "")) : null, readout));
}
