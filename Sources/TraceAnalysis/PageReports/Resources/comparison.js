// The comparison of two builds: figures, findings, and changes of allocations.

const figureNames = {
  liveBytes: "Live bytes", liveBlocks: "Live blocks", peakBytes: "Peak bytes", allocatedBytes: "Allocated bytes", allocatedBlocks: "Allocations",
  temporaryBlocks: "Temporary blocks", retains: "Retains", releases: "Releases", instances: "Instances", retainedBytes: "Retained bytes", growth: "Growth",
};
const kindNames = { new: "New", worse: "Worse", better: "Better", gone: "Gone" };

function comparisonOverview() {
  const { diff, words } = data.comparison;
  main.append(element("h2", {}, words.headline));
  if (diff.gates.length) main.append(element("ul", { class: "gates" }, words.gates.map((text, index) => element("li", { class: diff.gates[index].hasFailed ? "failed" : "" }, text))));
  const entries = changedFindings();
  const kinds = Object.keys(kindNames).filter((kind) => entries.some((entry) => entry.change.kind === kind));
  for (const kind of kinds) {
    main.append(element("h3", {}, kindNames[kind]), element("ul", { class: "cards" }, entries.filter((entry) => entry.change.kind === kind).map((entry) =>
      element("li", {}, element("a", { href: address(`findings/${entry.index}`), class: `card ${kind === "gone" || kind === "better" ? "good" : entry.finding.certainty}` },
        element("span", { class: "verdict" }, verdictNames[entry.finding.verdict] || entry.finding.verdict),
        element("strong", {}, entry.finding.title), element("span", { class: "quiet" }, entry.figures))))));
  }
  main.append(element("h2", {}, "In all"), figureTable("totals", diff.totals));
  const sides = [["Old", diff.old, words.old], ["New", diff.new, words.new]];
  main.append(element("h2", {}, "Runs"), element("dl", { class: "facts" }, sides.flatMap(([name, side, text]) => [element("dt", {}, name),
    element("dd", {}, text, side.runs.map((run) => element("div", { class: "quiet" }, `${run.path}, ${counted(run.events, "event")}`)))])));
  if (words.unit) main.append(element("p", {}, words.unit));
  const remarks = diff.remarks;
  if (remarks.length) main.append(element("h2", {}, "Remarks"), element("ul", {}, remarks.map((text) => element("li", {}, text))));
  if (diff.renames.length) main.append(element("h2", {}, "Assumed to be renamed"), element("ul", {}, diff.renames.map((each) => element("li", {}, `${each.old} → ${each.new}`))));
}

function figureTable(name, figures) {
  const text = (value, row) => amount(value, row.figure.includes("Bytes") ? "bytes" : "count");
  return table(name, [["Figure", (row) => figureNames[row.figure] || row.figure, String, "name"],
    ["Old", (row) => row.old.median, text, "number"], ["New", (row) => row.new.median, text, "number"],
    ["Difference", (row) => row.difference, (value, row) => `${value > 0 ? "+" : ""}${text(value, row)}`, "number"],
    ["Judgement", (row) => row.direction, (word) => element("span", { class: `direction ${word}` }, word === "same" ? "as before" : word), "name"]], figures, 3);
}

function changedFindings() {
  const { diff, pictures, words } = data.comparison;
  return (diff.findings ? diff.findings.changes : []).map((change, index) => ({
    index, change, finding: change.new || change.old, picture: pictures[index], kind: kindNames[change.kind],
    figures: words.findings[index].figures, match: words.findings[index].match,
  }));
}

function comparisonFindings(wanted) {
  const { diff } = data.comparison;
  findingList(changedFindings(), wanted, (entry) => String(entry.index), () => element("p", { class: "empty" },
    diff.findings ? "The findings are as they were." : `Leaks were not compared: ${diff.findingsUnavailable}`));
}

function allocationChanges(name, title, section, words) {
  main.append(element("h2", {}, title));
  if (!section.changes.length) {
    main.append(element("p", { class: "empty" }, "None changed."));
    return;
  }
  const rows = section.changes.map((change, index) => ({ ...change, words: words[index] }));
  main.append(...filtered(name, [
    ["Change", (row) => kindNames[row.kind], (text, row) => element("span", { class: `direction ${row.kind === "new" || row.kind === "worse" ? "worse" : "better"}` }, text), "kind"],
    ["Name", (row) => row.name, (text, row) => [named(text), row.oldName && row.oldName !== text ? element("div", { class: "quiet" }, `was ${row.oldName}`) : null, callers(row.frames.length && row.frames[0].function === row.name ? row.frames.slice(1) : row.frames)], "name"],
    ["Figures", (row) => row.words, String, "name"],
    ["Part of the whole", (row) => row.weight, (value) => `${(value * 100).toFixed(1)} %`, "number"],
  ], rows, 3, 50), element("p", { class: "quiet" }, `${count(section.unchanged)} unchanged.`));
}

function callers(frames) {
  if (!frames.length) return null;
  return element("details", {}, element("summary", {}, frames[0].function), element("ol", { class: "frames" }, frames.map((frame) => element("li", {}, frame.function,
    frame.file ? element("span", { class: "quiet" }, ` ${shortName(frame.file)}${frame.line ? `:${frame.line}` : ""}`) : null))));
}

function comparisonAllocations() {
  const { diff, words } = data.comparison;
  allocationChanges("type-changes", "Types", diff.types, words.types);
  allocationChanges("site-changes", diff.listsHolders ? "Types and holders" : "Allocation sites", diff.sites, words.sites);
  if (diff.estimatedSites) allocationChanges("estimate-changes", "Estimated sites", diff.estimatedSites, words.estimatedSites);
}
