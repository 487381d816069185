// Estimated sites: the call stacks that a light recording sampled, with estimates and their errors.

function estimatedSites() {
  const most = (key) => Math.max(1, ...process.estimates.map((site) => site[key].bytes + site[key].standardError));
  const [mostLive, mostAllocated] = [most("live"), most("allocated")];
  const rows = process.estimates.map((site) => {
    const own = site.frames[site.userFrame === null ? 0 : site.userFrame];
    // The filter compares all names on the stack.
    return { ...site, own, name: site.frames.map((frame) => frame.function).join(" ") };
  });
  const figure = (key, top) => (value, row) => estimate(row[key], top);
  main.append(element("h2", {}, "Estimated sites"),
    element("p", { class: "quiet" }, "A light recording takes the stack of one allocation in so many bytes. From these samples the page estimates how much each place allocated since the start, and how much was still live at the last heap image. The thin line at a bar's end is the standard error: two of three estimates are within one standard error of the truth, 19 of 20 within two."
      + (process.estimatesOmitted ? ` ${counted(process.estimatesOmitted, "smaller site")} ${process.estimatesOmitted === 1 ? "is" : "are"} not shown.` : "")),
    ...filtered("estimates", [
      ["Allocated by", (row) => (row.own ? row.own.function : ""), (name, row) => estimatedPlace(row), "name"],
      ["Live", (row) => row.live.bytes, figure("live", mostLive), "number"],
      ["Live blocks, about", (row) => row.live.blocks, (value, row) => blocks(row.live), "number"],
      ["Allocated", (row) => row.allocated.bytes, figure("allocated", mostAllocated), "number"],
      ["Allocated blocks, about", (row) => row.allocated.blocks, (value, row) => blocks(row.allocated), "number"],
    ], rows, 1, 50));
}

function blocks(sums) {
  return [count(sums.blocks), element("div", { class: "quiet" }, counted(sums.samples, "sample"))];
}

/// Returns an amount and its error as words and as a bar. `most`: the amount of the longest bar.
function estimate(sums, most) {
  if (!sums.bytes) return element("span", { class: "quiet" }, "no sample");
  const error = sums.standardError;
  const x = (value) => (Math.max(0, value) / most) * 120;
  return element("span", { class: "estimate" }, bytes(sums.bytes) + (error ? ` ± ${bytes(error)}` : ""),
    drawing("svg", { viewBox: "0 0 120 10", role: "img", "aria-label": bytes(sums.bytes) + (error ? `, give or take ${bytes(error)}` : "") },
      drawing("rect", { x: 0, width: x(sums.bytes), y: 1, height: 8 }),
      error ? drawing("line", { x1: x(sums.bytes - error), x2: x(sums.bytes + error), y1: 5, y2: 5 }) : null,
      error ? [sums.bytes - error, sums.bytes + error].map((end) => drawing("line", { x1: x(end), x2: x(end), y1: 2, y2: 8 })) : null));
}

/// Returns the program's function that allocates. Unfolds to the whole stack.
function estimatedPlace(row) {
  if (!row.own) return element("span", { class: "quiet" }, "stack not known");
  const place = (frame) => (frame.file ? element("span", { class: "quiet" }, ` ${shortName(frame.file)}${frame.line ? `:${frame.line}` : ""}`) : null);
  // Callers distinguish places that share a function.
  const own = row.frames.filter((frame) => frame.kind === "user").slice(1, 1 + shownCallers).map((frame) => frame.function);
  return element("details", {}, element("summary", {}, named(row.own.function), place(row.own),
    own.length ? element("div", { class: "quiet" }, "called by ", named(own.join(", "))) : null),
    element("ol", { class: "frames" }, row.frames.map((frame) => element("li", { class: frame.kind }, named(frame.function), place(frame)))));
}

const shownCallers = 3;
