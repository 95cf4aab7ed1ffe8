// Opens pages in Chromium and answers one JSON value a line with one.
//
// {"page":"/a.html","size":[1280,900],"dark":false}
// {"dom":"<html>…","requests":["file:///a.html"],"errors":["…"]}
//
// A question may also have `"png":"/a.png"` and `"pdf":"/a.pdf"`, which are written (`"whole":true` for
// a picture of the whole page), `"measure":true`, answered with `"width":1280,"beyond":["pre.out: …"]`,
// and `"find":"h1"`, answered with `"tops":[20]` for what can be seen.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [program, profile] = process.argv.slice(2);
const folder = dirname(program);
const browser = spawn(
  program,
  [
    "--headless=shell",
    "--no-sandbox",
    "--no-zygote",
    "--in-process-gpu",
    "--disable-webgl",
    "--no-first-run",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",
    "--remote-debugging-pipe",
    `--user-data-dir=${profile}`,
  ],
  {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, "lib"),
      FONTCONFIG_FILE: join(folder, "fonts.conf"),
      XDG_CACHE_HOME: profile,
    },
  },
);
browser.on("exit", (code, signal) => {
  console.log(JSON.stringify({ error: `the browser ended: ${code ?? signal}` }));
  process.exit(1);
});

const answers = new Map();
const listeners = new Set();
let last = 0;
let rest = "";
browser.stdio[4].setEncoding("utf8").on("data", (data) => {
  const messages = (rest + data).split("\0");
  rest = messages.pop();
  for (const text of messages) {
    const message = JSON.parse(text);
    if (message.id === undefined) {
      for (const listener of listeners) listener(message);
      continue;
    }
    const { resolve, reject } = answers.get(message.id);
    answers.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }
});

function ask(method, params = {}, sessionId = undefined) {
  const id = ++last;
  browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
  return new Promise((resolve, reject) => answers.set(id, { resolve, reject }));
}

// How wide the page is with all its folds open, and what reaches beyond the window without a part of
// the page that scrolls around it.
const MEASURE = `(() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const limit = document.documentElement.clientWidth;
  const scrolls = (e) => /auto|scroll|hidden|clip/.test(getComputedStyle(e).overflowX);
  const beyond = [];
  for (const e of document.body.querySelectorAll("*")) {
    if (e.getBoundingClientRect().right <= limit + 1) continue;
    let around = e.parentElement;
    while (around !== document.body && !scrolls(around)) around = around.parentElement;
    if (around !== document.body || beyond.length === 8) continue;
    beyond.push(e.localName + "." + e.className + ": " + e.textContent.trim().slice(0, 60));
  }
  return { width: document.documentElement.scrollWidth, beyond };
})()`;

// Where everything is that a selector finds and that can be seen.
const tops = (selector) => `(() => {
  const found = [...document.querySelectorAll(${JSON.stringify(selector)})];
  const seen = found.filter((e) => e.checkVisibility({ contentVisibilityAuto: true }));
  return { tops: seen.map((e) => Math.round(e.getBoundingClientRect().top)) };
})()`;

// No picture is higher.
const HIGHEST = 12000;

async function look({ page, size, dark, png, pdf, measure, find, whole }) {
  const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true });
  const say = (method, params) => ask(method, params, sessionId);
  const requests = [];
  const errors = [];
  const loaded = Promise.withResolvers();
  const passed = Promise.withResolvers();
  const listen = (message) => {
    if (message.sessionId !== sessionId) return;
    const { method, params } = message;
    if (method === "Network.requestWillBeSent") requests.push(params.request.url);
    if (method === "Log.entryAdded") errors.push(params.entry.text);
    if (method === "Page.loadEventFired") loaded.resolve();
    if (method === "Emulation.virtualTimeBudgetExpired") passed.resolve();
  };
  listeners.add(listen);
  await Promise.all(["Page.enable", "Network.enable", "Log.enable"].map((m) => say(m)));
  const [width, height] = size;
  await say("Emulation.setDeviceMetricsOverride", {
    width,
    height,
    deviceScaleFactor: 1,
    mobile: false,
  });
  const value = dark ? "dark" : "light";
  await say("Emulation.setEmulatedMedia", {
    features: [{ name: "prefers-color-scheme", value }],
  });
  await say("Page.navigate", { url: pathToFileURL(page).href });
  const isStill = png || pdf || measure || find;
  if (!isStill) {
    // The page's own time runs two seconds ahead as soon as nothing is being loaded, so that whatever
    // wants to run does. There are no pictures of a page whose time was changed.
    const policy = "pauseIfNetworkFetchesPending";
    await say("Emulation.setVirtualTimePolicy", { policy, budget: 2000 });
    await passed.promise;
  }
  await loaded.promise;
  const { root } = await say("DOM.getDocument");
  const { outerHTML: dom } = await say("DOM.getOuterHTML", { nodeId: root.nodeId });
  if (png) {
    const { cssContentSize } = await say("Page.getLayoutMetrics");
    const clip = { x: 0, y: 0, width, height: Math.min(cssContentSize.height, HIGHEST), scale: 1 };
    const beyond = whole ? { captureBeyondViewport: true, clip } : {};
    const { data } = await say("Page.captureScreenshot", { format: "png", ...beyond });
    writeFileSync(png, Buffer.from(data, "base64"));
  }
  if (pdf) {
    const { data } = await say("Page.printToPDF", { preferCSSPageSize: true, printBackground: true });
    writeFileSync(pdf, Buffer.from(data, "base64"));
  }
  const measured = {};
  for (const expression of [find && tops(find), measure && MEASURE].filter(Boolean)) {
    const { result } = await say("Runtime.evaluate", { expression, returnByValue: true });
    Object.assign(measured, result.value);
  }
  listeners.delete(listen);
  await ask("Target.closeTarget", { targetId });
  return { dom, requests, errors, ...measured };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await look(JSON.parse(line)).catch((e) => ({ error: String(e) }));
  console.log(JSON.stringify(answer));
}
browser.removeAllListeners("exit");
browser.kill();
