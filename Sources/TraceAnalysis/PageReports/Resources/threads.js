// Threads and tasks: allocations by thread, and the tasks that wait.

function threads() {
  const { trace, tasks, report } = process;
  const stood = report.threadStacks || [];
  main.append(element("h2", {}, "Threads"), ...(stood.length ? standing(stood) : [table("threads", [
    ["Thread", (each) => each.name || `thread ${each.osThread}`, (name) => named(name), "name"], ["Events", (each) => each.events, count, "number"],
    ["Allocations", (each) => each.allocations, count, "number"], ["Allocated", (each) => each.allocatedBytes, bytes, "number"],
  ], trace.threads || [], 3, 200)]), element("h2", {}, "Tasks in the heap image"));
  if (!tasks || !tasks.groups.length) {
    main.append(element("p", { class: "empty" }, tasks ? "The heap image has no task." : "There is no heap image."));
    return;
  }
  main.append(element("p", { class: "quiet" }, "Tasks that wait at the same line for the same thing share one row." + (tasks.omitted ? ` ${counted(tasks.omitted, "task")} more ${tasks.omitted === 1 ? "is" : "are"} not shown.` : "")));
  main.append(...tasks.notes.map((note) => element("p", {}, element("strong", { class: "verdict proven" }, note))));
  main.append(table("tasks", [
    ["Function", (each) => each.function || "?", (name, each) => [named(name), element("span", { class: "quiet" }, each.position ? ` ${each.position}` : "")], "name"],
    ["State", (each) => each.state, (text) => text, "name"],
    ["Tasks", (each) => each.count, count, "number"],
    ["Who can resume it", (each) => each.holder, (text, each) => (each.isReachable ? text : element("strong", { class: "verdict proven" }, text)), "name"],
    ["Oldest", (each) => each.oldestSeconds || 0, seconds, "number"], ["Size", (each) => each.bytes, bytes, "number"],
  ], tasks.groups, 2, 100));
}

const activities = { computing: "computing", systemCall: "in a system call" };
const stackEnds = { cut: "… more frames than are kept", noRules: "… code without rules for unwinding", unsound: "… no stack from here on", unknown: "the stack was not unwound" };

/// Returns the threads of an inspected process. Threads with the same stack share an entry, because a pool has many.
function standing(threads) {
  const places = new Map();
  for (const thread of threads) {
    const pool = (thread.name || "").replace(/[\d#_-]+$/, "");
    const place = JSON.stringify([thread.isMain, pool, thread.activity === "computing", thread.stackEnd, thread.frames.map((frame) => [frame.address, frame.function, frame.line])]);
    if (places.has(place)) places.get(place).push(thread);
    else places.set(place, [thread]);
  }
  return [...places.values()].slice(0, 200).map((row) => {
    const [thread] = row;
    const own = thread.frames[thread.userFrame === null || thread.userFrame === undefined ? 0 : thread.userFrame];
    const name = row.length > 1 ? `${row.length} threads${thread.name ? ` "${thread.name}" and alike` : ""} (${row.slice(0, 8).map((each) => each.osThread).join(", ")}${row.length > 8 ? ", …" : ""})`
      : `${thread.isMain ? "main thread" : `thread ${thread.osThread}`}${thread.name ? ` "${thread.name}"` : ""}${thread.ownNumber ? ` (${thread.ownNumber} in its container)` : ""}`;
    return element("details", {}, element("summary", {}, element("strong", {}, name), activities[thread.activity] ? `, ${activities[thread.activity]}` : "", own ? element("span", { class: "quiet" }, ": ", named(own.function), own.file ? ` ${shortName(own.file)}${own.line ? `:${own.line}` : ""}` : "") : ""),
      element("ol", { class: "frames" }, thread.frames.map((frame) => element("li", { class: frame.kind }, named(frame.function),
        frame.file ? element("span", { class: "quiet" }, ` ${shortName(frame.file)}${frame.line ? `:${frame.line}` : ""}`) : null)),
        stackEnds[thread.stackEnd] ? element("li", { class: "quiet" }, stackEnds[thread.stackEnd]) : null));
  });
}
