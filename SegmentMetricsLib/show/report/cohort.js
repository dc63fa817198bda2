// Draws the overview of all cases from the numbers in the page, for the chosen measurement, structure and method.
"use strict";

const data = JSON.parse(document.getElementById("cohort-data").textContent);
const WORST = 4, BEST = 2, MOST_ALARMS = 12;
const byId = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const isSvg = ["svg", "path", "title"].includes(tag);
  const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const asNumber = (value) => (value === null ? NaN : value === "inf" ? Infinity : value === "-inf" ? -Infinity : value);

// isBare: without the unit, which still decides how many digits there are.
function shown(value, unit, isBare = false) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  const text = Math.abs(value) >= 100 ? value.toFixed(0) : unit ? value.toFixed(2) : value.toFixed(3);
  return unit && !isBare ? `${text} ${unit}` : text;
}

// A unit that a cell of a table can hold: volumes in cm3.
function inUnit(measurement) {
  return measurement.unit === "mm3" ? { unit: "cm³", factor: 0.001 } : { unit: measurement.unit.replace("2", "²"), factor: 1 };
}

function chosen() {
  const measurement = data.measurements[byId("choose-measurement").selectedIndex];
  const structure = byId("choose-structure").selectedIndex - 1, method = byId("choose-method").selectedIndex - 1;
  const { unit, factor } = inUnit(measurement);
  const rows = data.values[measurement.key]
    .filter(([, s, m]) => (structure < 0 || s === structure) && (method < 0 || m === method))
    .map(([c, s, m, value]) => {
      const at = `${c},${s},${m}`;
      const number = asNumber(value) * factor, missing = data.missing[at] || "";
      const badness = missing ? Infinity : measurement.better === "lower" ? number : -number;
      return { c, s, m, at, value: number, missing, badness, pair: data.pairs[at] || {} };
    });
  return { measurement, unit, structure, method, rows, order: byId("choose-order").value };
}

function linkOf(row) {
  const report = data.reports[`${row.c},${row.m}`];
  if (!report) return "";
  return encodeURIComponent(report) + (row.pair.number === undefined ? "" : `#structure${row.pair.number}`);
}

function linked(row, ...children) {
  const href = linkOf(row);
  return href ? make("a", { href }, ...children) : make("span", {}, ...children);
}

const nameOf = (row) => `${data.structures[row.s]} of ${data.cases[row.c]}${data.methods.length > 1 ? ` (${data.methods[row.m]})` : ""}`;

function showAlarms({ structure, method }) {
  const found = Object.entries(data.pairs).map(([at, pair]) => {
    const [c, s, m] = at.split(",").map(Number);
    return { c, s, m, at, pair };
  }).filter((row) => row.pair.alarm && (structure < 0 || row.s === structure) && (method < 0 || row.m === method));
  byId("alarms-section").hidden = !found.length;
  const list = make("ul", {}, ...found.slice(0, MOST_ALARMS).map((row) => make("li", {}, linked(row, nameOf(row)), `: ${row.pair.alarm}`)));
  if (found.length > MOST_ALARMS) list.append(make("li", {}, `... and ${found.length - MOST_ALARMS} more`));
  byId("alarms").replaceChildren(list);
}

// Of the best, a typical slice; of all others the one through the largest distance.
function pictureOf(row, kind) {
  const picture = kind === "best" ? row.pair.typical : row.pair.picture;
  if (!picture) return make("div", { class: "nothing" }, row.missing || "no picture");
  const box = make("svg", { viewBox: "0 0 2640 2440", role: "img" }, make("title", {}, `${nameOf(row)}, ${picture.view} slice`));
  for (const side of ["reference", "test"]) if (picture[side]) box.append(make("path", { class: side, d: picture[side] }));
  return box;
}

function showExtremes({ rows, unit }) {
  const ranked = rows.filter((row) => !Number.isNaN(row.badness)).sort((a, b) => b.badness - a.badness);
  const worst = ranked.slice(0, WORST), best = ranked.slice(worst.length).slice(-BEST).reverse();
  const card = (kind) => (row) => make("figure", { class: kind }, linked(row, pictureOf(row, kind)),
    make("figcaption", {}, make("b", {}, `${kind === "worst" ? "Worst" : "Best"}: ${row.missing || shown(row.value, unit)}`), linked(row, nameOf(row))));
  byId("extremes").replaceChildren(...worst.map(card("worst")), ...best.map(card("best")));
}

