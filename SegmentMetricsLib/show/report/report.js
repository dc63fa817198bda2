// Draws what can be turned or stepped through when the section of a structure is opened, and takes it down when that is
// closed: browsers keep only some sixteen 3D pictures alive at a time. All else is in the page, and all that paper has.
"use strict";

const CONFIG = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["toImage", "tableRotation"] };

function contentOf(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

function draw(section) {
  for (const steps of section.querySelectorAll("[data-steps]")) {
    if (!steps.content) showSlice(steps, Number(steps.querySelector("input[type=range]").value));
  }
  for (const place of window.Plotly ? section.querySelectorAll("[data-figure]") : []) {
    if (place.dataset.drawn) continue;
    place.dataset.drawn = "yes";
    const figure = contentOf(place.dataset.figure);
    place.figure = figure;
    place.distances = figure.data.filter((trace) => trace.type === "mesh3d").map(distancesOf);
    figure.data.find((trace) => trace.name === "sides").text = lettersFrom(figure.layout.scene.camera.eye);
    Plotly.newPlot(place, figure.data, figure.layout, CONFIG);
    place.on("plotly_relayout", () => letter(place));
  }
}

// The letters of the sides of the patient but those before and behind the structure, which would overlap it.
function lettersFrom({ x, y, z }) {
  const distance = Math.hypot(x, y, z);
  return [..."RLAPIS"].map((side, n) => (Math.abs([x, y, z][Math.floor(n / 2)]) <= 0.8 * distance ? side : ""));
}

function letter(place) {
  const seen = lettersFrom(place.layout.scene.camera.eye);
  const number = place.data.findIndex((trace) => trace.name === "sides");
  if (seen.join() !== [...place.data[number].text].join()) Plotly.restyle(place, { text: [seen] }, [number]);
}

// Shows a slice of a structure: its contours, its image, and the worst places in it. rank: of the place that is gone to.
function showSlice(steps, number, rank) {
  steps.content = steps.content || contentOf(steps.dataset.steps);
  const content = steps.content;
  const last = content.at.length - 1;
  number = Math.min(Math.max(number, 0), last);
  const slider = steps.querySelector("input[type=range]");
  slider.value = number;
  const image = steps.querySelector("image");
  if (image) image.setAttribute("href", `data:image/jpeg;base64,${content.images[number]}`);
  for (const side of ["reference", "test"]) steps.querySelector(`figure path.${side}`).setAttribute("d", content[side][number]);
  const marks = content.marks.filter((mark) => mark.slice === number && (!rank || mark.rank === rank || mark === content.marks[0]));
  const rings = marks.map(({ x, y }) => `<circle cx="${x}" cy="${y}" r="7"/>`).join("");
  const names = marks.map(({ x, y, rank: n }) => (n ? `<text x="${x + 13}" y="${y - 6}">${n}</text>` : "")).join("");
  steps.querySelector(".here").innerHTML = `<g class="halo">${rings}</g><g class="mark">${rings}</g>${names}`;
  const notes = ["reference", "test"].filter((side) => !content[side][number]).map((side) => `no ${side} in this slice`);
  if (content.marks.length && content.marks[0].slice === number) notes.unshift(`the largest distance, ${content.marks[0].mm} mm`);
  const caption = `${content.at[number]}, slice ${number + 1} of ${last + 1}`;
  steps.querySelector("title").textContent = [caption, ...notes].join("; ");
  slider.setAttribute("aria-valuetext", caption);
  const told = document.createElement("small");
  told.textContent = notes.join("; ");
  steps.querySelector("figcaption").replaceChildren(caption, " ", told);
}

function showPlace(link) {
  const steps = document.getElementById(link.hash.slice(1));
  steps.content = steps.content || contentOf(steps.dataset.steps);
  const rank = Number(link.dataset.place);
  const mark = steps.content.marks.find((one) => one.rank === rank);
  if (mark) showSlice(steps, mark.slice, rank);
  steps.scrollIntoView({ block: "nearest" });
}

// The window is the same in all pictures of the page.
function chooseWindow(name) {
  for (const select of document.querySelectorAll("[data-windows]")) select.value = name;
  for (const image of document.querySelectorAll("image.gray")) {
    const filter = name === "automatic" ? image.dataset.own : `window-${name.replace(" ", "-")}`;
    image.setAttribute("filter", `url(#${filter})`);
  }
}

function takeDown(section) {
  for (const place of section.querySelectorAll(".map[data-drawn]")) {
    Plotly.purge(place);
    delete place.dataset.drawn;
  }
  for (const first of section.querySelectorAll(".switches input[data-first]")) first.checked = true;
}

function choose(input) {
  const place = document.getElementById(input.closest(".switches").dataset.for);
  const figure = place.figure;
  const value = (name) => {
    const chosen = input.closest(".switches").querySelector(`input[data-what="${name}"]:checked`);
    return chosen ? chosen.value : null;
  };
  const side = value("side");
  const kind = value("kind") || "absolute";
  const absolute = kind === "absolute";
  const surfaces = figure.data.filter((trace) => trace.type === "mesh3d");
  const change = {
    visible: surfaces.map((trace) => side === "both" || trace.name === side),
    opacity: surfaces.map((trace) => (side === "both" && trace.name === "test" ? 0.5 : 1)),
    showscale: surfaces.map((trace) => (side === "both" ? trace.name === "reference" : trace.name === side)),
    intensity: place.distances.map((values) => (absolute ? values.map(Math.abs) : values)),
    colorscale: surfaces.map(() => (absolute ? figure.scales.absolute : figure.scales.signed)),
    cmin: surfaces.map(() => (absolute ? 0 : -figure.limit)),
    "colorbar.tickvals": surfaces.map(() => figure.ticks[kind].tickvals),
    "colorbar.ticktext": surfaces.map(() => figure.ticks[kind].ticktext),
  };
  Plotly.restyle(place, change, surfaces.map((trace) => figure.data.indexOf(trace)));
}

// The distances of a surface; plotly.js changes its traces in place, so they are unpacked before it gets them.
function distancesOf(trace) {
  const bytes = Uint8Array.from(atob(trace.intensity.bdata), (character) => character.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// Saves the page with what was entered. Of the drawings only their data are saved, from which they are drawn again.
function saveSigned() {
  const copy = document.documentElement.cloneNode(true);
  const ofCopy = [...copy.querySelectorAll(".sign input, .sign textarea")];
  [...document.querySelectorAll(".sign input, .sign textarea")].forEach((field, number) => {
    const other = ofCopy[number];
    other.removeAttribute("autocomplete");
    if (field.type === "radio") {
      other.toggleAttribute("checked", field.checked);
      other.toggleAttribute("disabled", !field.checked);
    } else {
      if (field.tagName === "TEXTAREA") other.textContent = field.value;
      else other.setAttribute("value", field.value);
      other.setAttribute("readonly", "");
    }
  });
  for (const place of copy.querySelectorAll("[data-figure]")) {
    place.replaceChildren();
    delete place.dataset.drawn;
    place.className = place.className.replace(/ ?js-plotly-plot/, "");
  }
  // what plotly adds to the head
  for (const style of copy.querySelectorAll("style[id^=plotly]")) style.remove();
  const body = copy.querySelector("body");
  body.classList.remove("turning");
  body.classList.add("is-signed");
  const now = new Date();
  copy.querySelector(".signed").textContent = `Saved as a signed copy on ${now.toLocaleString("sv")}.`;
  const page = new Blob(["<!DOCTYPE html>\n", copy.outerHTML, "\n"], { type: "text/html;charset=utf-8" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(page);
  const name = decodeURIComponent(location.pathname.split("/").pop()).replace(/\.html?$/i, "") || "report";
  link.download = `${name} signed.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// What a link leads to is open, and drawn.
function follow() {
  const section = document.getElementById(location.hash.slice(1));
  const details = section && section.querySelector(":scope > details");
  if (!details) return;
  details.open = true;
  section.scrollIntoView();
}

document.addEventListener("DOMContentLoaded", () => {
  document.body.classList.toggle("turning", Boolean(window.Plotly));
  for (const details of document.querySelectorAll("section.structure > details")) {
    details.addEventListener("toggle", () => (details.open ? draw(details) : takeDown(details)));
    if (details.open) draw(details);
  }
  document.addEventListener("change", (event) => {
    if (event.target.matches(".switches input")) choose(event.target);
    if (event.target.matches("[data-windows]")) chooseWindow(event.target.value);
    if (event.target.matches("[data-paper]")) document.body.classList.toggle("everything", event.target.checked);
  });
  document.addEventListener("input", (event) => {
    const steps = event.target.matches("input[type=range]") && event.target.closest("[data-steps]");
    if (steps) showSlice(steps, Number(event.target.value));
  });
  document.addEventListener("click", (event) => {
    const steps = event.target.closest("[data-steps]");
    const button = steps && event.target.closest("button");
    const link = event.target.closest("[data-place]");
    if (button && button.dataset.by) showSlice(steps, Number(steps.querySelector("input[type=range]").value) + Number(button.dataset.by));
    else if (button) showSlice(steps, steps.content.first);
    if (event.target.id === "save") saveSigned();
    if (link) {
      event.preventDefault();
      showPlace(link);
    }
  });
  // also when the same one is followed again
  document.addEventListener("click", (event) => event.target.closest('a[href^="#structure"]') && setTimeout(follow));
  follow();
  // paper shows every section, which older browsers do not know from the style sheet
  if (CSS.supports("selector(::details-content)")) return;
  for (const [event, isOpen] of [["beforeprint", () => true], ["afterprint", (details) => details.dataset.before === "open"]]) {
    window.addEventListener(event, () => {
      for (const details of document.querySelectorAll("section.structure > details")) {
        if (event === "beforeprint") details.dataset.before = details.open ? "open" : "closed";
        details.open = isOpen(details);
      }
    });
  }
});
