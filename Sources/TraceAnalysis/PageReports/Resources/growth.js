// Growth from image to image: sizes over time, suspicions, and other growth.

function growth() {
  const { images, suspects, grown, remarks, imagesTaken } = data.series;
  const first = images[0], last = images[images.length - 1];
  main.append(element("h2", {}, "Memory from image to image"));
  if (images.length < 2) main.append(element("p", { class: "empty" }, "It takes two images to show growth."));
  else main.append(sizes(images));
  main.append(element("p", { class: "quiet" }, `${counted(imagesTaken, "image")}` + (images.length > 1 ? ` over ${seconds(last.seconds - first.seconds)}` : "") + (imagesTaken > images.length ? `; ${count(images.length)} of them are kept` : "")));
  if (remarks.length) main.append(element("ul", {}, remarks.map((text) => element("li", {}, text))));
  main.append(element("h2", {}, "Suspected to leak"));
  if (!suspects.length) main.append(element("p", { class: "empty" }, "Nothing is suspected."));
  main.append(...suspects.map((row) => suspect(row, images)));
  if (!grown.length) return;
  main.append(element("h2", {}, "What else grew"), table("grown", [
    ["Type", (row) => row.name, named, "name"], ["Held by", (row) => row.holder, named, "name"],
    ["First", (row) => row.counts[0], count, "number"], ["Last", (row) => row.counts[row.counts.length - 1], count, "number"],
    ["Grew by", (row) => row.counts[row.counts.length - 1] - row.counts[0], count, "number"],
    ["Course", (row) => row.counts[row.counts.length - 1], (_, row) => element("span", { class: "curve" }, bars(columns(row.counts), "Objects from image to image")), "number"],
    ["Not suspected, since", (row) => reasons[row.judgement] || row.judgement, String, "name"],
  ], grown, 4, 50));
}

const reasons = {
  suspect: "its holder is reported", tooFewImages: "there are too few images", hardlyGrows: "it hardly grows", levelsOff: "it levels off",
  inSteps: "it grows in steps", fallsBack: "it falls back", sways: "it sways", turnsOver: "its objects are replaced",
  growsWithHolder: "it grows as its holder does",
};

/// Returns at most as many values as a small picture has columns.
function columns(values) {
  const most = 60;
  return values.length <= most ? values : Array.from({ length: most }, (_, index) => values[Math.round((index * (values.length - 1)) / (most - 1))]);
}

function suspect(row, images) {
  const [first, last] = [row.counts[0], row.counts[row.counts.length - 1]];
  const { suspicion } = row;
  return element("figure", { class: "suspected-growth" },
    element("figcaption", {}, element("strong", {}, row.name), " in ", element("strong", {}, row.holder), element("span", { class: "quiet" }, `: ${count(first)} → ${count(last)} objects, ${bytes(row.retainedBytes[0])} → ${bytes(row.retainedBytes[row.retainedBytes.length - 1])} retained`)),
    lines(images.map((each) => each.seconds), [["live", row.counts]], `Objects of ${row.name} from image to image: ${row.counts.join(", ")}`, null, "blocks"),
    suspicion ? element("p", {}, `${suspicion.strength === "strong" ? "Strong" : "Weak"} suspicion: more in each part of the last ${counted(suspicion.images, "image")}, ${count(Math.round(suspicion.perHour))} an hour, and no slower towards the end (${suspicion.lateShare.toFixed(1)} ×). A cache that has not reached its limit looks the same.`) : null);
}

function sizes(images) {
  const known = images.every((each) => each.residentBytes !== null && each.residentBytes !== undefined);
  const series = [["live", images.map((each) => each.liveBytes)]];
  if (known) series.push(["resident", images.map((each) => each.residentBytes)]);
  const last = images[images.length - 1];
  return element("figure", {}, lines(images.map((each) => each.seconds), series, `Live bytes from ${bytes(images[0].liveBytes)} to ${bytes(last.liveBytes)}`, null, "bytes"),
    element("figcaption", {}, element("span", { class: "key live" }, `live: ${bytes(images[0].liveBytes)} → ${bytes(last.liveBytes)}`),
      known ? element("span", { class: "key resident" }, `resident (own scale): ${bytes(images[0].residentBytes)} → ${bytes(last.residentBytes)}`) : null));
}

/// Returns a picture of values over time, with the first series as an area. `most`: the top of a common scale; without
/// it, each series has its own scale.
function lines(times, series, label, most, unit) {
  return fit((width) => {
    const [height, bottom] = [160, 24];
    const tops = series.map(([, values]) => most || Math.max(1, ...values));
    const hasSecond = !most && series.length > 1;
    const [left, right] = [axisWidth, width - (hasSecond ? axisWidth : 8)];
    const [begin, end] = [times[0], Math.max(times[times.length - 1], times[0] + 1e-9)];
    const x = (time) => left + ((time - begin) / (end - begin)) * (right - left);
    const scale = (top) => (value) => height - bottom - (value / top) * (height - bottom - 12);
    return drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart", "aria-label": label },
      series.map(([kind, values], index) => {
        const y = scale(tops[index]);
        const points = values.map((value, each) => `${x(times[each]).toFixed(1)},${y(value).toFixed(1)}`);
        return index ? drawing("polyline", { class: kind, points: points.join(" ") })
          : drawing("path", { class: kind, d: `M${x(begin)},${y(0)} ${points.map((point) => `L${point}`).join(" ")} L${x(end)},${y(0)} Z` });
      }),
      axis(tops[0], unit, scale(tops[0]), left, right),
      hasSecond ? axis(tops[1], unit, scale(tops[1]), left, right, true) : null,
      timeAxis(left, right, height - bottom, end - begin));
  });
}

/// Returns the time axis at the bottom of a picture, with the time at each end.
function timeAxis(left, right, y, length) {
  return [drawing("line", { class: "axis", x1: left, x2: right, y1: y, y2: y }),
    drawing("text", { x: left, y: y + 17 }, "0 s"), drawing("text", { x: right, y: y + 17, "text-anchor": "end" }, seconds(length))];
}