const quantile = (sorted, share) => {
  const place = share * (sorted.length - 1), low = sorted[Math.floor(place)], high = sorted[Math.ceil(place)];
  return low === high ? low : low + (place - Math.floor(place)) * (high - low);
};

// From white to dark orange.
function colorOf(share) {
  const stops = [[255, 255, 255], [253, 208, 162], [230, 120, 40], [140, 50, 0]], place = Math.min(Math.max(share, 0), 1) * 3;
  const n = Math.min(Math.floor(place), 2), part = place - n;
  return `rgb(${stops[n].map((from, i) => Math.round(from + part * (stops[n + 1][i] - from))).join(",")})`;
}

function showHeat({ measurement, unit, rows, order, structure, method }) {
  const finite = rows.filter((row) => Number.isFinite(row.badness)).map((row) => row.badness).sort((a, b) => a - b);
  const low = finite.length ? finite[0] : 0, high = finite.length ? Math.max(quantile(finite, 0.98), low) : 1;
  const better = measurement.better === "lower" ? low : -low, worse = measurement.better === "lower" ? high : -high;
  byId("scale").textContent = finite.length
    ? `White: ${shown(better, unit)}, the best. Dark: ${shown(worse, unit)} or worse. A red frame: check first. Hatched: missing. Values lead to the report of the case.`
    : "There are no numbers.";
  const methods = data.methods.map((_, m) => m).filter((m) => method < 0 || m === method);
  const structures = data.structures.map((_, s) => s).filter((s) => structure < 0 || s === structure);
  const found = new Map(rows.map((row) => [row.at, row]));
  const columns = methods.flatMap((m) => structures.map((s, n) => ({ m, s, start: n === 0 })));
  let cases = [...new Set(rows.map((row) => row.c))].sort((a, b) => a - b);
  if (order === "worst") {
    const sums = new Map(cases.map((c) => [c, Math.max(...rows.filter((row) => row.c === c && !Number.isNaN(row.badness)).map((row) => row.badness))]));
    cases = cases.sort((a, b) => (sums.get(a) === sums.get(b) ? a - b : sums.get(b) - sums.get(a)));
  }
  const head = make("thead");
  if (data.methods.length > 1) {
    head.append(make("tr", {}, make("th", {}, ""), ...methods.map((m) => make("th", { colspan: structures.length, class: "group start" }, data.methods[m]))));
  }
  head.append(make("tr", {}, make("th", { scope: "col" }, "Case"), ...columns.map(({ s, start }) => make("th", { scope: "col", class: start ? "start" : "" }, data.structures[s]))));
  const body = make("tbody");
  for (const c of cases) {
    const line = make("tr", {}, make("th", { scope: "row", title: data.cases[c] }, data.cases[c]));
    for (const { s, m, start } of columns) {
      const row = found.get(`${c},${s},${m}`), classes = start ? ["start"] : [];
      if (!row) {
        line.append(make("td", { class: [...classes, "none"].join(" "), title: "not compared" }, ""));
        continue;
      }
      if (row.missing) classes.push("missing");
      if (row.pair.alarm) classes.push("alarm");
      if (Number.isNaN(row.badness)) classes.push("none");
      const share = Number.isNaN(row.badness) ? 0 : !Number.isFinite(row.badness) ? 1 : high > low ? (row.badness - low) / (high - low) : 0;
      const style = row.missing || Number.isNaN(row.badness) ? "" : `background:${colorOf(share)};color:${share > 0.62 ? "#fff" : "#222"}`;
      const title = `${nameOf(row)}: ${row.missing || shown(row.value, unit)}${row.pair.alarm ? `; ${row.pair.alarm}` : ""}`;
      line.append(make("td", { class: classes.join(" "), style, title }, linked(row, shown(row.value, unit, true))));
    }
    body.append(line);
  }
  byId("heat").replaceChildren(make("table", { class: "heat" }, head, body));
}

