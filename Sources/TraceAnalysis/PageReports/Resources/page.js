// The page: its views, and the URL fragment that selects one.

/// The process whose report is shown; null in a comparison.
let process = null;
/// Redraws the current picture.
let redraw = null;

/// The views: fragment, title, and function that draws the view. The fourth element returns whether the process has the
/// view.
const views = data.comparison ? [
  ["overview", () => "Overview", comparisonOverview],
  ["findings", () => `Findings (${changedFindings().length})`, comparisonFindings],
  ["flame", () => "Flame graph", (wanted) => flame(data.comparison.flame, wanted)],
  ["allocations", () => "Types and sites", comparisonAllocations],
] : [
  ...(data.series ? [["course", () => `Growth (${data.series.suspects.length})`, growth]] : []),
  ["overview", () => "Overview", overview],
  ["findings", () => `Findings (${process.findings.length})`, showFindings],
  ["flame", () => "Flame graph", (wanted) => flame(process.flame, wanted)],
  ["types", () => "Types", types],
  ["sites", () => "Sites", estimatedSites, () => process.estimates.length > 0],
  ["heap", () => "Heap", heap],
  ["threads", () => "Threads and tasks", threads],
];

/// Returns the fragment of a view of the current process: `#2:findings/…` is a view of the second process.
function address(fragment) {
  const number = data.processes.indexOf(process);
  return data.processes.length > 1 ? `#${number + 1}:${fragment}` : `#${fragment}`;
}

/// Changes the fragment without showing another view.
function note(fragment) {
  // A viewer that shows the page in a frame may forbid this. Then the fragment stays unchanged.
  try { history.replaceState(null, "", address(fragment.split("/").map(encodeURIComponent).join("/"))); } catch { }
}

function choose(number) {
  const chosen = data.processes[number];
  if (!chosen.findings) {
    chosen.report = chosen.document.reports[0];
    chosen.trace = chosen.report.traces[0];
    chosen.findings = (chosen.report.findings || []).filter((finding) => chosen.pictures[finding.fingerprint]);
  }
  process = chosen;
}

/// Returns the process to show first: the first with a finding in the program's own code.
function firstChoice() {
  const number = data.processes.findIndex((_, number) => { choose(number); return process.findings.some((finding) => !finding.library); });
  return Math.max(0, number);
}

const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function show() {
  const [, number, fragment] = /^(?:(\d+):)?(.*)$/s.exec(location.hash.slice(1));
  if (data.processes.length) choose(Math.min(data.processes.length, Math.max(1, Number(number) || firstChoice() + 1)) - 1);
  const [name, ...rest] = fragment.split("/").map(decoded);
  const shown = views.filter(([, , , isOfProcess]) => !isOfProcess || isOfProcess());
  const view = shown.find((each) => each[0] === name) || shown[0];
  document.getElementById("tabs").replaceChildren(...shown.map((each) => element("a", { href: address(each[0]), "aria-current": each === view ? "page" : null }, each[1]())));
  const chooser = document.getElementById("process");
  if (chooser) chooser.value = data.processes.indexOf(process);
  if (process) document.getElementById("program").textContent = visible(shortName(process.trace.program || process.trace.path));
  main.replaceChildren();
  main.className = view[0];
  redraw = null;
  fitted = [];
  view[2](rest.join("/"));
}

/// Decodes a part of the fragment. A fragment typed by hand may be malformed.
function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function begin() {
  const title = document.getElementById("program");
  title.textContent = visible(data.title);
  if (data.processes.length > 1) {
    data.processes.forEach((_, number) => choose(number));
    const chooser = element("select", { id: "process", "aria-label": "Process", onchange: () => { location.hash = `${Number(chooser.value) + 1}:overview`; } },
      data.processes.map((each, number) => element("option", { value: number }, `${shortName(each.trace.program || each.trace.path)} (${each.trace.processID}): ${counted(each.findings.length, "finding")}`)));
    title.after(chooser);
  }
  document.getElementById("footer").textContent = `leaktrace ${data.version}` + (data.processes.length === 1 ? `: ${data.processes[0].document.reports[0].traces[0].path}` : "");
  const theme = document.getElementById("theme");
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); if (redraw) redraw(); });
  nameTheme();
  addEventListener("hashchange", show);
  addEventListener("resize", () => { if (redraw) redraw(); fitted.forEach((fill) => fill()); });
  show();
}
begin();
