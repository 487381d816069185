// The findings: a list, and next to it the chosen finding with its picture, source, stacks and advice.

/// Shows findings. An entry has a finding, its picture, and words to put before its verdict in the list. `name`:
/// returns the last part of an entry's fragment. `wanted`: that part for the entry to choose.
function findingList(entries, wanted, name, none) {
  if (!entries.length) {
    main.append(none());
    return;
  }
  const chosen = Math.max(0, entries.findIndex((entry) => name(entry) === wanted));
  const detail = element("article", { class: "detail", "aria-live": "polite" });
  const list = element("ul", { class: "list", "aria-label": "Findings" });
  const buttons = entries.map((entry, index) => element("button", { type: "button", onclick: () => select(index) },
    element("span", { class: `verdict ${entry.finding.certainty}` }, entry.kind ? `${entry.kind}: ` : null, verdictNames[entry.finding.verdict] || entry.finding.verdict),
    element("span", { class: "name" }, entry.finding.title),
    element("span", { class: "quiet" }, `${counted(entry.finding.instances, "instance")}, ${bytes(entry.finding.retainedBytes)}` + (entry.finding.unknownOwner ? ", of unknown origin" : entry.finding.library ? ", a library's" : ""))));
  function select(index) {
    buttons.forEach((button, each) => button.setAttribute("aria-pressed", String(each === index)));
    detail.replaceChildren(...about(entries[index]));
    note(`findings/${name(entries[index])}`);
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

function showFindings(fingerprint) {
  const entries = process.findings.map((finding) => ({ finding, picture: process.pictures[finding.fingerprint] }));
  findingList(entries, fingerprint, (entry) => entry.finding.fingerprint, verdicts);
}

function about({ finding, picture, figures, match }) {
  const parts = [element("h2", {}, picture.headline),
    element("p", { class: "quiet" }, `${counted(finding.instances, "instance")}, ${bytes(finding.retainedBytes)} retained in ${counted(finding.retainedObjects, "block")}`
      + (finding.strength ? `. ${finding.strength === "strong" ? "Strong" : "Weak"} suspicion` : "") + (finding.library ? `. ${finding.unknownOwner ? "Of unknown origin" : "Not caused by the program"}: ${finding.libraryReason}` : ""))];
  if (figures) parts.push(element("p", {}, figures, match ? element("span", { class: "quiet" }, ` ${match}`) : null));
  if (finding.advice.length) parts.push(element("section", { class: "fix" }, element("h3", {}, "Fix"), finding.advice.map((text) => element("p", {}, text))));
  parts.push(element("h3", {}, finding.isCycle ? "The cycle" : "What holds it"), path(finding, picture));
  if (finding.outliving) parts.push(...evidence(finding.outliving));
  const places = excerpts(finding);
  if (places.length) parts.push(element("h3", {}, "Source"), ...places);
  parts.push(...stacks("Allocated by", (finding.stacks || []).map((stack) => [counted(stack.instances, "instance"), stack])));
  for (const object of finding.unreleased || []) {
    parts.push(...stacks(`References to ${object.type} that were never released`, (object.references || []).map((each) => [`${counted(each.count, each.operation)}`, each])));
  }
  parts.push(element("h3", {}, "In full"), element("pre", { class: "text", tabindex: "0" }, picture.text));
  if (process) parts.push(element("h3", {}, "Next"), element("pre", { class: "text", tabindex: "0" }, commands(finding)));
  return parts;
}

/// Returns commands about the program's own object, or about the nearest one if the path has none. For an object that
/// outlived its scope, this is the last one on the path.
function commands(finding) {
  const file = quoted(process.trace.path);
  const steps = finding.outliving ? [...finding.path].reverse() : finding.path;
  const step = steps.find((each) => !each.library) || steps[0];
  if (!step) return `leaktrace analyze ${file}`;
  const type = finding.subject ? finding.subject.type : step.type;
  return [`leaktrace why ${file} ${quoted(type)}`, `leaktrace history ${file} ${quoted(type)}`,
    "# This line hides it, in a file for --suppressions:", `leak:^${step.type}$`].join("\n");
}

/// Returns the objects from the root down. For a cycle, the reference back to the first object follows.
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

/// Returns small plots of the figures of a suspicion: live instances over the run, and their ages.
function evidence(outliving) {
  const plots = [];
  if (outliving.live && outliving.live.length) plots.push(element("figure", { class: "growth" },
    element("figcaption", {}, `Live after each quarter of the run: ${outliving.live.map(count).join(", ")}`), bars(outliving.live, "Live after each quarter of the run")));
  const [youngest, oldest, longest] = [outliving.youngestSeconds, outliving.oldestSeconds, outliving.longestLifeSeconds];
  if (oldest !== null && oldest !== undefined && oldest > 0) {
    const most = Math.max(oldest, longest || 0);
    const x = (value) => (value / most) * 196 + 2;
    plots.push(element("figure", { class: "growth" },
      element("figcaption", {}, youngest === oldest ? `Age ${seconds(oldest)}` : `Age ${seconds(youngest)} to ${seconds(oldest)}`,
        longest ? `; the longest-lived of the ${count(outliving.deaths)} that ended lived ${seconds(longest)}` : ""),
      drawing("svg", { viewBox: "0 0 200 24", role: "img", class: "ages", "aria-label": `Ages from ${seconds(youngest)} to ${seconds(oldest)}` + (longest ? `; others lived ${seconds(longest)} at most` : "") },
        drawing("line", { class: "axis", x1: 2, x2: 198, y1: 20, y2: 20 }),
        drawing("rect", { x: x(youngest), width: Math.max(2, x(oldest) - x(youngest)), y: 8, height: 10 }),
        longest ? drawing("line", { class: "cursor", x1: x(longest), x2: x(longest), y1: 2, y2: 22 }) : null)));
  }
  return plots.length ? [element("h3", {}, "Evidence"), element("div", { class: "plots" }, plots)] : [];
}

function excerpts(finding) {
  const places = [];
  const add = (file, line) => { if (file && line && !places.some((each) => each[0] === file && each[1] === line)) places.push([file, line]); };
  for (const step of finding.path) {
    add(step.ownFile || step.file, step.ownLine || step.line);
    add(step.closureFile, step.closureLine);
    if (step.edge) add(step.edge.closureFile, step.edge.closureLine);
  }
  const sources = process ? process.sources : data.comparison.sources;
  return places.map(([file, line]) => sources.find((each) => each.file === file && each.line === line)).filter(Boolean).map((source) =>
    element("figure", { class: "source" }, sourceCaption(source),
      element("pre", { tabindex: "0" }, source.lines.map((text, index) => element("span", { class: source.first + index === source.line ? "line meant" : "line" },
        element("span", { class: "number" }, String(source.first + index).padStart(5)), ` ${text}\n`)))));
}

/// Returns a place in the source, with buttons to open it and to copy its name.
function sourceCaption({ file, line }) {
  const text = `${file}:${line}`;
  const name = element("span", {}, text);
  const copy = element("button", { type: "button", class: "small", onclick: () => copyText(name, copy) }, "Copy");
  // Only an absolute path identifies the file.
  const open = file.startsWith("/") ? element("a", { class: "small", href: `vscode://file${encodeURI(text)}` }, "Open in VS Code") : null;
  return element("figcaption", {}, name, open, copy);
}

/// Copies an element's text. If the page may not use the clipboard, selects the text so that a person can copy it.
async function copyText(source, button) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

/// Returns stacks that unfold one by one, each with the amount that it made.
function stacks(title, list) {
  if (!list.length) return [];
  return [element("h3", {}, title), ...list.slice(0, 5).map(([made, stack]) => element("details", {},
    element("summary", {}, `${made}: ${(stack.frames[stack.userFrame || 0] || { function: "no stack was recorded" }).function}`),
    element("ol", { class: "frames" }, stack.frames.map((frame) => element("li", { class: frame.kind }, frame.function,
      frame.file ? element("span", { class: "quiet" }, ` ${shortName(frame.file)}${frame.line ? `:${frame.line}` : ""}`) : null)))))];
}