// The charts are in the data; what is not chosen is hidden.
function showBoxes({ measurement, structure, method }) {
  const place = byId("boxes");
  place.innerHTML = data.boxes[measurement.key];
  for (const [name, wanted] of [["group", structure], ["part", method]]) {
    for (const one of place.querySelectorAll(`[data-${name}]`)) {
      if (wanted >= 0 && Number(one.dataset[name]) !== wanted) one.style.display = "none";
    }
  }
}

const rowOf = (cells, isSure) => make("tr", isSure ? { class: "significant" } : {}, ...cells.map((text) => make("td", {}, String(text))));

function rowOfAll(test, shownP) {
  const p = test.friedmanCorrected, isSure = p !== null && p < 0.05;
  const cells = [test.structure, `all ${test.friedmanMethods} methods`, "Friedman", test.friedmanCases, "", "", shownP(p, "–"), isSure ? "they differ" : "not decided"];
  return rowOf(cells, isSure);
}

function showTests({ measurement, unit, structure, method }) {
  const factor = inUnit(measurement).factor;
  const found = data.tests.filter((test) => test.measurement === measurement.key
    && (structure < 0 || test.structure === data.structures[structure])
    && (method < 0 || [test.first, test.second].includes(data.methods[method])));
  byId("tests-section").hidden = !data.tests.length;
  if (!found.length) return byId("tests").replaceChildren("There is no test of this choice.");
  byId("correction").textContent = "Wilcoxon's signed-rank test. Effect: rank-biserial correlation, from -1 to 1, and shift of the second method "
    + `against the first, with 95 % intervals. p is corrected: ${found[0].correction || "for the number of tests"}.`;
  const interval = (value, low, high, form) => (value === null ? "–" : `${form(asNumber(value))} [${form(asNumber(low))}, ${form(asNumber(high))}]`);
  const signed = (value) => (Number.isFinite(value) ? `${value > 0 ? "+" : ""}${value.toFixed(2)}` : value > 0 ? "∞" : "-∞");
  const heads = ["Structure", "First", "Second", "Cases", `Shift${unit ? `, ${unit}` : ""}`, "Effect", "p, corrected", "In favor of"];
  // Friedman's test of all methods leads those of the pairs, which are its post-hoc tests
  const ofAll = new Map(found.filter((test) => test.friedmanMethods).map((test) => [test.structure, test]));
  if (ofAll.size) byId("correction").textContent += " All methods together: Friedman's test, of the cases that all of them have.";
  const shownP = (p, reason) => (p === null ? reason : p < 0.001 ? "< 0.001" : p.toFixed(3));
  const body = make("tbody", {}, ...found.flatMap((test) => {
    const isFirst = ofAll.get(test.structure) && found.find((one) => one.structure === test.structure) === test;
    const overall = isFirst ? [rowOfAll(ofAll.get(test.structure), shownP)] : [];
    const isSure = test.corrected !== null && test.corrected < 0.05;
    const cells = [test.structure, test.first, test.second, test.cases,
      interval(test.shift, test.shiftLow, test.shiftHigh, (value) => signed(value * factor)),
      interval(test.rankBiserial, test.rankBiserialLow, test.rankBiserialHigh, signed), shownP(test.corrected, test.reason),
      isSure ? test.favors : "not decided"];
    return [...overall, rowOf(cells, isSure)];
  }));
  byId("tests").replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))), body));
}

function show() {
  const choice = chosen();
  const { measurement, unit } = choice;
  byId("measured").textContent = `${measurement.title}${unit ? `, in ${unit}` : ""}; ${measurement.better} is better.`;
  for (const part of [showAlarms, showExtremes, showHeat, showBoxes, showTests]) part(choice);
}

function start() {
  const fill = (id, texts) => byId(id).replaceChildren(...texts.map((text) => make("option", {}, text)));
  fill("choose-measurement", data.measurements.map((one) => one.key));
  fill("choose-structure", ["all", ...data.structures]);
  fill("choose-method", ["all", ...data.methods]);
  byId("choose-method").parentElement.hidden = data.methods.length < 2;
  byId("choose-measurement").selectedIndex = data.measurements.findIndex((one) => one.key === data.first);
  for (const select of document.querySelectorAll(".choices select")) select.addEventListener("change", show);
  byId("cohort").hidden = false;
  show();
}

start();
