// Threads and tasks: who allocates, and what waits.

function threads() {
  const { trace, tasks } = process;
  main.append(element("h2", {}, "Threads"), table("threads", [
    ["Thread", (each) => each.osThread, String, "number"], ["Events", (each) => each.events, count, "number"],
    ["Allocations", (each) => each.allocations, count, "number"], ["Allocated", (each) => each.allocatedBytes, bytes, "number"],
  ], trace.threads || [], 3, 200), element("h2", {}, "Tasks in the heap image"));
  if (!tasks || !tasks.groups.length) {
    main.append(element("p", { class: "empty" }, tasks ? "The heap image has no task." : "There is no heap image."));
    return;
  }
  main.append(element("p", { class: "quiet" }, "Tasks that stand in the same function and are held alike are one line." + (tasks.omitted ? ` ${counted(tasks.omitted, "task")} more ${tasks.omitted === 1 ? "is" : "are"} not shown.` : "")));
  main.append(table("tasks", [
    ["Suspended in", (each) => each.function || "?", (name, each) => [named(name), element("span", { class: "quiet" }, each.position ? ` ${each.position}` : "")], "name"],
    ["Tasks", (each) => each.count, count, "number"],
    ["Who can resume it", (each) => each.holder, (text, each) => (each.isReachable ? text : element("strong", { class: "verdict proven" }, text)), "name"],
    ["Oldest", (each) => each.oldestSeconds || 0, seconds, "number"], ["Size", (each) => each.bytes, bytes, "number"],
  ], tasks.groups, 1, 100));
}
